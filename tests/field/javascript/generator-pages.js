// An async generator yields the items of all pages; for await reads as many as it needs.
// servers: shop
// calls: shop.listProducts 2
// result: ["Desk lamp","Oak chair","Stool"]
async function* products() {
  for (let page = 1; ; page++) {
    const { products, totalPages } = await shopListProducts({ page, pageSize: 2 });
    yield* products;
    if (page >= totalPages) return;
  }
}
const cheap = [];
for await (const p of products()) {
  if (p.price < 60) cheap.push(p.name);
  if (cheap.length === 3) break;
}
return cheap;
