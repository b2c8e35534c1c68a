// What a model reads of its tools, in tokens: as classic tool definitions, as the listing of the system prompt, as
// TypeScript; and what `lathe chat` really sends in each mode. And how long ten servers take to start together. Real servers (tests/flow/npm-servers.mjs), a real tokenizer
// (o200k_base, that of the GPT-4o family and later). Prints two tables; with LATHE_BENCH_MD set they go to that file as
// markdown, too. What cannot be measured says why; the exit code is 0 whatever happens.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { entries, installed, missing, names } from "../tests/flow/npm-servers.mjs";
import { printTable } from "./figures.mjs";

const root = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const lathe = process.env.LATHE ?? join(root, "build/release/lathe");
const LIMIT_MS = 60_000;

const dir = mkdtempSync(join(tmpdir(), "lathe-bench-"));
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));

function config(name, mcpServers) {
  const path = join(dir, `${name}.json`);
  const plugins = ["artifact", "interpreter"].map((builtIn) => ({ name: builtIn, disabled: true })); // not these servers' tools
  writeFileSync(path, JSON.stringify({ mcpServers, plugins }));
  return path;
}

/** `lathe tools --types ...`: {text, ms}; throws what it said when there are no tools. */
function list(path, ...types) {
  const began = performance.now();
  const child = spawn(lathe, ["tools", "--config", path, "--types", ...types], { cwd: dir, env: { ...process.env, HOME: dir }, stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  let [text, said] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
  child.stderr.setEncoding("utf8").on("data", (part) => (said += part));
  return new Promise((yes, no) => {
    child.on("error", no);
    child.on("close", (code) => {
      clearTimeout(timer);
      const why = said.trim().split("\n")[0].slice(0, 100);
      if (code !== 0 || text === "" || text.startsWith("[]")) no(new Error(why || `ended with ${code}`));
      else yes({ text, ms: performance.now() - began });
    });
  });
}

/* --- Tools made up: verbs and things, two to seven arguments, some of them nested -------------------------------- */

const VERBS = ["create", "get", "list", "update", "delete", "search", "archive", "export", "assign", "summarize"];
const THINGS = ["customer", "invoice", "ticket", "order", "project", "document", "employee", "shipment", "campaign", "meeting"];
const PARTS = ["", "_comment", "_label", "_history", "_template"];
const ARGUMENTS = [
  ["query", { type: "string", description: "Full-text query; words are combined with AND, \"quoted phrases\" match exactly." }],
  ["limit", { type: "integer", minimum: 1, maximum: 100, default: 20, description: "How many results at most." }],
  ["status", { type: "string", enum: ["open", "pending", "closed", "archived"], description: "Only those in this state." }],
  ["dueDate", { type: "string", format: "date-time", description: "ISO 8601 date and time, UTC where no offset is given." }],
  ["tags", { type: "array", items: { type: "string" }, maxItems: 20, description: "Labels, lower case." }],
  ["owner", { type: "object", properties: { id: { type: "string" }, email: { type: "string", format: "email" } }, required: ["id"], description: "Who is responsible." }],
  ["dryRun", { type: "boolean", default: false, description: "Only say what would be done." }],
];

function madeUp(thing, verb, part, i) {
  const properties = { id: { type: "string", description: `Identifier of the ${thing}, as its list returns it.` } };
  for (let k = 0; k <= i % 6; k++) properties[ARGUMENTS[(i + k) % ARGUMENTS.length][0]] = ARGUMENTS[(i + k) % ARGUMENTS.length][1];
  const what = `${thing}${part.replace("_", " ")}`;
  return {
    name: `${verb}_${thing}${part}`,
    description: `${verb[0].toUpperCase()}${verb.slice(1)} a ${what}. Returns the ${what} as it is afterwards, with its identifier, state and time of the last change. Fails when the ${thing} does not exist or is locked by somebody else.`,
    inputSchema: { type: "object", properties, required: ["id"], additionalProperties: false },
  };
}

/** Ten servers of fifty. */
function madeUpServers() {
  return Object.fromEntries(THINGS.map((thing, t) => {
    const tools = VERBS.flatMap((verb, v) => PARTS.map((part, p) => ({ tool: madeUp(thing, verb, part, t * 50 + v * 5 + p) })));
    const path = join(dir, `${thing}.script.json`);
    writeFileSync(path, JSON.stringify(tools));
    return [thing, { command: process.execPath, args: [join(root, "tests/fakes/mcp_server.mjs"), `--script=${path}`] }];
  }));
}

/* --- Counting ---------------------------------------------------------------------------------------------------- */

let countTokens; // once it is there
const tokens = (text) => countTokens(text, { disallowedSpecial: new Set() });

/** A model that ends every prompt at once: what it was asked is in `asked`. */
function model() {
  const asked = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part) => (body += part));
    request.on("end", () => {
      asked.push(JSON.parse(body));
      const delta = { content: "done();" };
      const chunk = { id: "1", object: "chat.completion.chunk", model: "none", choices: [{ index: 0, delta, finish_reason: "stop" }] };
      if (asked.at(-1).stream) response.setHeader("content-type", "text/event-stream").end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
      else response.setHeader("content-type", "application/json").end(JSON.stringify({ ...chunk, object: "chat.completion", choices: [{ index: 0, message: { role: "assistant", ...delta }, finish_reason: "stop" }] }));
    });
  });
  return new Promise((yes) => server.listen(0, "127.0.0.1", () => yes({ asked, url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() })));
}

/** What a model is sent by `lathe chat -m MODE` besides the user's words: instructions and tools, in tokens. */
async function sent(path, mode) {
  const { asked, url, close } = await model();
  try {
    const env = { ...process.env, HOME: dir, XDG_STATE_HOME: dir, OPENAI_BASE_URL: url, OPENAI_API_KEY: "none", OPENAI_MODEL: "none" };
    const child = spawn(lathe, ["chat", "--config", path, "-m", mode, "Hello"], { cwd: dir, env, stdio: ["ignore", "ignore", "ignore"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    await new Promise((yes) => child.on("close", yes));
    clearTimeout(timer);
    if (asked.length === 0) throw new Error("the model was not asked");
    const system = asked[0].messages.filter((m) => m.role === "system").map((m) => m.content).join("\n");
    return tokens(system) + tokens(JSON.stringify(asked[0].tools ?? []));
  } finally {
    close();
  }
}

const MODES = ["classic", "code", "typescript"];
async function sentRow(name, servers) {
  const path = config(`chat-${name.replace(/\W+/g, "-")}`, servers);
  try {
    const counts = [];
    for (const mode of MODES) counts.push(await sent(path, mode));
    return [name, number(counts[0]), ...counts.slice(1).map((n) => beside(n, counts[0]))];
  } catch (e) {
    return [name, "not measured:", e.message, ""];
  }
}

/** As an API without code mode is given them. */
const classic = (tools) => JSON.stringify(tools.map((t) => ({ type: "function", function: { name: t.id.replace(/\./g, "_"), description: t.description, parameters: t.inputSchema } })));

/** One row: three runs of the same servers, or four with `budgeted`. */
async function measure(name, servers, budgeted) {
  const path = config(name, servers);
  try {
    const runs = [await list(path, "json"), await list(path, "ts"), await list(path, "prompt", "--budget", "0")];
    const tools = JSON.parse(runs[0].text);
    const row = { name, tools: tools.length, classic: tokens(classic(tools)), ts: tokens(runs[1].text), listing: tokens(runs[2].text), ms: runs.map((r) => r.ms).sort((a, b) => a - b)[1] };
    if (budgeted) row.budget = tokens((await list(path, "prompt")).text);
    return row;
  } catch (e) {
    return { name, why: e.message };
  }
}

/* --- Tables ------------------------------------------------------------------------------------------------------ */

const number = (n) => n.toLocaleString("en-US");
const beside = (n, whole) => `${number(n)} (${((100 * n) / whole).toFixed(0)} %)`;
function tokenRow(r) {
  if (r.why) return [r.name, "not measured:", r.why, "", "", ""];
  return [r.name, number(r.tools), number(r.classic), beside(r.ts, r.classic), beside(r.listing, r.classic), r.budget ? beside(r.budget, r.classic) : ""];
}
const ms = (n) => `${n.toFixed(0)} ms`;

async function main() {
  if (!installed("gpt-tokenizer")) throw new Error("npm ci has not been run in tests/: gpt-tokenizer is not there");
  countTokens = createRequire(import.meta.url)(join(installed("gpt-tokenizer"), "cjs/encoding/o200k_base.js")).countTokens;
  const absent = missing();
  if (absent.length > 0) console.log(`tokens: not installed: ${absent.join(", ")}`);
  const there = names.filter((name) => !absent.includes(name));
  const alone = [];
  for (const name of there) alone.push(await measure(name, entries(dir, [name])));
  const up = alone.filter((r) => !r.why).map((r) => r.name);
  const all = await measure(`all ${up.length} together`, entries(dir, up), true);
  const many = await measure("500 tools made up", madeUpServers(), true);

  printTable("What a model reads of its tools, in tokens (o200k_base); only TypeScript says what they return", ["", "tools", "classic", "TypeScript", "listing", "listing, default budget"], [...alone, all, many].map(tokenRow));
  printTable("What lathe chat sends before the user's words, instructions and tools, in tokens", ["", ...MODES], [await sentRow(all.name, entries(dir, up)), await sentRow(many.name, madeUpServers())]);
  const slowest = alone.filter((r) => !r.why).reduce((a, b) => (b.ms > a.ms ? b : a), { ms: 0 });
  const inTurn = alone.reduce((sum, r) => sum + (r.ms ?? 0), 0);
  const started = (r) => [r.name, r.why ? `not measured: ${r.why}` : ms(r.ms), r === all && !r.why ? `${(all.ms / slowest.ms).toFixed(2)} × ${slowest.name} alone, ${(all.ms / inTurn).toFixed(2)} × all in turn` : ""];
  printTable(`lathe tools, from its start to its end, ${cpus().length} cores`, ["", "median of 3", "beside"], [...alone, all].map(started));
}
await main().catch((e) => console.log(`tokens: not measured: ${e.message}`));
