# max with a key over a list of calls.
# servers: weather
# calls: weather.get-current 4
# result: {"city":"Cairo","average":14.48}
cities = ["Oslo", "Cairo", "Berlin", "Tokyo"]
reports = [weather_get_current(city=c) for c in cities]
warmest = max(reports, key=lambda r: r["temperature"])
final = {"city": warmest["city"], "average": round(sum(r["temperature"] for r in reports) / len(reports), 2)}
set_result(final)
