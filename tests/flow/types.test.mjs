// What a program is told of its tools, checked by those who read it: TypeScript's own compiler and Python's own parser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { folder, run, scripted, servers } from "./harness.mjs";
import { entries, installed, missing, names } from "./npm-servers.mjs";

/* --- The compiler ------------------------------------------------------------------------------------------------ */

/** TypeScript 7's compiler is a native program; npm's script around it costs a second on a busy machine. */
function findCompiler() {
  const at = installed("@typescript");
  const native = at ? readdirSync(at).map((name) => join(at, name, "lib/tsc")).find((path) => existsSync(path)) : undefined;
  if (native) return [native];
  return installed("typescript") ? [process.execPath, join(installed("typescript"), "bin/tsc")] : undefined;
}
const compiler = findCompiler();

const output = (command, args, cwd) =>
  new Promise((yes, no) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    child.stdout.on("data", (bytes) => (text += bytes));
    child.stderr.on("data", (bytes) => (text += bytes));
    child.on("error", no);
    child.on("close", (code) => yes({ code, text }));
  });

/** What the compiler says of these files: [{file, line, code, message}]. */
async function compile(files, ...options) {
  const dir = folder(files);
  const [command, ...first] = compiler;
  const strict = ["--strict", "--noEmit", "--pretty", "false", "--skipLibCheck", "false", "--types", "", ...options];
  const { code, text } = await output(command, [...first, ...strict, ...Object.keys(files)], dir);
  const errors = [...text.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+): (.*)$/gm)].map(([, file, line, ts, message]) => ({ file, line: Number(line), code: ts, message }));
  assert.ok(code === 0 ? errors.length === 0 : errors.length > 0, `tsc ended with ${code}: ${text.slice(0, 1000)}`);
  return errors;
}

const lines = (text) => text.split("\n").length - 1;

/** Declarations and a program in one file; its lines are counted from the program's first. */
async function check(declarations, program, ...options) {
  const errors = await compile({ "program.ts": `${declarations}\n${program}\n` }, ...options);
  return errors.map((e) => ({ ...e, line: e.line - lines(declarations) - 1 }));
}
async function compiles(declarations, program, ...options) {
  assert.deepEqual(await check(declarations, program, ...options), []);
}

/** What `lathe tools` prints. */
async function listing(args, types) {
  const end = await run(["tools", ...(types ? ["--types", types] : ["--json"]), ...args], { limitMs: 60_000 });
  assert.equal(end.code, 0, end.stderr);
  return end.stdout;
}

/* --- Values that a schema allows --------------------------------------------------------------------------------- */

const resolve = (schema, root) =>
  schema.$ref ? resolve({ ...schema.$ref.slice(2).split("/").filter(Boolean).reduce((at, part) => at[part.replace(/~1/g, "/").replace(/~0/g, "~")], root), ...schema, $ref: undefined }, root) : schema;
const typeOf = (schema) => [schema.type].flat()[0] ?? (schema.properties ? "object" : schema.items ? "array" : undefined);

/** A value that fits: of objects only what is required, or with `all` everything. */
function sample(given, root, all, depth = 0) {
  const schema = resolve(given, root);
  if ("const" in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const parts = [...(schema.anyOf ?? schema.oneOf ?? []).slice(0, 1), ...(schema.allOf ?? [])].map((s) => sample(s, root, all, depth));
  const objects = parts.filter((p) => p && typeof p === "object" && !Array.isArray(p));
  if (parts.length > objects.length && !schema.properties) return parts[0];
  switch (typeOf(schema) ?? (objects.length ? "object" : undefined)) {
    case "object": {
      const required = schema.required ?? [];
      const wanted = Object.keys(schema.properties ?? {}).filter((key) => required.includes(key) || (all && depth < 4));
      return Object.assign(Object.fromEntries(wanted.map((key) => [key, sample(schema.properties[key], root, all, depth + 1)])), ...objects);
    }
    case "array": {
      const first = schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : undefined);
      if (first) return first.map((s) => sample(s, root, all, depth + 1));
      const least = Math.max(schema.minItems ?? 0, depth < 6 ? 1 : 0);
      return Array.from({ length: least }, () => (schema.items ? sample(schema.items, root, all, depth + 1) : 1));
    }
    case "string": return "text";
    case "number": case "integer": return 1;
    case "boolean": return true;
    case "null": return null;
    default: return "anything";
  }
}

/** Something of another type than a plainly typed schema asks for; undefined where nothing is plainly wrong. */
function misfit(schema) {
  if (schema.$ref || schema.anyOf || schema.oneOf || schema.allOf || "const" in schema || Array.isArray(schema.type)) return undefined;
  if (schema.enum) return schema.enum.every((v) => typeof v === "string") ? "no such literal" : undefined;
  return { string: 5, number: "5", integer: "5", boolean: "true", array: "text", object: 5 }[schema.type];
}

const call = (tool, input) => `await ${tool.tsName}(${JSON.stringify(input)});`;

/* --- The ten ----------------------------------------------------------------------------------------------------- */

const absent = missing();
const noCompiler = !compiler && "npm ci has not been run in tests/: typescript is not there";
const skip = noCompiler || (absent.length > 0 && `npm ci has not been run in tests/: ${absent.join(", ")} not there`);

describe("declarations of ten real servers", { skip }, () => {
  let tools;
  let together;
  const alone = {};
  before(async () => {
    const dir = folder();
    const all = servers(entries(dir));
    tools = JSON.parse(await listing(all));
    together = await listing(all, "ts");
    for (const name of names) alone[`${name}.ts`] = await listing(servers(entries(dir, [name])), "ts");
  });

  test("every server tells its tools", () => {
    const count = Object.fromEntries(names.map((name) => [name, tools.filter((tool) => tool.id.startsWith(`${name}.`)).length]));
    assert.ok(Object.values(count).every((n) => n > 0), JSON.stringify(count));
    assert.ok(tools.length >= 130, JSON.stringify(count));
  });
  test("compile together, with the browser's names around and without", async () => {
    assert.deepEqual(await compile({ "all.ts": together }), []);
    assert.deepEqual(await compile({ "all.ts": together }, "--lib", "es2022"), []);
  });
  test("compile alone", async () => {
    for (const [file, text] of Object.entries(alone)) assert.match(text, /^declare function /m, file);
    assert.deepEqual(await compile(alone), []);
  });
  test("no schema of theirs is too much for a type", () => {
    assert.doesNotMatch(together, /any \/\* |too large|is broken/);
  });
  test("every tool takes what its schema allows, the least and the most", async () => {
    const calls = tools.flatMap((tool) => [false, true].map((all) => call(tool, sample(tool.inputSchema, tool.inputSchema, all))));
    await compiles(together, calls.join("\n"));
  });
  test("no tool takes a property of another type, one that is not there, or none where one is required", async () => {
    const program = [];
    const wanted = [];
    const wrong = (tool, input, codes) => wanted.push(codes) && program.push(call(tool, input));
    for (const tool of tools) {
      const schema = tool.inputSchema;
      const least = sample(schema, schema, false);
      for (const [key, property] of Object.entries(schema.properties ?? {})) {
        if (misfit(property) !== undefined) wrong(tool, { ...least, [key]: misfit(property) }, ["TS2322"]);
      }
      if (!schema.additionalProperties && schema.properties) wrong(tool, { ...least, latheKnowsNone: 1 }, ["TS2353", "TS2322"]);
      for (const key of schema.required ?? []) wrong(tool, { ...least, [key]: undefined }, ["TS2741"]);
    }
    assert.ok(program.length > 400, `only ${program.length} wrong calls could be made up`);
    const errors = await check(together, program.join("\n"));
    const got = program.map((_, i) => errors.filter((e) => e.line === i + 1).map((e) => e.code));
    const missed = program.map((line, i) => ({ line, got: got[i], wanted: wanted[i] })).filter((c) => c.got.length !== 1 || !c.wanted.includes(c.got[0]));
    assert.deepEqual(missed, []);
    assert.equal(errors.length, program.length);
  });
  test("what they return has the properties that they say, and no others", async () => {
    const telling = tools.filter((tool) => tool.outputSchema?.properties && !tool.outputSchema.additionalProperties);
    assert.ok(telling.length > 40, `only ${telling.length}`);
    const program = telling.map((tool, i) => {
      const input = JSON.stringify(sample(tool.inputSchema, tool.inputSchema, false));
      const reads = Object.keys(tool.outputSchema.properties).map((key) => `r.value[${JSON.stringify(key)}]`);
      return `{ const r = await ${tool.tsName}(${input}); if (r.success) { [${reads}]; } }\n{ const r = await ${tool.tsName}(${input}); if (r.success) r.value.latheKnowsNone; } // ${i}`;
    });
    const errors = await check(together, program.join("\n"));
    assert.deepEqual(errors.map((e) => [e.line, e.code]), telling.map((_, i) => [2 * i + 2, "TS2339"]));
  });
});
