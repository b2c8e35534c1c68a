// A CSV file parsed by hand, sums by region.
// servers: files
// calls: files.read_text_file 1
// result: [["north",583.7],["east",393],["south",348]]
const csv = await filesReadTextFile({ path: "data/sales.csv" });
const [head, ...rows] = csv.trim().split("\n").map((line) => line.split(","));
const sales = rows.map((cells) => Object.fromEntries(cells.map((cell, i) => [head[i], cell])));

const byRegion = sales.reduce((acc, s) => {
  const revenue = Number(s.units) * Number(s.price);
  acc[s.region] = Math.round(((acc[s.region] ?? 0) + revenue) * 100) / 100;
  return acc;
}, {});

return Object.entries(byRegion).sort(([, a], [, b]) => b - a);
