const remembered = memoryReadGraph({}).entities.filter((entity) => entity.entityType === "file").map((entity) => entity.name);
const found = [];
for (const path of remembered) {
  const lines = filesReadTextFile({ path }).content.split("\n");
  let start = -1;
  lines.forEach((line, at) => {
    if (/^[a-z].*\(.*\{$/.test(line) || (start < 0 && /^ .*\) (LT_YIELDS )?\{$/.test(line))) start = at;
    if (line === "}" && start >= 0) {
      const head = /^[a-z]/.test(lines[start]) ? lines[start] : lines[start - 1];
      found.push({ path, name: /(\w+)\(/.exec(head)?.[1] ?? "?", lines: at - start + 1 });
      start = -1;
    }
  });
}
found.sort((a, b) => b.lines - a.lines);
const long = found.filter((one) => one.lines > 40).length;
output(`${found[0].name} in ${found[0].path}, with ${found[0].lines} lines. Of the ${found.length} functions in those files ${long} are longer than 40 lines.`);
done();
