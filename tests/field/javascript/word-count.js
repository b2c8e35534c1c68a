// The most frequent words of a few files.
// servers: files
// calls: files.read_text_file 3
// result: [["ana",3],["action",2],["ben",2]]
const paths = ["notes/meeting.md", "notes/todo.md", "README.md"];
const texts = await Promise.all(paths.map((path) => filesReadTextFile({ path })));
const counts = texts
  .join(" ")
  .toLowerCase()
  .match(/[a-z]{3,}/g)
  .reduce((m, w) => m.set(w, (m.get(w) || 0) + 1), new Map());
return Array.from(counts.entries())
  .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
  .slice(0, 3);
