// Object.groupBy and typed entries.
// servers: github
// calls: github.list_issues 1
// prints:
//   open: 9, most talked about: Login loops on Safari
//   closed: 3, most talked about: Typo in README
type Issue = { number: number; title: string; state: "open" | "closed"; labels: { name: string }[]; comments: number };
const r = await list_issues({ owner: "acme", repo: "shop", state: "all" });
if (!r.success) throw new Error(r.error);
const issues: Issue[] = r.value;
const groups = Object.groupBy(issues, (i) => i.state);
for (const [state, list] of Object.entries(groups)) {
  console.log(`${state}: ${list!.length}, most talked about: ${list!.toSorted((a, b) => b.comments - a.comments)[0].title}`);
}
