// The older module shape.
// servers: mail
// calls: mail.search_messages 1
// result: 4
async function countUnread() {
  const { total } = await mailSearchMessages({ query: "is:unread" });
  return total;
}

module.exports = countUnread;
