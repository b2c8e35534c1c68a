// Interfaces, a typed array, a comparison function.
// servers: shop
// calls: shop.getOrder 1, shop.getProduct 2
// prints:
//   Writing desk    240.00
//   Oak chair       108.00
//   Total: 348
interface Line {
  sku: string;
  name: string;
  total: number;
}

const order = await getOrder({ id: "o3" });
if (!order.success) throw new Error(order.error);

const lines: Line[] = [];
for (const item of order.value.items) {
  const product = await getProduct({ sku: item.sku });
  if (!product.success) continue;
  lines.push({ sku: item.sku, name: product.value.name, total: product.value.price * item.quantity });
}
lines.sort((a: Line, b: Line): number => b.total - a.total);
for (const line of lines) console.log(`${line.name.padEnd(15)} ${line.total.toFixed(2)}`);
const sum: number = lines.reduce((s, l) => s + l.total, 0);
console.log(`Total: ${sum}`);
