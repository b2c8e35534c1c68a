// A business rule before an effect, with a custom error.
// servers: bank
// calls: bank.transfer 3
// prints:
//   left 1410.55
//   left 410.55
//   Tool "bank.transfer" failed: Insufficient funds: 410.55 EUR
//   LimitError: 2000 is over the limit of 1000
class LimitError extends Error {
  constructor(readonly amount: number, readonly limit: number) {
    super(`${amount} is over the limit of ${limit}`);
    this.name = "LimitError";
  }
}
async function pay(amount: number): Promise<string> {
  if (amount > 1000) throw new LimitError(amount, 1000);
  const r = await transfer({ from: "chk", to: "sav", amount });
  if (!r.success) return r.error;
  return `left ${r.value.from.balance}`;
}
for (const amount of [900, 1000, 900, 2000]) {
  try {
    console.log(await pay(amount));
  } catch (e: unknown) {
    if (e instanceof LimitError) console.log(`${e.name}: ${e.message}`);
    else throw e;
  }
}
