// An hour's worth of requests to `lathe serve`, as fast as it answers: 360,000 mixed ones (100 a second), with what the
// process has after each fortieth. Exit code 1: a wrong answer, or memory or descriptors that grow.
//
//   node scripts/soak-serve.mjs [REQUESTS] [CLIENTS]      LATHE: the program (build/release/lathe)
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { soak } from "../tests/flow/soak.mjs";

const GROWTH = 1.1; /* the last quarter's memory may be this much of the second quarter's */
const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const work = mkdtempSync("/var/tmp/lathe-soak-");
const mib = (bytes) => (bytes / (1 << 20)).toFixed(1).padStart(8);
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

console.log("requests  seconds  RSS, MiB  files  threads  store, MiB  its log");
const seen = await soak({
  lathe: resolve(process.env.LATHE ?? join(root, "build/release/lathe")), work, fakeServer: join(root, "tests/fakes/mcp_server.mjs"),
  requests: Number(process.argv[2] ?? 360_000), clients: Number(process.argv[3] ?? 32),
  each: (one) => console.log(`${String(one.requests).padStart(8)} ${one.seconds.toFixed(0).padStart(8)}  ${mib(one.rss)} ${String(one.fds).padStart(6)} ${String(one.threads).padStart(8)}    ${mib(one.store)} ${mib(one.log)}`),
});
rmSync(work, { recursive: true, force: true });

const quarter = (n) => seen.samples.slice((seen.samples.length * (n - 1)) >> 2, (seen.samples.length * n) >> 2);
const rss = (n) => median(quarter(n).map((one) => one.rss));
const grown = rss(4) / rss(2), files = median(quarter(4).map((one) => one.fds)) - median(quarter(2).map((one) => one.fds));
console.log(`${seen.requests} requests in ${seen.seconds.toFixed(0)} s, ${(seen.requests / seen.seconds).toFixed(0)} a second; ${seen.failed} wrong answers`);
console.log(`memory: ${mib(rss(2)).trim()} MiB in the second quarter, ${mib(rss(4)).trim()} in the last (${grown.toFixed(3)} ×); files: ${files >= 0 ? "+" : ""}${files}`);
for (const text of seen.failures) console.log(`  ${text}`);
const isBad = seen.failed > 0 || seen.code !== 0 || grown > GROWTH || files > 16;
if (seen.code !== 0) console.log(`lathe serve ended with ${seen.code}: ${seen.said}`);
process.exit(isBad ? 1 : 0);
