// toLocaleDateString with options, in a table.
// servers: mail
// calls: mail.search_messages 1
// result: 4
const { messages } = mailSearchMessages({ query: "is:unread" });
for (const m of messages) {
  const d = new Date(m.date).toLocaleDateString("en-US", { month: "short", day: "numeric", year: "numeric" });
  console.log(`${d.padEnd(14)}| ${m.subject}`);
}
messages.length;
