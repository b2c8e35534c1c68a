// Looks at the tables first, then asks: no table is named in the program before.
// servers: db
// calls: db.list_tables 1, db.describe_table 3, db.query 3
// result: {"customers":{"columns":["id","name","country","since"],"rows":5},"orders":{"columns":["id","customer_id","total","status","created"],"rows":7},"employees":{"columns":["id","name","department","salary","manager_id"],"rows":5}}
const { tables } = await dbListTables({});
const schema = {};
for (const table of tables) {
  const { columns } = await dbDescribeTable({ table });
  const [{ n }] = await dbQuery({ sql: `SELECT COUNT(*) AS n FROM ${table}` });
  schema[table] = { columns: columns.map((c) => c.name), rows: n };
}
console.log(JSON.stringify(schema, null, 2));
return schema;
