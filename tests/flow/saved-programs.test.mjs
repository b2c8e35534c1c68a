// lathe save, lathe programs: programs that are kept under a name are tools and modules, with versions.
import assert from "node:assert/strict";
import { bare, describe, folder, prints, recording, run, scripted, servers, start, test, until } from "./harness.mjs";

const tool = (name) => ({ tool: { name, inputSchema: { type: "object", properties: { path: { type: "string" } } } } });

/** A state folder and servers, whose calls are recorded; `rules` are those of tools.policy. */
function world(...rules) {
  const effects = recording(), env = { XDG_STATE_HOME: folder(), HOME: folder() };
  const config = servers({ files: scripted([tool("read"), tool("remove")], effects.option) }, { ...bare, tools: { policy: rules } });
  const lathe = (args, stdin) => run(args, { env, stdin });
  return {
    env, config, lathe, calls: () => effects.of("tools/call").map((m) => `${m.params.name} ${m.params.arguments?.path ?? ""}`.trim()),
    program: (code, ...more) => lathe(["run", "-e", code, ...config, ...more]),
  };
}
const saves = async (w, name, code, ...more) => {
  const end = await w.lathe(["save", name, "-", ...more], code);
  assert.equal(end.code, 0, end.stderr);
  return end.stdout;
};

describe("saved programs", { concurrency: 3 }, () => {
  test("are tools with a description and a schema, and modules; an input that does not fit is refused", async () => {
    const w = world();
    assert.equal(await saves(w, "look", "/** Reads a file.\n * Twice. */\nfilesRead({ path: input.path }); filesRead({ path: input.path + '2' }); ({ read: input.path })", "--schema", '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'), "programs.look version 1\n");
    prints(await w.program("programsLook({ path: 'a' })"), { stdout: '{"read":"a"}\n' });
    assert.deepEqual(w.calls(), ["read a", "read a2"]);
    assert.match((await w.program("programsLook({})")).stderr, /input\.path: is required/);
    assert.match((await w.lathe(["tools", ...w.config])).stdout, /programs\.look +programsLook +Reads a file\./);
    prints(await w.lathe(["call", "programs.look", '{"path":"b"}', ...w.config]), { stdout: '{"read":"b"}\n' });
    await saves(w, "twice", "export const twice = (n) => 2 * n");
    prints(await w.program("import { twice } from 'programs/twice'; export default twice(4)"), { stdout: "8\n" });
    await saves(w, "typed", "const n: number = input.n\nreturn n + 1");
    prints(await w.program("programsTyped({ n: 1 }) + programsTyped({ n: 2 })"), { stdout: "5\n" });
    assert.match((await w.program("programsLook({ path: 'a' }), programsFails()")).stderr, /programsFails is not defined/);
  });
  test("a program says itself what it does and takes, and has its file's name; options count before that", async () => {
    const w = world();
    const cwd = folder({ "report.ts": "export const description = 'Reports.'\nexport const input: object = { type: 'object', properties: { n: { type: 'number' }, }, required: ['n'] }\nexport default ({ n }: { n: number }) => n + 1\n", "bad.js": "export const input = { type: f() }" });
    const save = (...args) => run(["save", ...args], { env: w.env, cwd, stdin: "1" });
    prints(await save("report.ts"), { stdout: "programs.report version 1\n" });
    prints(await save("./report.ts"), { stdout: "programs.report version 1, which is the same\n" });
    prints(await w.program("programsReport({ n: 1 })"), { stdout: "2\n" });
    assert.match((await w.program("programsReport({})")).stderr, /input\.n: is required/);
    assert.match((await w.lathe(["tools", ...w.config])).stdout, /programs\.report .*Reports\./);
    prints(await save("report", "report.ts", "--description", "Other.", "--schema", "{}"), { stdout: "programs.report version 2\n" });
    assert.deepEqual(JSON.parse((await w.lathe(["programs", "--json"])).stdout).map((it) => [it.description, it.schema]), [["Other.", {}]]);
    for (const [args, why] of [[["bad.js"], /bad\.js: .export const input. has to be written out.* not f\(\) }.*line 1/], [["-"], /a name is wanted/], [["no.js"], /no\.js/], [[], /a file is wanted/]]) {
      const end = await save(...args);
      assert.equal(end.code, 2, args);
      assert.match(end.stderr, why);
    }
  });
  test("every save is a version; old ones are listed, shown and saved again; deleted ones are gone", async () => {
    const w = world();
    await saves(w, "n", "1\n");
    assert.equal(await saves(w, "n", "2\n", "--description", "Two."), "programs.n version 2\n");
    prints(await w.program("programsN({})"), { stdout: "2\n" });
    assert.deepEqual(JSON.parse((await w.lathe(["programs", "list", "n", "--json"])).stdout).map((it) => [it.version, it.description, it.code]), [[2, "Two.", "2\n"], [1, "", "1\n"]]);
    const old = await w.lathe(["programs", "show", "n", "--version", "1"]);
    prints(old, { stdout: "1\n" });
    assert.equal(await saves(w, "n", old.stdout), "programs.n version 3\n");
    prints(await w.program("programsN({})"), { stdout: "1\n" });
    assert.match((await w.lathe(["programs"])).stdout, /^n {2}3 {2}20\d\d-\d\d-\d\d {2}js\n$/);
    assert.equal((await w.lathe(["programs", "show", "n", "--version", "9"])).code, 1);
    prints(await w.lathe(["programs", "delete", "n"]), {});
    assert.equal((await w.lathe(["programs", "delete", "n"])).code, 1);
    assert.match((await w.program("programsN({})")).stderr, /programsN is not defined/);
    assert.equal(await saves(w, "n", "4"), "programs.n version 4\n");
  });
  test("bad names, schemas and texts are refused; programs that call each other have an end", async () => {
    const w = world();
    for (const name of ["", "a b", "../x", "1a", "x".repeat(49), "a.b", "ä"]) assert.equal((await w.lathe(["save", name, "-"], "1")).code, 2, name);
    for (const schema of ["[1", "[]", '{"type":"array"}', '{"properties":4}']) assert.equal((await w.lathe(["save", "x", "-", "--schema", schema], "1")).code, 2, schema);
    for (const text of ["", " \n", "1\0", Buffer.from([0x27, 0xff, 0x27]), "x".repeat(300_000)]) assert.equal((await w.lathe(["save", "x", "-"], text)).code, 2);
    assert.equal((await w.lathe(["programs", "show", "x"])).code, 1);
    await saves(w, "again", "programsAgain({})");
    assert.match((await w.program("programsAgain({})")).stderr, /call each other more than 8 deep/);
  });
  test("rules hold for the program and for what it calls; a program that fails says where", async () => {
    const w = world({ match: "programs.never", action: "deny", reason: "house rule" }, { match: "files.remove", action: "ask" });
    await saves(w, "never", "1");
    await saves(w, "drop", "filesRead({ path: 'a' })\nfilesRemove({ path: 'b' })");
    assert.match((await w.program("programsNever({})")).stderr, /house rule/);
    assert.match((await w.program("programsDrop({})")).stderr, /Tool "files\.remove" needs approval.*\(line 2, column 1.*\n  at 1:1: programsDrop/);
    prints(await w.program("programsDrop({}); 'done'", "--yes"), { stdout: "done\n" });
    assert.deepEqual(w.calls(), ["read a", "read a", "remove b"]);
  });
  test("a server of that name keeps it; a folder cannot add programs", async () => {
    const w = world();
    await saves(w, "n", "1");
    const other = await w.lathe(["run", "-e", "programsRead({ path: 'x' }); 1", ...servers({ programs: scripted([tool("read")]) }, bare)]);
    assert.match(other.stdout + other.stderr, /"programs"/);
    prints(await run(["run", "-e", "typeof programsN"], { env: { XDG_STATE_HOME: folder(), HOME: folder() }, cwd: folder({ "lathe.db": "", "lathe.db-programs": "" }) }), { stdout: "undefined\n" });
  });
});

describe("a kill in the middle of a saved program", { concurrency: 2 }, () => {
  for (const [then, change, stays, last] of [
    ["saved anew", (w) => saves(w, "drop", "filesRead({ path: 'other' }); 'two'"), "'two'\n", "read other"],
    ["deleted", async (w) => prints(await w.lathe(["programs", "delete", "drop"]), {}), "", undefined],
  ]) {
    test(`goes on with the version that was called, though it was ${then} since; no call is made twice`, async () => {
      const w = world({ match: "files.remove", action: "ask" });
      await saves(w, "drop", "filesRead({ path: 'a' }); filesRemove({ path: 'b' }); 'one'");
      const one = start(["repl", ...w.config], { env: w.env, terminal: true, window: [24, 80] });
      await until(() => one.text().includes("> "), "the prompt is there");
      one.type("programsDrop({})\r");
      await until(() => /wants to call files\.remove/.test(one.text()), "the question is there");
      await one.kill();
      await change(w);
      const two = await w.lathe(["repl", "-c", "--yes", ...w.config], `1 + 1\n${last ? "programsDrop({})\n" : ""}`);
      prints(two, { stdout: `'one'\n2\n${stays}` });
      assert.deepEqual(w.calls(), ["read a", "remove b", ...(last ? [last] : [])]);
    });
  }
});

describe("over lathe mcp", () => {
  test("a client's program calls them", async () => {
    const w = world();
    await saves(w, "look", "filesRead({ path: input.path }); 'seen'");
    const one = start(["mcp", ...w.config], { env: w.env, typed: true });
    const say = (message) => one.type(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    say({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } });
    say({ id: 2, method: "tools/call", params: { name: "execute_code", arguments: { code: "programsLook({ path: 'm' })" } } });
    await until(() => one.out().includes('"id":2'), "it is answered");
    assert.match(one.out(), /seen/);
    assert.deepEqual(w.calls(), ["read m"]);
    one.child.stdin.end();
    assert.equal((await one.ended).code, 0);
  });
});
