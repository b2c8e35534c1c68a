// structuredClone and nested changes; what was there stays.
// servers: files
// calls: files.read_text_file 1
// prints:
//   2,0,1 3,1,2
const r = await read_text_file({ path: "data/users.json" });
if (!r.success) throw new Error(r.error);
const data: { users: { name: string; tags: string[] }[] } = typeof r.value === "string" ? JSON.parse(r.value) : r.value;
const next = structuredClone(data);
for (const u of next.users) u.tags.push("2026");
console.log(data.users.map((u) => u.tags.length).join(), next.users.map((u) => u.tags.length).join());
