# One call, an f-string, a value.
# servers: weather
# calls: weather.get-current 1
# logs:
#   Lisbon: 19.2°C, sunny
# result: 19.2
w = weather_get_current(city="Lisbon")
print(f"{w['city']}: {w['temperature']}°C, {w['condition']}")
w["temperature"]
