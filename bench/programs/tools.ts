// What a model writes in TypeScript for a few of many tools. It is checked, not run.
interface Entry {
  path: string;
  size: number;
}
type BySize = Record<"large" | "small", Entry[]>;

const paths: string[] = ["a/one", "a/two", "b/three"];
const entries: Entry[] = [];
for (const path of paths) {
  const found = await look_up_00010({ path, limit: 5, order: "asc" });
  if (!found.success) {
    console.log(`${path}: ${found.error}`);
    continue;
  }
  entries.push({ path, size: found.value.length });
}
const groups: BySize = { large: [], small: [] };
for (const entry of entries) {
  groups[entry.size > 100 ? "large" : "small"].push(entry);
}
const [first, second] = await Promise.all([look_up_00020({ path: "c", tags: ["x"] }), look_up_00030({ path: "d" })]);
if (first.success && second.success) {
  console.log("total", entries.reduce((sum: number, e) => sum + e.size, 0), first.value, second.value);
}
