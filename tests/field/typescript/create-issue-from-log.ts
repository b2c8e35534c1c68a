// Errors of a log become one issue.
// servers: files, github
// calls: files.read_text_file 1, github.create_issue 1
// prints:
//   #13
//   - db: connection refused (2×)
//   - auth: token expired user=N (1×)
const file = await read_text_file({ path: "logs/app.log" });
if (!file.success) throw new Error(file.error);
const pattern = /ERROR (?<area>\w+): (?<text>[^\n]+)/g;
const counts = new Map<string, number>();
for (const m of (file.value as string).matchAll(pattern)) {
  const key = `${m.groups!.area}: ${m.groups!.text.replace(/\d+/g, "N")}`;
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
const body = Array.from(counts, ([k, n]) => `- ${k} (${n}×)`).join("\n");
const made = await create_issue({ owner: "acme", repo: "shop", title: `${counts.size} kinds of errors`, body, labels: ["bug"] });
console.log(made.success ? `#${made.value.number}\n${made.value.body}` : made.error);
