// A parser that returns records of a given shape.
// servers: files
// calls: files.read_text_file 1
// prints:
//   7 rows, best: desk on 2026-02-27
type Row = { date: string; region: string; product: string; units: number; price: number };
function parse(csv: string): Row[] {
  const [, ...lines] = csv.trim().split(/\r?\n/);
  return lines.map((line) => {
    const [date, region, product, units, price] = line.split(",");
    return { date, region, product, units: Number(units), price: Number(price) };
  });
}
const file = await read_text_file({ path: "data/sales.csv" });
if (!file.success) throw new Error(file.error);
const rows = parse(file.value);
const best = rows.reduce<Row | null>((m, r) => (m === null || r.units * r.price > m.units * m.price ? r : m), null);
console.log(`${rows.length} rows, best: ${best?.product} on ${best?.date}`);
