// A URL with parameters is built, then fetched.
// servers: web
// calls: web.fetch_page 1
// result: {"first":"Tokyo","query":"q=caf%C3%A9+%26+co&page=2","path":"/tokyo?year=2025"}
const url = new URL("https://census.example/tokyo");
url.searchParams.set("year", 2025);
const text = await webFetchPage({ url: url.href });
const params = new URLSearchParams({ q: "café & co", page: "2" });
return { first: text.split("\n")[0], query: params.toString(), path: url.pathname + url.search };
