// Lathe as an MCP server over stdio: what a client sees, and that no run is lost.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { scriptedModel } from "./model.mjs";
import { entries, missing } from "./npm-servers.mjs";
import { bare, describe, fake, folder, noWalls, recording, root, run, scripted, servers, start, test, until } from "./harness.mjs";

const require = createRequire(join(root, "tests/package.json"));
const lathe = resolve(process.env.LATHE ?? join(root, "build/lathe"));

/** A client that speaks the wire itself: what is sent and answered is seen as it is. */
function wire(args, options = {}) {
  const run = start(["mcp", ...args], { ...options, typed: true });
  const answers = () => run.out().split("\n").slice(0, -1).map((line) => JSON.parse(line));
  let last = 0;
  const send = (message) => run.type(`${typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const answerOf = async (id) => {
    await until(() => answers().some((a) => a.id === id), `request ${id} is answered\n${run.text()}`);
    return answers().find((a) => a.id === id);
  };
  const ask = (method, params) => { const id = ++last; send({ id, method, params }); return answerOf(id); };
  return {
    ...run,
    send,
    answers,
    ask,
    async begins(protocolVersion = "2025-11-25") {
      const { result } = await ask("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } });
      send({ method: "notifications/initialized" });
      return result;
    },
    async call(name, args) {
      const { result, error } = await ask("tools/call", { name, arguments: args });
      assert.equal(error, undefined, JSON.stringify(error));
      assert.deepEqual(result.content.map((c) => c.type), ["text"]);
      return { text: result.content[0].text, isError: result.isError ?? false };
    },
    code: function (code, more = {}) { return this.call("execute_code", { code, ...more }); },
    /** Goes on with a run until its answer fits: on a slow machine the first ones may only say that it is not done. */
    async continues(run, what) {
      for (;;) {
        const answer = await this.call("continue_run", { run });
        if (what.test(answer.text)) return answer;
        assert.match(answer.text, /^Run [0-9a-f]{32} is not done/);
      }
    },
    async says(code, what) {
      const answer = await this.code(code);
      return what.test(answer.text) ? answer : this.continues(/^Run ([0-9a-f]{32}) is not done/.exec(answer.text)[1], what);
    },
    async ends() { run.child.stdin.end(); const end = await run.ended; assert.deepEqual([end.code, end.stderr], [0, ""]); },
    kill: run.kill,
  };
}
const good = () => servers({ good: fake() }, bare);
const MODERN = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} } };

describe("a file as standard input", { concurrency: 2 }, () => {
  const request = (id, code) => JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "execute_code", arguments: { code }, ...MODERN } });
  const answers = async (text, args) => {
    const end = await start(["mcp", ...args], { redirect: `<${join(folder({ "in.jsonl": text }), "in.jsonl")}` }).ended;
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    return Object.fromEntries(end.stdout.split("\n").slice(0, -1).map((line) => JSON.parse(line)).map(({ id, result }) => [id, result.content[0].text]));
  };
  test("every request in it is answered, also the last one without a line break and one that takes its time", async () => {
    const args = servers({ box: scripted([{ tool: { name: "late", inputSchema: { type: "object" } }, delayMs: 700 }]) }, bare);
    assert.deepEqual(await answers(`${request(1, "boxLate(); 'it came'")}\n\n${request(2, "1+2")}`, args), { 1: "it came", 2: "3" });
  });
  test("a request that waits for somebody says so after mcp.waitMs", async () => {
    const args = servers({ good: fake() }, { ...bare, mcp: { waitMs: 300 }, tools: { policy: [{ match: "good.add", action: "ask" }] } });
    assert.match((await answers(`${request(1, "goodAdd({ a: 1, b: 2 })")}\n`, args))[1], /^Run [0-9a-f]{32} is not done/);
  });
  test("an empty one ends it, and so does /dev/null", async () => {
    assert.deepEqual(await answers("", good()), {});
    const end = await start(["mcp", ...good()], { redirect: "</dev/null" }).ended;
    assert.deepEqual([end.code, end.stdout, end.stderr], [0, "", ""]);
  });
});

describe("the handshake", { concurrency: 3 }, () => {
  for (const [asked, answered] of [["2025-11-25", "2025-11-25"], ["2025-06-18", "2025-06-18"], ["2024-11-05", "2024-11-05"], ["1999-01-01", "2025-11-25"]]) {
    test(`a client of ${asked} gets ${answered}`, async () => {
      const c = wire(good()), hello = await c.begins(asked);
      assert.deepEqual([hello.protocolVersion, hello.serverInfo.name, hello.capabilities], [answered, "lathe", { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true }, completions: {}, logging: {} }]);
      assert.match(hello.instructions, /good \(\d+ tools\)/);
      assert.ok(hello.instructions.length < 4000);
      assert.deepEqual((await c.ask("ping")).result, {});
      await c.ends();
    });
  }
  test("a client of 2026-07-28 needs none", async () => {
    const c = wire(good());
    const found = (await c.ask("server/discover", MODERN)).result;
    assert.deepEqual([found.supportedVersions, found.resultType], [["2026-07-28"], "complete"]);
    const list = (await c.ask("tools/list", MODERN)).result;
    assert.deepEqual([list.resultType, list.tools.length], ["complete", 4]);
    assert.equal((await c.ask("tools/call", { ...MODERN, name: "execute_code", arguments: { code: "1+2" } })).result.content[0].text, "3");
    assert.equal((await c.ask("ping", MODERN)).error.code, -32601);
    const other = await c.ask("tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2030-01-01" } });
    assert.deepEqual([other.error.code, other.error.data.supported], [-32022, ["2026-07-28"]]);
    await c.ends();
  });
  test("the official client lists and calls", async () => {
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js"), { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client({ name: "test", version: "1" }), home = folder();
    await client.connect(new StdioClientTransport({ command: lathe, args: ["mcp", ...good()], env: { HOME: home, PATH: process.env.PATH } }));
    assert.deepEqual((await client.listTools()).tools.map((t) => t.name), ["search_tools", "execute_code", "continue_run", "read_output"]);
    const answer = await client.callTool({ name: "execute_code", arguments: { code: "goodAdd({ a: 1, b: 2 })" } });
    assert.deepEqual(answer.content, [{ type: "text", text: "3" }]);
    await client.close();
  });
});

const REAL = ["filesystem", "memory", "everything"];
describe("real servers", { skip: missing(REAL).length > 0 && "not installed" }, () => {
  test("one program uses three of them at once", async () => {
    const dir = folder({ "a.txt": "alpha", "b.txt": "beta" });
    const c = wire(servers(entries(dir, REAL), { ...bare, tools: { policy: [{ match: "*", action: "allow" }] } }));
    await c.begins();
    const { text, isError } = await c.code(`
      const names = ["a.txt", "b.txt"];
      const [texts, sums] = await Promise.all([
        Promise.all(names.map((name) => filesystemReadTextFile({ path: "${dir}/" + name }))),
        Promise.all(names.map((_, i) => everythingGetSum({ a: i, b: 40 }))),
      ]);
      await memoryCreateEntities({ entities: names.map((name, i) => ({ name, entityType: "file", observations: [texts[i].content, String(sums[i])] })) });
      (await memoryReadGraph({})).entities.map((entity) => entity.observations.join(": "));`);
    assert.equal(isError, false, text);
    assert.match(text, /alpha: [^"]*40[^]*beta: [^"]*41/);
    await c.ends();
  });
});

describe("what a client is told", { concurrency: 3 }, () => {
  test("the same bytes each time, and what is behind it", async () => {
    const list = async () => { const c = wire(good()); await c.begins(); const all = (await c.ask("tools/list")).result; await c.ends(); return all; };
    const [first, second] = [await list(), await list()];
    assert.equal(JSON.stringify(first), JSON.stringify(second));
    const execute = first.tools.find((t) => t.name === "execute_code");
    assert.match(execute.description, /Tools of: good \(\d+ tools\)\./);
    assert.match(execute.description, /goodAdd/);
    assert.doesNotMatch(execute.description, /interpreter/);
    assert.ok(execute.description.length < 16_000);
    assert.equal(first.tools.find((t) => t.name === "search_tools").annotations.readOnlyHint, true);
  });
  test("search_tools: names, and signatures", async () => {
    const c = wire(good());
    await c.begins();
    const { text } = await c.call("search_tools", { query: "add" });
    assert.match(text, /^good\.add {2}goodAdd {2}/);
    assert.match(text, /declare function add\(/);
    assert.match((await c.call("search_tools", { query: "zzzz" })).text, /No tool fits/);
    assert.doesNotMatch((await c.call("search_tools", { query: "run code javascript" })).text, /interpreter/);
    await c.ends();
  });
});

describe("execute_code", { concurrency: 3 }, () => {
  test("what was logged, then the result", async () => {
    const c = wire(good());
    await c.begins();
    assert.deepEqual(await c.code("console.log('a'); const r = goodAdd({ a: 1, b: 2 }); return [r, typeof r]"), { text: 'a\n["3","string"]', isError: false });
    assert.deepEqual(await c.code("const r = await add({ a: 1, b: 2 }); if (r.success) console.log(r.value)", { language: "typescript" }), { text: "3\n", isError: false });
    assert.deepEqual(await c.code("undefined"), { text: "(completed, no output)", isError: false });
    await c.ends();
  });
  test("in Python", { skip: noWalls() }, async () => {
    const c = wire(good());
    await c.begins();
    assert.deepEqual(await c.code("print(good_add(a=1, b=2))", { language: "python" }), { text: "3\n", isError: false });
    await c.ends();
  });
  test("a failure says where, and what had been called", async () => {
    const c = wire(good());
    await c.begins();
    const { text, isError } = await c.code("console.log('before');\ngoodAdd({ a: 1, b: 2 });\nnope()");
    assert.equal(isError, true);
    assert.match(text, /^before\nerror: ReferenceError: nope is not defined/);
    assert.match(text, /line 3, column 1: nope\(\)/);
    assert.match(text, /already happened[^]*- good\.add \{"a":1,"b":2\}: done/);
    await c.ends();
  });
  test("bad arguments are answers that say what is expected", async () => {
    const c = wire(good());
    await c.begins();
    for (const [args, said] of [[{}, /code: expected the program/], [{ code: 1 }, /code: expected/], [{ code: "1", language: "ruby" }, /"javascript", "typescript" or "python"/], [{ code: "1", timeout: "soon" }, /timeout: expected a number/], [{ code: "1", timeout: 0 }, /1 or more/]]) {
      const { text, isError } = await c.call("execute_code", args);
      assert.equal(isError, true);
      assert.match(text, said);
    }
    await c.ends();
  });
  test("a long answer comes in pieces that lose nothing", async () => {
    const c = wire(good());
    await c.begins();
    const wanted = Array.from({ length: 3000 }, (_, i) => `line ${i} ü`).join("\n");
    let { text } = await c.code("Array.from({ length: 3000 }, (_, i) => `line ${i} ü`).join('\\n')"), all = "", more;
    while ((more = /\n\[bytes \d+ to (\d+) of \d+: read on with read_output, run "([0-9a-f]+)", from \d+\]$/.exec(text))) {
      assert.ok(text.length <= 8200);
      all += text.slice(0, more.index);
      ({ text } = await c.call("read_output", { run: more[2], from: Number(more[1]) }));
    }
    assert.equal(all + text, wanted);
    await c.ends();
  });
  test("twenty at once", async () => {
    const c = wire(good());
    await c.begins();
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => c.code(`goodAdd({ a: ${i}, b: 1 })`)));
    assert.deepEqual(all.map((a) => a.text), Array.from({ length: 20 }, (_, i) => String(i + 1)));
    await c.ends();
  });
  test("rules hold, and secrets stay", async () => {
    const c = wire(servers({ good: { ...fake(), env: { TOKEN: "sk-verysecretvalue-123" } } }, { ...bare, tools: { policy: [{ match: "good.add", action: "deny", reason: "no sums" }] } }));
    await c.begins();
    assert.match((await c.code("goodAdd({ a: 1, b: 2 })")).text, /no sums/);
    assert.doesNotMatch((await c.code("'sk-very' + 'secretvalue-123'")).text, /verysecretvalue/);
    await c.ends();
  });
});

describe("a run that is not done", { concurrency: 3 }, () => {
  /** A store of its own; a call of "pay" is asked about. */
  function world(waitMs) {
    const effects = recording(), env = { XDG_STATE_HOME: folder() };
    const tools = [{ tool: { name: "pay", inputSchema: { type: "object" } } }, { tool: { name: "slow", inputSchema: { type: "object" } }, delayMs: 1500 }];
    const args = servers({ cash: scripted(tools, effects.option) }, { ...bare, mcp: { waitMs }, tools: { policy: [{ match: "cash.pay", action: "ask" }] } });
    return { connect: () => wire(args, { env }), paid: () => effects.of("tools/call").filter((m) => m.params.name === "pay").length, lathe: (...words) => run([...words, ...args], { env }), approve: async (id) => {
      const one = start(["approve", ...id, ...args], { env, terminal: true });
      await until(() => /\[y\/N|\(y\/n|y\/N|ne\[v\]er|approve/i.test(one.text()), one.text());
      one.type("y\n");
      return one.ended;
    } };
  }
  const WAITS = /^Run ([0-9a-f]{32}) is not done: \d of \d calls done\.\nwaiting for approval of cash\.pay \{"n":1\}: a person decides with `lathe approve ([0-9a-f]+) ([\w.-]+)`/;

  test("one that takes long goes on, and continue_run gets its answer", async () => {
    const w = world(300), c = w.connect();
    await c.begins();
    const first = await c.code("cashSlow({ a: 1 }); 'done at last'");
    const [, id] = /^Run ([0-9a-f]{32}) is not done: 0 of [01] calls done\./.exec(first.text);
    let answer = first;
    while (/is not done/.test(answer.text)) answer = await c.call("continue_run", { run: id });
    assert.deepEqual(answer, { text: "done at last", isError: false });
    assert.deepEqual(await c.call("continue_run", { run: id }), { text: "done at last", isError: false });
    await c.ends();
  });
  test("one that waits for approval, after kill -9, in another gateway: approved, and paid once", async () => {
    const w = world(500), one = w.connect();
    await one.begins();
    const { text, isError } = await one.says("const r = cashPay({ n: 1 }); `paid ${r.n}`", WAITS);
    assert.match(text, WAITS);
    assert.equal(isError, false);
    const [, id, , call] = WAITS.exec(text);
    await one.kill();
    const two = w.connect();
    await two.begins();
    await two.continues(id, WAITS);
    assert.equal(w.paid(), 0);
    const end = await w.approve([id, call]);
    assert.equal(end.code, 0, end.stdout + end.stderr);
    let answer = { text: "is not done" };
    while (/is not done/.test(answer.text)) answer = await two.call("continue_run", { run: id });
    assert.deepEqual(answer, { text: "paid 1", isError: false });
    assert.equal(w.paid(), 1);
    await two.ends();
  });
  test("one that is rejected fails by name", async () => {
    const w = world(500), c = w.connect();
    await c.begins();
    const [, id, , call] = WAITS.exec((await c.says("cashPay({ n: 1 })", WAITS)).text);
    const end = await w.lathe("reject", id, call, "--reason", "not today");
    assert.equal(end.code, 0, end.stderr);
    let answer = { text: "is not done" };
    while (/is not done/.test(answer.text)) answer = await c.call("continue_run", { run: id });
    assert.match(answer.text, /was not approved: not today/);
    assert.equal(w.paid(), 0);
    await c.ends();
  });
  test("a prompt of a conversation is no run, nor is the beginning of an id", async () => {
    const state = { XDG_STATE_HOME: folder() }, model = await scriptedModel(["the answer is private"]);
    const talk = await run(["chat", "hello"], { env: { ...model.env, ...state } });
    assert.equal(talk.stdout, "the answer is private\n", talk.stderr);
    const shown = JSON.parse((await run(["conversations", "show", "last", "--json"], { env: state })).stdout)[0];
    const c = wire(good(), { env: state });
    await c.begins();
    for (const id of [shown.id, shown.conversationId, shown.id.slice(0, 8), shown.id.slice(0, 1)]) {
      for (const tool of ["continue_run", "read_output"]) {
        const { text, isError } = await c.call(tool, { run: id });
        assert.equal(isError, true, text);
        assert.doesNotMatch(text, /private/);
      }
    }
    await c.ends();
  });
  test("no such run", async () => {
    const c = world(100).connect();
    await c.begins();
    for (const run of ["ffffffffffffffffffffffffffffffff", "", "last"]) {
      const { isError } = await c.call("continue_run", { run });
      assert.equal(isError, true);
    }
    await c.ends();
  });
});

describe("a client that goes wrong", { concurrency: 3 }, () => {
  test("what is no message, no method, no tool is an error each, and the next request is answered", async () => {
    const c = wire(good());
    c.send("{");
    c.send("[]");
    c.send('"text"');
    c.send("\u0000\u0001");
    c.send(`{"jsonrpc":"2.0","id":77,"method":"tools/list","params":${"[".repeat(5000)}${"]".repeat(5000)}}`);
    await until(() => c.answers().length === 5, c.text());
    assert.deepEqual([...new Set(c.answers().map((a) => a.error.code))].sort(), [-32600, -32700].sort());
    assert.equal((await c.ask("no/such")).error.code, -32601);
    assert.match((await c.ask("tools/call", { name: "good_add", arguments: {} })).error.message, /execute_code/);
    assert.equal((await c.code("1+2")).text, "3");
    c.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    c.send({ method: "notifications/nobody/knows" });
    assert.equal((await c.code("2+2")).text, "4");
    await c.ends();
  });
  test("one that leaves in the middle of a program leaves nothing running", async () => {
    const c = wire(servers({ good: fake() }, { ...bare, mcp: { waitMs: 60_000 } }));
    await c.begins();
    c.send({ id: 9, method: "tools/call", params: { name: "execute_code", arguments: { code: "goodSlow({ ms: 60000 })", timeout: 60000 } } });
    await until(() => c.pids().length > 1, c.text());
    c.child.stdin.end();
    assert.equal((await c.ended).code, 0);
  });
});
