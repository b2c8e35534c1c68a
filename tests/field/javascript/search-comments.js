// Every file below a folder is read; comments with NOTE or LATER are collected with their lines.
// servers: files
// calls: files.list_directory 1, files.read_text_file 3
// result: [{"file":"app.js","line":1,"kind":"NOTE","text":"split this file"},{"file":"app.js","line":4,"kind":"NOTE","text":"handle signals"},{"file":"server.js","line":2,"kind":"LATER","text":"port is fixed"}]
const listing = await filesListDirectory({ path: "src" });
const names = listing.split("\n").filter((l) => l.startsWith("[FILE]")).map((l) => l.slice("[FILE] ".length));
const found = [];
for (const name of names) {
  const text = await filesReadTextFile({ path: `src/${name}` });
  text.split("\n").forEach((line, i) => {
    const m = line.match(/\/\/\s*(NOTE|LATER):\s*(.*)/);
    if (m) found.push({ file: name, line: i + 1, kind: m[1], text: m[2] });
  });
}
return found;
