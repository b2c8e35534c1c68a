# An exception class of the program's own, raised from another.
# servers: shop
# calls: shop.reserveStock 2
# result: [11,"none of CHR-2 (True)"]
class OutOfStock(Exception):
    pass

def reserve(sku, quantity=1):
    try:
        return shop_reserveStock(sku=sku, quantity=quantity)["left"]
    except ToolError as e:
        raise OutOfStock(sku) from e

out = []
for sku in ("CHR-1", "CHR-2"):
    try:
        out.append(reserve(sku))
    except OutOfStock as e:
        out.append(f"none of {e} ({'Insufficient' in str(e.__cause__)})")
out
