// Due dates in words, by Intl.RelativeTimeFormat.
// servers: crm
// calls: crm.list-deals 1
// result: ["Globex pilot closes in 22 days","Initech expansion closes in 37 days"]
const { deals } = await crmListDeals({ stage: "open" });
const today = new Date("2026-03-09T00:00:00Z");
const rtf = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
return deals.map((d) => `${d.name} closes ${rtf.format(Math.round((new Date(d.closeDate) - today) / 86400000), "day")}`);
