// Calls in chunks, so that not all are open at once.
// servers: github
// calls: github.get_issue 8
// result: ["Add dark mode","Slow search","Export as CSV"]
const numbers = Array.from({ length: 8 }, (_, i) => i + 1);
const chunk = (list, size) => list.length ? [list.slice(0, size), ...chunk(list.slice(size), size)] : [];
const titles = [];
for (const part of chunk(numbers, 3)) {
  const issues = await Promise.all(part.map((n) => githubGetIssue({ owner: "acme", repo: "shop", issue_number: n })));
  titles.push(...issues.map((i) => i.title));
}
return titles.filter((t) => t.length <= 13);
