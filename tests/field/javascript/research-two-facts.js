// Search, then pages, then arithmetic.
// servers: web
// calls: web.search 2, web.fetch_page 2
// result: "Eiffel Tower is 0 m higher (1.00 times)"
const search = async (q) => (await webSearch({ query: q, max_results: 1 })).results[0];
const [eiffel, burj] = await Promise.all(["Eiffel Tower height", "Burj Khalifa height"].map(search));
const height = async ({ url }) => parseInt((await webFetchPage({ url })).match(/Height: (\d+)/)[1], 10);
const [a, b] = [await height(eiffel), await height(burj)];
return `${burj.title} is ${b - a} m higher (${(b / a).toFixed(2)} times)`;
