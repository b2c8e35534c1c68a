// A typed call, its failure looked at first.
// servers: weather
// calls: weather.get-current 1
// prints:
//   Lisbon: 19.2°C and sunny
const result = await get_current({ city: "Lisbon" });
if (!result.success) {
  console.error(`could not get the weather: ${result.error}`);
} else {
  const { city, temperature, condition } = result.value;
  console.log(`${city}: ${temperature}°C and ${condition}`);
}
