// Values kept in the run.
// servers: bank
// calls: bank.list_accounts 1
// prints:
//   3 15200
const r = await list_accounts();
if (r.success) store("balances", Object.fromEntries(r.value.accounts.map((a) => [a.id, a.balance])));
const balances = recall("balances") as Record<string, number>;
console.log(Object.keys(balances).length, balances.sav);
