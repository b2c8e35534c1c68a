// Lathe beside other sandboxes for programs of a model, as a caller in the same process sees them. Each is measured in a
// process of its own (bench/peers); they take turns, round after round, so that what else the machine does is everybody's
// share. A wrong answer is no figure. Prints a table, and writes all of it to build/side-by-side.json, of which
// scripts/bench-readme.mjs makes the documentation.
//
//   side-by-side.mjs [--quick] [--only NAME,...] [--out FILE]     --quick: tiny counts, to see that everything works
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ratio, summary, value } from "./figures.mjs";

const { values: asked } = parseArgs({ options: { quick: { type: "boolean" }, only: { type: "string" }, out: { type: "string" } } });
const path = (name) => fileURLToPath(new URL(name, import.meta.url));

// --- What is asked ----------------------------------------------------------------------------------------------------

const SCRIPTS = { fib: 196418, loop: 42, sort: 5028, strings: 532173, json: 497480, regex: 4590852 }; // and what they give
const SIZES = asked.quick ? [1] : [1, 10, 50]; // MB
const AT_ONCE = asked.quick ? 20 : 1000;
const ROUNDS = asked.quick ? { steady: 1, script: 1, read: 1, burst: 1, live: 1 } : { steady: 12, script: 5, read: 5, burst: 4, live: 3 };
const TURN_NS = asked.quick ? 1e6 : 40e6, MOST_RUNS = 50, SLOW_NS = 4e9, VERY_SLOW_NS = 12e9; // of one turn of what is quick; of all turns of what is slow
const ANSWER_MS = 60_000, CLOSE_MS = 3000, AT_THE_SAME_TIME = 3; // memory is measured of so many hosts at once

// --- Who is asked -----------------------------------------------------------------------------------------------------

const newNode = process.env.LATHE_BENCH_NEW_NODE || process.execPath, python = process.env.LATHE_BENCH_PYTHON || "python3";
const inNode = (name, ...flags) => [newNode, "--expose-gc", ...flags, path("peers/host.mjs"), name];
// What isolated-vm asks for.
const inIsolate = (name) => inNode(name, "--no-node-snapshot");

/** live: how many wait while memory is measured. The first one is what the others are compared with. */
const peers = [
  { id: "lathe", title: "Lathe in Node.js", isOurs: true, command: inNode("lathe"), live: 1000 },
  { id: "lathe-c", title: "Lathe in C", isOurs: true, command: [path("../build/release/lt_bench_host")], live: 1000 },
  { id: "lathe-python", title: "Lathe in Python", isOurs: true, command: [python, path("peers/host.py")], live: 1000 },
  { id: "monty", title: "@pydantic/monty", note: "a part of Python", command: inNode("monty"), live: 1000 },
  { id: "node-vm", title: "node:vm", note: "no sandbox", command: inNode("node-vm"), live: 500 },
  { id: "quickjs-emscripten", title: "quickjs-emscripten", command: inNode("quickjs-emscripten"), live: 500 },
  { id: "quickjs-wasi", title: "quickjs-wasi", command: inNode("quickjs-wasi"), live: 500 },
  { id: "isolated-vm", title: "isolated-vm", command: inIsolate("isolated-vm"), live: 100 },
  { id: "tanstack", title: "@tanstack/ai-code-mode", command: inIsolate("tanstack"), live: 2 },
  { id: "utcp", title: "@utcp/code-mode", command: inIsolate("utcp"), live: 2 },
  { id: "run", title: "run", command: inNode("run"), live: 16 },
  { id: "executor", title: "executor", note: "by MCP", command: inNode("executor"), live: 30 },
  { id: "deno", title: "Deno", note: "a process each", command: inNode("deno"), live: 3 },
  { id: "cpython", title: "CPython", note: "a process each", command: inNode("cpython"), live: 3 },
].filter(({ id }) => !asked.only || asked.only.split(",").includes(id));

const hosts = new Set();
process.on("exit", () => { for (const host of hosts) host.kill("SIGKILL"); });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/** A process that answers lines (bench/peers/host.mjs). */
class Host {
  #child;
  #waiting;

  constructor([program, ...args]) {
    const env = { ...process.env, LATHE_LIBRARY: path("../build/release/liblathe.so.0"), PYTHONPATH: path("../packages/python"), NODE_ENV: "production" };
    this.#child = spawn(program, args, { env, detached: true, stdio: ["pipe", "pipe", "ignore"] });
    this.#child.stdin.on("error", () => {});
    this.gone = new Promise((done) => {
      this.#child.on("error", (error) => done(`it did not start: ${error.message}`));
      this.#child.on("exit", (code, signal) => done(signal ? `its process was ended by ${signal}` : `its process ended with ${code}`));
    });
    hosts.add(this);
    this.gone.then(() => {
      hosts.delete(this);
      this.isGone = true;
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#waiting?.(line));
  }

  /** {figures}, {text} or {why}: why there are none. */
  async ask(...words) {
    const line = new Promise((done) => { this.#waiting = done; });
    this.#child.stdin.write(`${words.join(" ")}\n`);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.kill("SIGKILL");
    }, ANSWER_MS);
    const answer = await Promise.race([line, this.gone.then((why) => `no ${isLate ? `no answer in ${ANSWER_MS / 1000} s` : why}`)]);
    clearTimeout(timer);
    const text = answer.slice(3);
    if (answer.startsWith("ok ")) return words[0] === "name" ? { text } : { figures: text.split(" ").map(Number) };
    return { why: text || "it did not say why" };
  }

  async close() {
    this.#child.stdin.end();
    const timers = [setTimeout(() => this.kill("SIGTERM"), CLOSE_MS), setTimeout(() => this.kill("SIGKILL"), 2 * CLOSE_MS)];
    await this.gone;
    timers.forEach(clearTimeout);
  }

  /** With what it has started. */
  kill(signal) {
    try {
      process.kill(-this.#child.pid, signal);
    } catch { /* it has just ended */ }
  }
}

// --- Figures ----------------------------------------------------------------------------------------------------------

for (const peer of peers) peer.cells = {};

function note(peer, task, { figures, why }) {
  const cell = (peer.cells[task] ??= { samples: [] });
  if (figures) cell.samples.push(...figures);
  else Object.assign(cell, { samples: [], why });
}

/** Asks a peer's host; a new one where the last one has ended. */
function ask(peer, ...words) {
  if (peer.host.isGone) peer.host = new Host(peer.command);
  return peer.host.ask(...words);
}

const isOpen = (peer, task) => !peer.cells[task]?.why;

/** What takes seconds gets three turns, and what takes many seconds gets one. */
function isEnough({ cells }, task) {
  const samples = cells[task]?.samples ?? [], sum = samples.reduce((a, b) => a + b, 0);
  return (samples.length >= 3 && sum > SLOW_NS) || sum > VERY_SLOW_NS;
}

/** One turn of each, as often as there are rounds. `count` runs are asked for; `prepare` goes before each turn. */
async function takeTurns(task, rounds, words, { count, prepare } = {}) {
  for (let round = 0; round < rounds; round++) {
    for (const peer of peers) {
      if (!isOpen(peer, task) || isEnough(peer, task)) continue;
      prepare?.();
      note(peer, task, await ask(peer, words[0], count?.(peer) ?? 1, ...words.slice(1)));
    }
  }
}

// A turn of what is quick has many runs; how many, the first ones tell, which are not counted: code is not compiled then.
async function measureSteady(task, expected) {
  for (const peer of peers) {
    for (let i = 0; i < 2; i++) {
      const { figures, why } = await ask(peer, task, asked.quick ? 1 : 3, expected);
      if (why) note(peer, task, { why });
      else peer.runs = { ...peer.runs, [task]: Math.max(1, Math.min(MOST_RUNS, Math.floor(TURN_NS / Math.min(...figures)))) };
    }
  }
  await takeTurns(task, ROUNDS.steady, [task, expected], { count: (peer) => peer.runs?.[task] });
}

/** A file of so many MB of JSON, as an API lists things; and the sum that a program gets when it reads all of it. */
function makeFile(megabytes) {
  const file = join(folder, `${megabytes}.json`), parts = [];
  let sum = 0;
  for (let i = 0, size = 0; size < megabytes * 1e6; i++) {
    const item = { id: i, name: `item ${i}`, tags: ["a", "b"], at: { x: i * 3, y: -i }, open: i % 2 === 0 }, text = JSON.stringify(item);
    parts.push(text);
    size += text.length + 1;
    sum += item.id + item.name.length + item.at.x + item.tags.length + (item.open ? 1 : 0);
  }
  writeFileSync(file, `[${parts.join(",")}]`);
  return { file, sum };
}

/** Touches memory and gives it back. In a virtual machine, memory that was free for a while is slow to touch the first
    time: no sandbox is to pay for that. */
function touch(megabytes) {
  const { status } = spawnSync("dd", ["if=/dev/zero", "of=/dev/null", `bs=${megabytes}M`, "count=1"], { stdio: "ignore" });
  if (status !== 0) throw new Error(`dd with a block of ${megabytes} MB failed: ${status}`);
}

async function measureReading() {
  for (const megabytes of SIZES) {
    const { file, sum } = makeFile(megabytes), task = `read${megabytes}`;
    await takeTurns(task, ROUNDS.read, ["read", sum, file], { prepare: () => touch(20 * megabytes) });
  }
}

async function measureBurst(peer) {
  const host = new Host(peer.command);
  await host.ask("name");
  for (const task of ["burst1", "burst2"]) {
    if (isOpen(peer, task)) note(peer, task, await host.ask("burst", AT_ONCE));
  }
  await host.close();
}

async function measureMemory(peer) {
  const host = new Host(peer.command);
  await host.ask("name");
  const { figures, why } = await host.ask("live", asked.quick ? 2 : peer.live);
  for (const [i, task] of ["live0", "live3"].entries()) note(peer, task, why ? { why } : { figures: [figures[i]] });
  await host.close();
}

// --- All of it --------------------------------------------------------------------------------------------------------

const folder = mkdtempSync(join(tmpdir(), "lathe-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const loads = () => loadavg().map((load) => load.toFixed(2)).join(" ");
const started = Date.now(), before = loads(), say = (text) => process.stderr.write(`${((Date.now() - started) / 1000).toFixed(0).padStart(4)} s  ${text}\n`);

for (const peer of peers) {
  peer.host = new Host(peer.command);
  const { text, why } = await peer.host.ask("name");
  peer.version = text?.split(" ").at(-1);
  if (why) say(`${peer.title}: ${(peer.absent = why)}`);
}
for (const peer of peers.filter(({ absent }) => absent)) await peer.host.close();
const absent = peers.filter((peer) => peer.absent);
for (const peer of absent) peers.splice(peers.indexOf(peer), 1);

say("one program after the other");
for (const [task, expected] of [["plus", 3], ["call", 3], ["calls", 4950]]) await measureSteady(task, expected);
say("scripts");
for (const [name, expected] of Object.entries(SCRIPTS)) await takeTurns(`script-${name}`, ROUNDS.script, ["script", expected, name]);
say("large answers of tools");
await measureReading();
for (const peer of peers) await peer.host.close();
say(`${AT_ONCE} programs at once`);
for (let round = 0; round < ROUNDS.burst; round++) for (const peer of peers) if (isOpen(peer, "burst1") && !isEnough(peer, "burst1")) await measureBurst(peer);
say("memory");
for (let round = 0; round < ROUNDS.live; round++) {
  for (let i = 0; i < peers.length; i += AT_THE_SAME_TIME) await Promise.all(peers.slice(i, i + AT_THE_SAME_TIME).filter((peer) => isOpen(peer, "live3")).map(measureMemory));
}
say("done");

const result = {
  date: new Date().toISOString().slice(0, 10),
  machine: { cpu: process.env.LATHE_BENCH_PROCESSOR || cpus()[0].model, cores: cpus().length, memoryGb: Math.round(totalmem() / 2 ** 30), kernel: release(), loadBefore: before, loadAfter: loads() },
  seconds: Math.round((Date.now() - started) / 1000),
  rounds: ROUNDS, atOnce: AT_ONCE, isQuick: Boolean(asked.quick),
  peers: [...peers, ...absent].map(({ id, title, note: remark, isOurs, version, live, absent: why, cells }) => ({
    id, title, note: remark, isOurs, version, live, absent: why,
    cells: Object.fromEntries(Object.entries(cells).map(([task, cell]) => [task, cell.why ? { why: cell.why } : summary(cell.samples)])),
  })),
};
writeFileSync(asked.out ?? path("../build/side-by-side.json"), `${JSON.stringify(result, undefined, 1)}\n`);

console.log(`\nSide by side: ${result.machine.cores} cores, load ${before} before and ${result.machine.loadAfter} after`);
for (const task of [...new Set(peers.flatMap(({ cells }) => Object.keys(cells)))]) {
  console.log(`\n${task.padEnd(32)}      min   median   runs`);
  for (const { title, cells } of result.peers) {
    const cell = cells[task], ours = result.peers[0].cells[task];
    if (cell?.why) console.log(`  ${title.padEnd(28)}  not measured: ${cell.why}`);
    else if (cell) console.log(`  ${title.padEnd(28)} ${value(task, cell.min).padStart(9)} ${value(task, cell.median).padStart(9)} ${String(cell.count).padStart(5)}   ${ratio(cell, ours)}`);
  }
}
process.exit(0);
