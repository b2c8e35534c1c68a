// A signal that a loop looks at.
// servers: shop
// calls: shop.listProducts 2
// result: ["LMP-1","CHR-2","aborted: enough"]
const controller = new AbortController();
const { signal } = controller;
const seen = [];
signal.addEventListener("abort", () => seen.push(`aborted: ${signal.reason}`));
for (let page = 1; page <= 3; page++) {
  if (signal.aborted) break;
  const { products } = await shopListProducts({ page });
  seen.push(products[0].sku);
  if (page === 2) controller.abort("enough");
}
return seen;
