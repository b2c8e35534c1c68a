// Plugins as their users meet them: artifacts, programs as a tool, and examples/todo, compiled as its first comment says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bare, cc, config, describe, failure, fake, folder, patience, prints, program, report, root, run, scripted, servers, start, test, until, value } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";
import { entries, missing } from "./npm-servers.mjs";

const built = folder();
execFileSync(cc, ["-shared", "-fPIC", "-Iinclude", "-o", join(built, "todo.so"), "examples/todo/todo.c"], { cwd: root });
const todo = join(built, "todo.so");

/** The arguments for a configuration, and the environment that keeps what is stored from run to run. */
const kept = () => ({ env: { XDG_STATE_HOME: folder() } });
const use = (plugin, rest = {}) => ["--config", config({ plugins: [plugin], ...rest })];
/** What a call fails with, as an expression of a program. */
const why = (call) => `(() => { try { ${call}; return "nothing" } catch (e) { return e.message } })()`;

describe("artifact", () => {
  test("the tools: store, get, list", async () => {
    const code = `const { id } = artifactStore({ data: { n: [1, "\u00e9\u{1f600}", null] }, type: "measure", description: "of something" });
      const { createdAt, ...rest } = artifactGet({ id });
      [rest.id === id, rest, artifactList().map((a) => [a.id === id, a.type, "data" in a]), createdAt]`;
    const [same, got, list, createdAt] = await value(code, [], kept());
    const { id, bytes, ...rest } = got;
    assert.ok(same);
    assert.deepEqual(rest, { type: "measure", description: "of something", mimeType: "application/json", data: { n: [1, "\u00e9\u{1f600}", null] } });
    assert.equal(bytes, Buffer.byteLength(JSON.stringify(rest.data)));
    assert.deepEqual(list, [[true, "measure", false]]);
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000 * patience, createdAt);
  });
  test("the functions, in every style", async () => {
    const options = kept();
    const id = await value("storeArtifact([1, 2], 'a pair')", [], options);
    assert.match(id, /^[0-9a-f]{16,}$/);
    assert.deepEqual(await value(`const a = await getArtifact("${id}"); [a.data, a.description, a.type, getArtifact("nope") === undefined]`, [], options), [[1, 2], "a pair", "code-output", true]);
    assert.deepEqual(await value(`const [a, l] = await Promise.all([getArtifact("${id}"), listArtifacts()]); [a.data, l.length, l[0].id]`, [], options), [[1, 2], 1, id]);
    assert.deepEqual(await value(`const a = await getArtifact("${id}"); const r = await artifact_get({ id: "${id}" }); [a.data, r.success && r.value.data]`, ["--lang", "ts"], options), [[1, 2], [1, 2]]);
  });
  test("newest first, across runs", async () => {
    const options = kept();
    for (const name of ["one", "two", "three"]) await value(`storeArtifact(0, "${name}")`, [], options);
    assert.deepEqual(await value("listArtifacts().map((a) => a.description)", [], options), ["three", "two", "one"]);
    assert.deepEqual(await value("listArtifacts().length", [], kept()), 0, "another state folder has none of them");
  });
  test("what is not there, and what cannot be stored", async () => {
    const code = `[${why("artifactGet({ id: 'nope' })")}, ${why("artifactStore({})")}, ${why("storeArtifact()")}, ${why("artifactGet({})")}, artifactList()]`;
    const said = await value(code, [], kept());
    assert.deepEqual(said, [
      'Tool "artifact.get" failed: Artifact not found: nope', 'Tool "artifact.store" failed: input.data: is required',
      "there is nothing to store: data is missing", 'Tool "artifact.get" failed: input.id: is required', [],
    ]);
  });
  test("10 MB come back as they went in", async () => {
    const code = "const id = storeArtifact({ text: 'x'.repeat(10e6) }); const { data } = getArtifact(id); [data.text.length, listArtifacts()[0].bytes]";
    assert.deepEqual(await value(code, ["--memory", 256], kept()), [10e6, 10e6 + 11]);
  });
  test("a piece of what is long, between characters", async () => {
    const text = "\u00e9\u{1f600}\"".repeat(6000);
    const code = `const id = storeArtifact(${JSON.stringify(text)}), pieces = []; let at = 0;
      do { const piece = artifactGet({ id, offset: at, length: 10001 }); pieces.push(piece.data); at = piece.next } while (at !== undefined);
      const json = storeArtifact({ a: [1, 2, 3] });
      [pieces.length, pieces.join("") === ${JSON.stringify(text)}, artifactGet({ id, offset: 41990 }), artifactGet({ id, offset: 42000 }).data, artifactGet({ id, offset: 3, length: 1 }).data,
        artifactGet({ id: json, offset: 5 }).data, ${why("artifactGet({ id, offset: -1 })")}, artifactGet({ id, offset: 0 }).next]`;
    const [count, same, last, behind, one, json, negative, next] = await value(code, [], kept());
    const { id, ...rest } = last;
    assert.deepEqual(rest, { bytes: 42000, offset: 41988, data: "\u{1f600}\"\u00e9\u{1f600}\"" });
    assert.deepEqual([count, same, behind, one, json, next], [5, true, "", "\u{1f600}", "[1,2,3]}", 16382]);
    assert.match(negative, /offset/);
  });
  test("a model reads in pieces what is long, and no copy of it is made", async () => {
    const state = kept().env;
    const id = await value("storeArtifact('abcdefgh'.repeat(10_000))", [], { env: state });
    const get = (rest) => ({ calls: [{ name: "artifact_get", arguments: { id, ...rest } }] });
    const model = await scriptedModel([get({}), get({ offset: 4096 }), "Read."]);
    const end = await run(["chat", "-m", "classic", "Read it."], { env: { ...model.env, ...state } });
    assert.equal(end.stdout, "Read.\n", end.stderr);
    const [whole, piece] = model.asked().at(-1).messages.filter((m) => m.role === "tool").map((m) => JSON.parse(m.content));
    assert.deepEqual([whole.artifact, whole.offset, whole.bytes], [id, 4096, 80_002]);
    assert.deepEqual([piece.data, piece.next], ["abcdefgh".repeat(2048), 4096 + 16_384]);
    assert.equal(await value("listArtifacts().length", [], { env: state }), 1);
  });
  const absent = missing(["everything"]);
  test("an image that a real server answers is one, and its bytes are right", { skip: absent.length > 0 && "npm ci has not been run" }, async () => {
    const options = kept();
    const args = servers(entries(folder(), ["everything"]));
    const [block, none] = await value("const r = everythingGetTinyImage({}); [r.find((b) => b.type === 'image'), JSON.stringify(r).includes('iVBOR')]", args, options);
    assert.equal(none, false, "no bytes in the program");
    const image = await value(`getArtifact("${block.artifact}")`, [], options);
    const bytes = Buffer.from(image.data, "base64");
    assert.deepEqual([image.type, image.mimeType, image.bytes, bytes.length], ["image", "image/png", block.bytes, block.bytes]);
    const file = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/tools/get-tiny-image.js");
    const sent = /MCP_TINY_IMAGE\s*=\s*"([^"]+)"/.exec(readFileSync(file, "utf8"))?.[1];
    if (sent) assert.equal(image.data, sent);
    assert.equal(bytes.subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n");
    assert.equal(bytes.subarray(-8, -4).toString("latin1"), "IEND");
  });
  test("images of any bytes", async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7 + (i >> 8)) & 255));
    const shot = { tool: { name: "shot" }, result: { content: [{ type: "image", mimeType: "image/x-odd", data: bytes.toString("base64") }] } };
    const [block, { data }] = await value("const b = camShot({}); [b, artifactGet({ id: b.artifact })]", servers({ cam: scripted([shot]) }), kept());
    assert.deepEqual([block.type, block.bytes], ["image", bytes.length]);
    const sha = (b) => createHash("sha256").update(b).digest("hex");
    assert.equal(sha(Buffer.from(data, "base64")), sha(bytes));
  });
});

describe("interpreter.run-code", () => {
  const runs = (code, more = "") => `interpreterRunCode({ code: ${JSON.stringify(code)}${more} })`;

  test("seed 015's example: the weather of three cities at once", async () => {
    const weather = { name: "get-weather", inputSchema: { type: "object", properties: { latitude: { type: "number" }, longitude: { type: "number" } }, required: ["latitude", "longitude"] } };
    const args = servers({ weather: scripted([{ tool: weather, result: { content: [], structuredContent: { temperature: 17.5 } } }]) });
    const code = `const cities = [
  { lat: 55.67, lon: 12.56 },  // Copenhagen
  { lat: 48.85, lon: 2.35 },   // Paris
  { lat: 51.50, lon: -0.12 },  // London
];

const results = parallel(cities.map(c => ({
  tool: 'weather.get-weather',
  input: { latitude: c.lat, longitude: c.lon }
})));

results.map((r, i) => \`\${['Copenhagen', 'Paris', 'London'][i]}: \${r.temperature}\u00b0C\`).join('\\n');`;
    assert.equal(await value(runs(code), args), "Copenhagen: 17.5\u00b0C\nParis: 17.5\u00b0C\nLondon: 17.5\u00b0C");
  });
  test("the value, null for none, and {result, logs} when something was logged", async () => {
    const code = `[${runs("1 + 1")}, ${runs("let a")}, ${runs("log('a'); console.log('b', { c: 1 }); 5")}, ${runs("log('only')")}]`;
    assert.deepEqual(await value(code), [2, null, { result: 5, logs: ["a", 'b { c: 1 }'] }, { result: null, logs: ["only"] }]);
  });
  test("its input", async () => {
    assert.deepEqual(await value(`[${runs("input.n * 2", ", input: { n: 21 }")}, ${runs("typeof input")}, ${runs("input", ", input: 'text'")}]`), [42, "undefined", "text"]);
  });
  test("it has its caller's tools and functions, but not itself", async () => {
    const inside = `[fakeAdd({ a: 1, b: 2 }), typeof interpreterRunCode, "interpreter.run-code" in tools, discoverTools("run code").some((t) => t.id.startsWith("interpreter.")),
      toolSchema("interpreter.run-code"), typeof storeArtifact, "artifact.get" in tools]`;
    const [sum, name, has, found, schema, artifacts, get] = await value(runs(inside), servers({ fake: fake() }));
    assert.deepEqual([sum, name, has, found, artifacts, get], ["3", "undefined", false, false, "function", true]);
    assert.match(JSON.stringify(schema), /not found/i);
    const r = await failure(runs("interpreterRunCode({ code: '1' })"));
    assert.match(r.error, /interpreterRunCode is not defined/);
  });
  test("no output, done, complete: the error says what there is instead", async () => {
    assert.equal(await value(runs("[typeof output, typeof done, typeof complete].join()")), "undefined,undefined,undefined");
    const r = await report(`[${["output(1)", "done()", "complete({ response: '' })"].map((c) => why(runs(c))).join()}]`);
    for (const said of r.result) assert.match(said, /^Tool "interpreter\.run-code" failed: .* is not defined here: .*last expression/);
    assert.deepEqual(r.outputs ?? [], []);
  });
  test("errors have line, column and what stands there", async () => {
    const [thrown, syntax, tool] = await value(`[${why(runs("let a = 1;\n  nope(a)"))}, ${why(runs("let = ;"))}, ${why(runs("\n\ntools['a.b']({})"))}]`);
    assert.match(thrown, /^Tool "interpreter\.run-code" failed: ReferenceError: nope is not defined \(line 2, column 3: nope\(a\)\)$/);
    assert.match(syntax, /SyntaxError: .* \(line 1, column \d+: let = ;\)$/);
    assert.match(tool, /Tool "a\.b" not found.* \(line 3, column 1: tools\['a\.b'\]\(\{\}\)\)$/s);
  });
  test("its timeout ends it, not its caller; its caller's ends both", async () => {
    assert.equal(await value(why(runs("for (;;);", ", timeout: 100"))), 'Tool "interpreter.run-code" failed: Execution timed out after 100ms');
    const end = await program(runs("for (;;);", ", timeout: 60000"), ["--timeout", 300]);
    assert.equal(end.code, 124);
    assert.match(end.stderr, /^error: Execution timed out after 300ms\n/);
    assert.match(await value(why(runs("1", ", timeout: 0"))), /input\.timeout: must be at least 1/);
  });
  test("what policy denies its caller it is denied", async () => {
    const args = servers({ fake: fake() }, { tools: { policy: [{ match: "fake.add", action: "deny", reason: "no sums" }] } });
    assert.match(await value(why(runs("fakeAdd({ a: 1, b: 1 })")), args), /Tool "fake\.add" is not allowed: no sums \(line 1, column 1: /);
    assert.equal(await value(runs("try { fakeAdd({}) } catch (e) { 'caught ' + e.message }"), args), 'caught Tool "fake.add" is not allowed: no sums');
  });
  test("budgets count across", async () => {
    const args = servers({ fake: fake() }, { tools: { budgets: [{ match: "fake.*", calls: 3 }] } });
    const code = `const inner = ${runs("for (let i = 0; i < 2; i++) fakeAdd({ a: i, b: 0 })")}; fakeAdd({ a: 1, b: 1 }); [${why(runs("fakeAdd({})"))}, ${why("fakeAdd({})")}]`;
    for (const said of await value(code, args)) assert.match(said, /the budget for "fake\.\*" is used up: 3 calls per run/);
  });
  test("parallel() of programs that call parallel()", async () => {
    const code = `parallel([1, 2, 3].map((n) => ({ tool: "interpreter.run-code", input: { input: n,
      code: "parallel([{ tool: 'fake.add', input: { a: input, b: 1 } }, { tool: 'fake.fail' }, { tool: 'fake.meet', input: { n: 3 } }])" } })))`;
    const r = await value(code, servers({ fake: fake() }));
    assert.deepEqual(r.map(([sum, , met]) => [sum, met]), [["2", "met 3"], ["3", "met 3"], ["4", "met 3"]]);
    for (const [, failed] of r) assert.match(failed.error, /it failed/);
  });
  test("a program that takes too much fails alone", async () => {
    const [said, after] = await value(`[${why(runs("const a = []; for (;;) a.push(new Array(1e5).fill(1.5))"))}, 1 + 1]`);
    assert.match(said, /^Tool "interpreter\.run-code" failed: .*(memory|Memory)/);
    assert.equal(after, 2);
  });
  test("in TypeScript it is interpreter_run_code", async () => {
    const code = `const ok = await interpreter_run_code({ code: "2 * 21" }); const bad = await interpreter_run_code({ code: "nope" });
      [ok.success && ok.value, bad.success ? "" : bad.error]`;
    const [answer, said] = await value(code, ["--lang", "ts"]);
    assert.equal(answer, 42);
    assert.match(said, /nope is not defined/);
  });
  test("its description tells the functions and modules there are", async () => {
    const good = join(built, "good.so");
    execFileSync(cc, ["-shared", "-fPIC", "-Iinclude", "-o", good, "tests/fakes/plugin_good.c"], { cwd: root });
    const path = config({ plugins: [todo, good], modules: [{ name: "geo", path: "geo.js" }] }, { "geo.js": "export const n = 1" });
    const description = await value("discoverTools('interpreter run code')[0].description", ["--config", path]);
    assert.match(description, /Functions: .*storeArtifact\(data, description\?\) \u2192 id.*todoCount\(\) \u2192 number/);
    assert.match(description, /plus\(a\) \u2192 list.*Modules to import: geo, sums\.$/);
    const listed = JSON.parse((await run(["tools", "--json", "--config", path])).stdout).find((t) => t.id === "interpreter.run-code");
    assert.equal(listed.description, description, "lathe tools says the same");
    assert.deepEqual(await value(runs("import { n } from 'geo'; import { two } from 'sums'; export default [n, two]"), ["--config", path]), [1, 2]);
  });
});

describe("the name of a plugin", () => {
  test("that a server has, whatever its case: the plugin is not loaded, and the server's tools are its own", async () => {
    for (const name of ["todo", "Todo"]) {
      const r = await report(`[Object.keys(tools).filter((id) => /^todo/i.test(id)), tools["${name}.add"]({ text: "a" })]`, use(todo, { ...bare, plugins: [...bare.plugins, todo], mcpServers: { [name]: scripted([{ tool: { name: "add" } }]) } }), kept());
      assert.deepEqual(r.result, [[`${name}.add`], { text: "a" }]);
      assert.match(r.stderr, new RegExp(`^warning: .*todo\\.so: .*the name "todo" is taken by the server or plugin "${name}": rename one`, "m"));
    }
  });
});

describe("examples/todo", () => {
  test("every tool", async () => {
    const code = `const a = todoAdd({ text: "write" }), b = todoAdd({ text: "it's \\"quoted\\" \\ud83d\\ude00 '; DROP TABLE todo__items" });
      [a, todoComplete({ id: a.id }), todoList(), todoList({ all: true }).map((t) => [t.id, t.done]), todoCount(), ${why("todoComplete({ id: 99 })")}, ${why("todoAdd({ text: '' })")}, ${why("todoAdd({})")}]`;
    const [a, done, open, all, count, none, empty, missing] = await value(code, use(todo), kept());
    assert.deepEqual(a, { id: 1, text: "write" });
    assert.deepEqual(done, { id: 1, text: "write", done: 1 });
    assert.deepEqual(open, [{ id: 2, text: "it's \"quoted\" \u{1f600} '; DROP TABLE todo__items", done: 0 }]);
    assert.deepEqual([all, count], [[[1, 1], [2, 0]], 1]);
    assert.equal(none, 'Tool "todo.complete" failed: there is no such to-do');
    assert.match(empty, /^Tool "todo\.add" failed: input\.text: /);
    assert.match(missing, /input\.text: is required/);
  });
  test("its table is there in the next run", async () => {
    const options = kept();
    const args = use(todo);
    assert.equal(await value("todoAdd({ text: 'a' }); todoAdd({ text: 'b' }); todoCount()", args, options), 2);
    assert.deepEqual(await value("todoList().map((t) => t.text)", args, options), ["a", "b"]);
    assert.equal(await value("todoCount()", use(todo, { store: "sqlite::memory:" }), options), 0);
  });
  test("clear needs somebody's yes: --yes, a rule, or a person", async () => {
    const options = kept();
    const args = use(todo);
    await value("todoAdd({ text: 'a' })", args, options);
    const denied = await program("todoClear()", args, options);
    assert.equal(denied.code, 1);
    assert.match(denied.stderr, /^error: Tool "todo\.clear" needs approval and there is no terminal to ask on: .*\{match: "todo\.clear", action: allow\}/);
    assert.equal(await value("todoCount()", args, options), 1, "nothing was cleared");
    prints(await program("output(todoClear()); todoCount()", [...args, "--yes"], options), { stdout: "The list is empty.\n0\n" });
    const allowed = use(todo, { tools: { policy: [{ match: "todo.clear", action: "allow" }] } });
    assert.equal(await value("todoClear()", allowed, options), "The list is empty.");
    const asked = start(["run", "-e", "todoClear()", ...args], { ...options, terminal: true });
    await until(() => asked.text().includes("the whole to-do list will be gone"), "it is asked, with the reason");
    asked.type("y\r");
    const end = await asked.ended;
    assert.equal(end.code, 0);
    assert.match(end.stdout, /The list is empty\./);
  });
  test("approvals reach into programs of programs", async () => {
    const code = "interpreterRunCode({ code: 'todoClear()' })";
    assert.match((await failure(code, use(todo), kept())).error, /Tool "todo\.clear" needs approval/);
    assert.equal(await value(code, [...use(todo), "--yes"], kept()), "The list is empty.");
  });
  test("the setting max", async () => {
    const said = await value(`todoAdd({ text: "a" }); todoAdd({ text: "b" }); const full = ${why("todoAdd({ text: 'c' })")}; todoComplete({ id: 1 }); [full, todoAdd({ text: "c" }).text]`,
      use({ path: todo, config: { max: 2 } }), kept());
    assert.deepEqual(said, ['Tool "todo.add" failed: the list is full: complete something first (the setting "max")', "c"]);
  });
  for (const [settings, says] of [[{ max: "ten" }, /config\.max: expected integer, got string/], [{ max: 0 }, /config\.max: must be at least 1/], [{ maxx: 5 }, /config\.maxx|maxx/]]) {
    test(`settings that do not fit: ${JSON.stringify(settings)}`, async () => {
      const args = servers({ fake: fake() }, { plugins: [{ path: todo, config: settings }] });
      const r = await report(`[fakeAdd({ a: 1, b: 2 }), ${why("tools['todo.list']({})")}, typeof todoList, storeArtifact(1).length > 0]`, args, kept());
      assert.equal(r.exit, 0, r.error);
      assert.deepEqual([r.result[0], r.result[2], r.result[3]], ["3", "undefined", true]);
      assert.match(r.stderr, /^warning: [^\n]*todo\.so: [^\n]*\n$/);
      assert.match(r.stderr, says);
      assert.match(r.result[1], /^Tool "todo\.list" failed: plugin "todo" is not available: /);
      assert.match(r.result[1], says);
    });
  }
  test("a hundred calls at once, each counted", async () => {
    const code = "const all = await Promise.all(Array.from({ length: 100 }, (_, i) => todoAdd({ text: 't' + i }))); [new Set(all.map((t) => t.id)).size, await todoCount()]";
    assert.deepEqual(await value(code, use(todo), kept()), [100, 100]);
  });
  test("two runs at once share the table", async () => {
    const options = kept();
    const args = use(todo, {});
    await Promise.all([1, 2, 3].map((n) => value(`for (let i = 0; i < 10; i++) todoAdd({ text: "r${n}" }); 1`, args, options)));
    assert.equal(await value("todoCount()", args, options), 30);
  });
  test("in TypeScript: todo_add, todo_list, todoCount", async () => {
    const code = `const a = await todo_add({ text: "t" }); const l = await todo_list(); const none = await todo_complete({ id: 7 });
      [a.success && a.value.text, l.success && l.value.length, none.success ? "" : none.error, await todoCount()]`;
    assert.deepEqual(await value(code, [...use(todo), "--lang", "ts"], kept()), ["t", 1, 'Tool "todo.complete" failed: there is no such to-do', 1]);
  });
  test("its first comment is true", async () => {
    const home = folder();
    const lines = readFileSync(join(root, "examples/todo/todo.c"), "utf8").split("\n").filter((l) => /^ \* {3}/.test(l)).map((l) => l.slice(5));
    const [compile, yaml, last] = lines;
    execFileSync("sh", ["-c", compile.replace(/^cc /, `${cc} `).replace("-o todo.so", `-o ${home}/todo.so`)], { cwd: root });
    execFileSync("sh", ["-c", yaml], { cwd: home });
    const [, code] = /^lathe run --config lathe.yaml -e '(.*)'$/.exec(last);
    prints(await program(code, ["--config", "lathe.yaml"], { cwd: home, ...kept() }), { stdout: '[{"id":1,"text":"write a plugin","done":0}]\n' });
  });
});

describe("docs/guide/plugins.md", () => {
  const home = folder();
  const sources = [...readFileSync(join(root, "docs/guide/plugins.md"), "utf8").matchAll(/^```c\n(#include[^]*?)^```/gm)].map((match) => match[1]);
  const plugins = sources.map((source, i) => {
    writeFileSync(join(home, `${i}.c`), source);
    execFileSync(cc, ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-I", join(root, "include"), "-o", join(home, `${i}.so`), join(home, `${i}.c`)]);
    return join(home, `${i}.so`);
  });
  const args = servers({ files: scripted([{ tool: { name: "remove" } }]) }, { plugins });

  test("the smallest one", async () => {
    assert.equal(await value('greetHello({ name: "y\u00f6u\\"" })', args, kept()), 'Hello, y\u00f6u"!');
    assert.equal(await value(why('greetHello({ nam: "you" })'), args, kept()), 'Tool "greet.hello" failed: input.name: is required (there is "nam")');
  });
  test("the one that calls tools, asks and counts", async () => {
    const options = kept();
    assert.deepEqual(await value("batchRemoveAll({ paths: ['a', 'b'] })", args, options), [{ path: "a" }, { path: "b" }]);
    const many = "batchRemoveAll({ paths: ['a', 'b', 'c', 'd'] }).length";
    assert.match((await failure(many, args, options)).error, /"batch\.remove-all" needs approval/);
    assert.equal(await value(many, [...args, "--yes"], options), 4);
    assert.deepEqual([await value("[batchCount(), batchCount()]", args, options), await value("batchCount()", args, options)], [[1, 2], 3]);
  });
});

describe("listings", () => {
  const args = use(todo);
  const list = async (...more) => {
    const end = await run(["tools", ...args, ...more]);
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    return end.stdout;
  };
  test("for people", async () => {
    const ids = (await list()).trimEnd().split("\n").map((l) => l.split("  ").slice(0, 2).join(" "));
    assert.deepEqual(ids, ["artifact.get artifactGet", "artifact.list artifactList", "artifact.store artifactStore", "interpreter.run-code interpreterRunCode",
      "todo.add todoAdd", "todo.clear todoClear", "todo.complete todoComplete", "todo.list todoList"]);
    assert.match(await list("mark something done"), /^todo\.complete /);
  });
  test("ts", async () => {
    const ts = await list("--types", "ts");
    for (const name of ["artifact_get", "artifact_list", "artifact_store", "interpreter_run_code", "todo_add", "todo_clear", "todo_complete", "todo_list"]) {
      assert.match(ts, new RegExp(`^declare function ${name}\\(`, "m"));
    }
    assert.match(ts, /interface TodoAddInput \{[^}]*text: string;/);
  });
  test("python", async () => {
    const py = await list("--types", "python");
    for (const line of ["def todo_add(*, text: str)", "def todo_list(*, all: bool = ...)", "def artifact_get(*, id: str, offset: int = ..., length: int = ...)", "def interpreter_run_code(*, code: str, input: Any = ..., timeout: int = ...)"]) {
      assert.ok(py.includes(line), `${line}\n${py}`);
    }
  });
  test("json", async () => {
    const tools = Object.fromEntries(JSON.parse(await list("--types", "json")).map((t) => [t.id, t]));
    assert.deepEqual(tools["todo.complete"], { id: "todo.complete", jsName: "todoComplete", tsName: "todo_complete", description: "Mark a to-do as done",
      inputSchema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } });
    assert.deepEqual(Object.keys(tools["artifact.list"].outputSchema.items.properties), ["id", "type", "description", "mimeType", "bytes", "createdAt"]);
  });
  test("prompt", async () => {
    const text = await list("--types", "prompt");
    assert.match(text, /^\*\*artifact\*\*: artifactGet \(ID: artifact\.get\) - .*\n\*\*interpreter\*\*: interpreterRunCode .*\n\*\*todo\*\*: todoAdd \(ID: todo\.add\) - .*\| todoList \(ID: todo\.list\) - .*\n$/);
    assert.equal(await list("--types", "prompt"), text);
  });
  test("without what is built in: those are not there, nor are their functions; images are still described", async () => {
    const end = await run(["tools", "--config", config({ plugins: [...bare.plugins, todo] })]);
    assert.match(end.stdout, /^(todo\.[^\n]*\n){4}$/);
    const shot = { tool: { name: "shot" }, result: { content: [{ type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }] } };
    const [kinds, image] = await value("[[typeof storeArtifact, typeof getArtifact, typeof listArtifacts, typeof artifactGet, typeof interpreterRunCode], camShot({})]",
      servers({ cam: scripted([shot]) }, bare), kept());
    assert.deepEqual(kinds, Array(5).fill("undefined"));
    assert.deepEqual([image.type, image.mimeType, image.bytes], ["image", "image/png", 8]);
  });
  test("a plugin beside its configuration, wherever lathe is started", async () => {
    const home = folder();
    mkdirSync(join(home, "plugins"));
    execFileSync("cp", [todo, join(home, "plugins/todo.so")]);
    writeFileSync(join(home, "lathe.yaml"), "plugins: [plugins/todo.so]\nstore: sqlite:data.db\n");
    assert.equal(await value("todoAdd({ text: 'x' }).id", ["--config", join(home, "lathe.yaml")]), 1);
    assert.deepEqual(await value("todoList().length", ["--config", "lathe.yaml"], { cwd: home }), 1);
    const end = await program("1", use("plugins/todo.so"), { cwd: home });
    assert.match(end.stderr, /^warning: .*plugins\/todo\.so: there is no such file/);
  });
});
