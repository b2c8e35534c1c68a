// A markdown table of deals.
// servers: crm
// calls: crm.list-deals 1
// prints:
//   | stage | deals | amount |
//   |---|---|---|
//   | open | 2 | 32000 |
//   | won | 1 | 12000 |
//   | lost | 1 | 1800 |
const { deals } = await crmListDeals({});
const stages = ["open", "won", "lost"];
const rows = stages.map((stage) => {
  const list = deals.filter((d) => d.stage === stage);
  const sum = list.reduce((s, d) => s + d.amount, 0);
  return `| ${stage} | ${list.length} | ${sum} |`;
});
const markdown = ["| stage | deals | amount |", "|---|---|---|", ...rows].join("\n");
output(markdown);
done();
