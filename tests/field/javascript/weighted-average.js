// Two services in one loop of destructured entries.
// servers: weather
// calls: weather.get-current 3
// result: "11.275 °C"
const weights = { Berlin: 2, Oslo: 1, Lisbon: 1 };
let sum = 0, of = 0;
for (const [city, weight] of Object.entries(weights)) {
  const { temperature } = await weatherGetCurrent({ city });
  sum += temperature * weight;
  of += weight;
}
return `${(sum / of).toFixed(3)} °C`;
