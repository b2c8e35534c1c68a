// A module whose default export is the function to run.
// servers: mail
// calls: mail.search_messages 1
// result: {"unread":4}
export default async function () {
  const { total } = await mailSearchMessages({ query: "is:unread" });
  return { unread: total };
}
