// Tools by their id, chosen at run time.
// servers: weather
// calls: weather.get-current 1, weather.get-forecast 1
// prints:
//   weather.get-current 6
//   weather.get-forecast 2
for (const id of ["weather.get-current", "weather.get-forecast"] as const) {
  const r = await tools[id]({ city: "Tokyo" });
  console.log(id, r.success ? Object.keys(r.value).length : r.error);
}
