# Tuples as keys; a dict comprehension with a condition.
# servers: bank
# calls: bank.list_transactions 1
# result: {"Cinema":["tx7","tx8"]}
from collections import defaultdict
groups = defaultdict(list)
for t in bank_list_transactions()["transactions"]:
    groups[(t["date"], t["description"], t["amount"])].append(t["id"])
{k[1]: ids for k, ids in groups.items() if len(ids) > 1}
