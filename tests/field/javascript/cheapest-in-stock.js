// find, some, every, flat and sort on products.
// servers: shop
// calls: shop.listProducts 3
// result: {"cheapest":"Cup, blue","dearest":"Writing desk","anyEmpty":true,"allPriced":true,"stool":"CHR-2"}
const pages = await Promise.all([1, 2, 3].map((page) => shopListProducts({ page })));
const products = pages.map((p) => p.products).flat();
const inStock = products.filter((p) => p.stock > 0).sort((a, b) => a.price - b.price);
return {
  cheapest: inStock[0].name,
  dearest: inStock[inStock.length - 1].name,
  anyEmpty: products.some((p) => p.stock === 0),
  allPriced: products.every(({ price }) => price > 0),
  stool: products.find((p) => /stool/i.test(p.name))?.sku ?? null,
};
