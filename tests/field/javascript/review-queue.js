// Sizes of pull requests; drafts and bots are left out.
// servers: github
// calls: github.list_pull_requests 1
// result: [{"pr":"#31","size":"M","url":"https://code.example/shop/pull/31"}]
const pulls = await githubListPullRequests({ owner: "acme", repo: "shop" });
const size = ({ additions, deletions }) => additions + deletions;
const label = (n) => (n < 10 ? "XS" : n < 200 ? "M" : "XL");
return pulls
  .filter((p) => !p.draft && p.user.login !== "dependabot")
  .map((p) => ({ pr: `#${p.number}`, size: label(size(p)), url: `https://code.example/shop/pull/${p.number}` }));
