# An error of the program's own, and its line.
# servers: bank
# error: ValueError: over budget by 140.4
# line: 9
# calls: bank.list_transactions 1
spent = -sum(t["amount"] for t in bank_list_transactions(since="2026-03-01")["transactions"] if t["amount"] < 0)
limit = 82.75
if spent > limit:
    raise ValueError(f"over budget by {spent - limit:.1f}")
