// A check before an effect, and an error of the tool that is expected.
// servers: bank
// calls: bank.list_accounts 1, bank.transfer 2
// result: [{"amount":500,"status":"completed","left":1810.55},{"amount":5000,"error":"Insufficient funds: 1810.55 EUR"}]
const { accounts } = await bankListAccounts();
const [checking] = accounts.filter((a) => a.id === "chk");
const amounts = [500, 5000];
const done = [];
for (const amount of amounts) {
  try {
    const { status, from } = await bankTransfer({ from: checking.id, to: "sav", amount });
    done.push({ amount, status, left: from.balance });
  } catch (error) {
    done.push({ amount, error: error.message.split(": ").slice(1).join(": ") });
  }
}
return done;
