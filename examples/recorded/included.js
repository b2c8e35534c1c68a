const remembered = memoryReadGraph({}).entities.filter((entity) => entity.entityType === "file").map((entity) => entity.name);
const headers = remembered.map((path) => path.replace(/\.c$/, ".h"));
const counts = new Map(headers.map((header) => [header, 0]));

const layers = JSON.parse(filesDirectoryTree({ path: "." }).content).filter((entry) => entry.type === "directory");
for (const { name: layer, children } of layers) {
  const paths = children.filter((child) => /\.[ch]$/.test(child.name)).map((child) => `${layer}/${child.name}`);
  if (paths.length === 0) continue;
  const text = filesReadMultipleFiles({ paths }).content;
  for (const [, header] of text.matchAll(/#include "([^"]+)"/g)) {
    if (counts.has(header)) counts.set(header, counts.get(header) + 1);
  }
}

const [[first, times], ...others] = [...counts].sort((a, b) => b[1] - a[1]);
output(`${first} is included most often, by ${times} files; the others: ${others.map(([header, n]) => `${header} ${n}`).join(", ")}.`);
done();
