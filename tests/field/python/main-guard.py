# def main and the guard below it.
# servers: weather
# calls: weather.get-forecast 1
# result: 2
# logs:
#   {"date": "2026-03-09", "high": 14.6, "low": 8.1, "condition": "rain", "rainMm": 7}
import json

def main():
    forecast = weather_get_forecast(city="Tokyo", days=2)
    print(json.dumps(forecast["days"][0]))
    return len(forecast["days"])

if __name__ == "__main__":
    main()
