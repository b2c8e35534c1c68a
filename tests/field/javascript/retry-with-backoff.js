// A service that fails twice: a loop with a growing pause.
// servers: jobs
// calls: jobs.fetch-quote 3
// result: {"price":62.5,"tries":3}
async function withRetry(fn, attempts = 5, delay = 1) {
  for (let i = 1; ; i++) {
    try {
      return await fn();
    } catch (error) {
      if (i === attempts || !/429|503/.test(error.message)) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay * 2 ** i));
    }
  }
}
const quote = await withRetry(() => jobsFetchQuote({ symbol: "FLAKY" }));
return { price: quote.price, tries: quote.tries };
