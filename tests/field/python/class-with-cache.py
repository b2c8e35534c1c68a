# A class round the tools, with functools.lru_cache and a property.
# servers: shop
# calls: shop.getOrder 3, shop.getProduct 4
# logs:
#   total 507.80, 4 products asked
# result: 507.8
from functools import lru_cache

class Shop:
    def __init__(self):
        self.calls = 0

    @lru_cache(maxsize=None)
    def product(self, sku):
        self.calls += 1
        return shop_getProduct(sku=sku)

    @property
    def asked(self):
        return self.calls

shop = Shop()
total = 0
for order_id in ("o1", "o3", "o5"):
    for item in shop_getOrder(id=order_id)["items"]:
        total += shop.product(item["sku"])["price"] * item["quantity"]
print(f"total {total:.2f}, {shop.asked} products asked")
round(total, 2)
