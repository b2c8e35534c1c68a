// The same file by month, in a Map, spread into an array.
// servers: files
// calls: files.read_text_file 1
// result: [{"month":"2026-01","units":6,"products":["chair","lamp"]},{"month":"2026-02","units":13,"products":["desk","lamp"]},{"month":"2026-03","units":4,"products":["chair"]}]
const csv = await filesReadTextFile({ path: "data/sales.csv" });
const months = new Map();
for (const line of csv.trim().split("\n").slice(1)) {
  const [date, , product, units] = line.split(",");
  const month = date.slice(0, 7);
  if (!months.has(month)) months.set(month, { units: 0, products: new Set() });
  const entry = months.get(month);
  entry.units += parseInt(units, 10);
  entry.products.add(product);
}
return [...months].map(([month, { units, products }]) => ({ month, units, products: [...products].sort() }));
