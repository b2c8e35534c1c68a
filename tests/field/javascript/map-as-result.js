// A Map and a Set as the result.
// servers: shop
// calls: shop.listProducts 1
// result: {"lighting":2,"seating":2,"tables":2,"textiles":1,"kitchen":1}
const { products } = await shopListProducts({ pageSize: 20 });
const byCategory = new Map();
for (const p of products) byCategory.set(p.category, (byCategory.get(p.category) ?? 0) + 1);
return byCategory;
