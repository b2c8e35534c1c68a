// An async function named run that returns an object, as some servers of code mode ask for.
// servers: weather
// calls: weather.get-current 2
// result: {"difference":24.7}
async function run() {
  const [a, b] = await Promise.all([get_current({ city: "Oslo" }), get_current({ city: "Cairo" })]);
  if (!a.success || !b.success) return { error: "weather" };
  return { difference: Number((b.value.temperature - a.value.temperature).toFixed(1)) };
}
