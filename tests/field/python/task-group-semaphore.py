# A semaphore limits how many are open.
# servers: bank
# calls: bank.get_rate 3
# result: {"USD":1.08,"GBP":0.855,"JPY":161.5}
import asyncio

async def rate(semaphore, quote):
    async with semaphore:
        return quote, (await asyncio.to_thread(bank_get_rate, base="EUR", quote=quote))["rate"]

async def main():
    semaphore = asyncio.Semaphore(2)
    tasks = [asyncio.create_task(rate(semaphore, q)) for q in ("USD", "GBP", "JPY")]
    return dict([await t for t in tasks])

set_result(asyncio.run(main()))
