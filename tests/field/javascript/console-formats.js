// Formats of console.log, and its other methods.
// servers: weather
// calls: weather.get-current 1
// result: "Oslo"
const w = weatherGetCurrent({ city: "Oslo" });
console.log("%s has %d degrees", w.city, w.temperature);
console.info("condition:", w.condition);
console.warn("humidity %i%%", w.humidity);
console.error("wind", w.windKph);
console.debug("end");
w.city;
