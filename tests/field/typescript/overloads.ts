// Overloaded functions and optional parameters.
// servers: bank
// calls: bank.get_rate 3
// prints:
//   92.59 85.5 5
function convert(amount: number, base: string): Promise<number>;
function convert(amount: number, base: string, quote: string): Promise<number>;
async function convert(amount: number, base: string, quote = "EUR"): Promise<number> {
  const rate = await get_rate({ base, quote });
  if (!rate.success) throw new Error(rate.error);
  return Number((amount * rate.value.rate).toFixed(2));
}
console.log(await convert(100, "USD"), await convert(100, "EUR", "GBP"), await convert(5, "EUR"));
