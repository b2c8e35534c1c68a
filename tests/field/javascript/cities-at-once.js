// A table of cities, asked side by side with Promise.all.
// servers: weather
// calls: weather.get-current 4
// result: ["Lisbon: 19.2°C, sunny","Tokyo: 15.6°C, rain","Berlin: 11.4°C, cloudy","Oslo: 3.1°C, snow"]
const cities = ["Berlin", "Lisbon", "Oslo", "Tokyo"];

const reports = await Promise.all(cities.map((city) => weatherGetCurrent({ city })));

return reports
  .sort((a, b) => b.temperature - a.temperature)
  .map(({ city, temperature, condition }) => `${city}: ${temperature}°C, ${condition}`);
