// A running total; reduce with an array as its accumulator.
// servers: bank
// calls: bank.list_transactions 1
// result: {"lowest":-950,"last":2926.85,"days":8}
const { transactions } = await bankListTransactions({});
const cents = transactions.map((t) => Math.round(t.amount * 100));
const running = cents.reduce((acc, c) => [...acc, (acc.at(-1) ?? 0) + c], []);
return { lowest: Math.min(...running) / 100, last: running.at(-1) / 100, days: new Set(transactions.map((t) => t.date)).size };
