// save(): programs that models write keep programs, where the configuration allows it; whose these are, and what is left of a save that was killed.
import assert from "node:assert/strict";
import { bare, describe, folder, prints, recording, run, scripted, servers, start, test, until } from "./harness.mjs";
import { recorded, scriptedModel } from "./model.mjs";
import { serve, tokens } from "./server.mjs";

const tool = (name) => ({ tool: { name, inputSchema: { type: "object", properties: { path: { type: "string" } } } } });
const DOUBLE = "save('double', ({ n }) => 2 * n, { description: 'Twice.', input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } })";
const turns = [
  { user: "code", replies: [`const made = ${DOUBLE}; log(made.tool, made.version)`, "output(String(programsDouble({ n: 21 }))); done()"] },
  { user: "classic", replies: [{ calls: [{ name: "programs_save", arguments: { name: "half", code: "export default ({ n }) => n / 2" } }] }, { calls: [{ name: "programs_half", arguments: { n: 8 } }] }, "It is four."] },
  { user: "typed", replies: [{ calls: [{ name: "execute_typescript", arguments: { code: `const made = await ${DOUBLE}; console.log(JSON.stringify(made))` } }] }, { calls: [{ name: "execute_typescript", arguments: { code: "console.log(JSON.stringify(await programs_double({ n: 4 })))" } }] }, "It is eight."] },
  { user: "waits", replies: [DOUBLE.replace("2 * n", "3 * n"), "filesRead({ path: 'a' }); output(String(programsDouble({ n: 2 }))); filesRemove({ path: 'b' }); done()"] },
  { user: "slow", replies: ["try { programsPush({ path: 'c' }) } catch (e) { output(e.message) } done()"] },
  { user: "again", replies: ["Again."] },
];

/** A state folder, a model and servers whose calls are recorded. */
async function world({ policy = [], save = true, model } = {}) {
  const effects = recording(), env = { ...(model ?? (await recorded(turns, { title: "T" }))), XDG_STATE_HOME: folder(), HOME: folder() };
  const args = servers({ files: scripted([tool("read"), tool("remove"), { ...tool("slow"), delayMs: 60_000 }], effects.option) }, { ...bare, tools: { policy }, ...(save && { programs: { save } }) });
  const lathe = (more, stdin) => run([...more, ...(["programs", "save"].includes(more[0]) ? [] : args)], { env, stdin });
  return { env, args, lathe, calls: () => effects.of("tools/call").map((m) => `${m.params.name} ${m.params.arguments?.path ?? ""}`.trim()) };
}
const listed = async (w, ...more) => JSON.parse((await w.lathe(["programs", ...more, "--json"])).stdout).map((it) => `${it.name} ${it.version}`);

describe("a model saves a program", { concurrency: 3 }, () => {
  test("which its next program calls; a replay sees the same", async () => {
    const w = await world();
    for (const [mode, message, wanted] of [["code", "code", "42\n"], ["classic", "classic", "It is four.\n"], ["typescript", "typed", "It is eight.\n"]]) {
      const end = await w.lathe(["chat", "-m", mode, message]);
      assert.deepEqual([end.code, end.stdout], [0, wanted], end.stderr);
      assert.match((await w.lathe(["replay", "last"])).stdout, /: the same again: /, mode);
    }
    assert.deepEqual(await listed(w), ["double 1", "half 1"]);
    assert.match((await w.lathe(["chat", "-m", "code", "code"])).stdout, /42/); // saved again: nothing has changed
    assert.deepEqual(await listed(w), ["double 1", "half 1"]);
    assert.match((await w.lathe(["run", "-e", "programsDouble({ n: 'x' })"])).stderr, /input\.n: expected number/);
  });
  test("only where the configuration says so: otherwise nothing speaks of it", async () => {
    for (const save of [false, true]) {
      const model = await scriptedModel(["typeof save", "done()"]);
      const w = await world({ save, model: model.env });
      await w.lathe(["chat", "-m", "code", "go"]);
      const [first, second] = model.asked().map((body) => JSON.stringify(body.messages));
      assert.equal(/save\(name|programs\.save/.test(first), save, first);
      assert.match(second, save ? /function/ : /undefined/);
    }
    const theirs = folder({ "lathe.yaml": "programs: { save: true }\n" });
    const end = await run(["run", "-e", "1"], { cwd: theirs, env: { HOME: folder(), XDG_STATE_HOME: folder() } });
    assert.equal(end.code, 3);
    assert.match(end.stderr, /is not trusted, and it says more than an untrusted file may \(programs\)/);
  });
  test("that cannot be used: it says why and where, and keeps nothing", async () => {
    const w = await world();
    const bad = [
      ["'a b', '1'", "name is a letter"], ["'save', '1'", "not \"save\""], ["'x'.repeat(49), '1'", "name is a letter"], ["'x', ''", "not empty"], ["'x', {}", "expected string"], ["'x'", "is required"],
      ["'x', 'const a = 1\\nconst b = (2'", "line 2, column"], ["'x', 'let a; let a'", "redefinition|already"], ["'x', '1'.repeat(1e7)", "256 KiB"], ["'x', '1', { input: { type: 'array' } }", "is an object"],
      ["'x', '1', { input: { properties: 4 } }", "#/properties"], ["'x', '1', { schema: {} }", "input\\.schema"], ["'x', 'export const input = f()'", "written out.*line 1"], ["'x', 'export const input = { a: `${1}` }'", "written out"],
      ["'x', 'import { a } from \"nowhere\"; a'", "nowhere"], ["'x', '1', { description: 'd'.repeat(5000) }", "4 KiB"], ["'x', '\\ud800'", "UTF-8"],
    ];
    const code = `const said = []; ${bad.map(([args]) => `try { save(${args}); said.push('saved') } catch (e) { said.push(e.message) }`).join("\n")}; said`;
    const said = JSON.parse((await w.lathe(["run", "-e", code])).stdout);
    for (const [i, [args, why]] of bad.entries()) assert.match(said[i], new RegExp(why), args);
    assert.deepEqual(await listed(w), []);
  });
  test("rules hold for it; programs that call each other in a circle have an end", async () => {
    const w = await world({ policy: [{ match: "programs.save", action: "ask" }] });
    assert.match((await w.lathe(["run", "-e", DOUBLE])).stderr, /"programs\.save" needs approval/);
    assert.deepEqual(await listed(w), []);
    const code = "save('one', 'programsTwo({})'); save('two', 'programsOne({})')";
    prints(await w.lathe(["run", "-y", "-e", code]), { stdout: '{"tool":"programs.two","version":1}\n' });
    assert.match((await w.lathe(["run", "-e", "programsOne({})"])).stderr, /call each other more than 8 deep/);
  });
});

describe("killed", { concurrency: 2 }, () => {
  test("in the middle of a saved program's call: the call is not made again, and neither is one before it", async () => {
    const w = await world({ save: false });
    await w.lathe(["save", "push", "-"], "filesRead({ path: 'a' }); filesSlow(input); filesRemove({ path: 'b' })");
    const one = start(["chat", "-m", "code", "slow", ...w.args], { env: w.env });
    await until(() => w.calls().includes("slow c"), "the call is under way");
    await one.kill();
    const end = await w.lathe(["chat", "-c", "last", "-y", "-m", "classic", "again"]);
    assert.match(end.stdout, /interrupted: [^]*Again\.\n$/, end.stderr);
    assert.deepEqual(w.calls(), ["read a", "slow c"]);
  });
  test("while a person is asked: nothing is saved or called twice", async () => {
    const w = await world({ policy: [{ match: "programs.save", action: "ask" }, { match: "files.remove", action: "ask" }] });
    const one = start(["chat", "-m", "code", "waits", ...w.args], { env: w.env, terminal: true });
    await until(() => /wants to call programs\.save/.test(one.text()), `it is asked\n${one.text()}`);
    await one.kill();
    assert.deepEqual(await listed(w), []);
    const two = start(["chat", "-c", "last", "again", ...w.args], { env: w.env, terminal: true });
    await until(() => /wants to call programs\.save/.test(two.text()), `it is asked again\n${two.text()}`);
    two.type("y\r");
    await until(() => /wants to call files\.remove/.test(two.text()), `the next question is there\n${two.text()}`);
    await two.kill();
    const end = await w.lathe(["chat", "-c", "last", "-y", "-m", "classic", "again"]);
    assert.match(two.text(), /\n6\r?\n/);
    assert.match(end.stdout, /^(6\n)?Again\.\n$/, end.stderr); // what a terminal got in the last moment may come again
    assert.doesNotMatch(end.stderr, /diverged/);
    assert.deepEqual(await listed(w, "list", "double"), ["double 1"]);
    assert.deepEqual(w.calls(), ["read a", "remove b"]);
  });
});

describe("over lathe serve", () => {
  test("each user has programs of its own, beside those of the command line", async () => {
    const state = folder();
    const [ann, bob] = await tokens(state, "ann", "bob");
    prints(await run(["save", "shared", "-"], { env: { XDG_STATE_HOME: state }, stdin: "'everybody'" }), { stdout: "programs.shared version 1\n" });
    let s = await serve({ programs: { save: true } }, { state });
    const runs = async (code, user) => { const { json } = await s.post("/run", { code }, user); return json.result ?? json.error?.message ?? json; };
    assert.deepEqual(await runs("save('mine', () => 'of ann')", ann), { tool: "programs.mine", version: 1 });
    assert.equal(await runs("programsMine({}) + ' ' + programsShared({})", ann), "of ann everybody");
    assert.match(JSON.stringify(await runs("programsMine({})", bob)), /programsMine is not defined/);
    assert.match(JSON.stringify(await runs("save('shared', '1')", bob)), /there for everybody/);
    assert.deepEqual(await runs("save('mine', () => 'of bob')", bob), { tool: "programs.mine", version: 1 });
    assert.equal(await runs("programsMine({})", ann), "of ann");
    const names = async (user) => (await s.get("/tools?query=programs", user)).json.tools.map((it) => it.id).filter((id) => id.startsWith("programs.")).sort();
    assert.deepEqual(await names(ann), ["programs.mine", "programs.save", "programs.shared"]);
    const accept = { accept: "application/json, text/event-stream", ...bob }, rpc = (id, method, params) => ({ jsonrpc: "2.0", id, method, params });
    const hello = await s.post("/mcp", rpc(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }), accept);
    const found = await s.post("/mcp", rpc(2, "tools/call", { name: "search_tools", arguments: { query: "programs mine" } }), { ...accept, "mcp-session-id": hello.headers.get("mcp-session-id") });
    assert.match(found.text, /programs\.mine/);
    assert.deepEqual((await s.post("/tools/programs.mine/invoke", {}, bob)).json, { result: "of bob" });
    await s.stop();
    s = await serve({}, { state });
    assert.deepEqual(await names(bob), ["programs.mine", "programs.shared"]);
    assert.equal(await runs("programsMine({})", bob), "of bob");
    const env = { XDG_STATE_HOME: state };
    assert.match((await run(["programs"], { env })).stdout, /^shared {2}1 .*\n$/);
    prints(await run(["programs", "show", "mine", "--user", "bob"], { env }), { stdout: "() => 'of bob'\n" });
    prints(await run(["programs", "delete", "mine", "--user", "bob"], { env }), {});
    assert.match(JSON.stringify(await runs("programsMine({})", bob)), /programsMine is not defined/);
    assert.equal(await runs("programsMine({})", ann), "of ann");
    await s.stop();
  });
});
