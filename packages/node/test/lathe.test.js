// The package as its users meet it: LATHE_LIBRARY names the library.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import * as lathe from "../index.js";

const { Sandbox } = lathe;
const add = {
  description: "Adds two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a"] },
  readOnly: true,
  run: async ({ a, b = 2 }) => a + b,
};
const order = { approval: "it spends money", run: (input) => input };

/** A tool that begins and never ends: `begun`, and whether its answer is wanted still. */
function waiting() {
  const it = { run: (input, { signal }) => new Promise(() => ((it.signal = signal), it.begin())) };
  it.begun = new Promise((resolve) => (it.begin = resolve));
  return it;
}

/** Another process with a module; what it printed. */
function node(code, ...flags) {
  const source = `import { Sandbox } from ${JSON.stringify(new URL("../index.js", import.meta.url))};\n${code}`;
  const done = spawnSync(process.execPath, [...flags, "--input-type=module", "-e", source], { encoding: "utf8", timeout: 60_000 });
  assert.deepEqual([done.status, done.stderr], [0, ""]);
  return done.stdout;
}

describe("a sandbox", () => {
  const sandbox = new Sandbox({ tools: { add } });
  after(() => sandbox.close());

  test("is not published, and has the version of the library", () => {
    const { version, private: isPrivate } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url)));
    assert.deepEqual([version, isPrivate], [lathe.libraryVersion(), true]);
  });
  test("runs a program that calls a function", async () => {
    const said = [], say = (text) => said.push(text);
    const result = await sandbox.run("output('o'); console.log('l'); add({a: input.n}) * 10", { input: { n: 1 }, onOutput: say, onLog: say });
    const { value, outputs, logs, calls } = result;
    assert.deepEqual({ value, outputs, logs, calls, said }, {
      value: 30, outputs: ["o"], logs: ["l"], calls: [{ tool: "add", input: { a: 1 }, result: 3 }], said: ["o", "l"],
    });
    assert.ok(result.durationMs > 0);
    assert.equal((await sandbox.run("const n: number = 1; n + 1", { language: "ts" })).value, 2);
  });
  test("tells where a program failed", async () => {
    await assert.rejects(sandbox.run("output('before');\nnull.x"), (error) => {
      assert.ok(error instanceof lathe.ProgramError && error instanceof lathe.SandboxError);
      assert.deepEqual([error.name, error.line, error.column, error.outputs], ["ProgramError", 2, 1, ["before"]]);
      assert.match(error.message, /^TypeError: /);
      assert.match(error.programStack, /2:1/);
      return true;
    });
    assert.equal((await sandbox.check("1 +"))[0].line, 1);
  });
  test("keeps a program within its limits", async () => {
    await assert.rejects(sandbox.run("for (;;);", { timeoutMs: 50 }), lathe.ProgramTimeoutError);
    await assert.rejects(sandbox.run("const a = []; for (;;) a.push(new Array(1e5).fill(1))", { memoryBytes: 16 << 20 }), lathe.ProgramMemoryError);
  });
  test("makes an exception of what a tool throws, and of a result that is not JSON", async () => {
    const circle = {};
    circle.circle = circle;
    const tools = {
      bad: () => { throw new Error("sold out"); },
      later: async () => { throw "a text"; },
      circle: () => circle,
      code: () => () => 1,
      big: () => 1n,
      none: () => {},
    };
    const code = "Object.entries({bad, later, circle, code, big, none}).map(([n, f]) => { try { return f({}) } catch (e) { return e.message } })";
    const [bad, later, ...others] = (await sandbox.run(code, { tools })).value;
    assert.deepEqual([bad, later, others.pop()], ['Tool "bad" failed: sold out', 'Tool "later" failed: a text', null]);
    for (const text of others) assert.match(text, /the result of the tool \w+ is not JSON: /);
  });
  test("asks for approvals", async () => {
    const asked = [];
    const run = async (onApproval) => (await sandbox.run("order({item: 'tea'})", { tools: { order }, onApproval })).value;
    assert.deepEqual(await run(({ tool, input, reason }) => asked.push({ tool, input, reason }) > 0), { item: "tea" });
    assert.deepEqual(asked, [{ tool: "order", input: { item: "tea" }, reason: "it spends money" }]);
    assert.deepEqual(await run(async () => ({ approve: true, input: { item: "coffee" } })), { item: "coffee" });
    await assert.rejects(run(() => ({ approve: false, reason: "too much" })), /not approved.*too much/);
    await assert.rejects(run(), /not approved.*nobody is there/);
    await assert.rejects(run(() => "yes"), /onApproval returns a boolean/);
    await assert.rejects(run(() => { throw new RangeError("mine"); }), RangeError);
    await assert.rejects(sandbox.run("output(1); for (;;);", { onOutput: () => { throw new RangeError("mine"); } }), RangeError);
  });
  test("is cancelled by a signal, and so is the tool", async () => {
    const wait = waiting(), abort = new AbortController();
    const run = sandbox.run("wait({})", { tools: { wait }, signal: abort.signal });
    await wait.begun;
    abort.abort();
    await assert.rejects(run, { name: "AbortError" });
    assert.ok(wait.signal.aborted);
    await assert.rejects(sandbox.run("1", { signal: abort.signal }), { name: "AbortError" });
    const broken = new lathe.Sandbox({ config: "nonsense: 1" });
    await assert.rejects(broken.run("1", { signal: abort.signal }), { name: "AbortError" });
    await assert.rejects(broken.run("1"), lathe.ConfigError);
    await assert.rejects(sandbox.run("for (;;);", { signal: AbortSignal.timeout(20) }), { name: "TimeoutError" });
  });
  test("writes a program down that another sandbox goes on with", async () => {
    const asked = [], said = [], count = ({ a }) => asked.push(a) && a;
    const suspend = () => { throw new lathe.Suspended(); };
    const suspended = (code, tools, onApproval) => sandbox.run(code, { tools, onApproval, canSnapshot: true, input: 7 }).then(assert.fail, (error) => {
      assert.ok(error instanceof lathe.Suspended && !(error instanceof lathe.SandboxError), error.stack);
      return error.snapshot;
    });
    const asks = await suspended("output('o'); [count({a: input}), order({item: 'tea'})]", { count, order }, suspend);
    const waits = await suspended("wait({})", { wait: async () => suspend() });
    const other = new Sandbox({ tools: { count, order }, onApproval: () => true });
    const { value } = await other.restore(asks, { onOutput: (text) => said.push(text) });
    assert.deepEqual({ value, asked, said }, { value: [7, { item: "tea" }], asked: [7], said: ["o"] });
    assert.equal((await other.restore(waits, { tools: { wait: () => 5 } })).value, 5);
    await assert.rejects(other.restore(waits), /"wait", which is not there/);
    await assert.rejects(other.restore("{}"), (error) => error instanceof lathe.ConfigError && /no snapshot/.test(error.message));
    await assert.rejects(other.run("wait({})", { tools: { wait: suspend } }), /without can_snapshot/);
    await other.close();
  });
  test("has tools of one run for that run only", async () => {
    const runs = Array.from({ length: 50 }, (_, i) => sandbox.run("own({})", { tools: { own: () => i, add: () => "own" } }));
    assert.deepEqual((await Promise.all(runs)).map((run) => run.value), runs.map((_, i) => i));
    assert.equal((await sandbox.run("add({a: 1})")).value, 3);
    await assert.rejects(sandbox.run("own({})"), /own/);
    await sandbox.addTool("own", () => 7);
    assert.equal((await sandbox.run("own({})")).value, 7);
    assert.match(await sandbox.declare(), /own/);
    assert.equal((await sandbox.search("adds two numbers", 1))[0].id, "add");
    await sandbox.removeTool("own");
    await assert.rejects(sandbox.removeTool("own"), lathe.SandboxError);
  });
  test("refuses bad arguments", async () => {
    for (const [code, options, why] of [
      ["a\0b", {}, /NUL/], ["", {}, /no code/], ["1", { language: "cobol" }, /no language/], ["1", { input: 1n }, /input is not JSON/],
      ["1", { timeoutMs: -1 }, /timeoutMs/], ["1", { memoryBytes: 5 }, /memory_bytes/], ["1", { tools: { t: {} } }, /tool t is a function/],
      ["1", { tools: { "artifact.mine": add } }, /built-in plugin/],
    ]) {
      await assert.rejects(sandbox.run(code, options), (error) => error instanceof lathe.ConfigError && why.test(error.message), String(why));
    }
    await assert.rejects(sandbox.run(1), TypeError);
    await assert.rejects(new Sandbox({ config: { sandbox: { timeout: 1 } } }).run("1"), /did you mean "timeoutMs"/);
  });
});

describe("a program that runs alone", () => {
  const sandbox = new Sandbox({ tools: { add: ({ a, b }) => a + b } });
  after(() => sandbox.close());

  test("calls functions on this thread, after run() has returned", async () => {
    const order = [];
    const run = sandbox.run("note({}); add({a: 1, b: 2})", { tools: { note: () => void order.push("tool") } });
    order.push("returned");
    assert.equal((await run).value, 3);
    assert.deepEqual(order, ["returned", "tool"]);
  });
  test("is left to other threads when it waits or computes", async () => {
    let turns = 0;
    const counting = setInterval(() => turns++, 5);
    const code = "let n = add({a: 1, b: 1}); n += later({}); sleep(5); n += add({a: 1, b: 1}); n";
    const later = () => new Promise((done) => setTimeout(() => done(2), 20));
    assert.equal((await sandbox.run(code, { tools: { later } })).value, 6);
    await assert.rejects(sandbox.run("add({a: 1, b: 1}); for (;;);", { timeoutMs: 200 }), lathe.ProgramTimeoutError);
    clearInterval(counting);
    assert.ok(turns > 1, `${turns} turns of Node's loop`);
  });
  test("goes on when promises are settled at once, and ends with its sandbox", async () => {
    const later = (n) => new Promise((done) => setTimeout(() => done(n), 1));
    const tools = { now: async ({ n }) => n, later: async ({ n }) => later(n), bad: async () => { throw new Error("sold out"); } };
    const code = `let n = 0; for (let i = 0; i < 50; i++) n += now({n: 1}); n += later({n: 1});
      n += parallel([{tool: "now", input: {n: 1}}, {tool: "later", input: {n: 1}}]).reduce((a, b) => a + b);
      try { bad({}) } catch (error) { [n, error.message] }`;
    assert.deepEqual((await sandbox.run(code, { tools })).value, [53, 'Tool "bad" failed: sold out']);
    const abort = new AbortController(), stop = async () => abort.abort();
    await assert.rejects(sandbox.run("stop({}); stop({})", { tools: { stop }, signal: abort.signal }), { name: "AbortError" });
    const other = new Sandbox(), close = async () => void other.close();
    await assert.rejects(other.run("for (;;) close({})", { tools: { close } }), lathe.ClosedError);
    await other.close();
  });
  test("gives Node's loop its turn among many", async () => {
    let turns = 0, goes = true;
    const turn = () => { turns++; if (goes) setImmediate(turn); };
    setImmediate(turn);
    for (let i = 0; i < 50; i++) await sandbox.run("for (let i = 0; i < 1e5; i++); add({a: 1, b: 2})");
    goes = false;
    assert.ok(turns > 1, `${turns} turns of Node's loop`);
  });
});

describe("runSync", () => {
  const sandbox = new Sandbox({ tools: { add: ({ a, b }) => a + b } });
  before(() => sandbox.ready());
  after(() => sandbox.close());
  const sync = (code, options) => sandbox.runSync(code, options);

  test("runs a program on this thread to its end", () => {
    const said = [];
    const code = "output('o'); console.log('l'); let sum = input; for (let i = 0; i < 100; i++) sum = add({a: sum, b: i}); sum";
    const { value, outputs, logs, calls } = sync(code, { input: 1, onOutput: (text) => said.push(text), onLog: (text) => said.push(text) });
    assert.deepEqual([value, outputs, logs, calls.length, said], [4951, ["o"], ["l"], 100, ["o", "l"]]);
    assert.equal(sync("const n: number = 1; sleep(5); n + 1", { language: "ts" }).value, 2);
    assert.deepEqual(sync("order({item: 'tea'})", { tools: { order }, onApproval: ({ reason }) => reason === "it spends money" }).value, { item: "tea" });
  });
  test("throws how it failed", () => {
    assert.throws(() => sync("output('before');\nnull.x"), (error) => {
      assert.ok(error instanceof lathe.ProgramError && error.stack.includes("lathe.test.js"), error.stack);
      assert.deepEqual([error.line, error.column, error.outputs], [2, 1, ["before"]]);
      return /^TypeError: /.test(error.message);
    });
    assert.throws(() => sync(`throw new Error("x".repeat(5000))`), ({ message }) => message.includes("x".repeat(5000)));
    assert.throws(() => sync("for (;;);", { timeoutMs: 50 }), lathe.ProgramTimeoutError);
    assert.throws(() => sync("1", { language: "cobol" }), lathe.ConfigError);
    assert.throws(() => sync("1", { signal: AbortSignal.abort() }), { name: "AbortError" });
    const bad = () => { throw new Error("sold out"); };
    assert.match(sync("try { bad({}) } catch (e) { e.message }", { tools: { bad } }).value, /sold out/);
    assert.throws(() => sync("output(1)", { onOutput: () => { throw new RangeError("mine"); } }), RangeError);
  });
  test("cannot wait for a promise, and says what can", () => {
    const later = async () => { throw new Error("nobody hears of this"); }, why = /has returned one: use run$/;
    assert.throws(() => sync("try { later({}) } catch {} 1", { tools: { later } }), (error) => error instanceof lathe.ConfigError && why.test(error.message));
    assert.throws(() => sync("order({})", { tools: { order }, onApproval: async () => true }), why);
    assert.throws(() => new Sandbox().runSync("1"), /not open yet: await ready/);
  });
  test("lets a tool abort it, suspend it, and run a program itself", async () => {
    const abort = new AbortController();
    assert.throws(() => sync("stop({}); for (;;);", { signal: abort.signal, tools: { stop: () => abort.abort() } }), { name: "AbortError" });
    const suspend = () => { throw new lathe.Suspended(); };
    let suspended;
    assert.throws(() => sync("wait({})", { tools: { wait: suspend }, canSnapshot: true }), (error) => Boolean((suspended = error).snapshot));
    assert.equal((await sandbox.restore(suspended.snapshot, { tools: { wait: () => 5 } })).value, 5);
    const deeper = ({ n }) => (n === 0 ? 0 : 1 + sync(`deeper({n: ${n - 1}})`, { tools: { deeper } }).value);
    assert.equal(sync("deeper({n: 5})", { tools: { deeper } }).value, 5);
    const endless = () => sync("endless({})", { tools: { endless } }).value;
    assert.throws(() => endless(), lathe.SandboxError);
    assert.equal((await sandbox.run("again({})", { tools: { again: async () => sync("add({a: 1, b: 2})").value } })).value, 3);
  });
  test("goes on to its end when a tool closes the sandbox, and ends with the process", async () => {
    const other = new Sandbox(), closed = [];
    await other.ready();
    assert.equal(other.runSync("close({}); close({}); 1 + 2", { tools: { close: () => void closed.push(other.close()) } }).value, 3);
    assert.throws(() => other.runSync("1"), lathe.ClosedError);
    await Promise.all(closed);
    node("const s = new Sandbox(); await s.ready(); s.runSync('end({}); for (;;);', { tools: { end: () => process.exit(0) } });");
    const source = `import(${JSON.stringify(new URL("../index.js", import.meta.url))}).then(async ({ Sandbox }) => {
      const sandbox = new Sandbox();
      await sandbox.ready();
      const tell = () => { require("node:worker_threads").parentPort.postMessage("runs"); for (;;); };
      sandbox.runSync("tell({})", { tools: { tell } });
    })`;
    const worker = new Worker(source, { eval: true });
    await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    assert.equal(await worker.terminate(), 1);
  });
});

describe("prompts", () => {
  const folder = mkdtempSync(join(tmpdir(), "lathe-node-"));
  const howMuch = "```js\noutput(stock({item: 'tea'}))\n```", done = "```js\noutput('That is all.'); done()\n```";
  const turns = [{ user: "How much tea?", replies: [howMuch, done] }, { user: "And now?", replies: [done] },
    { user: "[Attached: dot.png][Attached: attachment]\n# Notes\n[Attached: dot]What is this?", replies: [done] }];
  const stock = { readOnly: true, run: () => 41 };
  let config, model;
  before(async () => { // a fake: what it answers was recorded
    writeFileSync(join(folder, "recording.json"), JSON.stringify({ turns }));
    const server = fileURLToPath(new URL("../../../examples/recorded-model.mjs", import.meta.url));
    model = spawn(process.execPath, [server, join(folder, "recording.json")], { stdio: ["pipe", "pipe", "inherit"] });
    const port = /^PORT (\d+)/.exec((await once(model.stdout, "data"))[0])[1];
    config = {
      models: [{ ref: "fake", baseUrl: `http://127.0.0.1:${port}/v1` }], defaults: { model: "fake", mode: "code" }, store: `sqlite:${folder}/lathe.db`,
    };
  });
  after(async () => {
    model.stdin.end();
    await once(model, "exit");
    rmSync(folder, { recursive: true });
  });

  test("are carried out with tools, approvals and events", async () => {
    const sandbox = new Sandbox({ config, tools: { stock: { ...stock, approval: "it is far to go" } } }), events = [], asked = [];
    const result = await sandbox.prompt("How much tea?", {
      onApproval: ({ tool, input, reason }) => asked.push({ tool, input, reason }) > 0,
      onEvent: (name, data) => events.push([name, data]),
    });
    const { text, state, usage, outputs, id, conversation } = result;
    assert.deepEqual([text, state, usage.requests, outputs[0].function], ["41\nThat is all.", "completed", 2, "code.execute"]);
    assert.deepEqual([asked[0].tool, asked[0].input, asked.length], ["stock", { item: "tea" }, 1]);
    assert.match(asked[0].reason, /it is far to go/);
    assert.deepEqual([events[0][0], events[0][1].promptId, events[0][1].conversationId], ["prompt.created", id, conversation]);
    assert.equal(events.at(-1)[0], "prompt.completed");
    const again = await sandbox.prompt("And now?", { conversation, model: "fake", mode: "code" });
    assert.deepEqual([again.text, again.conversation, again.id === id], ["That is all.", conversation, false]);
    await sandbox.close();
  });
  test("fail with the prompt's error", async () => {
    const sandbox = new Sandbox({ config, tools: { stock } });
    await assert.rejects(sandbox.prompt("What?"), (error) => {
      assert.ok(error instanceof lathe.PromptError, error.stack);
      assert.deepEqual([error.state, error.outputs, error.id.length, error.conversation.length], ["failed", [], 32, 32]);
      return /nothing was for this/.test(error.message);
    });
    await assert.rejects(sandbox.prompt("And now?", { mode: "waltz" }), (error) => error instanceof lathe.ConfigError && /waltz/.test(error.message));
    await assert.rejects(sandbox.prompt("And now?", { conversation: "0".repeat(32) }), /Conversation .* not found/);
    await assert.rejects(sandbox.prompt("And now?", { onEvent: () => { throw new RangeError("mine"); } }), RangeError);
    await sandbox.close();
    await assert.rejects(new Sandbox().prompt("And now?"), (error) => error instanceof lathe.ConfigError && /models/.test(error.message));
  });
  test("go with files: paths, bytes, bytes with a type and a name", async () => {
    const dot = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");
    const sandbox = new Sandbox({ config }), path = join(folder, "dot.png");
    writeFileSync(path, dot);
    const ask = (...attachments) => sandbox.prompt("What is this?", { attachments });
    // The fake model answers this text and these attachments only.
    const inside = new Uint8Array([0, ...dot]).subarray(1);
    for (const first of [path, pathToFileURL(path)]) {
      assert.equal((await ask(first, new TextEncoder().encode("# Notes\n").buffer, { data: inside, mimeType: "image/png", name: "dot" })).text, "That is all.");
    }
    const html = Buffer.from("<html>");
    for (const [wrong, kind, why] of [
      [3, lathe.ConfigError, /a path, bytes/], [{ data: "text" }, lathe.ConfigError, /with bytes/], [null, lathe.ConfigError, /a path, bytes/],
      [{ data: html, name: "broken.png" }, lathe.ConfigError, /"broken\.png": it is named like an image/], [{ data: html, mimeType: "image/png" }, lathe.ConfigError, /media type is that of an image/],
      [Buffer.alloc(0), lathe.ConfigError, /empty/], [folder, lathe.ConfigError, /no file/], [join(folder, "none.png"), Error, /ENOENT/], [Buffer.alloc(600_000, "a"), lathe.LimitError, /512 KiB/],
    ]) {
      await assert.rejects(ask(wrong), (error) => error instanceof kind && why.test(error.message), String(why));
    }
    await assert.rejects(sandbox.prompt("What is this?", { attachments: path }), /attachments are a list/);
    await sandbox.close();
  });
  test("are cancelled by a signal, and left for another process by the end", async () => {
    const wait = waiting(), tools = { stock: { ...stock, run: wait.run } }, abort = new AbortController(), events = [];
    const sandbox = new Sandbox({ config, tools });
    const cancelled = sandbox.prompt("How much tea?", { signal: abort.signal, onEvent: (name) => events.push(name) });
    await wait.begun;
    abort.abort();
    await assert.rejects(cancelled, { name: "AbortError" });
    assert.equal(events.at(-1), "prompt.cancelled");
    const second = waiting();
    let id;
    const left = sandbox.prompt("How much tea?", { tools: { stock: { ...stock, run: second.run } }, onEvent: (name, data) => (id ??= data.promptId) });
    await second.begun;
    await Promise.all([sandbox.close(), assert.rejects(left, lathe.ClosedError)]);
    const other = new Sandbox({ config, tools: { stock } }), result = await other.resumePrompt(id);
    assert.deepEqual([result.text, result.id, result.conversation.length], ["41\nThat is all.", id, 32]);
    await other.close();
  });
});

describe("the end of a sandbox", () => {
  test("ends what runs", async () => {
    const wait = waiting(), sandbox = new Sandbox({ tools: { wait } }), run = sandbox.run("wait({})"), check = sandbox.check("1");
    await wait.begun;
    await Promise.all([sandbox[Symbol.asyncDispose](), assert.rejects(run, lathe.ClosedError), check]);
    assert.ok(wait.signal.aborted);
    await sandbox.close();
    await assert.rejects(sandbox.run("1"), lathe.ClosedError);
  });
  test("keeps no process alive, but a program does", () => {
    assert.equal(node("const s = new Sandbox(); s.run('sleep(50); 3').then(({value}) => console.log(value));"), "3\n");
    node("const s = new Sandbox(); await s.run('1'); s.run('for (;;);'); process.exit(0);");
  });
  test("may be its collection as garbage", () => {
    node("for (let i = 0; i < 20; i++) { await new Sandbox().run('1'); gc(); await new Promise(setImmediate); }", "--expose-gc");
  });
  test("may be the end of its worker", async () => {
    const source = `import(${JSON.stringify(new URL("../index.js", import.meta.url))}).then(({ Sandbox }) =>
      new Sandbox().run("tell({}); for (;;);", { tools: { tell: () => require("node:worker_threads").parentPort.postMessage("runs") } }))`;
    const worker = new Worker(source, { eval: true });
    await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    assert.equal(await worker.terminate(), 1);
  });
  test("uses the libraries that liblathe was built for, not those inside of Node.js", () => {
    const config = "{mcpServers: {docs: {url: 'http://127.0.0.1:1/mcp'}}, store: 'sqlite::memory:'}";
    const source = `import { Sandbox } from ${JSON.stringify(new URL("../index.js", import.meta.url))};
      const sandbox = new Sandbox({ config: ${JSON.stringify(config)}, onWarning() {} });
      await sandbox.run("1");
      await sandbox.close();`;
    const env = { ...process.env, LD_DEBUG: "bindings" };
    const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", source], { env, encoding: "utf8", maxBuffer: 1 << 28, timeout: 60_000 });
    const bindings = stderr.matchAll(/binding file \S*\/(lib(?:lathe|uv|sqlite3|curl|ssl|crypto|nghttp2)\.so)\S* \[0\] to (\S+) /g);
    const bound = Array.from(bindings, ([, from, to]) => `${from} to ${to}`);
    assert.ok(bound.some((line) => line.startsWith("libssl.so to ")), "libcurl was loaded");
    assert.deepEqual(bound.filter((line) => line.endsWith(` to ${process.argv0}`) || line.endsWith(` to ${process.execPath}`)), []);
  });
  test("tells warnings", async () => {
    const told = [], sandbox = new Sandbox({ config: { mcpServers: { docs: { url: "http://127.0.0.1:1/mcp" } } }, onWarning: (text) => told.push(text) });
    await sandbox.run("1");
    await sandbox.close();
    assert.match(told[0], /docs/);
  });
});
