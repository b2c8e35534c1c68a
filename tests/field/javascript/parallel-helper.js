// parallel() with names of tools; one of them fails.
// servers: weather
// calls: weather.get-current 3
// prints:
//   Oslo 3.1, Cairo 27.8
//   true
const [oslo, nowhere, cairo] = parallel([
  { tool: "weather.get-current", input: { city: "Oslo" } },
  { tool: "weather.get-current", input: { city: "Nowhere" } },
  { tool: "weather.get-current", input: { city: "Cairo" } },
]);
output(`${oslo.city} ${oslo.temperature}, ${cairo.city} ${cairo.temperature}`);
output(/No such city/.test(nowhere.error));
