// Links of a page, made absolute with URL, their parameters read.
// servers: web
// calls: web.fetch_page 2
// result: {"links":[{"text":"Burj Khalifa","url":"https://heights.example/burj","host":"heights.example","ref":"eiffel","lang":"en"}],"height":"828"}
const base = "https://heights.example/eiffel";
const html = await webFetchPage({ url: base });
const links = [...html.matchAll(/<a href="([^"]+)">([^<]+)<\/a>/g)].map(([, href, text]) => {
  const url = new URL(href.replace(/&amp;/g, "&"), base);
  const ref = url.searchParams.get("ref");
  const lang = url.searchParams.get("lang");
  url.search = "";
  return { text, url: url.toString(), host: url.hostname, ref, lang };
});
const next = await webFetchPage({ url: links[0].url });
return { links, height: next.match(/Height: (\d+) m/)[1] };
