// performance.now and Date.now as stop watches.
// servers: weather
// calls: weather.get-current 2
// result: {"positive":true,"sane":true}
const start = performance.now();
const began = Date.now();
await Promise.all(["Oslo", "Cairo"].map((city) => weatherGetCurrent({ city })));
const elapsed = performance.now() - start;
console.log(`took ${elapsed.toFixed(1)} ms`);
return { positive: elapsed >= 0, sane: elapsed < 60000 && Date.now() - began < 60000 };
