// Programs as models write them (tests/field/README.md): each runs against fake services and must give the answer that its header says.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { config, describe, patience, root, run, test } from "./harness.mjs";

const field = join(root, "tests/field");
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

async function runs(program, ...args) {
  const end = await run(["run", "--json", program.file, "--config", configOf(program.servers), ...(program.input ? ["--input", program.input] : []), ...args]);
  check(program, { ...JSON.parse(end.stdout), stderr: end.stderr });
  assert.equal(end.code, program.error === undefined ? 0 : 1);
}

const options = { concurrency: 3, timeout: 300_000 * patience };
for (const [language, folder, ending] of [["JavaScript", "javascript", ".js"], ["TypeScript", "typescript", ".ts"], ["Python", "python", ".py"]]) {
  describe(`${language} as models write it`, options, () => {
    for (const program of programs(folder, ending)) test(program.name, () => runs(program));
  });
}
