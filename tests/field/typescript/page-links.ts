// URL and URLSearchParams with types.
// servers: web
// calls: web.fetch_page 1
// prints:
//   https://heights.example /burj en
const base = "https://heights.example/eiffel";
const page = await fetch_page({ url: base });
if (!page.success) throw new Error(page.error);
const hrefs: string[] = Array.from((page.value as string).matchAll(/href="([^"]+)"/g), (m) => m[1].replace("&amp;", "&"));
const urls: URL[] = hrefs.map((h) => new URL(h, base));
for (const u of urls) console.log(u.origin, u.pathname, Object.fromEntries(u.searchParams).lang);
