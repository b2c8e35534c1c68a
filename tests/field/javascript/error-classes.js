// An error class of the program's own with a cause; instanceof.
// servers: shop
// calls: shop.reserveStock 3
// result: [11,"OutOfStock: CHR-2 is out of stock, 0 left","other error"]
class OutOfStock extends Error {
  constructor(sku, options) {
    super(`${sku} is out of stock`, options);
    this.name = "OutOfStock";
    this.sku = sku;
  }
}
async function reserve(sku) {
  try {
    return await shopReserveStock({ sku, quantity: 1 });
  } catch (cause) {
    throw /Insufficient/.test(cause.message) ? new OutOfStock(sku, { cause }) : cause;
  }
}
const outcome = [];
for (const sku of ["CHR-1", "CHR-2", "NOPE"]) {
  try {
    outcome.push((await reserve(sku)).left);
  } catch (e) {
    outcome.push(e instanceof OutOfStock ? `${e.name}: ${e.message}, ${e.cause.message.match(/\d+ left/)[0]}` : "other error");
  }
}
return outcome;
