// Sums of categories, with shares rounded.
// servers: bank
// calls: bank.list_transactions 1
// result: [{"category":"food","sum":163.25,"share":"73%"},{"category":"leisure","sum":59.9,"share":"27%"}]
const { transactions } = await bankListTransactions({ since: "2026-03-01" });
const spent = transactions.filter((t) => t.amount < 0);
const total = spent.reduce((s, t) => s - t.amount, 0);
const byCategory = {};
for (const { category, amount } of spent) byCategory[category] = (byCategory[category] || 0) - amount;
return Object.entries(byCategory)
  .map(([category, sum]) => ({ category, sum: Math.round(sum * 100) / 100, share: `${Math.round((sum / total) * 100)}%` }))
  .sort((a, b) => b.sum - a.sum);
