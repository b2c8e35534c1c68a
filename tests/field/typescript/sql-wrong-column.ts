// A failure that nobody would mind is looked at, and mended.
// servers: db
// calls: db.query 2
// prints:
//   Ana, Ben
let r = await query({ sql: "SELECT title FROM employees" });
if (!r.success) {
  console.error(r.error);
  r = await query({ sql: "SELECT name FROM employees LIMIT 2" });
}
console.log(r.success ? r.value.map((x: { name: string }) => x.name).join(", ") : r.error);
