// Money in three currencies, formatted by Intl.NumberFormat and toLocaleString.
// servers: bank
// calls: bank.list_accounts 1, bank.get_rate 3
// prints:
//   Checking: €2,310.55 = $2,495.39
//   Savings: €15,200.00 = $16,416.00
//   Travel: $480.10 = $480.10
//   Total: $19,391.49
const { accounts } = await bankListAccounts();
const usd = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
let total = 0;
const lines = [];
for (const a of accounts) {
  const { rate } = await bankGetRate({ base: a.currency, quote: "USD" });
  const inUsd = a.balance * rate;
  total += inUsd;
  lines.push(`${a.name}: ${a.balance.toLocaleString("en-US", { style: "currency", currency: a.currency })} = ${usd.format(inUsd)}`);
}
lines.push(`Total: ${usd.format(total)}`);
output(lines.join("\n"));
