// async function main with a return type, called at the end.
// servers: weather
// calls: weather.get-forecast 1
// prints:
//   coldest: 2026-03-10 (-3.4)
async function main(): Promise<void> {
  const r = await get_forecast({ city: "Oslo", days: 3 });
  if (!r.success) {
    console.error(r.error);
    return;
  }
  const coldest = r.value.days.reduce((a, b) => (b.low < a.low ? b : a));
  console.log(`coldest: ${coldest.date} (${coldest.low})`);
}

await main();
