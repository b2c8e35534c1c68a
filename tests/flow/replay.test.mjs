// Recorded prompts once more: lathe replay, without the model and the servers they had.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { config, describe, folder, noWalls, root, run, scripted, servers, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";

const CODE = `const seen = parallel([1, 2, 3].map((n) => ({ tool: 'cash.look', input: { n } })));
output('seen ' + seen.map((one) => one.n).join());
store('sum', seen.reduce((sum, one) => sum + one.n, 0));
try { cashFail({}) } catch (e) { output(e.message) }
const t = Date.now(); while (Date.now() < t + 15);
setTimeout(() => output('late'), 5);
log(Math.random() < 2, new Date().getTime() > 0, 'logged');
cashPay({ n: 7, at: Date.now(), by: Math.random() }).n`;
const TYPED = "const a = await pay({ n: 1 }); console.log(`first ${JSON.stringify(a)} ${Math.random()}`);\nconst b = await look({ n: 2 }); console.log('second ' + b.success);";
const PYTHON = `print('logged')
first = cash_look(n=1)
seen = call_tools_parallel([('cash_look', {'n': n}) for n in (2, 3, 2)])
try: cash_fail()
except ToolError as e: print(e)
try: call_tool('cash.nothing', {})
except ToolError as e: print('unknown')
set_result([first['n'], [one['n'] for one in seen], cash_pay(n=7)['n']])`;
const DENO = "store('n', 4); const [a, b] = await Promise.all([look({ n: 1 }), look({ n: 2 })]); console.log(JSON.stringify([a, b]));\nconst said = await llm('say it'); console.log(said);\nconst f = await fail({}); console.log(f.success);";
const turns = [
  { user: "classic", replies: [{ text: "I look.", calls: [{ name: "cash_look", arguments: { n: 1 } }, { name: "cash_pay", arguments: { n: 2 } }] }, { calls: [{ name: "cash_fail", arguments: {} }] }, { calls: [{ name: "cash_gone", arguments: { n: 1 } }] }, "It is seen."] },
  { user: "run", replies: [{ calls: [{ name: "interpreter_run-code", arguments: { code: "log(cashLook({ n: 4 }).n); cashPay({ n: 5 }).n" } }] }, "It has run."] },
  { user: "run many", replies: [{ calls: ["log('a'); cashPay({ n: 1 }).n", "try { cashFail({}) } catch (e) { log(e.message) }\nnull.x", "parallel([1, 2, 3, 4].map((n) => ({ tool: 'cash.look', input: { n } }))).length"].map((code) => ({ name: "interpreter_run-code", arguments: { code } })) }, "They have run."] },
  { user: "run big", replies: [{ calls: [{ name: "interpreter_run-code", arguments: { code: "cashBig({})" } }] }, "It was big."] },
  { user: "run slow", replies: [{ calls: [{ name: "interpreter_run-code", arguments: { code: "cashSlow({})", timeout: 300 } }] }, "It was slow."] },
  { user: "python", replies: [{ calls: [{ name: "execute_code", arguments: { code: PYTHON } }] }, { calls: [{ name: "execute_code", arguments: { code: "cash_look(n=3)\nraise ValueError('no')" } }] }, "Python has run."] },
  { user: "pays", replies: [{ calls: [{ name: "execute_code", arguments: { code: "r = []\nfor n in (1, 2):\n  try: r.append(cash_pay(n=n)['n'])\n  except ToolError as e: r.append(str(e))\nset_result(r)" } }] }, "It has paid."] },
  { user: "folder", replies: [{ calls: [{ name: "execute_code", arguments: { code: "import os\nopen('seen', 'a').write('x')\nset_result(open('seen').read())" } }] }, "It is written."] },
  { user: "chance", replies: [{ calls: [{ name: "execute_code", arguments: { code: "import random\nset_result(random.random())" } }] }, "By chance."] },
  { user: "wild", replies: [{ calls: [{ name: "execute_code", arguments: { code: "import random\nset_result(cash_pay(n=random.randrange(1000000)) and 1)" } }] }, "It was wild."] },
  { user: "depends", replies: [{ calls: [{ name: "execute_code", arguments: { code: "if cash_look(n=1)['n'] < 50: cash_pay(n=1)" } }] }, "It depends."] },
  { user: "python slow", replies: [{ calls: [{ name: "execute_code", arguments: { code: "print('begun')\ncash_slow()", timeout: 400 } }] }, "It was slow."] },
  { user: "python killed", replies: [{ calls: [{ name: "execute_code", arguments: { code: "print('a')\ntry: cash_slow()\nexcept ToolError as e: print(e)\nset_result(cash_pay(n=1)['n'])" } }] }, "It has gone on."] },
  { user: "deno", replies: [{ calls: [{ name: "execute_typescript", arguments: { code: TYPED.replaceAll("${Math.random()}", "") } }] }, { calls: [{ name: "execute_typescript", arguments: { code: DENO } }] }, "Deno has run."] },
  { user: "code", replies: [CODE, "output('sum ' + recall('sum'));\ncashLook({ n: recall('sum') });\ndone()"] },
  { user: "throws", replies: ["cashLook({ n: 1 });\nnull.x", "1 +", "output('well'); done()"] },
  { user: "asks", replies: ["const said = llm('say it');\noutput(said); done()"] },
  { user: "random", replies: ["output(crypto.randomUUID());\ncashPay({ n: 1, id: crypto.randomUUID(), bytes: [...crypto.getRandomValues(new Uint8Array(4))] }).n; done()"] },
  { user: "say it", replies: ["It is said."] },
  { user: "slow", replies: ["output('begun'); cashSlow({}); output('never')"] },
  { user: "typed", replies: [{ calls: [{ name: "execute_typescript", arguments: { code: TYPED } }] }, "It was typed."] },
  { user: "big", replies: [{ calls: [{ name: "cash_big", arguments: {} }] }, "It is big."] },
  { user: "big program", replies: ["const big = cashBig({});\noutput(big.length);\nbig", "done()"] },
  { user: "big input", replies: ["const text = 'x'.repeat(300000);\ncashPay({ n: 1, text });\ncashPay({ n: 2, text }); done()"] },
  { user: "killed", replies: ["try { cashSlow({}) } catch (e) { output(e.message) }\noutput('then'); cashPay({ n: 1 }).n", "done()"] },
  { user: "more", replies: ["It was more."] },
];

const bin = [join(root, "tests/node_modules/.bin"), join(root, "node_modules/.bin")].find((path) => existsSync(join(path, "deno")));
const noDeno = bin === undefined && "no deno from npm";
const PATH = `${process.env.PATH}:${bin}`;

let env;
before(async () => {
  env = { ...(await recorded(turns)), PATH };
});

const gone = { PATH, OPENAI_BASE_URL: "http://127.0.0.1:9/v1", OPENAI_API_KEY: "", OPENAI_MODEL: "nobody" };
const tool = (name, rest = {}, annotations = undefined) => ({ tool: { name, inputSchema: { type: "object" }, annotations }, ...rest });
const tools = [tool("look", {}, { readOnlyHint: true }), tool("pay"), tool("slow", { delayMs: 20000 }), tool("big", { result: { content: [{ type: "text", text: "big ".repeat(20000) }] } }), tool("fail", { result: { isError: true, content: [{ type: "text", text: "no money" }] } })];

/** A home with a store of its own; its prompts are recorded with servers and a model, and replayed without. */
function world(rest = {}) {
  const state = folder();
  const with_ = servers({ cash: scripted(tools) }, rest);
  const without = ["--config", config(rest)];
  const options = (more) => ({ env: { ...more, XDG_STATE_HOME: state } });
  const file = join(state, "lathe/lathe.db");
  const chatTo = async (code, ...args) => {
    const end = await run(["chat", ...args, ...with_], options(env));
    assert.equal(end.code, code, end.stderr);
    return end;
  };
  return {
    state,
    chatTo,
    chat: (...args) => chatTo(0, ...args),
    start: (...args) => start(["chat", ...args, ...with_], options(env)),
    replay: (...args) => run(["replay", ...args, ...without], options(gone)),
    async same(counts) {
      const end = await run(["replay", "last", "--json", ...without], options(gone));
      assert.deepEqual([end.code, end.stderr], [0, ""], end.stdout);
      const { replies, programs, calls, same } = JSON.parse(end.stdout);
      assert.deepEqual({ replies, programs, calls, same }, { ...counts, same: true });
    },
    async differs(pattern) {
      const end = await run(["replay", "last", ...without], options(gone));
      assert.deepEqual([end.code, end.stdout], [1, ""], end.stderr);
      assert.match(end.stderr, pattern);
    },
    /** Rows of the store, or a change of them. */
    sql(text) {
      const script = "import json, sqlite3, sys\nc = sqlite3.connect(sys.argv[1]); print(json.dumps(c.execute(sys.argv[2]).fetchall())); c.commit()";
      const end = spawnSync("python3", ["-S", "-c", script, file, text], { encoding: "utf8" });
      assert.equal(end.status, 0, end.stderr);
      return JSON.parse(end.stdout);
    },
    begun(name) {
      return existsSync(file) && this.sql("SELECT count(*) FROM sqlite_schema WHERE name = 'calls'")[0][0] && this.sql(`SELECT count(*) FROM calls WHERE tool = '${name}'`)[0][0];
    },
    bytes: () => readFileSync(file),
  };
}

describe("comes to the same", () => {
  test("classic: calls, failures, a tool that is not there", async () => {
    const w = world();
    await w.chat("classic");
    await w.same({ replies: 4, programs: 0, calls: 3 });
  });
  test("classic: programs that interpreter.run-code runs", async () => {
    const w = world();
    await w.chat("run");
    await w.same({ replies: 2, programs: 1, calls: 3 });
    await w.chat("run many"); // side by side, one that fails, one with calls at once
    await w.same({ replies: 2, programs: 3, calls: 9 });
    await w.chat("run big"); // its value is put aside
    await w.same({ replies: 2, programs: 1, calls: 2 });
  });
  test("classic: a program of run-code whose calls were refused, or whose time was up", async () => {
    const w = world({ tools: { policy: [{ match: "cash.pay", action: "ask" }] } });
    await w.chat("run"); // nobody is there to be asked
    await w.same({ replies: 2, programs: 1, calls: 2 });
    await w.chat("-y", "run");
    await w.same({ replies: 2, programs: 1, calls: 3 });
    await w.chat("run slow");
    const end = await w.replay("last");
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /: the same again: 2 replies, 0 programs, 2 calls, \d+ ms; answered by the record: 1 program/);
  });
  test("code: programs run again, by the same clock and the same chance", async () => {
    const w = world();
    await w.chat("-m", "code", "code");
    await w.same({ replies: 2, programs: 2, calls: 6 });
  });
  test("code: random bytes of the web's globals, which a tool was given", async () => {
    const w = world();
    await w.chat("-m", "code", "random");
    await w.same({ replies: 1, programs: 1, calls: 1 });
  });
  test("code: programs that fail", async () => {
    const w = world();
    await w.chat("-m", "code", "throws");
    await w.same({ replies: 3, programs: 3, calls: 1 });
  });
  test("code: what a program asked of the model", async () => {
    const w = world();
    await w.chat("-m", "code", "asks");
    await w.same({ replies: 2, programs: 1, calls: 1 });
  });
  test("code: a program whose time was up is not run again", async () => {
    const w = world({ sandbox: { timeoutMs: 300 }, defaults: { maxRounds: { code: 1 } } });
    await w.chatTo(1, "-m", "code", "slow"); // its rounds are used up: there is no answer
    const end = await w.replay("last");
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /: the same again: 1 reply, 0 programs, 1 call, \d+ ms; answered by the record: 1 program \(its time or its memory was used up\)\n$/);
  });
  test("answers that are too long and were put aside", async () => {
    const w = world();
    await w.chat("big");
    await w.same({ replies: 2, programs: 0, calls: 1 });
    await w.chat("-m", "code", "big program");
    await w.same({ replies: 2, programs: 2, calls: 1 });
    await w.chat("-m", "code", "big input");
    await w.same({ replies: 1, programs: 1, calls: 2 });
  });
  test("a prompt that was killed in a call and gone on with", async () => {
    const w = world();
    const chat = w.start("-m", "code", "killed");
    await until(() => w.begun("cash.slow"), "the call is under way");
    chat.child.kill("SIGKILL");
    await chat.ended;
    await w.chat("-c", "last", "-m", "classic", "more");
    const [[id]] = w.sql("SELECT id FROM prompts ORDER BY number");
    const end = await w.replay(id);
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /: the same again: 2 replies, 2 programs, 2 calls, /);
  });
  test("typescript", async () => {
    const w = world();
    await w.chat("-m", "typescript", "typed");
    await w.same({ replies: 2, programs: 1, calls: 2 });
  });
  test("in the middle of a conversation, by the beginning of its id", async () => {
    const w = world();
    await w.chat("-m", "code", "throws");
    await w.chat("-c", "last", "-m", "classic", "more");
    await w.chat("-c", "last", "-m", "code", "code");
    const [[first], [second]] = w.sql("SELECT id FROM prompts ORDER BY number");
    const [[conversation]] = w.sql("SELECT id FROM conversations");
    assert.match((await w.replay(conversation.slice(0, 8))).stdout, /: the same again: 2 replies, 2 programs, 6 calls, /);
    for (const [id, mode] of [[first.slice(0, 24), "code"], [second, "classic"]]) {
      const end = await w.replay(id);
      assert.equal(end.code, 0, end.stderr);
      assert.ok(end.stdout.startsWith(`prompt ${id === second ? second : first} (${mode}): the same again: `), end.stdout);
    }
  });
  test("approved and rejected calls, without anybody being asked", async () => {
    const w = world({ tools: { policy: [{ match: "cash.pay", action: "ask" }] } });
    await w.chat("-y", "-m", "code", "code");
    await w.same({ replies: 2, programs: 2, calls: 6 });
    await w.chat("-m", "typescript", "typed"); // nobody is there to be asked: rejected
    await w.same({ replies: 2, programs: 1, calls: 1 });
    await w.chat("classic");
    await w.same({ replies: 4, programs: 0, calls: 2 });
  });
  test("Python: calls in any order, failures, a tool that is not there", async () => {
    const w = world({ python: {} });
    await w.chat("python");
    await w.same({ replies: 3, programs: 2, calls: 9 });
  });
  test("Python: refused calls, and one whose time was up", async () => {
    const w = world({ python: {}, tools: { policy: [{ match: "cash.pay", action: "ask" }] } });
    await w.chat("pays");
    await w.same({ replies: 2, programs: 1, calls: 1 });
    await w.chat("-y", "pays");
    await w.same({ replies: 2, programs: 1, calls: 3 });
    await w.chat("python slow");
    const end = await w.replay("last");
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /; answered by the record: 1 program \(its time or its memory was used up\)\n$/);
  });
  test("Python: a program that was killed in a call and gone on with", { skip: noWalls() }, async () => {
    const w = world({ python: {} });
    const chat = w.start("python killed");
    await until(() => w.begun("cash.slow"), "the call is under way");
    chat.child.kill("SIGKILL");
    await chat.ended;
    await w.chat("-c", "last", "-m", "classic", "more");
    const [[id]] = w.sql("SELECT id FROM prompts ORDER BY number");
    const end = await w.replay(id);
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /: the same again: 2 replies, 1 program, 3 calls, /);
  });
  test("Python: a folder of the program's own; the user's is left alone", async () => {
    const own = world({ python: {} });
    await own.chat("folder");
    await own.same({ replies: 2, programs: 1, calls: 1 });
    const workspace = folder();
    chmodSync(workspace, 0o777);
    const shared = world({ python: { workspace } });
    await shared.chat("folder");
    const end = await shared.replay("last");
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /; answered by the record: 1 program \(it worked in python\.workspace\)\n$/);
    assert.equal(readFileSync(join(workspace, "seen"), "utf8"), "x");
  });
  test("Python that is not there any more: the record answers, and says so", async () => {
    const w = world({ python: {} });
    await w.chat("python");
    const rest = ["--config", config({ python: { path: "/nowhere/python3" } })];
    const end = await run(["replay", "last", ...rest], { env: { ...gone, XDG_STATE_HOME: w.state } });
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    assert.match(end.stdout, /: the same again: 3 replies, 0 programs, \d+ calls, \d+ ms; answered by the record: 2 programs \(Python programs need Python 3\.9 or newer, and "\/nowhere\/python3" cannot be started: [^;]*\)\n$/);
    const json = JSON.parse((await run(["replay", "last", "--json", ...rest], { env: { ...gone, XDG_STATE_HOME: w.state } })).stdout);
    assert.deepEqual([json.same, json.programs, json.skippedPrograms], [true, 0, 2]);
    assert.match(json.skippedBecause, /cannot be started/);
  });
  test("Python that is not configured any more: likewise", async () => {
    const w = world({ python: {} });
    await w.chat("python");
    const end = await run(["replay", "last", "--config", config({})], { env: { ...gone, XDG_STATE_HOME: w.state } });
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    assert.match(end.stdout, /; answered by the record: 2 programs \(the tool execute_code is not configured any more\)\n$/);
  });
  test("Deno: calls, what was asked of the model, what was stored", { skip: noDeno }, async () => {
    const w = world({ typescript: { runner: "deno", check: false } });
    await w.chat("-m", "typescript", "deno");
    await w.same({ replies: 4, programs: 2, calls: 6 });
  });
  test("Deno that is not there any more: the record answers, and says so", { skip: noDeno }, async () => {
    const w = world({ typescript: { runner: "deno", check: false } });
    await w.chat("-m", "typescript", "deno");
    const rest = ["--config", config({ typescript: { runner: "deno", check: false }, deno: { path: "/nowhere/deno" } })];
    const end = await run(["replay", "last", ...rest], { env: { ...gone, XDG_STATE_HOME: w.state } });
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    assert.match(end.stdout, /; answered by the record: 2 programs \(Deno was not found \(\/nowhere\/deno\): [^;]*\)\n$/);
  });
  test("cancelled: as far as it came", async () => {
    const w = world();
    const chat = w.start("-m", "code", "slow");
    await until(() => /begun/.test(chat.text()), "the program has begun");
    chat.child.kill("SIGINT");
    await chat.ended;
    const end = await w.replay("last");
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /the same again, as far as it came \(cancelled\): /);
  });
  test("nothing is written", async () => {
    const w = world();
    await w.chat("-m", "code", "code");
    w.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    const before = w.bytes();
    await w.same({ replies: 2, programs: 2, calls: 6 });
    w.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    assert.ok(before.equals(w.bytes()));
  });
});

// The fingerprint of the engine that began a program is hexadecimal, so another first digit makes another one.
const OTHER_ENGINE = "UPDATE notes SET text = CASE substr(text, 1, 1) WHEN 'f' THEN '0' ELSE 'f' END || substr(text, 2) WHERE text GLOB '???????????????? ????????????????'";

describe("another record is found out", () => {
  const change = (name, mode, sql, pattern) => test(name, async () => {
    const w = world();
    await w.chat("-m", mode === "run" ? "classic" : mode, mode === "typescript" ? "typed" : mode);
    for (const change of [sql].flat()) w.sql(change);
    await w.differs(pattern);
  });
  change("a tool's answer that a program goes on with", "code", "UPDATE calls SET answer = '{\"n\":100}' WHERE answer = '{\"n\":1}'",
    /diverged from its record: (program call-0: it ended otherwise|the content of the output "call-0\.text-1" is "seen 100,2,3", and on record it is "seen 1,2,3")/);
  change("a call", "code", "UPDATE calls SET hash = hash + 1 WHERE tool = 'cash.pay'", /diverged from its record: .*call \d+ is cash\.pay \{"n":7,.*\}, and on record it is cash\.pay \{"n":7,.* \(round 1\)\n$/);
  change("a call that was not made", "code", "UPDATE calls SET seq = 90 WHERE tool = 'cash.pay'", /diverged from its record: /);
  change("a call that is gone", "code", "DELETE FROM calls WHERE tool = 'cash.pay'", /diverged from its record: .*the record ends here: call \d+ of call-0, cash\.pay \{"n":7/);
  change("the program", "code", "UPDATE notes SET text = replace(text, 'seen ', 'sein ') WHERE text LIKE '%parallel%' AND kind = 2", /diverged from its record: (the input of the output "call-0" is|.*another program is on record)/);
  change("a reply that was said", "classic", "UPDATE notes SET text = replace(text, 'It is seen', 'It was seen') WHERE kind = 2", /diverged from its record: the content of the output "text-\d+" is "It was seen\.", and on record it is "It is seen\."/);
  change("a reply that is gone", "classic", "DELETE FROM notes WHERE kind = 2 AND text LIKE '%It is seen%'", /diverged from its record: the record ends here: the model is asked once more/);
  change("an output", "classic", "UPDATE prompt_outputs SET json = replace(json, 'I look', 'I see') WHERE json LIKE '%I look%'", /diverged from its record: the content of the output "text-0" is "I look\.", and on record it is "I see\."/);
  change("what a program came to", "typescript", "UPDATE notes SET text = replace(text, 'second', 'third') WHERE text LIKE '{\"status\"%'", /diverged from its record: program call_1_0: it ended otherwise: .*second.*, and on record it is .*third/);
  change("a call of a program that a tool runs", "run", "UPDATE calls SET hash = hash + 1 WHERE tool = 'cash.pay'", /diverged from its record: .*call \d+ is cash\.pay \{"n":5\}, and on record it is cash\.pay \{"n":5/);
  change("an answer within such a program", "run", "UPDATE calls SET answer = '{\"n\":100}' WHERE tool = 'cash.look'", /diverged from its record: program call_1_0\/1\/1: it ended otherwise: .*100/);
  change("what such a program came to", "run", "UPDATE notes SET text = replace(text, '\"5\"', '\"6\"') WHERE text LIKE '{\"status\"%'", /diverged from its record: program call_1_0\/1\/1: it ended otherwise/);
  change("what its tool made of that", "run", "UPDATE calls SET answer = replace(answer, '5', '6') WHERE tool LIKE 'interpreter%'", /diverged from its record: call call_1_0: its answer is another: .*5.*, and on record it is .*6/);
  const python = (name, message, sql, pattern) => test(`Python: ${name}`, async () => {
    const w = world({ python: {} });
    await w.chat(message);
    for (const change of [sql].flat()) w.sql(change);
    await w.differs(pattern);
  });
  python("a call", "python", "UPDATE notes SET time_us = time_us + 1 WHERE kind = 7 AND what = 7", /diverged from its record: .*the record ends here: call 8 of call_1_0\/1\/1, cash\.pay \{"n":7\}, is not on it/);
  python("a call that is not on record", "wild", "SELECT 1", /diverged from its record: .*the record ends here: call 2 of call_1_0\/1\/1, cash\.pay \{"n":\d+\}, is not on it/);
  python("a call that is not made", "depends", ["UPDATE calls SET answer = '{\"n\":100}' WHERE tool = 'cash.look'", "UPDATE prompt_outputs SET json = replace(json, '\"output\":{\"n\":1}', '\"output\":{\"n\":100}') WHERE json LIKE '%cash.look%'"], /diverged from its record: .*it ended without a call that is on record: call 2, cash\.pay \{"n":1\}/);
  python("an answer that it goes on with", "python", "UPDATE calls SET answer = '{\"n\":100}' WHERE answer = '{\"n\":7}'", /diverged from its record: (program call_1_0\/1\/1: it ended otherwise: .*100.*, and on record it is .*7|the result of the output "call_1_0\.1\.1\.7" is "\{"n":100\}", and on record it is "\{"n":7\}")/);
  python("its result", "chance", "SELECT 1", /diverged from its record: program call_1_0\/1\/1: it ended otherwise: .* \(its clock and its random numbers are not on record\)/);
  test("Deno: a call", { skip: noDeno }, async () => {
    const w = world({ typescript: { runner: "deno", check: false } });
    await w.chat("-m", "typescript", "deno");
    w.sql("UPDATE notes SET time_us = time_us + 1 WHERE kind = 7 AND what = 2 AND run LIKE '%call_1_0'");
    await w.differs(/diverged from its record: .*the record ends here: call 3 of call_1_0, cash\.look \{"n":2\}, is not on it/);
  });
  change("the clock", "typescript", "UPDATE notes SET what = what + 2 WHERE text GLOB '???????????????? ????????????????'", /diverged from its record: /);
  change("the engine is named when the calls differ", "code",
    [OTHER_ENGINE, "UPDATE calls SET hash = hash + 1 WHERE tool = 'cash.pay'"],
    /diverged from its record: .*another version of the engine/);
  test("another engine, and another Lathe, alone make no difference", async () => {
    const w = world();
    await w.chat("-m", "code", "code");
    w.sql(OTHER_ENGINE);
    w.sql(`UPDATE notes SET text = json_set(text, '$.lathe', '0.0.1') WHERE text LIKE '{"lathe"%'`);
    const end = await w.replay("last");
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    assert.match(end.stdout, /: the same again: /);
  });
});

describe("cannot be gone through", () => {
  test("what is wrong is said in one line", async () => {
    const w = world();
    const says = async (args, code, pattern) => {
      const end = await w.replay(...args);
      assert.deepEqual([end.code, end.stdout], [code, ""], end.stderr);
      assert.match(end.stderr, pattern);
      assert.equal(end.stderr.trim().split("\n").length, 1, end.stderr);
    };
    await says(["last"], 2, /there is no prompt yet/);
    await w.chat("more");
    await w.chat("more");
    await says(["zz"], 2, /no prompt and no conversation begins with "zz"/);
    await says([], 2, /a prompt is wanted/);
    await says(["--nonsense", "last"], 2, /--nonsense/);
    w.sql("UPDATE prompts SET id = 'abc' || substr(id, 4)");
    await says(["abc"], 2, /several begin with "abc"/);
    w.sql("UPDATE prompts SET state = 'waiting_for_approval', completed_at = NULL WHERE number = 2");
    await says(["last"], 1, /has not ended: lathe chat -c [0-9a-f]{32} goes on with it/);
    w.sql("DELETE FROM notes");
    const [[first]] = w.sql("SELECT id FROM prompts WHERE number = 1");
    await says([first], 2, /nothing is on record of the prompt/);
  });
});
