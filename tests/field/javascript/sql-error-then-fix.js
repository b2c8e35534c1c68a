// The first query fails with a name that is not there; the program asks for the columns and goes on.
// servers: db
// calls: db.query 2, db.describe_table 1
// result: {"rows":[{"name":"Ana","salary":7200},{"name":"Ben","salary":6100}],"missing":"wage"}
async function safeQuery(sql) {
  try {
    return { rows: await dbQuery({ sql }) };
  } catch (e) {
    return { error: e.message };
  }
}
let answer = await safeQuery("SELECT name, wage FROM employees");
if (answer.error) {
  const missing = /column "(\w+)" does not exist/.exec(answer.error)[1];
  const { columns } = await dbDescribeTable({ table: "employees" });
  const pay = columns.find((c) => /salary|pay/.test(c.name)).name;
  answer = { ...(await safeQuery(`SELECT name, ${pay} FROM employees ORDER BY ${pay} DESC LIMIT 2`)), missing };
}
return answer;
