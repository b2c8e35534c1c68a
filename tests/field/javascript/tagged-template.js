// A tagged template that escapes its values.
// servers: db
// calls: db.query 1
// result: [{"id":104,"total":720},{"id":101,"total":250},{"id":102,"total":99.5}]
const sql = (strings, ...values) => strings.reduce((out, s, i) => out + s + (i < values.length ? (typeof values[i] === "number" ? values[i] : `'${String(values[i]).replace(/'/g, "''")}'`) : ""), "");
const rows = await dbQuery({ sql: sql`SELECT id, total FROM orders WHERE status = ${"paid"} AND total > ${90} ORDER BY total DESC` });
return rows;
