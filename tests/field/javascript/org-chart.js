// A tree from rows with a parent column, printed with indentation.
// servers: db
// calls: db.query 1
// prints:
//   Ana
//     Ben
//     Chloe
//       Dan
//       Eve
const rows = await dbQuery({ sql: "SELECT id, name, manager_id FROM employees" });
const children = {};
rows.forEach((r) => (children[r.manager_id] ||= []).push(r));
const lines = [];
const visit = (parent, depth) => {
  for (const r of children[parent] ?? []) {
    lines.push("  ".repeat(depth) + r.name);
    visit(r.id, depth + 1);
  }
};
visit(null, 0);
output(lines.join("\n"));
