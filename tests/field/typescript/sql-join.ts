// Rows without a declared type get one by a cast.
// servers: db
// calls: db.query 2
// prints:
//   Initech (US): 720
//   Acme (DE): 325
//   Globex (US): 99.5
interface Customer { id: number; name: string; country: string }
interface Order { customer_id: number; total: number; status: string }

const customers = await query({ sql: "SELECT id, name, country FROM customers" });
const orders = await query({ sql: "SELECT customer_id, total, status FROM orders" });
if (!customers.success || !orders.success) throw new Error("database");

const totals = new Map<number, number>();
for (const o of orders.value as Order[]) {
  if (o.status !== "paid") continue;
  totals.set(o.customer_id, (totals.get(o.customer_id) ?? 0) + o.total);
}
const rows = (customers.value as Customer[])
  .map((c) => ({ ...c, total: totals.get(c.id) ?? 0 }))
  .filter((c) => c.total > 0)
  .sort((a, b) => b.total - a.total);
for (const { name, country, total } of rows) console.log(`${name} (${country}): ${total}`);
