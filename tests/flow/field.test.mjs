// Programs as models write them (tests/field/README.md): each runs against fake services and must give the answer that its header says.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { config, describe, patience, root, run, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const field = join(root, "tests/field");
const deno = join(root, "tests/node_modules/.bin/deno");
const tsc = join(root, "tests/node_modules/.bin/tsc");
const KEYS = ["servers", "input", "calls", "prints", "logs", "result", "error", "line"];

/** The header of a program: `key: value` in its first comment lines; further indented lines belong to the last key. */
function headerOf(text) {
  const header = {};
  let key;
  for (const line of text.split("\n")) {
    const [, comment] = /^(?:\/\/|#!?) ?(.*)$/.exec(line) ?? [];
    if (comment === undefined) break; // the program begins
    const [, name, value] = /^(\w+):(?: (.*))?$/.exec(comment) ?? [];
    if (KEYS.includes(name)) header[(key = name)] = value ?? "";
    else if (/^( {2}|$)/.test(comment) && key) header[key] += (header[key] && "\n") + comment.slice(2);
  }
  return header;
}

const programs = (folder, ending) => readdirSync(join(field, folder)).filter((name) => name.endsWith(ending)).map((name) => {
  const file = join(field, folder, name);
  return { name, file, ...headerOf(readFileSync(file, "utf8")) };
});

const configured = new Map();
/** The configuration with these services: made once, since many programs want the same. */
function configOf(servers = "", rest = {}) {
  const key = servers + JSON.stringify(rest);
  const entry = (domain) => ({ command: process.execPath, args: [join(root, "tests/fakes/field_server.mjs"), domain] });
  const entries = servers.split(/,\s*/).filter(Boolean).map((domain) => [domain, entry(domain)]);
  if (!configured.has(key)) configured.set(key, config({ ...rest, mcpServers: Object.fromEntries(entries) }));
  return configured.get(key);
}

const counted = (calls) => {
  const times = new Map();
  for (const { tool } of calls) times.set(tool, (times.get(tool) ?? 0) + 1);
  return [...times].map(([tool, n]) => `${tool} ${n}`).sort().join(", ");
};
const sorted = (calls = "") => calls.split(/,\s*/).sort().join(", ");
const lines = (texts) => texts.map((text) => text.replace(/\n$/, "")).join("\n");

/** Whether a report has what the header of its program says. */
function check(program, got) {
  const where = `${program.file}\n${got.error ?? ""} at ${got.line}:${got.column} ${got.context ?? ""}\n${got.stderr ?? ""}`;
  if (program.error === undefined) assert.equal(got.error, undefined, where);
  else assert.match(got.error ?? "(no error)", new RegExp(program.error), where);
  if (program.line) assert.equal(got.line, Number(program.line), where);
  assert.deepEqual(got.result, program.result === undefined ? undefined : JSON.parse(program.result), where);
  assert.equal(lines(got.outputs), program.prints ?? "", where);
  if (program.logs !== undefined) assert.equal(lines(got.logs), program.logs, where);
  if (program.calls !== undefined) assert.equal(counted(got.calls), sorted(program.calls), where);
}

async function runs(program, args = ["--config", configOf(program.servers)]) {
  const end = await run(["run", "--json", program.file, ...args, ...(program.input ? ["--input", program.input] : [])]);
  check(program, { ...JSON.parse(end.stdout), stderr: end.stderr });
  assert.equal(end.code, program.error === undefined ? 0 : 1);
}

const options = { concurrency: 3, timeout: 300_000 * patience };
for (const [language, folder, ending] of [["JavaScript", "javascript", ".js"], ["TypeScript", "typescript", ".ts"], ["Python", "python", ".py"]]) {
  describe(`${language} as models write it`, options, () => {
    for (const program of programs(folder, ending)) test(program.name, () => runs(program));
  });
}

/** Every n-th of some programs: enough to see that another way to run them does the same. */
const some = (list, n) => list.filter((_, i) => i % n === 0);

describe("some of the TypeScript on Deno, its types checked", { ...options, skip: !existsSync(deno) && "there is no Deno" }, () => {
  for (const program of some(programs("typescript", ".ts"), 8)) {
    test(program.name, () => runs(program, ["--runner", "deno", "--config", configOf(program.servers, { deno: { path: deno } })]));
  }
});

describe("some of the TypeScript with its types checked first", { ...options, skip: !existsSync(tsc) && "there is no tsc" }, () => {
  for (const program of some(programs("typescript", ".ts"), 5)) {
    test(program.name, () => runs(program, ["--config", configOf(program.servers, { typescript: { path: tsc, check: true } })]));
  }
});

/** `lathe chat` with a model that gives these replies: the end, and what the model was told last. */
async function chat(mode, replies, servers, rest) {
  const model = await scriptedModel(replies);
  const end = await run(["chat", "-m", mode, "Go", "--config", configOf(servers, rest)], { env: model.env });
  assert.equal(end.code, 0, end.stderr);
  return { end, told: model.asked().at(-1).messages.at(-1).content };
}

describe("replies in mode code: prose, fences, several rounds", options, () => {
  for (const name of readdirSync(join(field, "replies"))) {
    const [, head, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(readFileSync(join(field, "replies", name), "utf8"));
    const { servers, prints } = headerOf(head.replace(/^/gm, "# "));
    test(name, async () => {
      const { end } = await chat("code", body.split("\n-----\n"), servers);
      assert.equal(end.stdout.trimEnd(), prints, end.stderr);
    });
  }
});

describe("some of the programs as a tool of a model", options, () => {
  const call = (name, file) => [{ calls: [{ name, arguments: { code: readFileSync(file, "utf8") } }] }, "Done."];
  /** A text is told as it is, anything else as JSON. */
  const valueOf = (told) => { try { return JSON.parse(told); } catch { return told; } };
  const fits = ({ result, prints, error, input }) => result !== undefined && prints === undefined && error === undefined && input === undefined;
  for (const program of some(programs("javascript", ".js").filter(fits), 7)) {
    test(`interpreter.run-code: ${program.name}`, async () => {
      const { told } = await chat("classic", call("interpreter_run-code", program.file), program.servers);
      const value = valueOf(told);
      assert.deepEqual(value?.logs ? value.result : value, JSON.parse(program.result));
    });
  }
  for (const program of some(programs("typescript", ".ts").filter(({ prints, error, input, result }) => prints && !error && !input && !result), 9)) {
    test(`execute_typescript: ${program.name}`, async () => {
      const { told } = await chat("typescript", call("execute_typescript", program.file), program.servers);
      assert.equal(told.trimEnd(), program.prints);
    });
  }
  for (const program of some(programs("python", ".py").filter((one) => fits(one) && one.logs === undefined), 9)) {
    test(`execute_code: ${program.name}`, async () => {
      const { told } = await chat("classic", call("execute_code", program.file), program.servers, { python: {} });
      assert.deepEqual(valueOf(told), JSON.parse(program.result));
    });
  }
});
