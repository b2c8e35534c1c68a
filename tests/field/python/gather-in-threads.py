# Tools side by side: asyncio.to_thread in gather.
# servers: shop
# calls: shop.getProduct 3
# logs:
#   389.9
import asyncio

async def main():
    tasks = [asyncio.to_thread(shop_getProduct, sku=s) for s in ("LMP-1", "DSK-1", "RUG-1")]
    products = await asyncio.gather(*tasks)
    return sum(p["price"] for p in products)

print(asyncio.run(main()))
