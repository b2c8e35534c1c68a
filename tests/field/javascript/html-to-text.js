// Tags are taken off; a title by a regular expression.
// servers: web
// calls: web.fetch_page 1
// prints:
//   {"title":"Burj Khalifa","text":"Burj Khalifa Height: 828 m. Built: 2010.","words":7}
const html = webFetchPage({ url: "https://heights.example/burj" });
const title = html.match(/<title>(.*?)<\/title>/i)?.[1] ?? "untitled";
const text = html
  .replace(/<head>[\s\S]*?<\/head>/i, "")
  .replace(/<[^>]*>/g, " ")
  .replace(/\s{2,}/g, " ")
  .trim();
output({ title, text, words: text.split(" ").length });
