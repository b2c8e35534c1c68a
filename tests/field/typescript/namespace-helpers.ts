// A namespace with functions.
// servers: bank
// calls: bank.list_transactions 1
// prints:
//   in 900, net 676.85
namespace Money {
  export const round = (n: number): number => Math.round(n * 100) / 100;
  export function sum(list: { amount: number }[]): number {
    return round(list.reduce((s, t) => s + t.amount, 0));
  }
}

const r = await list_transactions({ since: "2026-03-01" });
if (!r.success) throw new Error(r.error);
const income = r.value.transactions.filter((t) => t.amount > 0);
console.log(`in ${Money.sum(income)}, net ${Money.sum(r.value.transactions)}`);
