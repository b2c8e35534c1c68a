// Pages by number; the value of the stock; products that are short.
// servers: shop
// calls: shop.listProducts 3
// result: {"count":8,"value":4298.85,"low":["LMP-2","CHR-2","DSK-1"]}
let page = 1, totalPages = 1;
const products = [];
while (page <= totalPages) {
  const response = await shopListProducts({ page });
  products.push(...response.products);
  totalPages = response.totalPages;
  page += 1;
}
const value = products.reduce((sum, { price, stock }) => sum + price * stock, 0);
const low = products.filter((p) => p.stock < 5).map((p) => p.sku);
return { count: products.length, value: +value.toFixed(2), low };
