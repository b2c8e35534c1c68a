// Two queries joined in the program.
// servers: db
// calls: db.query 2
// result: [{"name":"Initech","total":720,"orders":1},{"name":"Acme","total":325,"orders":2},{"name":"Globex","total":99.5,"orders":1}]
const customers = await dbQuery({ sql: "SELECT id, name FROM customers" });
const orders = await dbQuery({ sql: "SELECT customer_id, total FROM orders WHERE status = 'paid'" });
const totals = new Map(customers.map((c) => [c.id, { name: c.name, total: 0, orders: 0 }]));
for (const { customer_id, total } of orders) {
  const t = totals.get(customer_id);
  t.total += total;
  t.orders++;
}
return [...totals.values()].filter((t) => t.orders > 0).sort((a, b) => b.total - a.total);
