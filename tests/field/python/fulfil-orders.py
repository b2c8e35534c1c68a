# Orders shipped where all is there.
# servers: shop
# calls: shop.listOrders 2, shop.getProduct 4, shop.reserveStock 3, shop.updateOrder 2
# result: {"shipped":["o3","o5"],"waiting":["o2"]}
def pending():
    cursor = None
    while True:
        args = {"status": "pending"}
        if cursor:
            args["cursor"] = cursor
        page = shop_listOrders(**args)
        yield from page["orders"]
        cursor = page["nextCursor"]
        if cursor is None:
            return

shipped, waiting = [], []
for order in list(pending()):
    if all(shop_getProduct(sku=i["sku"])["stock"] >= i["quantity"] for i in order["items"]):
        for i in order["items"]:
            shop_reserveStock(sku=i["sku"], quantity=i["quantity"])
        shop_updateOrder(id=order["id"], status="shipped")
        shipped.append(order["id"])
    else:
        waiting.append(order["id"])
set_result({"shipped": shipped, "waiting": waiting})
