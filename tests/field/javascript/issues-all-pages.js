// while (true) over pages until one comes that is not full.
// servers: github
// calls: github.list_issues 3
// result: {"pages":3,"issues":12,"oldest":"Crash on empty cart"}
const perPage = 5;
const all = [];
let page = 1;
while (true) {
  const batch = await githubListIssues({ owner: "acme", repo: "shop", state: "all", perPage, page });
  all.push(...batch);
  if (batch.length < perPage) break;
  page++;
}
return { pages: page, issues: all.length, oldest: all[0].title };
