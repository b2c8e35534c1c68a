// Days between dates, the first of a month, weekdays, ISO weeks.
// servers: db
// calls: db.query 1
// result: [{"name":"Globex","days":848,"weekday":"Su","trialEnds":"2023-12-12"},{"name":"Acme","days":677,"weekday":"We","trialEnds":"2024-06-01"}]
const customers = await dbQuery({ sql: "SELECT name, since FROM customers ORDER BY since" });
const today = new Date("2026-03-09");
const days = (a, b) => Math.floor((b - a) / (1000 * 60 * 60 * 24));
const addMonths = (d, n) => { const c = new Date(d); c.setUTCMonth(c.getUTCMonth() + n); return c; };
return customers.map(({ name, since }) => {
  const d = new Date(since);
  return { name, days: days(d, today), weekday: ["Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"][d.getDay()], trialEnds: addMonths(d, 1).toISOString().slice(0, 10) };
}).slice(0, 2);
