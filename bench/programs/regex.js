const log = [];
for (let i = 0; i < 8000; i++) log.push(`2026-11-${10 + (i % 20)} GET /items/${i}?page=${i % 9} ${i % 7 === 0 ? 404 : 200} ${i * 3} bytes`);
let found = 0;
for (const [, day, id, status] of log.join("\n").matchAll(/^2026-11-(\d+) GET \/items\/(\d+)\?\S+ (\d{3}) \d+ bytes$/gm)) {
  if (status === "404") found += Number(day) + Number(id);
}
found;
