// Object.groupBy over issues.
// servers: github
// calls: github.list_issues 1
// result: [{"author":"ana","open":3,"total":3},{"author":"ben","open":3,"total":3},{"author":"chloe","open":3,"total":3},{"author":"dependabot","open":0,"total":3}]
const issues = githubListIssues({ owner: "acme", repo: "shop", state: "all" });
const groups = Object.groupBy(issues, ({ user }) => user.login);
return Object.entries(groups)
  .map(([author, list]) => ({ author, open: list.filter((i) => i.state === "open").length, total: list.length }))
  .toSorted((a, b) => b.total - a.total || a.author.localeCompare(b.author));
