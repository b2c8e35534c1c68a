// A typed retry with a pause.
// servers: jobs
// calls: jobs.fetch-quote 4
// prints:
//   FLAKY 62.5 at try 3
//   gave up: Tool "jobs.fetch-quote" failed: 503 Service Unavailable
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function retry<T>(fn: () => Promise<{ success: true; value: T } | { success: false; error: string }>, times = 4): Promise<T> {
  let last = "";
  for (let i = 0; i < times; i++) {
    const r = await fn();
    if (r.success) return r.value;
    last = r.error;
    if (!last.includes("429")) break;
    await pause(2 ** i);
  }
  throw new Error(`gave up: ${last}`);
}

const quote = await retry(() => fetch_quote({ symbol: "FLAKY" }));
console.log(`${quote.symbol} ${quote.price} at try ${quote.tries}`);
try {
  await retry(() => fetch_quote({ symbol: "DOWN" }));
} catch (e) {
  console.log((e as Error).message);
}
