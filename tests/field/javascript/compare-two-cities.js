// The warmer of two cities.
// servers: weather
// calls: weather.get-current 2
// result: {"warmer":"Lisbon","difference":7.8}
const lisbon = await weatherGetCurrent({ city: "Lisbon" });
const berlin = await weatherGetCurrent({ city: "Berlin" });

const warmer = lisbon.temperature > berlin.temperature ? lisbon : berlin;
return {
  warmer: warmer.city,
  difference: Number(Math.abs(lisbon.temperature - berlin.temperature).toFixed(1)),
};
