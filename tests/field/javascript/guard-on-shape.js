// The answer is an object here and a text there: the program looks before it reads.
// servers: weather, web
// calls: weather.get-alerts 1, weather.get-current 1, web.fetch_page 1
// result: [["text",23],["object",6],["error",true]]
const sources = [() => weatherGetAlerts({ area: "US" }), () => weatherGetCurrent({ city: "New York" }), () => webFetchPage({ url: "https://nowhere.example" })];
const seen = [];
for (const get of sources) {
  const r = await Promise.resolve().then(get).catch((e) => e);
  if (r instanceof Error) seen.push(["error", r.message.includes("404")]);
  else if (typeof r === "string") seen.push(["text", r.length]);
  else seen.push(["object", Object.keys(r).length]);
}
return seen;
