// Amounts are found by a regular expression with named groups, and typed.
// servers: mail
// calls: mail.search_messages 1, mail.get_message 2
// prints:
//   2 invoices, 1560.5 in all, first due 2026-03-20 (#1042)
interface Invoice { id: string; total: number; due: Date }
const search = await search_messages({ query: "subject:invoice" });
if (!search.success) throw new Error(search.error);
const invoices: Invoice[] = [];
for (const { id } of search.value.messages) {
  const m = await get_message({ id });
  if (!m.success) continue;
  const g = /Invoice #(?<id>\d+)[\s\S]*Total: \$(?<total>[\d,.]+)[\s\S]*Due: (?<due>[\d-]+)/.exec(m.value.body)?.groups;
  if (g) invoices.push({ id: g.id, total: Number(g.total.replace(",", "")), due: new Date(g.due) });
}
const first = invoices.toSorted((a, b) => +a.due - +b.due)[0];
console.log(`${invoices.length} invoices, ${invoices.reduce((s, i) => s + i.total, 0)} in all, first due ${first.due.toISOString().split("T")[0]} (#${first.id})`);
