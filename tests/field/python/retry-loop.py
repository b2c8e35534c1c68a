# A loop with pauses that grow.
# servers: jobs
# calls: jobs.fetch-quote 3
# logs:
#   62.50 after 3 tries
# result: 3
import time

def with_retry(fn, attempts=5):
    for i in range(attempts):
        try:
            return fn()
        except Exception as e:
            if "429" not in str(e) or i == attempts - 1:
                raise
            time.sleep(0.001 * 2 ** i)

quote = with_retry(lambda: jobs_fetch_quote(symbol="FLAKY"))
print(f"{quote['price']:.2f} after {quote['tries']} tries")
quote["tries"]
