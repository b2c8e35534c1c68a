# zip, enumerate, sorted with tuples, unpacking.
# servers: weather
# calls: weather.get-forecast 1
# logs:
#   1. +13.4
#   2. +10.4
#   3. +12.4
# result: [13.4,12.4]
(_, *highs), lows = ((lambda d: [x["high"] for x in d])(weather_get_forecast(city="Berlin", days=4)["days"]), [1, 2, 3])
table = [f"{i}. {h:+.1f}" for i, (h, _) in enumerate(zip(highs, lows), start=1)]
print("\n".join(table))
sorted(highs, reverse=True)[:2]
