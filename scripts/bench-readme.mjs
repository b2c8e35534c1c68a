#!/usr/bin/env node
// Writes what `make bench` has measured last into the documentation: docs/BENCH.md, docs/pictures/side-by-side.svg, and the
// parts of README.md between <!-- bench: ... --> and <!-- /bench -->. Nobody types a figure.
//
//   scripts/bench-readme.mjs [--quick] [--from FOLDER] [--to FOLDER]
//
// --from: where side-by-side.json and bench.md are, else build/; --to: where a copy of the documentation is written instead;
// --quick: also figures of side-by-side.mjs --quick. All three are for trying this out.
//
// docs/BENCH.md keeps the sections of questions that were not asked this time.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isBytes, ratio, value } from "../bench/figures.mjs";
import { draw } from "../bench/picture.mjs";

const { values: options } = parseArgs({ options: { quick: { type: "boolean" }, from: { type: "string" }, to: { type: "string" } } });
const root = fileURLToPath(new URL("..", import.meta.url));
const read = (folder, name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "");
const row = (cells) => `| ${cells.join(" | ")} |`;
const table = (head, rows) => [row(head), row(head.map((_, i) => (i ? "--:" : "---"))), ...rows.map(row)].join("\n");

// --- Side by side -----------------------------------------------------------------------------------------------------

const TABLES = [
  ["One program after the other", { plus: "`1+2`", call: "one call of a tool", calls: "100 calls in a row" }],
  ["1,000 at once, each with a tool that takes 10 ms; memory of one that waits", { burst1: "first burst of a process", burst2: "second burst", live0: "memory, once all wait", live3: "three seconds later" }],
  ["JSON from a tool, all of it read", { read1: "1 MB", read10: "10 MB", read50: "50 MB" }],
  ["Scripts", { "script-fib": "`fib(27)`", "script-loop": "a loop of 1,000,000 rounds", "script-sort": "100,000 numbers sorted", "script-strings": "strings built", "script-json": "JSON parsed and printed", "script-regex": "a log searched" }],
];
const IN_README = {
  head: ["lathe-c", "lathe", "monty", "quickjs-emscripten", "isolated-vm", "run", "deno"],
  rows: { plus: "`1+2`", call: "… one call of a tool", calls: "… 100 calls in a row", burst1: "1,000 programs at once, a tool of 10 ms in each", live3: "memory of a program that waits", read10: "10 MB of JSON from a tool, read", "script-fib": "`fib(27)`", "script-json": "JSON parsed and printed" },
};

/** The middle; below it the least, and how much more that is than with the first one. */
function cellText(task, cell, ours) {
  if (!cell || cell.why) return "–";
  if (isBytes(task) && cell.median <= 0) return "too little to tell";
  return `${value(task, cell.median)}<br><sub>${value(task, cell.min)}, ${ratio(cell, ours) || "–"}</sub>`;
}

function sideBySide({ peers, machine, date, rounds, seconds }) {
  const [first] = peers, about = ({ title, note, version }) => `${title} ${version ?? ""}${note ? ` (${note})` : ""}`.trim();
  const tables = TABLES.map(([title, columns]) => {
    const rows = peers.filter((peer) => !peer.absent).map((peer) => [about(peer), ...Object.keys(columns).map((task) => cellText(task, peer.cells[task], first.cells[task]))]);
    return `### ${title}\n\n${table(["", ...Object.values(columns)], rows)}`;
  });
  const missing = peers.flatMap((peer) => (peer.absent ? [`* ${peer.title}: ${peer.absent}`] : whyNot(peer)));
  return `Measured ${date} in one run of ${Math.round(seconds / 60)} minutes: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, Linux ${machine.kernel}; load ${machine.loadBefore} before it, ${machine.loadAfter} after it.
Up to ${rounds.steady} rounds, in which the sandboxes took turns. In a cell: the median; below it the minimum, and the ratio of the medians to ${first.title}. "–" is explained below the tables.

${tables.join("\n\n")}

### Not measured

${missing.join("\n") || "Nothing: all gave the right answers."}
`;
}

function whyNot({ title, cells }) {
  const reasons = new Map();
  for (const [task, { why }] of Object.entries(cells)) if (why) reasons.set(why, [...(reasons.get(why) ?? []), columnOf(task)]);
  return [...reasons].map(([why, columns]) => `* ${title}, ${columns.join(", ")}: ${why}`);
}

const columnOf = (task) => TABLES.map(([, columns]) => columns[task]).find(Boolean) ?? task;

function shortTable({ peers, machine, date }) {
  const shown = IN_README.head.map((id) => peers.find((peer) => peer.id === id)).filter(Boolean);
  const cell = (task, { cells }) => (cells[task]?.median > 0 ? value(task, cells[task].median) : "–");
  const rows = Object.entries(IN_README.rows).map(([task, label]) => [label, ...shown.map((peer) => cell(task, peer))]);
  const head = shown.map(({ title, note }) => (note ? `${title}, ${note}` : title));
  return `![Time of a program with one call, time of 1,000 at once, and memory of one that waits, for Lathe and ${peers.length - 3} others](docs/pictures/side-by-side.svg)

${table(["", ...head], rows)}

(Medians of ${date}; ${machine.cpu}, ${machine.cores} cores, load ${machine.loadBefore.split(" ")[0]} before the run.)`;
}

// --- What lt_bench prints ---------------------------------------------------------------------------------------------

const HEAD = `${row(["", "min", "median", "p99", "target", "beside"])}\n${row(["---", "--:", "--:", "--:", "---", "---"])}`;

/** title → markdown. `**title**` begins one, as a row of lt_bench's table or as a line above a table of its own. */
function sectionsOf(markdown) {
  const sections = new Map();
  let rows;
  for (const line of markdown.split("\n")) {
    const title = /^(\|? ?)\*\*(.+?)\*\*[ |]*$/.exec(line);
    if (title) sections.set(title[2], (rows = title[1] ? [HEAD] : []));
    else if (rows && line.startsWith("|")) rows.push(line);
  }
  return new Map([...sections].map(([title, lines]) => [title, lines.join("\n")]));
}

/** The sections that a page has already. */
const keptSections = (page) => new Map(page.split(/^### /m).slice(1).map((text) => [text.slice(0, text.indexOf("\n")), text.slice(text.indexOf("\n")).trim()]));

/** Of one row of a table: {min, median, target}. */
function figuresOf(sections, [title, what]) {
  const rows = (sections.get(title) ?? "").split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const [, , min, median, , target] = rows.find(([, first]) => first === what) ?? [];
  return median && { min, median, target };
}

// --- The parts of README.md -------------------------------------------------------------------------------------------

const OWN = [
  ["`lathe run -e 1+2`, the whole process", ["Whole processes, started in turn", "lathe run -e 1+2"]],
  ["programs that wait in a tool call at the same time, in one process", ["Programs that wait in a tool call", "programs suspended at once, one process"]],
  ["a call of a tool, through its schema, your rules and back", ["A program calls", "tool in this process: program → loop → door → tool → program"]],
  ["100 parallel calls of a 10 ms tool", ["A program calls", "100 parallel calls of a 10 ms tool, whole run: Promise.all"]],
  ["25 lines of TypeScript, run", ["TypeScript", "types taken off 25 lines, and run"]],
  ["… their types checked first", ["TypeScript, its types checked", "25 lines that name 3 of 50 tools, warm"]],
  ["a Python program behind the system's walls", ["Python programs", "1+2, warm"]],
  ["a program with 1,000 recorded calls, run again by its record", ["A program run again by its record", "a program with 1,000 calls run again by its record"]],
  ["what the agent adds to a round of code mode", ["The agent", "a round of code mode beyond the model, a program with one call"]],
];

/** undefined: not all of them were measured yet. */
function ownTable(sections) {
  const rows = OWN.map(([label, where]) => [label, figuresOf(sections, where), where]), missing = rows.filter(([, figures]) => !figures);
  for (const [, , [title, what]] of missing) console.error(`bench-readme: docs/BENCH.md has no "${what}" in "${title}"`);
  if (missing.length > 0) return console.error("bench-readme: README.md keeps its table of Lathe alone");
  return table(["", "min", "median", "target"], rows.map(([label, { min, median, target }]) => [label, min, median, target]));
}

function replacePart(text, name, part) {
  const marked = new RegExp(`(<!-- bench: ${name} -->\n)[^]*?(<!-- /bench -->)`);
  if (!marked.test(text)) throw new Error(`README.md has no part <!-- bench: ${name} -->`);
  return text.replace(marked, (_, begin, end) => `${begin}${part}\n${end}`);
}

/** The example that README.md begins with, run now. undefined: it could not be, which is said. */
function layers() {
  const args = ["run", "examples/layers.js", "--config", "examples/lathe.yaml"];
  const { status, stdout, stderr, error } = spawnSync("build/lathe", args, { cwd: root, encoding: "utf8" });
  if (status === 0) return `\`\`\`console\n$ build/lathe ${args.join(" ")}\n${stdout}\`\`\``;
  console.error(`bench-readme: README.md keeps its first session: ${error ?? stderr}`);
}

// --- All of it --------------------------------------------------------------------------------------------------------

const INTRO = `# Measurements

\`make bench\` measures this, \`scripts/bench-readme.mjs\` writes it. A figure is what a caller sees, unless it says something else. What the figures consist of, and what they cannot fall below: [where the time goes](internals/speed.md).

## Side by side

A program is given to each sandbox by a caller in the same process (executor: over MCP; Deno and CPython: a process for each program), with limits of time and memory,
and begins with nothing that an earlier one has left. The programs are the same, in JavaScript or Python (\`bench/peers/programs.mjs\`); so are the tools, functions of the caller's. An answer that is not right is no figure.
Lathe in C runs them with \`keeps_signals\`, as a host may whose functions leave the thread's signals alone: without it a call takes three system calls more.
`;

const from = options.from ?? join(root, "build"), to = options.to ?? root;
const beside = JSON.parse(read(from, "side-by-side.json") || "null"), isUsable = beside && (!beside.isQuick || options.quick);
const measured = read(from, "bench.md"), before = read(root, "docs/BENCH.md");
const part = (name) => new RegExp(`<!-- ${name} -->\n([^]*?)<!-- /${name} -->`).exec(before)?.[1] ?? "";
const asked = [...sectionsOf(measured)].map(([title, text]) => [title, `*${measured.split("\n")[0]}.*\n\n${text}`]);
const sections = new Map([...keptSections(part("alone")), ...asked]);
const page = `${INTRO}
<!-- side by side -->
${isUsable ? sideBySide(beside) : part("side by side")}<!-- /side by side -->

## Lathe alone

The minimum, the median and the 99th percentile; the target that we set ourselves; a ratio where somebody else did the same in turn.

<!-- alone -->
${[...sections].map(([title, text]) => `### ${title}\n\n${text}\n`).join("\n")}<!-- /alone -->
`;
mkdirSync(join(to, "docs/pictures"), { recursive: true });
writeFileSync(join(to, "docs/BENCH.md"), page);
let readme = read(root, "README.md");
const session = layers();
if (session) readme = replacePart(readme, "layers", session);
const own = ownTable(sections);
if (own) readme = replacePart(readme, "alone", own);
if (isUsable) {
  writeFileSync(join(to, "docs/pictures/side-by-side.svg"), draw(beside));
  readme = replacePart(readme, "side by side", shortTable(beside));
}
writeFileSync(join(to, "README.md"), readme);
