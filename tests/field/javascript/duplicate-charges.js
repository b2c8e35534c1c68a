// Payments that were made twice, by a composite key.
// servers: bank
// calls: bank.list_transactions 1
// result: [{"what":"Cinema","ids":["tx7","tx8"]}]
const { transactions } = bankListTransactions();
const groups = new Map();
for (const t of transactions) {
  const key = [t.date, t.description, t.amount].join("|");
  groups.set(key, [...(groups.get(key) ?? []), t.id]);
}
const twice = [...groups].filter(([, ids]) => ids.length > 1);
twice.map(([key, ids]) => ({ what: key.split("|")[1], ids }));
