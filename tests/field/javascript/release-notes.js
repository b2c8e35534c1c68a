// Commit messages into sections.
// servers: github
// calls: github.list_commits 1
// prints:
//   ## Fixes
//   - Fix total (ana)
//   - Fix crash on empty cart [#1] (ana)
//
//   ## Other
//   - Bump deps (ben)
//   - Docs (ben)
//   - Refactor cart (chloe)
//
//   ## Features
//   - Add coupons (chloe)
const commits = await githubListCommits({ owner: "acme", repo: "shop" });
const sections = { Fixes: /^fix/i, Features: /^add/i, Other: /./ };
const notes = {};
for (const { sha, commit } of commits) {
  const [title] = Object.entries(sections).find(([, re]) => re.test(commit.message));
  (notes[title] ??= []).push(`${commit.message.replace(/\s*\(#(\d+)\)/, " [#$1]")} (${commit.author.name})`);
}
output(Object.entries(notes).map(([title, list]) => `## ${title}\n${list.map((l) => `- ${l}`).join("\n")}`).join("\n\n"));
