// First a look at what there is: what is logged comes back to me, nothing is shown to the user yet.
const tree = JSON.parse(filesDirectoryTree({ path: "." }).content);
for (const { name, type, children = [] } of tree) {
  log(type === "directory" ? `${name}/ with ${children.length} entries, as ${children.slice(0, 3).map((c) => c.name).join(", ")}` : name);
}
store("tree", tree);
