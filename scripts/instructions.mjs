#!/usr/bin/env node
// Counts the processor's instructions on ten paths of the library and in three whole processes, and compares them with
// bench/instructions.json: a change that makes a path longer by more than MARGIN fails. Time is never measured: the
// counts are those of valgrind's simulated processor, the same on a busy machine.
//
//   scripts/instructions.mjs [--write] [NAME]...      --write: keep what was counted as what is expected from now on
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";

const MARGIN = 0.25; // the order in which threads run and other versions of the compiler: up to 0.1 here
const TIMEOUT_MS = 300_000;
const KEPT = "bench/instructions.json";

// Of `times: [few, many]` the difference is counted, which leaves out the start and the end of the process.
const paths = [
  { name: "compute", times: [1, 3] },
  { name: "typescript", times: [1, 3] },
  { name: "json", times: [1, 3] },
  { name: "start", times: [20, 120] },
  { name: "start-many-tools", times: [20, 120] },
  { name: "call", times: [20, 120] },
  { name: "calls", times: [2, 12] },
  { name: "calls-at-once", times: [2, 12] },
  { name: "intl", times: [2, 12] },
  { name: "search", times: [5, 25] },
  { name: "process: lathe --version", command: ["--version"] },
  { name: "process: lathe run -e 1+2", command: ["run", "-e", "1+2"] },
  { name: "process: lathe run report.ts", command: ["run", "bench/programs/report.ts"] },
];

process.chdir(new URL("..", import.meta.url).pathname);
const words = process.argv.slice(2);
const isKept = words[0] === "--write";
const chosen = isKept ? words.slice(1) : words;
const unknown = chosen.find((name) => !paths.some((path) => path.name === name));
if (unknown !== undefined) {
  console.error(`instructions: there is no path "${unknown}"; these are: ${paths.map((path) => path.name).join(", ")}`);
  process.exit(2);
}

async function instructions(program, args) {
  const { stderr } = await promisify(execFile)(
    "valgrind",
    ["--tool=callgrind", "--callgrind-out-file=/dev/null", `build/release/${program}`, ...args],
    { timeout: TIMEOUT_MS, env: { ...process.env, LATHE_CONFIG: "", HOME: "/nonexistent" } },
  );
  const count = /Collected : (\d+)/.exec(stderr);
  if (!count) throw new Error(`valgrind counted nothing:\n${stderr}`);
  return Number(count[1]);
}

async function measure({ name, times, command }) {
  if (command) return instructions("lathe", command);
  const [few, many] = await Promise.all(times.map((n) => instructions("lt_paths", [name, String(n)])));
  return Math.round((many - few) / (times[1] - times[0]));
}

const expected = JSON.parse(readFileSync(KEPT, "utf8"));
const waiting = paths.filter((path) => chosen.length === 0 || chosen.includes(path.name));
let isWorse = false;

function tell(name, counted) {
  const was = expected[name];
  const ratio = was ? counted / was : 1;
  const isTooMany = ratio > 1 + MARGIN;
  isWorse ||= isTooMany;
  const note = isTooMany ? "  TOO MANY" : ratio < 1 - MARGIN ? "  fewer: keep this with --write" : "";
  console.log(`${name.padEnd(30)} ${String(counted).padStart(12)}  ${ratio.toFixed(2)} x${note}`);
  if (isKept) expected[name] = counted;
}

async function worker() {
  for (let path = waiting.shift(); path; path = waiting.shift()) tell(path.name, await measure(path));
}

if (process.arch !== "x64") {
  console.log("instructions: kept for x86-64 only, not compared here");
} else {
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  if (isKept) writeFileSync(KEPT, `${JSON.stringify(expected, null, 2)}\n`);
  if (isWorse && !isKept) {
    console.error("instructions: if the longer path is meant, `scripts/instructions.mjs --write` keeps the new counts");
    process.exitCode = 1;
  }
}
