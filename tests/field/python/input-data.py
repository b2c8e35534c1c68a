# The parameters come as input_data.
# servers: weather
# input: {"cities": ["Oslo", "Cairo"], "limit": 10}
# calls: weather.get-current 2
# result: ["Cairo"]
over = [c for c in input_data["cities"] if weather_get_current(city=c)["temperature"] > input_data.get("limit", 0)]
set_result(over)
