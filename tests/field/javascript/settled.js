// One of several cities does not exist: Promise.allSettled.
// servers: weather
// calls: weather.get-current 3
// result: {"ok":["Oslo","Cairo"],"failed":[{"city":"Atlantis","reason":"Tool \"weather.get-current\" failed: No such city: Atlantis"}]}
const names = ["Oslo", "Atlantis", "Cairo"];
const results = await Promise.allSettled(names.map((city) => weatherGetCurrent({ city })));
const ok = [];
const failed = [];
results.forEach((r, i) => {
  if (r.status === "fulfilled") ok.push(r.value.city);
  else failed.push({ city: names[i], reason: r.reason.message });
});
return { ok, failed };
