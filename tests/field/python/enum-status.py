# Enums, also as keys.
# servers: shop
# calls: shop.listOrders 2
# result: {"pending":2,"shipped":1}
from enum import Enum

class Status(str, Enum):
    PENDING = "pending"
    SHIPPED = "shipped"

counts = {s: len(shop_listOrders(status=s.value)["orders"]) for s in Status}
{s.name.lower(): n for s, n in counts.items()}
