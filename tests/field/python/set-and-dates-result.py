# Sets, dates and tuples as parts of the result.
# servers: db
# calls: db.query 1
# result: {"countries":["DE","GB","US"],"first":"2023-11-12","pair":[1,2]}
from datetime import date
rows = db_query(sql="SELECT country, since FROM customers")
set_result({"countries": sorted({r["country"] for r in rows}), "first": min(date.fromisoformat(r["since"]) for r in rows), "pair": (1, 2)})
