// Everything is read in here; only five lines leave.
const sources = (path, entries) =>
  entries.flatMap(({ name, children }) => (children ? sources(`${path}/${name}`, children) : /\.[ch]$/.test(name) ? [`${path}/${name}`] : []));
const files = new Map();
for (const { name: layer, children = [] } of recall("tree")) {
  const paths = sources(layer, children);
  if (paths.length === 0) continue;
  for (const part of filesReadMultipleFiles({ paths }).content.split("\n---\n")) {
    const end = part.indexOf(":\n");
    files.set(part.slice(0, end), part.slice(end + 2));
  }
}

/** The first sentence of the comment that a file, or else its header, begins with. */
function purpose(path) {
  const text = [files.get(path), files.get(path.replace(/\.c$/, ".h"))].find((one) => one?.startsWith("/*")) ?? "";
  const comment = text.slice(2, text.indexOf("*/")).replace(/\s*\n \* ?/g, " ").trim();
  return comment.split(/[.:;] /)[0].replace(/\.$/, "") || "says nothing of itself";
}

const longest = [...files]
  .filter(([path]) => path.endsWith(".c"))
  .map(([path, text]) => ({ path, lines: text.split("\n").length, about: purpose(path) }))
  .sort((a, b) => b.lines - a.lines)
  .slice(0, 5);

memoryCreateEntities({
  entities: longest.map(({ path, lines, about }) => ({ name: path, entityType: "file", observations: [`${lines} lines`, about] })),
});
output(`Of ${files.size} files these are the longest:\n` + longest.map(({ path, lines, about }) => `- ${path}, ${lines} lines: ${about}`).join("\n"));
output("I have noted them in my memory.");
done();
