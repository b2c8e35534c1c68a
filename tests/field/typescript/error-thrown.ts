// The program ends with its own error; its output so far is kept.
// servers: shop
// error: Unknown SKU: LMP-9
// line: 13
// calls: shop.getProduct 2
// prints:
//   Desk lamp
const skus: string[] = ["LMP-1", "LMP-9"];
for (const sku of skus) {
  const r = await getProduct({ sku });
  if (!r.success) {
    // nothing to do without it
    throw new Error(r.error);
  }
  console.log(r.value.name);
}
