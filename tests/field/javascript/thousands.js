// Numbers with separators, percent and compact forms.
// servers: web
// calls: web.fetch_page 2
// result: {"total":"16,226,000","density":["6,462.2","19,504.8"],"share":"12.6%","compact":"14M"}
const pages = [];
for (const city of ["tokyo", "paris"]) {
  const text = await webFetchPage({ url: `https://census.example/${city}?year=2025` });
  const population = Number(/Population: ([\d,]+)/.exec(text)[1].replaceAll(",", ""));
  const area = Number(/Area: ([\d,]+)/.exec(text)[1].replaceAll(",", ""));
  pages.push({ city, population, density: population / area });
}
const share = pages[1].population / (pages[0].population + pages[1].population);
return {
  total: (pages[0].population + pages[1].population).toLocaleString(),
  density: pages.map((p) => p.density.toLocaleString("en-US", { maximumFractionDigits: 1 })),
  share: share.toLocaleString("en-US", { style: "percent", minimumFractionDigits: 1 }),
  compact: new Intl.NumberFormat("en", { notation: "compact" }).format(pages[0].population),
};
