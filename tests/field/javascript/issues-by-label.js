// Counts of labels over all issues of a repository.
// servers: github
// calls: github.list_issues 1
// result: {"bug":6,"feature":3,"docs":2,"p1":2,"a11y":1,"chore":1,"p0":1,"performance":1}
const issues = await githubListIssues({ owner: "acme", repo: "shop", state: "all" });
const counts = issues
  .flatMap((i) => i.labels.map((l) => l.name))
  .reduce((acc, l) => ({ ...acc, [l]: (acc[l] || 0) + 1 }), {});
return Object.fromEntries(Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)));
