// A pool of two workers over a shared queue.
// servers: shop
// calls: shop.getProduct 5
// result: {"LMP-1":34,"CHR-2":0,"DSK-1":2,"NOPE":"unknown","RUG-1":5}
const queue = ["LMP-1", "CHR-2", "DSK-1", "NOPE", "RUG-1"];
const results = {};
async function worker() {
  while (queue.length) {
    const sku = queue.shift();
    try {
      results[sku] = (await shopGetProduct({ sku })).stock;
    } catch {
      results[sku] = "unknown";
    }
  }
}
await Promise.all([worker(), worker()]);
return results;
