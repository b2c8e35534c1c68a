// main is defined and not called.
// servers: weather
// calls: weather.geocode 1
// result: "US"
async function main(): Promise<string> {
  const r = await geocode({ query: "new" });
  return r.success ? r.value.results.map((p) => p.country).join() : r.error;
}
