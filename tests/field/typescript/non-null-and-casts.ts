// Non-null assertions, casts, unknown narrowed by typeof.
// servers: github
// calls: github.get_issue 1
// prints:
//   Crash on empty cart (ana), see 6
const r = await get_issue({ owner: "acme", repo: "shop", issue_number: 1 });
if (!r.success) throw new Error(r.error);
const issue = r.value as { title: string; assignee: { login: string } | null; body: string };
const login = issue.assignee!.login;
const value: unknown = JSON.parse(`{"n": ${issue.body.match(/#(\d+)/)![1]}}`);
let n = 0;
if (typeof value === "object" && value !== null && "n" in value && typeof value.n === "number") {
  n = value.n;
}
console.log(`${issue.title} (${login}), see ${n + 1}`);
