// Pages by number, typed by what the tool returns.
// servers: shop
// calls: shop.listProducts 3
// prints:
//   lighting=37 seating=12 tables=11 textiles=5 kitchen=120
type Page = Extract<Awaited<ReturnType<typeof listProducts>>, { success: true }>["value"];
const pages: Page[] = [];
for (let page = 1; ; page++) {
  const r = await listProducts({ page, pageSize: 3 });
  if (!r.success) throw new Error(r.error);
  pages.push(r.value);
  if (page === r.value.totalPages) break;
}
const all = pages.flatMap((p) => p.products);
const byCategory = new Map<string, number>();
all.forEach(({ category, stock }) => byCategory.set(category, (byCategory.get(category) ?? 0) + stock));
console.log([...byCategory].map(([c, n]) => `${c}=${n}`).join(" "));
