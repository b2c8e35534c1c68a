// localeCompare with options, and a list in words.
// servers: shop
// calls: shop.listProducts 3
// result: "apple, Cup, blue, and Zebra (3)"
const names = [];
for (let page = 1; page <= 3; page++) names.push(...(await shopListProducts({ page })).products.map((p) => p.name));
names.push("étagère", "Zebra", "apple");
names.sort((a, b) => a.localeCompare(b, "en", { sensitivity: "base" }));
return new Intl.ListFormat("en", { style: "long", type: "conjunction" }).format([names[0], names[1], names.at(-1)]) + ` (${names.indexOf("étagère")})`;
