// Named groups of a regular expression.
// servers: files
// calls: files.read_text_file 1
// prints:
//   {"slow":[{"time":"10:00:09","ms":1200},{"time":"10:03:00","ms":2300}],"average":1750}
const log = filesReadTextFile({ path: "logs/app.log" });
const slow = [];
for (const { groups } of log.matchAll(/(?<time>T[\d:]+)Z WARN\s+slow query ms=(?<ms>\d+)/g)) {
  slow.push({ time: groups.time.slice(1), ms: +groups.ms });
}
const average = slow.reduce((sum, s) => sum + s.ms, 0) / slow.length;
output({ slow, average });
