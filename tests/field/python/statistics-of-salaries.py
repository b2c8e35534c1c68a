# statistics, zip and sorted.
# servers: db
# calls: db.query 1
# result: {"design":{"mean":5800,"n":1},"engineering":{"mean":6650,"n":2},"sales":{"mean":5100,"n":2},"median":5800}
import statistics as st
rows = db_query(sql="SELECT department, salary FROM employees")
by = {}
for r in rows:
    by.setdefault(r["department"], []).append(r["salary"])
{d: {"mean": st.mean(v), "n": len(v)} for d, v in sorted(by.items())} | {"median": st.median(r["salary"] for r in rows)}
