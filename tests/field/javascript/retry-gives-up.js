// The same with a service that never answers: the program says so in its result.
// servers: jobs
// calls: jobs.fetch-quote 3
// result: {"ok":false,"attempts":3,"last":"attempt 3: Tool \"jobs.fetch-quote\" failed: 503 Service Unavailable"}
const errors = [];
let quote = null;
for (let attempt = 1; attempt <= 3 && !quote; attempt++) {
  try {
    quote = await jobsFetchQuote({ symbol: "DOWN" });
  } catch (e) {
    errors.push(`attempt ${attempt}: ${e.message}`);
    await sleep(1);
  }
}
return quote ?? { ok: false, attempts: errors.length, last: errors.at(-1) };
