# Tools by their id, chosen at run time.
# servers: weather, slack
# calls: weather.get-alerts 1, slack.list_users 1
# result: ["str","dict"]
plan = [("weather.get-alerts", {"area": "NO"}), ("slack.list_users", {})]
out = []
for name, args in plan:
    value = call_tool(name, args)
    out.append(type(value).__name__)
out
