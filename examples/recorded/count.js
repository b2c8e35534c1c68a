// One layer after the other, at a pace at which somebody could pull the plug.
const layers = JSON.parse(filesDirectoryTree({ path: "." }).content).filter((entry) => entry.type === "directory");
const sources = (path, entries) =>
  entries.flatMap(({ name, children }) => (children ? sources(`${path}/${name}`, children) : /\.[ch]$/.test(name) ? [`${path}/${name}`] : []));
let total = 0;
for (const { name, children = [] } of layers) {
  const paths = sources(name, children);
  const lines = filesReadMultipleFiles({ paths }).content.split("\n").length;
  total += lines;
  output(`- ${name}: ${lines} lines in ${paths.length} files`);
  sleep(150);
}
memoryCreateEntities({ entities: [{ name: "src", entityType: "count", observations: [`${total} lines`] }] });
output(`${total} lines in all; I have noted that, once.`);
done();
