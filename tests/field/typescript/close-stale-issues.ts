// Issues older than a date are closed, one by one.
// servers: github
// calls: github.list_issues 1, github.update_issue 1, github.add_issue_comment 1
// prints:
//   closed 1 of 9
const repo = { owner: "acme", repo: "shop" } as const;
const cutoff = new Date("2026-02-10T00:00:00Z");
const r = await list_issues({ ...repo, state: "open" });
if (!r.success) throw new Error(r.error);
const stale = (r.value as any[]).filter((i) => new Date(i.created_at) < cutoff && i.comments < 5);
let closed = 0;
for (const { number } of stale) {
  const done = await update_issue({ ...repo, issue_number: number, state: "closed" });
  if (done.success && done.value.state === "closed") closed++;
  const said = await add_issue_comment({ ...repo, issue_number: number, body: "Closed as stale." });
  if (!said.success) console.error(said.error);
}
console.log(`closed ${closed} of ${r.value.length}`);
