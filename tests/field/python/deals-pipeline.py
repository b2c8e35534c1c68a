# namedtuple, sum with a condition, percent.
# servers: crm
# calls: crm.list-deals 1
# logs:
#   win rate 87%
# result: "Initech expansion"
from collections import namedtuple
Deal = namedtuple("Deal", "name amount stage")
deals = [Deal(d["name"], d["amount"], d["stage"]) for d in crm_list_deals()["deals"]]
won = sum(d.amount for d in deals if d.stage == "won")
closed = sum(d.amount for d in deals if d.stage != "open")
print(f"win rate {won / closed:.0%}")
max(deals, key=lambda d: d.amount).name
