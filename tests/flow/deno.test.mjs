// Programs in Deno, as a user runs them: real Deno, real MCP servers, real processes that must be gone afterwards.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { bare, config, describe, fake, folder, only, patience, root, run, scripted, start, test, until } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const bin = [join(root, "tests/node_modules/.bin"), join(root, "node_modules/.bin")].find((path) => existsSync(join(path, "deno")));
const memory = { command: process.execPath, args: [join(root, "node_modules/@modelcontextprotocol/server-memory/dist/index.js")] };

const withDeno = { PATH: `${process.env.PATH}:${bin}` };
const deno = (text, args = [], options = {}) =>
  run(["run", "--lang", "ts", "--runner", "deno", "-e", text, ...args], { ...options, env: { ...withDeno, ...options.env } });
const told = async (text, args, options) => {
  const end = await deno(text, ["--json", ...args], options);
  return { code: end.code, ...JSON.parse(end.stdout) };
};

describe("Deno", { skip: bin === undefined && "no deno from npm", timeout: 240_000 * patience }, () => {
  test("a real server's tools are typed functions with a Result", async () => {
    const text = `
      const made = await create_entities({ entities: [{ name: "Ada", entityType: "person", observations: ["wrote"] }] });
      if (!made.success) throw new Error(made.error);
      const graph = await read_graph();
      if (graph.success) for (const e of graph.value.entities) console.log(e.name, e.observations.length);
      const bad = await add_observations({ observations: [{ entityName: "nobody", contents: [] }] });
      console.log(bad.success ? "?" : bad.error.includes("nobody"));`;
    const report = await told(text, only({ mem: { ...memory, env: { MEMORY_FILE_PATH: join(folder(), "memory.json") } } }));
    assert.equal(report.code, 0, report.error);
    assert.deepEqual(report.outputs, ["Ada 1\n", "true\n"]);
    assert.deepEqual(report.calls.map((call) => call.tool), ["mem.create_entities", "mem.read_graph", "mem.add_observations"]);
    assert.ok(report.calls[2].error);
  });

  test("the server's types are checked: names, fields and kinds, all at once, before anything runs", async () => {
    const text = "console.log('ran');\nconst g = await read_graph();\nif (g.success) g.value.entites;\nawait open_nodes({ names: 5 });\nawait reed_graph();";
    const report = await told(text, only({ mem: memory }));
    assert.equal(report.code, 1);
    assert.deepEqual(report.outputs, []);
    assert.deepEqual(report.calls, []);
    assert.match(report.error, /^TS2551: Property 'entites' does not exist[^]*\nline 4, column 20: TS2322: [^]*\nline 5, column 7: TS2552: Cannot find name 'reed_graph'\. Did you mean 'read_graph'\?$/);
    assert.deepEqual([report.line, report.column, report.context], [3, 24, "if (g.success) g.value.entites;"]);
    assert.doesNotMatch(report.error, /\/tmp|program\.ts/);
  });

  test("thousands of tools cost a program nothing that it does not name", async () => {
    const many = scripted(Array.from({ length: 5000 }, (_, i) => ({ tool: { name: `tool_${i}`, description: "one of many", inputSchema: { type: "object" } } })));
    const report = await told("const r = await tool_4711(); console.log(r.success)", only({ many }));
    assert.equal(report.code, 0, report.error);
    assert.deepEqual(report.outputs, ["true\n"]);
    assert.ok(report.durationMs < 5000 * patience, `${report.durationMs} ms`);
  });

  test("an error's place is where it was written, in fences too", async () => {
    const report = await told("Here it is:\n```ts\nconst x: number = 1;\nfunction f(): never { throw new RangeError(`no ${x}`); }\nf();\n```", ["--config", config({})]);
    assert.deepEqual([report.code, report.error, report.line, report.column], [1, "RangeError: no 1", 4, 29]);
    assert.equal(report.stack, "at f (4:29)\nat <program> (5:1)");
  });

  test("its time is up: 124, what was said is kept, and no process stays", async () => {
    const end = await deno("console.log('before'); for (;;) {}", ["--timeout", "2500"]);
    assert.equal(end.code, 124);
    assert.equal(end.stdout, "before\n");
    assert.match(end.stderr, /timed out after 2500ms/);
  });

  test("interrupted, it ends with its processes; killed, its processes end with it", async () => {
    for (const [signal, code] of [["SIGINT", 130], ["SIGKILL", null]]) {
      const talk = start(["run", "--lang", "ts", "--runner", "deno", "-e", "console.error('here'); await sleep(60000)"], { env: withDeno });
      await until(() => talk.text().includes("here"), "it runs");
      talk.child.kill(signal);
      const end = await talk.ended; // the harness looks for processes that are left
      assert.equal(end.code, code, end.stderr);
    }
  });

  test("a program cannot reach another one's bridge, the network, files or the environment", async () => {
    const asked = `
      const said: string[] = [];
      const tries: [string, () => unknown][] = [
        ["tmp", () => Deno.readDirSync("/tmp").next()], ["passwd", () => Deno.readTextFileSync("/etc/passwd")],
        ["env", () => Deno.env.toObject()], ["write", () => Deno.writeTextFileSync("/tmp/lathe-flow-x", "")],
        ["run", () => new Deno.Command("/bin/sh").spawn()], ["socket", () => Deno.connect({ transport: "unix", path: "/run/x.sock" })],
        ["net", () => Deno.connect({ hostname: "127.0.0.1", port: 22 })], ["fetch", () => fetch("http://127.0.0.1/")],
        ["import", () => import("https" + "://example.com/x.ts")], ["json", () => import("/etc/passwd", { with: { type: "json" } })],
      ];
      for (const [name, f] of tries) { try { await f(); said.push(name) } catch { /* as it should be */ } }
      console.log("done", said.join());`;
    const end = await deno(asked, ["--config", config({ typescript: { check: false } })]);
    assert.equal(end.stdout, "done \n", end.stderr);
  });

  test("without the checker, and on old Landlock, programs run all the same", async () => {
    const args = ["--config", config({ typescript: { check: false } })];
    assert.equal((await deno("console.log(1 + 2)", args, { env: { LATHE_LANDLOCK_ABI_MAX: "2" } })).stdout, "3\n");
    assert.equal((await deno("console.log((await echo({ text: 'x' })).success)", only({ fake: fake() }), { env: { LATHE_LANDLOCK_ABI_MAX: "2" } })).stdout, "true\n");
  });

  test("many at once, on two cores", async () => {
    const ends = await Promise.all(Array.from({ length: 6 }, (_, i) => deno(`console.log(${i} * 2)`, ["--config", config({})], { limitMs: 60_000 })));
    assert.deepEqual(ends.map((end) => end.stdout), [0, 2, 4, 6, 8, 10].map((n) => `${n}\n`));
  });
});

describe("A conversation with Deno", { skip: bin === undefined && "no deno from npm", timeout: 60_000 * patience }, () => {
  const use = ["-m", "typescript", "--config", config({ ...bare, typescript: { runner: "deno", check: false } })];
  const program = (code, rest = {}) => ({ calls: [{ name: "execute_typescript", arguments: { code } }], ...rest });
  const toldOf = (asked) => asked.at(-1).messages.filter((one) => one.role === "tool").map((one) => one.content.trim());

  test("its second program finds a Deno that is there already, and nothing of the first one", async () => {
    const look = "console.log(typeof (globalThis as any).left, (localStorage as any).left, performance.now() > 1000)";
    const model = await scriptedModel([
      program("(globalThis as any).left = 1; (localStorage as any).left = 'x'; console.log(performance.now() < 1000 * " + patience + ")"),
      program(look, { delayMs: 1500 }), program("throw new Error('no luck')", { delayMs: 1500 }), "That is all.",
    ]);
    const end = await run(["chat", "go", ...use], { env: { ...model.env, ...withDeno } });
    assert.equal(end.stdout, "That is all.\n", end.stderr);
    const told = toldOf(model.asked());
    assert.deepEqual(told.slice(0, 2), ["true", "undefined undefined true"]);
    assert.match(told[2], /no luck/);
  });

  test("killed while one waits, it leaves no process", async () => {
    const model = await scriptedModel([program("console.log('ran')"), { text: "", hang: true }]);
    const place = folder();
    chmodSync(place, 0o755);
    const talk = start(["chat", "go", ...use], { env: { ...model.env, ...withDeno, TMPDIR: place } });
    await until(() => talk.text().includes("the program ended"), "the program's end");
    await until(() => readdirSync(place).some((name) => name.startsWith("lathe-deno-")), "the next one's folder");
    talk.child.kill("SIGKILL");
    await talk.ended; // the harness looks for processes that are left
  });
});
