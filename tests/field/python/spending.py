# Categories with shares, sorted by a lambda.
# servers: bank
# calls: bank.list_transactions 1
# logs:
#   food       163.25  73.2%
#   leisure     59.90  26.8%
# result: 223.15
tx = [t for t in bank_list_transactions(since="2026-03-01")["transactions"] if t["amount"] < 0]
total = -sum(t["amount"] for t in tx)
shares = {}
for t in tx:
    shares[t["category"]] = shares.get(t["category"], 0) - t["amount"]
for name, amount in sorted(shares.items(), key=lambda x: x[1], reverse=True):
    print(f"{name:<8} {amount:8.2f} {amount / total:6.1%}")
round(total, 2)
