# The same, with failures in their places.
# servers: weather
# calls: weather.get-current 3
# logs:
#   ['Oslo', 'Cairo']
# result: true
names = ["Oslo", "Atlantis", "Cairo"]
answers = call_tools_parallel([("weather.get-current", {"city": n}) for n in names], return_exceptions=True)
ok = [a["city"] for a in answers if not isinstance(a, Exception)]
bad = {n: str(a) for n, a in zip(names, answers) if isinstance(a, Exception)}
print(ok)
"No such city" in bad["Atlantis"]
