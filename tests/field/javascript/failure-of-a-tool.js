// A failing call that nobody catches, and its place.
// servers: files
// error: Tool "files.read_text_file" failed: ENOENT: no such file or directory, open 'notes/todos.md'
// line: 5
const text = await filesReadTextFile({ path: "notes/todos.md" });
return text.length;
