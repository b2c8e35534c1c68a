// Promise.race between a call and a timer that is far longer.
// servers: jobs
// calls: jobs.fetch-quote 1
// result: 50
const timeout = (ms) => new Promise((_, reject) => setTimeout(() => reject(new Error("too slow")), ms));
const quote = await Promise.race([jobsFetchQuote({ symbol: "ACME" }), timeout(300)]);
return quote.price;
