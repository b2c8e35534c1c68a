// Orders are checked, reserved and changed; the ones without stock stay.
// servers: shop
// calls: shop.listOrders 2, shop.getProduct 4, shop.reserveStock 3, shop.updateOrder 2
// result: {"shipped":["o3","o5"],"waiting":["o2"]}
const pending = [];
let cursor = null;
do {
  const page = await shopListOrders({ status: "pending", ...(cursor ? { cursor } : {}) });
  pending.push(...page.orders);
  cursor = page.nextCursor;
} while (cursor !== null);

const shipped = [], waiting = [];
for (const order of pending) {
  const checks = await Promise.all(order.items.map(async (i) => (await shopGetProduct({ sku: i.sku })).stock >= i.quantity));
  if (checks.every(Boolean)) {
    for (const { sku, quantity } of order.items) await shopReserveStock({ sku, quantity });
    await shopUpdateOrder({ id: order.id, status: "shipped" });
    shipped.push(order.id);
  } else {
    waiting.push(order.id);
  }
}
return { shipped, waiting };
