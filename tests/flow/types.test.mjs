// What a program is told of its tools, checked by those who read it: TypeScript's own compiler and Python's own parser.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { describe, folder, run, scripted, servers, test } from "./harness.mjs";
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

const output = (command, args, cwd, stdin = "") =>
  new Promise((yes, no) => {
    const child = spawn(command, args, { cwd, stdio: "pipe" });
    child.stdin.on("error", () => {}); // it need not read all of it
    child.stdin.end(stdin);
    let text = "";
    child.stdout.on("data", (bytes) => (text += bytes));
    child.stderr.on("data", (bytes) => (text += bytes));
    child.on("error", no);
    child.on("close", (code) => yes({ code, text }));
  });

/** What the compiler says of these files: [{file, line, code, message}]. Only the language's own library, or all of them. */
async function compile(files, library = ["--lib", "es2022"]) {
  const dir = folder(files);
  const [command, ...first] = compiler;
  const strict = ["--strict", "--noEmit", "--pretty", "false", "--skipLibCheck", "false", "--types", "", ...library];
  const { code, text } = await output(command, [...first, ...strict, ...Object.keys(files)], dir);
  const errors = [...text.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+): (.*)$/gm)].map(([, file, line, ts, message]) => ({ file, line: Number(line), code: ts, message }));
  assert.ok(code === 0 ? errors.length === 0 : errors.length > 0, `tsc ended with ${code}: ${text.slice(0, 1000)}`);
  return errors;
}

const lines = (text) => text.split("\n").length - 1;

/** Declarations and a program in one file; its lines are counted from the program's first. */
async function check(declarations, program) {
  const errors = await compile({ "program.ts": `${declarations}\n${program}\n` });
  return errors.map((e) => ({ ...e, line: e.line - lines(declarations) - 1 }));
}
async function compiles(declarations, program) {
  assert.deepEqual(await check(declarations, program), []);
}

/** These servers' tools only, without those that come with Lathe. */
const only = (mcpServers) => servers(mcpServers, { plugins: ["artifact", "interpreter"].map((name) => ({ name, disabled: true })) });

/** What `lathe tools` prints. */
async function listing(args, types, ...more) {
  const end = await run(["tools", ...(types ? ["--types", types] : ["--json"]), ...args, ...more], { limitMs: 60_000 });
  assert.equal(end.code, 0, end.stderr);
  return end.stdout;
}

/** What Python's own parser makes of stubs: {name: {required, optional, types, open, doc}}. */
const PARSE = `
import ast, json, sys
tree = ast.parse(sys.stdin.read(), "stubs.pyi")
compile(tree, "stubs.pyi", "exec")
found = {}
for f in tree.body[1:]:
    assert isinstance(f, ast.FunctionDef) and f.name not in found, ast.dump(f)
    named = list(zip(f.args.kwonlyargs, f.args.kw_defaults))
    found[f.name] = {"required": [a.arg for a, d in named if d is None], "optional": [a.arg for a, d in named if d is not None],
                     "types": {a.arg: ast.unparse(a.annotation) for a, d in named}, "open": f.args.kwarg is not None, "doc": ast.get_docstring(f) or ""}
json.dump(found, sys.stdout)
`;
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
async function parsePython(stubs) {
  const { code, text } = await output(python, ["-c", PARSE], folder(), stubs);
  assert.equal(code, 0, text.slice(-2000));
  return JSON.parse(text);
}
const noPython = spawnSync(python, ["--version"]).status !== 0 && "python3 is not there";
/** The Python name of an id or a property. */
const pyName = (name) => name.replace(/[^A-Za-z0-9_]/gu, "_").replace(/^(?=\d|$)/, "_").replace(/^(False|None|True|and|as|assert|async|await|break|call_tool|call_tools_parallel|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|input_data|is|lambda|nonlocal|not|or|pass|raise|return|set_result|try|while|with|yield)$/, "$1_");

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

describe("ten real servers and what comes with Lathe", { skip }, () => {
  let tools;
  let together;
  let replayed;
  const alone = {};
  before(async () => {
    const real = servers(entries(folder()));
    [tools, together] = [JSON.parse(await listing(real)), await listing(real, "ts")];
    // The same lists from servers that start at once.
    const own = (name) => tools.filter((t) => t.id.startsWith(`${name}.`)).map((t) => ({ tool: { ...t, name: t.id.slice(name.length + 1) } }));
    const replay = Object.fromEntries(names.map((name) => [name, scripted(own(name))]));
    replayed = servers(replay);
    for (const name of names) alone[`${name}.ts`] = await listing(only({ [name]: replay[name] }), "ts");
  });

  test("every server tells its tools", () => {
    const count = Object.fromEntries(names.map((name) => [name, tools.filter((tool) => tool.id.startsWith(`${name}.`)).length]));
    assert.ok(Object.values(count).every((n) => n > 0), JSON.stringify(count));
    assert.ok(tools.length >= 130, JSON.stringify(count));
  });
  test("compile together, with the browser's names around and without", async () => {
    assert.deepEqual(await compile({ "all.ts": together }, []), []);
    assert.deepEqual(await compile({ "all.ts": together }), []);
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

  test("Python parses the stubs; their arguments are those of the schemas", { skip: noPython }, async () => {
    const stubs = await parsePython(await listing(replayed, "python"));
    assert.equal(Object.keys(stubs).length, tools.length + 3);
    for (const { id, inputSchema, description } of tools) {
      const stub = stubs[pyName(id)];
      const required = inputSchema.required ?? [];
      const own = Object.keys(inputSchema.properties ?? {});
      assert.deepEqual(stub.required, own.filter((key) => required.includes(key)).map(pyName), id);
      assert.deepEqual(stub.optional, own.filter((key) => !required.includes(key)).map(pyName), id);
      const [begin] = description.trim().split(/\s*\n/);
      assert.ok(stub.doc.startsWith(begin.slice(0, 40)), `${id}: ${stub.doc.slice(0, 100)}`);
    }
  });
  test("the listing names every tool once", async () => {
    const listed = await listing(replayed, "prompt", "--budget", "0");
    for (const { id } of tools) assert.equal(listed.split(`(ID: ${id})`).length, 2, id);
    assert.equal(listed.trimEnd().split("\n").length, new Set(tools.map((tool) => tool.id.split(".")[0])).size);
  });
  test("two runs print the same bytes, in all four forms", async () => {
    for (const types of ["ts", "python", "json", "prompt"]) assert.ok((await listing(replayed, types)) === (await listing(replayed, types)), types);
    assert.equal(await listing(replayed, "ts"), together);
  });
});

/* --- Programs that are wrong, one thing each --------------------------------------------------------------------- */

const object = (properties, more = {}) => ({ type: "object", properties, ...more });
const tool = (name, inputSchema = object({}), more = {}) => ({ tool: { name, inputSchema, ...more } });

describe("a program", { skip: noCompiler }, () => {
  let declarations;
  before(async () => {
    const weather = object(
      { city: { type: "string" }, days: { type: "integer" }, units: { enum: ["metric", "imperial"] }, at: object({ lat: { type: "number" } }, { required: ["lat"] }) },
      { required: ["city"] },
    );
    const forecast = object({ temperature: { type: "number" }, sky: { enum: ["clear", "cloudy"] } }, { required: ["temperature"] });
    declarations = await listing(only({ w: scripted([tool("get-weather", weather, { outputSchema: forecast }), tool("now")]) }), "ts");
  });

  test("that is right compiles", async () => {
    await compiles(
      declarations,
      `const r = await get_weather({ city: "Paris", days: 3, units: "metric", at: { lat: 48.9 } });
       if (r.success) { const t: number = r.value.temperature; const cloudy: boolean = r.value.sky === "cloudy"; [t.toFixed(1), cloudy]; }
       else { r.error.toUpperCase(); }
       const input: GetWeatherInput = { city: "Oslo" };
       const both = await Promise.all([get_weather(input), now(), now({})]);
       const first: Result<GetWeatherOutput> = both[0]; first;`,
    );
  });

  const bad = "\n  ";
  const cases = {
    "a property of the wrong type": [`await get_weather({${bad}city: 5 });`, 2, "TS2322", /'number' is not assignable to type 'string'/],
    "a wrong type further down": [`await get_weather({ city: "x", at: {${bad}lat: "48" } });`, 2, "TS2322", /'string' is not assignable to type 'number'/],
    "a required property left out": ["await get_weather({ days: 3 });", 1, "TS2741", /'city' is missing in type .* required in type 'GetWeatherInput'/],
    "no input where one is required": ["await get_weather();", 1, "TS2554", /Expected 1 arguments, but got 0/],
    "an unknown property": [`await get_weather({ city: "x",${bad}unit: "metric" });`, 2, "TS2561", /'unit' does not exist in type 'GetWeatherInput'/],
    "a wrong literal of an enum": [`await get_weather({ city: "x",${bad}units: "kelvin" });`, 2, "TS2322", /"kelvin"' is not assignable to type '("metric" \| "imperial"|"imperial" \| "metric")/],
    "undefined where null or nothing is not allowed": [`await get_weather({${bad}city: null });`, 2, "TS2322", /'null' is not assignable/],
    "an argument for a tool without any": ["await now({ at: 5 });", 1, "TS2322", /not assignable to type 'never'/],
    "something that is no object for a tool without arguments": ["await now(5);", 1, "TS2345", /'number' is not assignable to parameter of type 'NowInput'/],
    "value without asking whether it succeeded": [`const r = await get_weather({ city: "x" });\nr.value;`, 2, "TS2339", /'value' does not exist on type/],
    "value after a failure": [`const r = await get_weather({ city: "x" });\nif (!r.success) r.value;`, 2, "TS2339", /'value' does not exist on type '\{ success: false; error: string; \}'/],
    "await forgotten": [`const r = get_weather({ city: "x" });\nr.success;`, 2, "TS2339", /'success' does not exist on type 'Promise/],
    "a property that the result does not have": [`const r = await get_weather({ city: "x" });\nif (r.success) r.value.temperatur;`, 2, "TS2551", /'temperatur' does not exist .*'temperature'/],
    "a result taken for something else": [`const r = await get_weather({ city: "x" });\nif (r.success) { const s: string = r.value.temperature; s; }`, 2, "TS2322", /'number' is not assignable to type 'string'/],
    "a property of the result that may be missing": [`const r = await get_weather({ city: "x" });\nif (r.success) r.value.sky.length;`, 2, "TS18048", /'r.value.sky' is possibly 'undefined'/],
    "the name of no tool": [`await get_wether({ city: "x" });`, 1, "TS2552", /Cannot find name 'get_wether'. Did you mean 'get_weather'/],
    "the name of no tool at all": ["await paint();", 1, "TS2304", /Cannot find name 'paint'/],
  };
  test("that is wrong is told so, at the place", async () => {
    const files = Object.fromEntries(Object.values(cases).map(([code], i) => [`p${i}.ts`, `${declarations}\n${code}\n`]));
    const errors = await compile(files);
    Object.entries(cases).forEach(([what, [, line, code, message]], i) => {
      const mine = errors.filter((e) => e.file === `p${i}.ts`).map((e) => ({ ...e, line: e.line - lines(declarations) - 1 }));
      assert.deepEqual(mine.map((e) => [e.line, e.code]), [[line, code]], `${what}: ${JSON.stringify(mine)}`);
      assert.match(mine[0].message, message, what);
    });
    assert.equal(errors.length, Object.keys(cases).length);
  });
});

/* --- What no good server would send ------------------------------------------------------------------------------ */

const def = (schema, defs, more = {}) => ({ ...schema, $defs: defs, ...more });
const ref = (name, more = {}) => ({ $ref: `#/$defs/${name}`, ...more });
const list = (items, more = {}) => ({ type: "array", items, ...more });
const string = { type: "string" };
const number = { type: "number" };
const odd = ["get-weather", "a.b", "2fast", "delete", "fetch", "Result", "Promise", "Array", "await", "eval", "console", "any", "string", "Record", "caf\u00e9", "\u65e5\u672c", "o'clock", "x\"y"];
const keys = ["a-b", "\u00fc", "\u65e5\u672c", 'q"q', "back\\slash", "new\nline", "'", "1", "class", "", "a b", "\u2028", "`${x}`", "*/", "__proto__"];
const text = "y".repeat(50_000);

const nasty = [
  tool("first", def(object({ n: ref("Node") }), { Node: object({ a: string }, { required: ["a"] }) })),
  tool("second", def(object({ n: ref("Node") }), { Node: object({ b: number }, { required: ["b"] }) }), { outputSchema: def(object({ n: ref("Node") }), { Node: object({ c: number }) }) }),
  tool("tree", def(object({ root: ref("Tree"), any: ref("Json") }), {
    Tree: object({ value: string, kids: list(ref("Tree")) }, { required: ["value"] }),
    Json: { anyOf: [string, { type: "null" }, list(ref("Json")), { type: "object", additionalProperties: ref("Json") }] },
  })),
  tool("chain", object({ next: { $ref: "#" }, v: number })),
  tool("circle", def(object({ x: ref("A"), y: ref("C") }), { A: ref("B"), B: ref("A"), C: { anyOf: [ref("C"), string] } })),
  tool("titled", object(Object.fromEntries(["title", "description", "type", "properties", "required", "$ref", "enum", "$defs"].map((k) => [k, { ...string, title: k }])), { title: "Titled", required: ["title"] })),
  tool("titledtoo", object({ title: { ...number, title: "Titled" }, sub: { ...object({ x: string }), title: "Titled" } }, { title: "Titled" })),
  tool("comments", object({ v: { ...string, description: "ends */ here /* and */", default: "*/", pattern: "*/" } }), { description: "closes */ alert(1) /* it\n*/\n/**/" }),
  ...odd.map((name) => tool(name, object({ v: string }), { outputSchema: object({ w: string }) })),
  tool("tuples", object({
    pair: { type: "array", prefixItems: [string, number], items: false, minItems: 2 },
    plain: { type: "array", prefixItems: [string, number] },
    rest: { type: "array", prefixItems: [string], items: number, minItems: 1 },
    part: { type: "array", prefixItems: [string, number], minItems: 1, items: false },
    old: list([string, { type: "boolean" }], { additionalItems: false, minItems: 2 }),
    oldrest: list([string], { additionalItems: number, minItems: 1 }),
    fixed: list(number, { minItems: 2, maxItems: 2 }),
    untold: { type: "array" },
  }, { required: ["pair", "plain", "rest", "part", "old", "oldrest", "fixed", "untold"] })),
  tool("beside", def(object({ a: ref("P", { description: "the first" }), b: ref("P", { description: "the second" }) }, { required: ["a", "b"] }), { P: object({ x: number }, { required: ["x"] }) })),
  tool("literals", object({
    e: { enum: ["a", "b"] }, n: { enum: [1, -2.5, null, true] }, c: { const: "only" }, o: { const: { a: [1, "x"] } }, z: { type: "null" },
    sn: { type: ["string", "null"] }, nb: { ...string, nullable: true }, none: { enum: [] }, q: { const: "a\"*/\n`${b}" },
  }, { required: ["e", "n", "c", "o", "z", "sn", "nb", "q"] })),
  tool("composed", object({
    all: { allOf: [object({ a: string }, { required: ["a"] }), object({ b: number }, { required: ["b"] })] },
    one: { oneOf: [object({ k: { const: "x" }, v: string }, { required: ["k", "v"] }), object({ k: { const: "y" }, w: number }, { required: ["k", "w"] })] },
    any: { anyOf: [string, number, { type: "integer" }] },
    based: object({ c: { type: "boolean" } }, { required: ["c"], oneOf: [object({ d: string }, { required: ["d"] }), object({ e: string }, { required: ["e"] })] }),
  }, { required: ["all", "one", "any", "based"] })),
  tool("maps", object({
    numbers: { type: "object", additionalProperties: number },
    patterns: { type: "object", patternProperties: { "^x-": string }, additionalProperties: false },
    open: object({ name: string }, { additionalProperties: true, required: ["name"] }),
    mixed: object({ name: string }, { additionalProperties: number, required: ["name"] }),
    closed: object({ name: string }, { additionalProperties: false }),
    whatever: { type: "object" }, yes: true, no: false, empty: {},
  }, { required: ["numbers", "patterns", "open", "mixed", "closed", "whatever", "yes", "empty"] })),
  tool("facts", object({
    n: { type: "integer", minimum: 1, maximum: 10, default: 5, description: "How many" },
    x: { ...number, exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.1 },
    s: { ...string, format: "date-time", minLength: 1, maxLength: 9, pattern: "^a+$", default: "a" },
    l: list({ ...string, format: "uri", description: "Where from." }, { minItems: 1, maxItems: 3, uniqueItems: true, default: ["a"], description: "Where from they come." }),
    two: { ...number, description: "Two\nlines", default: 1, minimum: 0 },
    old: { ...string, deprecated: true },
  })),
  tool("keyed", object(Object.fromEntries(keys.map((k) => [k, string])))),
  tool("quoted", object({ v: { ...string, description: '"""' } }), { description: 'says """hi""" \\n \\' }),
  tool("inherited", object({ constructor: string, toString: string, hasOwnProperty: string }, { required: ["constructor", "toString", "hasOwnProperty"] })),
  tool("long", object({ v: { ...string, description: text } }), { description: text }),
  tool("dirty", object({ v: { ...string, description: "\x1b[31mred\x1b[0m \u202egnp\x00\x07" } }), { description: "\x1b]0;title\x07one\u2028two\r\nthree" }),
  tool("anything", true), tool("nothing", {}),
  tool("faulty", object({ a: { type: "strng" }, b: 5, c: { $ref: "http://127.0.0.1/x" }, d: ref("nope"), e: { enum: "x" }, f: string })),
  tool("rooted", { allOf: [ref("A"), object({ z: string })], $defs: { A: object({ a: string }, { required: ["a"] }) } }),
  tool("path", { ...object({ n: { $ref: "#/definitions/x~1y%20z" } }, { required: ["n"] }), definitions: { "x/y z": { enum: ["v"] } } }),
  tool("returns", object({}), { outputSchema: def(object({ items: list(ref("Item")) }, { required: ["items"] }), { Item: object({ id: string, tags: list(string) }, { required: ["id"] }) }) }),
];

describe("tools that no good server has", { skip: noCompiler }, () => {
  const args = only({ n: scripted(nasty) });
  let ts;
  let called; // id -> {tsName, jsName}
  before(async () => {
    ts = await listing(args, "ts");
    called = Object.fromEntries(JSON.parse(await listing(args)).map((t) => [t.id, t]));
  });
  /** The declarations from a tool's input type to its function. */
  const part = (tsName, type) => ts.slice(ts.search(new RegExp(`^export (interface|type) ${type}Input\\b`, "m")), ts.indexOf(`declare function ${tsName}(`));

  const EQUAL = `type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
    type Flat<T> = T extends object ? { [K in keyof T]: Flat<T[K]> } : T;\n`;
  /** Each line's two types, separated by " == ", are one and the same to the compiler. */
  const same = async (...pairs) => {
    const program = pairs.map((pair) => { const [a, b] = pair.split(" == "); return `{ const same: Equal<${a}, ${b}> = true; same; }`; }).join("\n");
    const errors = await check(ts, EQUAL + program);
    assert.deepEqual(errors.map((e) => pairs[e.line - 1 - lines(EQUAL)] ?? e), []);
  };

  test("all of it compiles, with the browser's names around and without", async () => {
    assert.deepEqual(await compile({ "nasty.ts": ts }, []), []);
    assert.deepEqual(await compile({ "nasty.ts": ts }), []);
    assert.equal([...ts.matchAll(/^declare function /gm)].length, nasty.length);
  });
  test("the comparison of types can fail", async () => {
    await assert.rejects(same("LiteralsInput['e'] == 'a'"));
    await assert.rejects(same("FirstInput['n'] == SecondInput['n']"));
  });
  test("names: every tool is declared by a name that can be called", async () => {
    const wanted = { "get-weather": "get_weather", "a.b": "a_b", "2fast": "_2fast", delete: "delete_", fetch: "fetch_", Result: "Result_", Promise: "Promise_", await: "await_" };
    for (const [name, tsName] of Object.entries(wanted)) assert.equal(called[`n.${name}`].tsName, tsName);
    await compiles(ts, odd.map((name) => `{ const r = await ${called[`n.${name}`].tsName}({ v: "x" }); if (r.success) { const w: string | undefined = r.value.w; w; } }`).join("\n"));
  });
  test("two tools' definitions of one name are two types, a tool's output's a third", () =>
    same("Flat<FirstInput['n']> == { a: string } | undefined", "Flat<SecondInput['n']> == { b: number } | undefined", "Flat<SecondOutput['n']> == { c?: number } | undefined"));
  test("titles make no types, so that two tools' cannot be the same; properties may be called like keywords", async () => {
    await same("TitledtooInput['title'] == number | undefined", "Flat<TitledtooInput['sub']> == { x?: string } | undefined", "TitledInput['title'] == string", "TitledInput['$ref'] == string | undefined", "keyof TitledInput == 'title' | 'description' | 'type' | 'properties' | 'required' | '$ref' | 'enum' | '$defs'");
    assert.doesNotMatch(ts, /(interface|type) Titled\b/);
  });
  test("recursive types are whole", async () => {
    await compiles(ts, `await tree({ root: { value: "a", kids: [{ value: "b", kids: [] }] }, any: { a: [1 > 0 ? "x" : null, { b: ["y"] }] } });
      await chain({ next: { next: { v: 1 } } });`);
    const errors = await check(ts, `await tree({ root: { value: "a", kids: [{ value: "b", kids: [\n{ value: 5 }] }] } });\nawait tree({ root: { value: "a" }, any: [[[\n7]]] });\nawait chain({ next: { next: {\nw: 1 } } });`);
    assert.deepEqual(errors.map((e) => [e.line, e.code]), [[2, "TS2322"], [4, "TS2322"], [6, "TS2353"]]);
  });
  test("definitions that only lead back to themselves are any, with a word why", async () => {
    await same("CircleInput['x'] == any");
    assert.match(part("circle", "Circle"), /any \/\* a reference to itself: #\/\$defs\/B \*\//);
  });

  // What json-schema-to-typescript does well, point by point.
  test("*/ ends no comment", () => {
    const comments = part("comments", "Comments");
    assert.match(comments, /ends \* \/ here \/\* and \* \//);
    assert.match(comments, /\/\*\*\n \* closes \* \/ alert\(1\) \/\* it\n \* \* \/\n \* \/\*\* \/\n \*\/\n$/);
  });
  test("keys that are no identifiers are quoted, whatever is in them", async () => {
    const written = (k) => (k === "__proto__" ? '["__proto__"]' : JSON.stringify(k).replace("\u2028", "\\u2028")); // which ends a line in TypeScript
    const uses = keys.map((k) => `await keyed({ ${written(k)}: "v" });`);
    await compiles(ts, [...uses, `await inherited({ constructor: "a", toString: "b", hasOwnProperty: "c" });`].join("\n"));
    const wrong = uses.map((line) => line.replace(': "v"', ": 5"));
    assert.deepEqual((await check(ts, wrong.join("\n"))).map((e) => [e.line, e.code]), wrong.map((_, i) => [i + 1, "TS2322"]));
    assert.match(part("keyed", "Keyed"), /^ {2}class\?: string;$/m);
  });
  test("enum and const are unions of literals, null is null", () =>
    same("LiteralsInput['e'] == 'a' | 'b'", "LiteralsInput['n'] == 1 | -2.5 | null | true", "LiteralsInput['c'] == 'only'", "Flat<LiteralsInput['o']> == { a: [1, 'x'] }", "LiteralsInput['z'] == null", "LiteralsInput['sn'] == string | null", "LiteralsInput['nb'] == string | null", "LiteralsInput['none'] == undefined", 'LiteralsInput["q"] == "a\\"*/\\n`${b}"'));
  test("arrays: of anything, of a fixed length", () => same("TuplesInput['untold'] == unknown[]", "TuplesInput['fixed'] == [number, number]"));
  test("additionalProperties and patternProperties", () =>
    same("MapsInput['numbers'] == { [k: string]: number }", "MapsInput['patterns'] == { [k: string]: string }", "MapsInput['open']['name'] == string", "MapsInput['mixed']['name'] == string", "MapsInput['open']['other'] == any", "keyof MapsInput['closed'] == 'name'", "MapsInput['whatever'] == { [k: string]: unknown }"));
  test("oneOf and anyOf are unions, allOf is an intersection", async () => {
    await same("Flat<ComposedInput['all']> == { a: string; b: number }", "Flat<ComposedInput['one']> == { k: 'x'; v: string } | { k: 'y'; w: number }", "ComposedInput['any'] == string | number", "Flat<ComposedInput['based']> == { c: boolean; d: string } | { c: boolean; e: string }", "Flat<RootedInput> == { a: string; z?: string }");
    const rest = `all: { a: "", b: 1 }, any: 1, based: { c: true, d: "" }`;
    assert.deepEqual((await check(ts, `await composed({ ${rest}, one: { k: "x", v: "" } });\nawait composed({ ${rest}, one: { k: "y", v: "" } });`)).map((e) => e.line), [2]);
  });
  test("boolean schemas: {} and true are unknown, false is never", () => same("MapsInput['empty'] == unknown", "MapsInput['yes'] == unknown", "MapsInput['no'] == undefined"));
  test("a tool whose schema says nothing takes any object", () => compiles(ts, `await anything(); await anything({ a: 1 }); await nothing({}); await nothing({ b: [] });`));
  test("what is wrong with a schema costs its own type only", async () => {
    await same("FaultyInput['f'] == string | undefined", "FaultyInput['a'] == any", "FaultyInput['c'] == any", "FaultyInput['d'] == any");
    for (const why of ['unknown type: "strng"', "not a schema", "not a local reference: http://127.0.0.1/x", "no such definition: #/$defs/nope", "enum is not a list"]) assert.ok(part("faulty", "Faulty").includes(`any /* ${why} */`), why);
  });
  test("$ref through definitions, with escapes", () => same("PathInput['n'] == 'v'"));
  test("what a tool returns", () => same("Flat<ReturnsOutput> == { items: { id: string; tags?: string[] }[] }", "FirstOutput == any"));

  // Its weak spots.
  test("prefixItems are tuples, with a rest and what may be missing; draft-07 lists too", () =>
    same("TuplesInput['pair'] == [string, number]", "TuplesInput['plain'] == [string, number]", "TuplesInput['rest'] == [string, ...number[]]", "TuplesInput['part'] == [string, number?]", "TuplesInput['old'] == [string, boolean]", "TuplesInput['oldrest'] == [string, ...number[]]"));
  test("$ref beside a description: one type, two descriptions", async () => {
    await same("BesideInput['a'] == BesideInput['b']", "BesideInput['a'] == BesideInput_P");
    const beside = part("beside", "Beside");
    assert.match(beside, /\/\*\* the first \*\/\n {2}a: BesideInput_P;\n {2}\/\*\* the second \*\/\n {2}b: BesideInput_P;/);
    assert.equal(beside.match(/x: number/g).length, 1);
  });
  test("defaults, limits, formats, patterns are in the JSDoc", () => {
    const doc = (key) => new RegExp(`^ {2}/\\*\\* (.*) \\*/\n {2}${key}\\?:`, "m").exec(part("facts", "Facts"))[1];
    assert.equal(doc("n"), "How many @integer @default 5 @minimum 1 @maximum 10");
    assert.equal(doc("x"), "@exclusiveMinimum 0 @exclusiveMaximum 1 @multipleOf 0.1");
    assert.equal(doc("s"), '@default "a" @format date-time @minLength 1 @maxLength 9 @pattern ^a+$');
    assert.equal(doc("l"), 'Where from they come. @default ["a"] @minItems 1 @maxItems 3 @uniqueItems true @items Where from, format uri');
    assert.equal(doc("old"), "@deprecated");
    assert.match(part("facts", "Facts"), /^ {2}\/\*\*\n {3}\* Two\n {3}\* lines\n {3}\* @default 1 @minimum 0\n {3}\*\/\n {2}two\?: number;$/m);
  });
  test("a description of 50 KB is cut, and said to be", () => {
    const long = part("long", "Long");
    assert.ok(long.length < 10_000, `${long.length}`);
    assert.equal(long.match(/y\.\.\./g).length, 2);
  });
  test("terminal escapes, line separators and what reverses text are gone", () => {
    assert.match(part("dirty", "Dirty"), /\/\*\* red gnp \*\/\n {2}v\?: string;[\s\S]*\/\*\*\n \* one\n \* two\n \* three\n \*\/\n$/);
    assert.doesNotMatch(ts.replace(/"(?:[^"\\\n]|\\.)*"/g, '""'), /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
  });

  // And what it has no counterpart for.
  describe("in Python", { skip: noPython }, () => {
    let stubs;
    before(async () => { stubs = await parsePython(await listing(args, "python")); });

    test("every tool has a stub by its id", () => assert.deepEqual(Object.keys(stubs).sort(), ["call_tool", "call_tools_parallel", "set_result", ...nasty.map(({ tool: { name } }) => pyName(`n.${name}`))].sort()));
    test("types", () => {
      assert.deepEqual(stubs.n_literals.types, { e: "Literal['a', 'b']", n: "Any", c: "Literal['only']", o: "Any", z: "None", sn: "str | None", nb: "str | None", none: "Any", q: `Literal[${JSON.stringify('a"*/\n`${b}').replace(/^"|"$/g, "'").replace('\\"', '"')}]` });
      assert.deepEqual(stubs.n_tuples.types, { pair: "list[str | float]", plain: "list[str | float]", rest: "list[str]", part: "list[str | float]", old: "list[str | bool]", oldrest: "list[str]", fixed: "list[float]", untold: "list[Any]" });
      assert.deepEqual(stubs.n_tree.types, { root: "dict[str, Any]", any: "str | None | list[Any] | dict[str, Any]" });
      assert.deepEqual(stubs.n_facts.types, { n: "int", x: "float", s: "str", l: "list[str]", two: "float", old: "str" });
      assert.equal(stubs.n_maps.types.numbers, "dict[str, float]");
    });
    test("required ones have no default, whatever their names", () => {
      assert.deepEqual([stubs.n_titled.required, stubs.n_titled.optional], [["title"], ["description", "type", "properties", "required", "_ref", "enum", "_defs"]]);
      assert.deepEqual([stubs.n_beside.required, stubs.n_beside.optional], [["a", "b"], []]);
    });
    test("of arguments that share a Python name the first has it, the others are told by their own", () => {
      assert.ok(stubs.n_keyed.optional.includes("a_b") && stubs.n_keyed.optional.includes("class_"), stubs.n_keyed.optional.join());
      assert.equal(new Set(stubs.n_keyed.optional).size, stubs.n_keyed.optional.length);
      for (const key of ["a b", "'", "", "*/"]) assert.ok(`${stubs.n_keyed.doc}\n`.includes(`\n    ${JSON.stringify(key)}: str\n`), `${key}: ${stubs.n_keyed.doc}`);
      assert.equal(stubs.n_keyed.optional.length + [...stubs.n_keyed.doc.matchAll(/^ {4}".*": str$/gm)].length, keys.length);
    });
    test("docstrings say limits, defaults, shapes; quotes and backslashes end nothing", () => {
      assert.match(stubs.n_facts.doc, /^ {4}n: How many \(default 5, minimum 1, maximum 10\)$/m);
      assert.match(stubs.n_facts.doc, /^ {4}l: Where from they come\. \(default \["a"\], minItems 1, maxItems 3, uniqueItems true, items: Where from, format uri\)$/m);
      assert.match(stubs.n_facts.doc, /^ {4}old: \(deprecated\)$/m);
      assert.match(stubs.n_returns.doc, /^Returns: \{"items": list\[\{"id": str, "tags"\?: list\[str\]\}\]\}$/m);
      assert.match(stubs.n_quoted.doc, /^says """hi""" \\n \\$/m);
      assert.ok(stubs.n_long.doc.length < 10_000);
    });
    test("arguments that no plain object describes are open", () => {
      assert.deepEqual(Object.keys(stubs).filter((name) => stubs[name].open).sort(), ["n_anything", "n_nothing", "n_rooted"]);
    });
  });
});

/* --- Any schema at all ------------------------------------------------------------------------------------------- */

describe("schemas made up at random", { skip: noCompiler }, () => {
  /** The same numbers every time. */
  function randomFrom(seed) {
    let state = seed;
    return (n) => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8) % n;
  }
  function schemaFrom(random, depth) {
    const pick = (list) => list[random(list.length)];
    const inner = () => schemaFrom(random, depth - 1);
    const some = (make, n = 3) => Array.from({ length: 1 + random(n) }, make);
    const props = () => Object.fromEntries(some(() => [pick(["a", "b", "a-b", "title", "type", "if", "1", "$ref_", "é", "constructor"]), inner()]));
    const leaf = [{ type: "string" }, { type: "integer", minimum: 1 }, { type: ["string", "null"] }, { enum: ["a", 1, null] }, { const: { a: ["b"] } }, true, false, {}, { $ref: "#/$defs/A" }, { $ref: "#/$defs/B" }, { $ref: "#/$defs/C" }, { $ref: "#" }, { $ref: "#/$defs/A/properties/a" }, { type: "null" }, { type: "boolean", nullable: true }];
    if (depth <= 0) return pick(leaf);
    const made = pick([
      () => pick(leaf),
      () => ({ type: "object", properties: props(), required: some(() => pick(["a", "b", "x"])) }),
      () => ({ properties: props(), additionalProperties: inner() }),
      () => ({ type: ["object", "array", "null"], properties: props(), items: inner() }),
      () => ({ type: "object", patternProperties: { "^x": inner() }, additionalProperties: pick([false, true, {}]) }),
      () => ({ type: "array", items: inner() }), () => ({ type: "array", prefixItems: some(inner), items: inner(), minItems: random(3) }),
      () => ({ items: some(inner), additionalItems: inner() }), () => ({ anyOf: some(inner) }), () => ({ oneOf: some(inner) }), () => ({ allOf: some(inner) }),
      () => ({ type: "object", properties: props(), anyOf: some(inner), allOf: some(inner) }), () => ({ $ref: pick(["#/$defs/A", "#/$defs/B", "#/$defs/C"]), allOf: some(inner), description: "beside" }),
      () => ({ type: "array", items: { $ref: pick(["#/$defs/A", "#/$defs/B", "#"]) }, allOf: some(inner) }), () => ({ not: inner(), if: inner(), then: inner() }),
    ])();
    return typeof made === "object" && random(4) === 0 ? { ...made, description: "d */ `", default: "*/" } : made;
  }
  test("their declarations compile, their stubs parse", async () => {
    const random = randomFrom(Number(process.env.LATHE_SEED ?? 1));
    const whole = () => ({ type: "object", ...[schemaFrom(random, 3)].map((s) => (typeof s === "object" ? s : {}))[0], $defs: { A: schemaFrom(random, 3), B: schemaFrom(random, 2), C: schemaFrom(random, 2) } });
    const made = Array.from({ length: 300 }, (_, i) => tool(`t${i}`, whole(), { outputSchema: whole() }));
    const args = only({ n: scripted(made) });
    const ts = await listing(args, "ts");
    const errors = await compile({ "random.ts": ts });
    assert.deepEqual(errors.map((e) => ({ ...e, near: ts.split("\n").slice(Math.max(0, e.line - 3), e.line + 2) })), []);
    if (!noPython) assert.equal(Object.keys(await parsePython(await listing(args, "python"))).length, made.length + 3);
  });
});
