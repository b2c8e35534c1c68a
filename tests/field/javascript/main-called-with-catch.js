// main() is called, its errors are caught at the end.
// servers: files
// calls: files.read_text_file 1
// prints:
//   1. solar kiosk
//   2. bike library
//   3. night market
async function main() {
  const text = await filesReadTextFile({ path: "notes/ideas.txt" });
  const ideas = text.trim().split("\n");
  console.log(`${ideas.length} ideas`);
  output(ideas.map((i, n) => `${n + 1}. ${i}`).join("\n"));
}

main().catch((err) => {
  console.error(err);
});
