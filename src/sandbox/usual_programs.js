// What programs are like, each after a line //--- of its own. They run while an image is built, and what they
// change of it lies together from then on (block_order.h). Nothing is measured with them.
//---
1 + 2;
//---
"a text";
//---
const read = filesRead({path: "src/a.txt"});
output(read.content);
done();
//---
const list = filesList({path: "src"});
for (const item of list.items) {
  console.log(item.name, item.size);
}
list.items.length;
//---
const list = filesList({path: "src", recursive: true, limit: 20});
const names = list.items.filter((item) => item.size > 5).map((item) => item.name.toUpperCase()).sort();
const total = list.items.reduce((sum, item) => sum + item.size, 0);
console.log(`${names.length} files, ${total} bytes`, names, list);
({names, total, first: list.items[0]});
//---
let page = 1, found = [];
while (found.length < 4) {
  const {items, total} = filesList({path: "src", page: page++});
  found.push(...items);
  if (page > total) break;
}
console.log("pages", page, {found, "not-a-name": null, nested: {deep: [[1, 2], "it's"]}});
found.map(({name, tags}) => ({name, tags: tags.join("/")}));
//---
async function load(path) {
  const found = await filesRead({path});
  return {path, lines: found.content.split("\n")};
}
const all = await Promise.all(["a", "b", "c"].map(load));
console.log(JSON.stringify(all));
all.map(({path, lines}) => `${path}: ${lines.length}`).join(", ");
//---
const counts = new Map();
for (const word of filesRead({path: "a"}).content.split(/\s+/)) {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}
const top = [...counts.entries()].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 3);
console.log(counts, top);
output(Object.fromEntries(top));
//---
try {
  const parsed = JSON.parse('{"a": [1, 2, {"b": null}], "c": "text", "d": 1.5}');
  if (parsed.a.length > 2) throw new Error(`too many: ${parsed.a.length}`);
} catch (error) {
  console.error(error.message, error);
}
const seen = recall("seen") ?? {seen: []};
store("seen", {seen: [...seen.seen, 4]});
//---
class Table {
  #rows = [];
  add(row) {
    this.#rows.push({...row, at: new Date(0).toISOString()});
    return this;
  }
  get size() {
    return this.#rows.length;
  }
}
const table = new Table().add({id: 1}).add({id: 2});
const unique = new Set("hello world".match(/[a-z]/g));
const date = "2026-01-02".replace(/(\d+)-(\d+)-(\d+)/, (_, y, m, d) => `${d}.${m}.${y}`);
[table.size, unique.size, date, Math.max(...[3, 1, 2]), parseInt("12px"), Number("1.5").toFixed(2)];
//---
const found = await parallel([{tool: "files.read", input: {path: "a"}}, {tool: "files.list", input: {path: "b"}}]);
for (const {success, value} of found) {
  if (success) console.log(Object.keys(value));
}
await sleep(1);
//---
const result = await filesRead({path: "src/a.txt"});
if (result.success) {
  console.log(result.value.content);
} else {
  console.log(result.error.message);
}
