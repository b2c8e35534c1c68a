// Plurals by Intl.PluralRules.
// servers: mail
// calls: mail.search_messages 3
// result: "label:newsletter: 1 message\nis:unread: 4 messages\nfrom:nobody: 0 messages"
const pr = new Intl.PluralRules("en-US");
const forms = { one: "message", other: "messages" };
const count = async (query) => (await mailSearchMessages({ query })).total;
const lines = [];
for (const q of ["label:newsletter", "is:unread", "from:nobody"]) {
  const n = await count(q);
  lines.push(`${q}: ${n} ${forms[pr.select(n)]}`);
}
lines.join("\n");
