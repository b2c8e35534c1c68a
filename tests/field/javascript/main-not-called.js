// main() is defined and not called.
// servers: weather
// calls: weather.get-forecast 1
// result: ["2026-03-09 8.1..14.6","2026-03-10 10.1..16.6"]
const CITY = "Tokyo";

async function main() {
  const { days } = await weatherGetForecast({ city: CITY, days: 2 });
  return days.map((d) => `${d.date} ${d.low}..${d.high}`);
}
