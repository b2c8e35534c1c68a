// Types in a program that is called JavaScript.
// servers: weather
// calls: weather.get-current 2
// result: [{"city":"Oslo","temperature":3.1},{"city":"Austin","temperature":24.5}]
interface Report { city: string; temperature: number }
const cities: string[] = ["Oslo", "Austin"];
const reports: Report[] = [];
for (const city of cities) {
  const w = await weatherGetCurrent({ city }) as Report;
  reports.push({ city: w.city, temperature: w.temperature });
}
return reports;
