// What is missing is expected: the error decides.
// servers: files
// calls: files.read_text_file 1, files.write_file 1
// prints:
//   made
const r = await read_text_file({ path: "nothing.txt" });
if (r.success) {
  console.log("there");
} else if (/ENOENT/.test(r.error)) {
  const w = await write_file({ path: "nothing.txt", content: "now something" });
  console.log(w.success ? "made" : w.error);
} else {
  throw new Error(r.error);
}
