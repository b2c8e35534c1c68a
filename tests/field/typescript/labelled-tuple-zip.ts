// A generic zip, rest tuples, a reduce with an initial tuple.
// servers: weather
// calls: weather.get-forecast 2
// prints:
//   18.4 23.4 18.4 18.4 23.4
const zip = <A, B>(a: A[], b: B[]): [A, B][] => a.map((x, i) => [x, b[i]]);
const [x, y] = await Promise.all([get_forecast({ city: "Oslo", days: 3 }), get_forecast({ city: "Austin", days: 3 })]);
if (!x.success || !y.success) throw new Error("no forecast");
const gaps = zip(x.value.days, y.value.days).map(([a, b]) => Math.round((b.high - a.high) * 10) / 10);
const [min, max] = gaps.reduce<[number, number]>(([lo, hi], g) => [Math.min(lo, g), Math.max(hi, g)], [Infinity, -Infinity]);
console.log(gaps.join(" "), min, max);
