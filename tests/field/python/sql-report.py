# Two queries joined, a table by format.
# servers: db
# calls: db.query 2
# logs:
#   customer         total
#   Initech         720.00
#   Acme            325.00
#   Globex           99.50
# result: 1144.5
customers = {c["id"]: c["name"] for c in db_query(sql="SELECT id, name FROM customers")}
totals = {}
for o in db_query(sql="SELECT customer_id, total FROM orders WHERE status = 'paid'"):
    totals[o["customer_id"]] = totals.get(o["customer_id"], 0) + o["total"]
print(f"{'customer':<12}{'total':>10}")
for cid, total in sorted(totals.items(), key=lambda kv: -kv[1]):
    print(f"{customers[cid]:<12}{total:>10,.2f}")
sum(totals.values())
