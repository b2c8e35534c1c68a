// Money by categories, printed with toFixed and padStart.
// servers: bank
// calls: bank.list_transactions 1
// prints:
//   food      163.25 / 150 over
//   leisure    59.90 / 50 over
type Category = "food" | "leisure" | "housing" | "income";
const budget: Partial<Record<Category, number>> = { food: 150, leisure: 50 };
const r = await list_transactions({ since: "2026-03-01", until: "2026-03-31" });
if (!r.success) throw new Error(r.error);
for (const [category, limit] of Object.entries(budget) as [Category, number][]) {
  const spent = r.value.transactions.filter((t) => t.category === category).reduce((s, t) => s - t.amount, 0);
  const mark = spent > limit ? "over" : "ok";
  console.log(`${category.padEnd(8)}${spent.toFixed(2).padStart(8)} / ${limit} ${mark}`);
}
