// switch, labelled break, a ternary chain.
// servers: github
// calls: github.list_issues 1
// result: {"score":146,"level":"red"}
const issues = await githubListIssues({ owner: "acme", repo: "shop", state: "all" });
let score = 0;
outer: for (const issue of issues) {
  for (const { name } of issue.labels) {
    switch (name) {
      case "p0":
        score += 100;
        break outer;
      case "p1":
        score += 10;
        break;
      case "bug":
        score += 2;
      default:
        score += 1;
    }
  }
}
const level = score > 100 ? "red" : score > 20 ? "yellow" : "green";
return { score, level };
