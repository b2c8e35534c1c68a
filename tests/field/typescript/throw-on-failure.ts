// A generic helper that unwraps a result or throws.
// servers: weather
// calls: weather.get-current 3
// prints:
//   3.1 27.8 15.6
// result: {"Oslo":3.1,"Cairo":27.8,"Tokyo":15.6}
function unwrap<T>(result: { success: true; value: T } | { success: false; error: string }): T {
  if (!result.success) throw new Error(result.error);
  return result.value;
}

const cities = ["Oslo", "Cairo", "Tokyo"] as const;
type City = (typeof cities)[number];

const temperatures = {} as Record<City, number>;
for (const city of cities) {
  temperatures[city] = unwrap(await get_current({ city })).temperature;
}
console.log(temperatures.Oslo, temperatures.Cairo, temperatures.Tokyo);
return temperatures;
