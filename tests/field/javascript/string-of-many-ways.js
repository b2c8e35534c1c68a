// padStart, split with a limit, replaceAll, at, codePointAt, normalize, trim, repeat.
// servers: shop
// calls: shop.listProducts 1
// prints:
//   Desk lamp...   19.90
//   Floor lamp..   89.00
//   Oak chair...   54.00
// result: ["creme-brulee-2","cup-blue","LMPLMPccDSKDSKRUGCUP"]
const { products } = await shopListProducts({ pageSize: 8 });
const slug = (s) => s.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
const width = Math.max(...products.map((p) => p.name.length));
output(products.slice(0, 3).map((p) => p.name.padEnd(width, ".") + String(p.price.toFixed(2)).padStart(8)).join("\n"));
return [slug("Crème brûlée, 2×"), slug(products[7].name), products.map((p) => p.sku.split("-", 1)[0]).join("").replaceAll("CHR", "c")];
