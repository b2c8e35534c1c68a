// One sandbox, measured in a process of its own: `host.mjs NAME`, with the name of a file of sandboxes/. Each line that it
// reads asks for one figure, and is answered with a line:
//
//   name                          its name and version
//   plus|call|calls N EXPECTED    N runs of a program, each in a new sandbox: 1+2; one call of a tool; 100 calls in a row
//   script N EXPECTED NAME        ... of bench/programs/NAME
//   read N EXPECTED FILE          ... that reads through the JSON of a file, which a tool gives it
//   burst N                       N programs at once, each with a call of a tool that takes 10 ms: from the first begin to the last end
//   live N                        private memory of each of N programs that wait in a call: when all have begun to, and three seconds later
//
// "ok" and numbers (nanoseconds; bytes), or "no" and why not. A wrong answer of a program is a "no".
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const LIMIT_MS = 60_000, SMALL_MB = 128, LARGE_MB = 1500, TOOL_MS = 10, BEGIN_MS = 20_000, SETTLE_MS = 3000;
const { open } = await import(`./sandboxes/${process.argv[2]}.mjs`);

process.on("SIGTERM", () => process.exit(1)); // what a sandbox has started, or written, goes with it

let loaded, loadedFrom, release;
const held = () => new Promise((done) => { release.push(done); });
const tools = { add: ({ a, b }) => a + b, load: () => loaded };
const later = { slow: () => (release ? held() : new Promise((done) => setTimeout(() => done(null), TOOL_MS))) };

const opened = new Map();
/** The sandbox with so much memory, and tools that answer at once or later. */
function sandbox(memoryMb, given = tools) {
  const key = `${memoryMb} ${Object.keys(given)}`;
  if (!opened.has(key)) opened.set(key, open({ tools: given, memoryMb, limitMs: LIMIT_MS }));
  return opened.get(key);
}

function check(value, expected) {
  if (String(value) !== expected) throw new Error(`a wrong answer: ${String(value).slice(0, 80)} instead of ${expected}`);
}

async function times(count, expected, code, { run }) {
  const took = [];
  for (let i = 0; i < count; i++) {
    const start = process.hrtime.bigint(), value = await run(code);
    took.push(process.hrtime.bigint() - start);
    check(value, expected);
  }
  return took;
}

async function atOnce(count) {
  const { waiting } = await sandbox(SMALL_MB, later);
  return Promise.all(Array.from({ length: count }, async () => check(await waiting.run(waiting.dialect.wait), "3")));
}

async function burst(count) {
  const start = process.hrtime.bigint();
  await atOnce(count);
  return [process.hrtime.bigint() - start];
}

/** Private memory of this process, and of those that it has started for programs, in bytes. */
async function memory() {
  globalThis.gc();
  const { pids } = await sandbox(SMALL_MB, later);
  return [process.pid, ...(pids?.() ?? [])].map(privateBytes).reduce((a, b) => a + b);
}

function privateBytes(pid) {
  const fields = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8").matchAll(/^(?:Private_\w+|Swap): +(\d+) kB$/gm);
  return [...fields].reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function live(count) {
  await atOnce(1);
  await sleep(SETTLE_MS);
  const before = await memory();
  release = [];
  const ended = atOnce(count), each = async () => Math.round((await memory() - before) / count);
  let failed;
  ended.catch((error) => { failed = error; });
  for (const since = Date.now(); release.length < count && !failed && Date.now() - since < BEGIN_MS;) await sleep(20);
  const waiting = release.length, figures = [await each()];
  await sleep(SETTLE_MS);
  figures.push(await each());
  for (const done of release) done(null);
  release = undefined;
  await ended;
  if (waiting < count) throw new Error(`only ${waiting} of ${count} waited at the same time`);
  return figures;
}

function load(file) {
  if (file !== loadedFrom) [loaded, loadedFrom] = [JSON.parse(readFileSync(file, "utf8")), file];
}

async function answer(task, count, expected, what) {
  if (task === "burst") return burst(count);
  if (task === "live") return live(count);
  if (task === "read") load(what);
  const one = await sandbox(task === "read" ? LARGE_MB : SMALL_MB), { dialect } = one;
  return times(count, expected, task === "script" ? dialect.script(what) : dialect[task], one);
}

for await (const line of createInterface({ input: process.stdin })) {
  const [task, count, expected, what] = line.split(" ");
  let text;
  try {
    const one = await sandbox(SMALL_MB);
    text = task === "name" ? `ok ${one.name}` : one.cannot?.[task] ? `no ${one.cannot[task]}` : `ok ${(await answer(task, Number(count), expected, what)).join(" ")}`;
  } catch (error) {
    text = `no ${String(error?.message ?? error).split("\n")[0]}`;
  }
  process.stdout.write(`${text}\n`);
}
process.exit(0);
