// Which layer of a C source tree includes which? One server reads the files, another keeps what was found as a graph.
// Dozens of files go through this program, a few lines come out: a model that ran it would read only those.
const tree = JSON.parse(filesDirectoryTree({ path: "." }).content);
const sources = (path, entries) =>
  entries.flatMap(({ name, children }) => (children ? sources(`${path}/${name}`, children) : /\.[ch]$/.test(name) ? [`${path}/${name}`] : []));
const layers = tree
  .filter((entry) => entry.type === "directory")
  .map(({ name, children }) => ({ name, files: sources(name, children) }))
  .filter((layer) => layer.files.length > 0);

for (const layer of layers) {
  const text = filesReadMultipleFiles({ paths: layer.files }).content;
  const included = [...text.matchAll(/#include "(\w+)\//g)].map((match) => match[1]);
  layer.lines = text.split("\n").length;
  layer.uses = layers.map((other) => other.name).filter((name) => name !== layer.name && included.includes(name));
  log(`${layer.name}: ${layer.files.length} files read`);
}

const noted = memoryReadGraph({}).entities.filter((entity) => entity.entityType === "layer"); // by an earlier run
memoryDeleteEntities({ entityNames: noted.map((entity) => entity.name) });
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
for (const { name, observations } of graph.entities.filter((entity) => entity.entityType === "layer")) {
  const uses = graph.relations.filter((relation) => relation.from === name).map((relation) => relation.to);
  output(`${name.padEnd(9)} ${observations[0].padEnd(24)} ${uses.length ? "includes " + uses.join(", ") : "stands alone"}`);
}
({ layers: layers.length, edges: graph.relations.length });
