// The program is one function that takes the input as its argument.
// servers: db
// input: {"country": "DE"}
// calls: db.query 1
// result: ["Acme","Hooli"]
async function run({ country }) {
  const rows = await dbQuery({ sql: `SELECT name FROM customers WHERE country = '${country}' ORDER BY name` });
  return rows.map((r) => r.name);
}
