// The program itself throws: that is its failure, with the line.
// servers: bank
// error: Budget exceeded by 190.4
// line: 8
const { transactions } = await bankListTransactions({ since: "2026-03-01" });
const spent = transactions.filter((t) => t.amount < 0).reduce((s, t) => s - t.amount, 0);
const over = (spent - 32.75).toFixed(1);
if (over > 0) throw new Error(`Budget exceeded by ${over}`);
return spent;
