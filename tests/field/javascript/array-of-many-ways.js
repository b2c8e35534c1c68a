// flatMap, entries, keys, fill, findLast, with, includes, at.
// servers: weather
// calls: weather.get-forecast 1
// result: {"peaks":["2026-03-10","2026-03-13"],"lastRain":"2026-03-12","padded":[null,13.4],"bars":["###########","#############","##########"],"has":true,"zeros":[0,0,0]}
const { days } = await weatherGetForecast({ city: "Berlin", days: 6 });
const highs = days.map((d) => d.high);
const peaks = [...highs.entries()].filter(([i, h]) => i > 0 && i < highs.length - 1 && h > highs[i - 1] && h > highs[i + 1]).map(([i]) => days[i].date);
return {
  peaks,
  lastRain: days.findLast((d) => d.condition === "rain")?.date,
  padded: highs.with(0, null).slice(0, 2),
  bars: highs.slice(0, 3).map((h) => "#".repeat(Math.round(h))),
  has: days.some((d) => ["snow", "windy"].includes(d.condition)),
  zeros: Array(3).fill(0),
};
