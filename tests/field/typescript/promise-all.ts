// Several results at once; failures are told apart by a type guard.
// servers: weather
// calls: weather.get-current 3
// prints:
//   ok: Berlin 11.4, Austin 24.5
//   failed: Atlantis: Tool "weather.get-current" failed: No such city: Atlantis
const names: string[] = ["Berlin", "Atlantis", "Austin"];
const results = await Promise.all(names.map((city) => get_current({ city })));

const good: string[] = [];
const bad: string[] = [];
results.forEach((r, i) => {
  if (r.success) good.push(`${r.value.city} ${r.value.temperature}`);
  else bad.push(`${names[i]}: ${r.error}`);
});
console.log("ok:", good.join(", "));
console.log("failed:", bad.join(", "));
