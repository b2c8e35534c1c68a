// A report from several files is written and checked.
// servers: files
// calls: files.read_text_file 2, files.write_file 1, files.get_file_info 1
// prints:
//   notes/todo.md: 8 lines
//   notes/meeting.md: 8 lines
//   48 bytes
const paths: string[] = ["notes/todo.md", "notes/meeting.md"];
const parts: string[] = [];
for (const path of paths) {
  const r = await read_text_file({ path });
  parts.push(r.success ? `${path}: ${r.value.split("\n").length} lines` : `${path}: ${r.error}`);
}
const report: string = parts.join("\n");
const written = await write_file({ path: "report.txt", content: report });
if (written.success) {
  const info = await get_file_info({ path: "report.txt" });
  console.log(report);
  console.log(info.success ? `${info.value.size} bytes` : info.error);
}
