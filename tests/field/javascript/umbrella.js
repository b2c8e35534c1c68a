// Days with rain in the next week, or a sentence when there are none.
// servers: weather
// calls: weather.get-forecast 1
// result: "2026-03-12, 2026-03-13, 2026-03-15"
const forecast = weatherGetForecast({ city: "London", days: 7 });
const wet = forecast.days.filter((d) => d.condition === "rain" || d.rainMm > 5);
if (wet.length === 0) {
  return "No umbrella needed.";
}
return wet.map((d) => d.date).join(", ");
