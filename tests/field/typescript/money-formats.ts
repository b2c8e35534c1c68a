// Currency by Intl in typed helpers.
// servers: bank
// calls: bank.list_accounts 1
// prints:
//   Checking: €2,310.55
//   Savings: €15,200.00
//   Travel: $480.10
//   26%
const format = (amount: number, currency: string): string => new Intl.NumberFormat("en-US", { style: "currency", currency }).format(amount);
const r = await list_accounts();
if (!r.success) throw new Error(r.error);
for (const a of r.value.accounts) console.log(`${a.name}: ${format(a.balance, a.currency)}`);
console.log((0.256).toLocaleString("en-US", { style: "percent" }));
