// Search results narrowed by a predicate.
// servers: web
// calls: web.search 1, web.fetch_page 2
// prints:
//   Eiffel Tower: 330 m
//   Burj Khalifa: 828 m
type Hit = { url: string; title: string; snippet: string };
const isHeight = (h: Hit): boolean => /heights\./.test(new URL(h.url).hostname);
const r = await search({ query: "tower height", max_results: 5 });
if (!r.success) throw new Error(r.error);
const hits: Hit[] = r.value.results.filter(isHeight);
for (const h of hits) {
  const page = await fetch_page({ url: h.url });
  if (page.success) console.log(`${h.title}: ${Number(/Height: (\d+)/.exec(page.value)?.[1])} m`);
}
