// Weighted sums by stage with a const object as a table.
// servers: crm
// calls: crm.list-deals 1
// prints:
//   forecast 24800, next Globex pilot on 2026-03-31
const weight = { open: 0.4, won: 1, lost: 0 } as const;
const r = await list_deals();
if (!r.success) throw new Error(r.error);
const forecast = r.value.deals.reduce((sum, d) => sum + d.amount * weight[d.stage as keyof typeof weight], 0);
const next = r.value.deals.filter((d) => d.stage === "open").sort((a, b) => a.closeDate.localeCompare(b.closeDate))[0];
console.log(`forecast ${forecast}, next ${next.name} on ${next.closeDate}`);
