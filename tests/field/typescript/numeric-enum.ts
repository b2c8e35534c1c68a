// An enum with numbers, and its names.
// servers: github
// calls: github.list_issues 1
// prints:
//   {"High":3,"Low":6,"Normal":3}
enum Priority {
  Low,
  Normal,
  High = 10,
}
const rank = (labels: { name: string }[]): Priority =>
  labels.some((l) => l.name === "p0" || l.name === "p1") ? Priority.High : labels.some((l) => l.name === "bug") ? Priority.Normal : Priority.Low;

const issues = await list_issues({ owner: "acme", repo: "shop", state: "all" });
if (!issues.success) throw new Error(issues.error);
const counts: Record<string, number> = {};
for (const issue of issues.value) {
  const name = Priority[rank(issue.labels)];
  counts[name] = (counts[name] ?? 0) + 1;
}
console.log(JSON.stringify(counts));
