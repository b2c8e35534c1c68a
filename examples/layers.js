// Which layer of a C source tree includes which? One server reads the files, another keeps what was found as a graph.
// Dozens of files go through this program, a few lines come out: a model that ran it would read only those.
const tree = JSON.parse(filesDirectoryTree({ path: "." }).content);
const layers = tree
  .filter((entry) => entry.type === "directory")
  .map(({ name, children }) => ({ name, files: children.map((file) => file.name).filter((file) => /\.[ch]$/.test(file)) }))
  .filter((layer) => layer.files.length > 0);

for (const layer of layers) {
  const text = filesReadMultipleFiles({ paths: layer.files.map((file) => `${layer.name}/${file}`) }).content;
  const included = [...text.matchAll(/#include "(\w+)\//g)].map((match) => match[1]);
  layer.lines = text.split("\n").length;
  layer.uses = layers.map((other) => other.name).filter((name) => name !== layer.name && included.includes(name));
  log(`${layer.name}: ${layer.files.length} files read`);
}

memoryCreateEntities({
  entities: layers.map((layer) => ({
    name: layer.name,
    entityType: "layer",
    observations: [`${layer.files.length} files, ${layer.lines} lines`],
  })),
});
memoryCreateRelations({
  relations: layers.flatMap((layer) => layer.uses.map((to) => ({ from: layer.name, to, relationType: "includes" }))),
});

const graph = memoryReadGraph({});
for (const { name, observations } of graph.entities) {
  const uses = graph.relations.filter((relation) => relation.from === name).map((relation) => relation.to);
  output(`${name.padEnd(8)} ${observations[0].padEnd(24)} ${uses.length ? "includes " + uses.join(", ") : "stands alone"}`);
}
({ layers: graph.entities.length, edges: graph.relations.length });
