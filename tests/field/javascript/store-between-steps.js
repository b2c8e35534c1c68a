// store and recall as a small memory of the run.
// servers: weather
// calls: weather.get-current 2
// result: {"difference":16.1,"unknown":true}
for (const city of ["Oslo", "Lisbon"]) {
  store(city, (await weatherGetCurrent({ city })).temperature);
}
const difference = recall("Lisbon") - recall("Oslo");
return { difference: Math.round(difference * 10) / 10, unknown: recall("Paris") === undefined };
