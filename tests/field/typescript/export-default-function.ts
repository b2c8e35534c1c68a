// The default export is the program.
// servers: files
// calls: files.search_files 1
// result: ["README.md","notes/meeting.md","notes/todo.md"]
export default async function main() {
  const r = await search_files({ path: ".", pattern: "*.md" });
  return r.success ? r.value.split("\n") : [];
}
