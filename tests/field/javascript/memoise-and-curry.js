// Closures: a memo, a curried function, composition.
// servers: bank
// calls: bank.get_rate 1
// result: ["$10.8","$107.99","$270"]
const memo = (fn, cache = {}) => (k) => (cache[k] ??= fn(k));
const rate = memo((pair) => { const [base, quote] = pair.split("/"); return bankGetRate({ base, quote }).rate; });
const convert = (pair) => (amount) => amount * rate(pair);
const pipe = (...fns) => (x) => fns.reduce((v, f) => f(v), x);
const price = pipe(convert("EUR/USD"), (x) => Math.round(x * 100) / 100, (x) => `$${x}`);
[10, 99.99, 250].map(price);
