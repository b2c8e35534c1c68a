# call_tools_parallel with names of tools.
# servers: bank
# calls: bank.get_rate 3
# result: {"EUR/USD":1.08,"EUR/GBP":0.855,"EUR/JPY":161.5}
pairs = [("EUR", "USD"), ("EUR", "GBP"), ("EUR", "JPY")]
rates = call_tools_parallel([("bank.get_rate", {"base": b, "quote": q}) for b, q in pairs])
result = {f"{b}/{q}": r["rate"] for (b, q), r in zip(pairs, rates)}
result
