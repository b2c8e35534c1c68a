// execute_code with a session: what one call leaves for the next, in this gateway and in another.
import assert from "node:assert/strict";
import { bare, describe, folder, patience, recording, scripted, servers, start, test, until } from "./harness.mjs";

/** A client on the wire of a gateway with a store of its own; a call of "pay" is asked about. */
function world(waitMs = 20_000) {
  const effects = recording(), env = { XDG_STATE_HOME: folder(), HOME: folder() };
  const tools = ["note", "pay"].map((name) => ({ tool: { name, inputSchema: { type: "object" } } }));
  const args = servers({ cash: scripted(tools, effects.option) }, { ...bare, mcp: { waitMs }, tools: { policy: [{ match: "cash.pay", action: "ask" }] } });
  const connect = async () => {
    const one = start(["mcp", ...args], { env, typed: true });
    const answers = () => one.out().split("\n").slice(0, -1).map((line) => JSON.parse(line));
    let last = 0;
    const ask = async (method, params) => {
      const id = ++last;
      one.type(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      await until(() => answers().some((a) => a.id === id), `request ${id} is answered\n${one.text()}`);
      return answers().find((a) => a.id === id);
    };
    await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } });
    const call = async (name, given) => {
      const { result } = await ask("tools/call", { name, arguments: given });
      return `${result.isError ? "failed: " : ""}${result.content[0].text}`;
    };
    return {
      call,
      code: (code, more = {}) => call("execute_code", { code, session: "work", ...more }),
      async ends() { one.child.stdin.end(); assert.equal((await one.ended).code, 0); },
      kill: one.kill,
    };
  };
  const notes = () => effects.of("tools/call").map((m) => m.params.name);
  const approve = async (id) => {
    const one = start(["approve", ...id, ...args], { env, terminal: true });
    await until(() => /ne\[v\]er|y\/N/i.test(one.text()), one.text());
    one.type("y\n");
    assert.equal((await one.ended).code, 0);
  };
  return { connect, notes, approve };
}
const NEW = '[session "work" is new]';

describe("what is kept", { concurrency: 3 }, () => {
  test("variables of every kind, functions, classes, closures, stored values", async () => {
    const c = await world().connect();
    assert.equal(await c.code("const a = 1; let b = { list: [a] }; var d = 4\nclass P { constructor(v) { this.v = v } twice() { return 2 * this.v } }\nfunction add(n) { b.list.push(n); return b.list.length }\nconst counter = (() => { let n = 0; return () => ++n })(); counter(); store('key', { deep: [1] }); a"), `1\n${NEW}`);
    assert.equal(await c.code("add(7); [a, b.list, d, new P(21).twice(), counter(), recall('key').deep]"), "[1,[1,7],4,42,2,[1]]");
    assert.equal(await c.code("b.list"), "[1,7]");
    await c.ends();
  });
  test("a name that is declared again, with destructuring, before a return, with await", async () => {
    const c = await world().connect();
    await c.code("const x = 1; const { y, z: [w] } = { y: 2, z: [3] }");
    assert.equal(await c.code("const x = await 10; let y = x + 1;\nasync function later() { return (await x) + w }\nif (y) return later()"), "13");
    assert.equal(await c.code("x + y + await later()"), "34");
    assert.equal(await c.code("for (const x of [5]) { const y = x } [x, y]"), "[10,11]");
    await c.ends();
  });
  test("functions that call tools, and what a tool has answered", async () => {
    const w = world(), c = await w.connect();
    await c.code("function note(n) { return cashNote({ n }).n } const first = note(1)");
    assert.equal(await c.code("first + note(10)"), "11");
    assert.deepEqual(w.notes(), ["note", "note"]);
    await c.ends();
  });
  test("a variable goes before a tool of the same name, and a tool stays a tool", async () => {
    const c = await world().connect();
    await c.code("const note = 'mine'; cashNote({ n: 1 })");
    assert.equal(await c.code("[note, typeof cashNote, cashNote({ n: 2 }).n, typeof cashPay]"), '["mine","function",2,"function"]');
    await c.ends();
  });
  test("TypeScript and JavaScript share them", async () => {
    const c = await world().connect();
    await c.code("const n: number = 3; interface Q { a: number } const q: Q = { a: n }", { language: "typescript" });
    assert.equal(await c.code("q.a + n"), "6");
    assert.equal(await c.code("console.log(n + 1)", { language: "typescript" }), "4\n");
    await c.ends();
  });
  test("globals of the web that only a later program names", async () => {
    const c = await world().connect();
    await c.code("const a = 1");
    assert.equal(await c.code("[a, new URL('http://h/p').pathname, new Intl.NumberFormat('en').format(1234)]"), '[1,"/p","1,234"]');
    await c.ends();
  });
  test("sessions are apart, and a call without one sees nothing", async () => {
    const c = await world().connect();
    await c.code("var secret = 1");
    assert.match(await c.code("typeof secret", { session: "other" }), /^undefined\n\[session "other" is new\]$/);
    assert.equal(await c.code("typeof secret", { session: undefined }), "undefined");
    assert.equal(await c.code("typeof secret"), "number");
    await c.ends();
  });
});

describe("a call that goes wrong", { concurrency: 3 }, () => {
  test("an error keeps what was there, and what it had changed before", async () => {
    const c = await world().connect();
    await c.code("let n = 1");
    assert.match(await c.code("n = 2; nope(); n = 3"), /^failed: error: ReferenceError: nope is not defined[^]*line 1, column 8/);
    assert.equal(await c.code("n"), "2");
    assert.match(await c.code("n = 5 5"), /^failed: \[session "work": its variables and values are as before this program: it did not run[^]*SyntaxError/);
    assert.equal(await c.code("n"), "2");
    await c.ends();
  });
  test("one that was stopped leaves the session as it was", async () => {
    const c = await world().connect();
    await c.code("let n = 1");
    assert.match(await c.code("n = 2; for (;;);", { timeout: 300 }), /^failed: \[session "work": its variables and values are as before this program, which was stopped\]\nerror: Execution timed out/);
    assert.equal(await c.code("n"), "1");
    await c.ends();
  });
  test("too much to keep", async () => {
    const c = await world().connect();
    await c.code("let n = 1");
    assert.match(await c.code("n = 2; var all = new Uint8Array(20 * 1024 * 1024).fill(1); all.length"), /^20971520\n\[session "work": [^]*they take more than 16 MiB/);
    assert.equal(await c.code("[n, typeof all]"), '[1,"undefined"]');
    await c.ends();
  });
  test("bad names, and a language that keeps nothing", async () => {
    const c = await world().connect();
    for (const session of ["a b", "../x", "x".repeat(65), 7, "ü"]) assert.match(await c.code("1", { session }), /^failed: session: expected a name of 1 to 64 letters/);
    assert.match(await c.code("1", { language: "python" }), /^failed: session: Python programs keep nothing/);
    await c.ends();
  });
  test("the oldest of too many is forgotten, and the next call says so", async () => {
    const c = await world().connect();
    await c.code("var a = 1", { session: "first" });
    for (let i = 0; i < 64; i++) await c.code("var a = 1", { session: `s${i}` });
    assert.equal(await c.code("typeof a", { session: "first" }), 'undefined\n[session "first" is new]');
    assert.equal(await c.code("typeof a", { session: "s63" }), "number");
    await c.ends();
  });
});

describe("over processes", { concurrency: 3 }, () => {
  test("another gateway, after kill -9: everything is there, and no call is made again", async () => {
    const w = world(), one = await w.connect();
    await one.code("const got = cashNote({ n: 4 }).n; function more() { return got + 1 }");
    await one.kill();
    const two = await w.connect();
    assert.equal(await two.code("more() + cashNote({ n: 1 }).n"), "6");
    assert.deepEqual(w.notes(), ["note", "note"]);
    await two.ends();
  });
  test("a call that waits has the session: the next one is refused, also in another gateway after kill -9; then it goes on from where it was", async () => {
    const w = world(400 * patience), one = await w.connect();
    await one.code("let n = 1");
    let waiting = await one.code("n = n + cashNote({ n: 1 }).n; cashPay({ n: 7 }); n = n + 40; n");
    const [, run] = /^Run ([0-9a-f]{32}) is not done/.exec(waiting);
    while (!/lathe approve/.test(waiting)) waiting = await one.call("continue_run", { run }); // it is not asked yet
    const [, id, call] = /^Run ([0-9a-f]{32}) is not done[^]*lathe approve [0-9a-f]+ ([\w.-]+)`/.exec(waiting);
    assert.match(await one.code("n"), new RegExp(`^failed: error: session "work" is busy: run ${id} has it, and is not done\\. Nothing was run\\. Call continue_run`));
    assert.equal(await one.code("1", { session: "free" }), '1\n[session "free" is new]');
    await one.kill();
    const two = await w.connect();
    assert.match(await two.code("n"), /is busy/);
    assert.match(await two.call("continue_run", { run: id }), /is not done/);
    await w.approve([id, call]);
    let answer = "is not done";
    while (/is not done/.test(answer)) answer = await two.call("continue_run", { run: id });
    assert.equal(answer, "42");
    assert.equal(await two.code("n"), "42");
    assert.deepEqual(w.notes(), ["note", "pay"]);
    await two.ends();
  });
  test("two gateways at once: a call of one sees what the other has left", async () => {
    const w = world(), [one, two] = [await w.connect(), await w.connect()];
    await one.code("let n = 1");
    assert.equal(await two.code("++n"), "2");
    assert.equal(await one.code("++n"), "3");
    await one.ends();
    await two.ends();
  });
});
