# while and else, for and else, the walrus.
# servers: jobs
# calls: jobs.fetch-quote 5
# logs:
#   gave up
# result: {"tries":3,"price":75}
tries = 0
while tries < 3:
    tries += 1
    try:
        jobs_fetch_quote(symbol="DOWN")
        break
    except ToolError:
        continue
else:
    print("gave up")
for s in ("ACME", "LONGER"):
    if (price := jobs_fetch_quote(symbol=s)["price"]) > 60:
        break
else:
    price = None
{"tries": tries, "price": price}
