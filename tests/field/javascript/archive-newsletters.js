// Messages are changed in a loop, and counted.
// servers: mail
// calls: mail.search_messages 2, mail.label_message 1
// result: {"archived":1,"left":0}
const newsletters = mailSearchMessages({ query: "label:newsletter" }).messages;
for (const m of newsletters) {
  mailLabelMessage({ id: m.id, add: ["archive"], remove: ["inbox", "unread"] });
}
const left = mailSearchMessages({ query: "label:newsletter is:unread" }).total;
log(`archived ${newsletters.length}`);
return { archived: newsletters.length, left };
