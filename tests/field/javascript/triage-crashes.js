// A title decides a label; a comment follows; the changed issues are the answer.
// servers: github
// calls: github.list_issues 1, github.update_issue 1, github.add_issue_comment 1
// result: ["#7 bug+p1"]
const repo = { owner: "acme", repo: "shop" };
const issues = await githubListIssues({ ...repo, state: "all" });
const crashes = issues.filter((i) => /crash/i.test(i.title) && !i.labels.some((l) => l.name.startsWith("p")));
const changed = await Promise.all(
  crashes.map(async (i) => {
    const updated = await githubUpdateIssue({ ...repo, issue_number: i.number, labels: [...i.labels.map((l) => l.name), "p1"] });
    await githubAddIssueComment({ ...repo, issue_number: i.number, body: "Raised to p1." });
    return `#${updated.number} ${updated.labels.map((l) => l.name).join("+")}`;
  }),
);
return changed;
