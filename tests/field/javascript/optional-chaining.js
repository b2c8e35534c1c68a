// What is missing stays undefined or gets a default.
// servers: github
// calls: github.list_issues 1
// result: {"counts":{"ana":1,"nobody":6,"ben":2},"first":null,"fn":"none"}
const issues = await githubListIssues({ owner: "acme", repo: "shop" });
const assignees = issues.map((i) => i.assignee?.login ?? "nobody");
const first = issues[0]?.milestone?.title?.toUpperCase();
const counts = assignees.reduce((m, a) => ((m[a] = (m[a] ?? 0) + 1), m), {});
return { counts, first: first ?? null, fn: issues.missing?.() ?? "none" };
