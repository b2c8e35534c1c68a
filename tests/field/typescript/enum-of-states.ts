// An enum with string members.
// servers: shop
// calls: shop.listOrders 2
// prints:
//   pending: 2, shipped: 1
// result: ["pending","shipped"]
enum Status {
  Pending = "pending",
  Shipped = "shipped",
}

const pending = await listOrders({ status: Status.Pending });
const shipped = await listOrders({ status: Status.Shipped });
if (pending.success && shipped.success) {
  console.log(`${Status.Pending}: ${pending.value.orders.length}, ${Status.Shipped}: ${shipped.value.orders.length}`);
}
return Object.values(Status);
