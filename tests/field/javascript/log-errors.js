// Counts of error messages in a log file.
// servers: files
// calls: files.read_text_file 1
// result: [["db: connection refused",2],["auth: token expired user=N",1]]
const log = await filesReadTextFile({ path: "logs/app.log" });
const errors = log
  .split("\n")
  .filter((line) => line.includes("ERROR"))
  .map((line) => line.replace(/^.*?ERROR\s+/, "").replace(/user=\d+/, "user=N"));
const counts = {};
for (const e of errors) counts[e] = (counts[e] || 0) + 1;
const top = Object.entries(counts).sort((a, b) => b[1] - a[1]);
console.log(`${errors.length} errors, ${top.length} kinds`);
return top;
