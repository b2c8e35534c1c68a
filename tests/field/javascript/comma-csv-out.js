// Rows become CSV, written to a file, read back and counted.
// servers: db, files
// calls: db.query 1, files.write_file 1, files.read_text_file 1
// result: {"lines":6,"head":"id,customer_id,total\n107,1,75"}
const rows = await dbQuery({ sql: "SELECT id, customer_id, total FROM orders WHERE total >= 75 ORDER BY total" });
const header = Object.keys(rows[0]);
const csv = [header.join(","), ...rows.map((r) => header.map((h) => JSON.stringify(r[h])).join(","))].join("\n");
await filesWriteFile({ path: "out/orders.csv", content: csv });
const back = await filesReadTextFile({ path: "out/orders.csv", head: 2 });
return { lines: csv.split("\n").length, head: back };
