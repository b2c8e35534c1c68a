# The first query fails; the columns are asked for.
# servers: db
# calls: db.query 2, db.describe_table 1
# logs:
#   Tool 'db.query' failed: column "full_name" does not exist
# result: ["Ana","Ben","Chloe"]
try:
    rows = db_query(sql="SELECT full_name FROM employees")
except ToolError as e:
    print(e)
    columns = [c["name"] for c in db_describe_table(table="employees")["columns"]]
    name = next(c for c in columns if "name" in c)
    rows = db_query(sql=f"SELECT {name} FROM employees ORDER BY {name} LIMIT 3")
[list(r.values())[0] for r in rows]
