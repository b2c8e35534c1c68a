// Promise.any: the first that answers wins, failures are left out.
// servers: jobs
// calls: jobs.fetch-quote 2
// result: "ACME"
const q = await Promise.any([jobsFetchQuote({ symbol: "DOWN" }), jobsFetchQuote({ symbol: "ACME" })]);
return q.symbol;
