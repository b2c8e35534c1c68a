// Input with a shape and defaults.
// servers: shop
// input: {"skus": ["CUP-1", "CHR-2"], "minimum": 5}
// calls: shop.getProduct 2
// prints:
//   Stool (0)
const { skus, minimum = 1 } = input as { skus: string[]; minimum?: number };
const short: string[] = [];
for (const sku of skus) {
  const r = await getProduct({ sku });
  if (r.success && r.value.stock < minimum) short.push(`${r.value.name} (${r.value.stock})`);
}
console.log(short.length ? short.join(", ") : "all there");
