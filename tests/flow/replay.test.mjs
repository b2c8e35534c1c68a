// Recorded prompts once more: lathe replay, without the model and the servers they had.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { config, describe, folder, run, scripted, servers, start, test, until } from "./harness.mjs";
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
const turns = [
  { user: "classic", replies: [{ text: "I look.", calls: [{ name: "cash_look", arguments: { n: 1 } }, { name: "cash_pay", arguments: { n: 2 } }] }, { calls: [{ name: "cash_fail", arguments: {} }] }, { calls: [{ name: "cash_gone", arguments: { n: 1 } }] }, "It is seen."] },
  { user: "run", replies: [{ calls: [{ name: "interpreter_run-code", arguments: { code: "log(cashLook({ n: 4 }).n); cashPay({ n: 5 }).n" } }] }, "It has run."] },
  { user: "run many", replies: [{ calls: ["log('a'); cashPay({ n: 1 }).n", "try { cashFail({}) } catch (e) { log(e.message) }\nnull.x", "parallel([1, 2, 3, 4].map((n) => ({ tool: 'cash.look', input: { n } }))).length"].map((code) => ({ name: "interpreter_run-code", arguments: { code } })) }, "They have run."] },
  { user: "run big", replies: [{ calls: [{ name: "interpreter_run-code", arguments: { code: "cashBig({})" } }] }, "It was big."] },
  { user: "run slow", replies: [{ calls: [{ name: "interpreter_run-code", arguments: { code: "cashSlow({})", timeout: 300 } }] }, "It was slow."] },
  { user: "code", replies: [CODE, "output('sum ' + recall('sum'));\ncashLook({ n: recall('sum') });\ndone()"] },
  { user: "throws", replies: ["cashLook({ n: 1 });\nnull.x", "1 +", "output('well'); done()"] },
  { user: "asks", replies: ["const said = llm('say it');\noutput(said); done()"] },
  { user: "say it", replies: ["It is said."] },
  { user: "slow", replies: ["output('begun'); cashSlow({}); output('never')"] },
  { user: "typed", replies: [{ calls: [{ name: "execute_typescript", arguments: { code: TYPED } }] }, "It was typed."] },
  { user: "big", replies: [{ calls: [{ name: "cash_big", arguments: {} }] }, "It is big."] },
  { user: "big program", replies: ["const big = cashBig({});\noutput(big.length);\nbig", "done()"] },
  { user: "killed", replies: ["try { cashSlow({}) } catch (e) { output(e.message) }\noutput('then'); cashPay({ n: 1 }).n", "done()"] },
  { user: "more", replies: ["It was more."] },
];

let env;
before(async () => {
  env = await recorded(turns);
});

const gone = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", OPENAI_API_KEY: "", OPENAI_MODEL: "nobody" };
const tool = (name, rest = {}, annotations = undefined) => ({ tool: { name, inputSchema: { type: "object" }, annotations }, ...rest });
const tools = [tool("look", {}, { readOnlyHint: true }), tool("pay"), tool("slow", { delayMs: 20000 }), tool("big", { result: { content: [{ type: "text", text: "big ".repeat(20000) }] } }), tool("fail", { result: { isError: true, content: [{ type: "text", text: "no money" }] } })];

/** A home with a store of its own; its prompts are recorded with servers and a model, and replayed without. */
function world(rest = {}) {
  const state = folder();
  const with_ = servers({ cash: scripted(tools) }, rest);
  const without = ["--config", config(rest)];
  const options = (more) => ({ env: { ...more, XDG_STATE_HOME: state } });
  const file = join(state, "lathe/lathe.db");
  return {
    state,
    chat: async (...args) => {
      const end = await run(["chat", ...args, ...with_], options(env));
      assert.equal(end.code, 0, end.stderr);
      return end;
    },
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
      const end = spawnSync("python3", ["-c", script, file, text], { encoding: "utf8" });
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
    await w.chat("-m", "code", "slow");
    const end = await w.replay("last");
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /: the same again: 1 reply, 0 programs, 1 call, \d+ ms; answered by the record: 1 program\n$/);
  });
  test("answers that are too long and were put aside", async () => {
    const w = world();
    await w.chat("big");
    await w.same({ replies: 2, programs: 0, calls: 1 });
    await w.chat("-m", "code", "big program");
    await w.same({ replies: 2, programs: 2, calls: 1 });
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
    for (const [id, mode] of [[first.slice(0, 9), "code"], [second, "classic"]]) {
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

describe("another record is found out", () => {
  const change = (name, mode, sql, pattern) => test(name, async () => {
    const w = world();
    await w.chat("-m", mode === "run" ? "classic" : mode, mode === "typescript" ? "typed" : mode);
    w.sql(sql);
    await w.differs(pattern);
  });
  change("a tool's answer that a program goes on with", "code", "UPDATE calls SET answer = '{\"n\":100}' WHERE answer = '{\"n\":1}'",
    /went another way: (program call-0: it ended otherwise|the content of the output "call-0\.text-1" is "seen 100,2,3", and on record it is "seen 1,2,3")/);
  change("a call", "code", "UPDATE calls SET hash = hash + 1 WHERE tool = 'cash.pay'", /went another way: .*call \d+ is cash\.pay \{"n":7,.*\}, and on record it is cash\.pay \{"n":7,.* \(round 1\)\n$/);
  change("a call that was not made", "code", "UPDATE calls SET seq = 90 WHERE tool = 'cash.pay'", /went another way: /);
  change("a call that is gone", "code", "DELETE FROM calls WHERE tool = 'cash.pay'", /went another way: .*the record ends here: call \d+ of call-0, cash\.pay \{"n":7/);
  change("the program", "code", "UPDATE notes SET text = replace(text, 'seen ', 'sein ') WHERE text LIKE '%parallel%' AND kind = 2", /went another way: (the input of the output "call-0" is|.*another program is on record)/);
  change("a reply that was said", "classic", "UPDATE notes SET text = replace(text, 'It is seen', 'It was seen') WHERE kind = 2", /went another way: the content of the output "text-\d+" is "It was seen\.", and on record it is "It is seen\."/);
  change("a reply that is gone", "classic", "DELETE FROM notes WHERE kind = 2 AND text LIKE '%It is seen%'", /went another way: the record ends here: the model is asked once more/);
  change("an output", "classic", "UPDATE prompt_outputs SET json = replace(json, 'I look', 'I see') WHERE json LIKE '%I look%'", /went another way: the content of the output "text-0" is "I look\.", and on record it is "I see\."/);
  change("what a program came to", "typescript", "UPDATE notes SET text = replace(text, 'second', 'third') WHERE text LIKE '{\"status\"%'", /went another way: program call_1_0: it ended otherwise: .*second.*, and on record it is .*third/);
  change("a call of a program that a tool runs", "run", "UPDATE calls SET hash = hash + 1 WHERE tool = 'cash.pay'", /went another way: .*call \d+ is cash\.pay \{"n":5\}, and on record it is cash\.pay \{"n":5/);
  change("an answer within such a program", "run", "UPDATE calls SET answer = '{\"n\":100}' WHERE tool = 'cash.look'", /went another way: program call_1_0\/1\/1: it ended otherwise: .*100/);
  change("what such a program came to", "run", "UPDATE notes SET text = replace(text, '\"5\"', '\"6\"') WHERE text LIKE '{\"status\"%'", /went another way: program call_1_0\/1\/1: it ended otherwise/);
  change("what its tool made of that", "run", "UPDATE calls SET answer = replace(answer, '5', '6') WHERE tool LIKE 'interpreter%'", /went another way: call call_1_0: its answer is another: .*5.*, and on record it is .*6/);
  change("the clock", "typescript", "UPDATE notes SET what = what + 2 WHERE text GLOB '???????????????? ????????????????'", /went another way: /);
  change("the engine", "code", "UPDATE notes SET text = 'f' || substr(text, 2) WHERE text GLOB '???????????????? ????????????????'", /went another way: .*another version of the engine|another program/);
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
  test("another Lathe's", async () => {
    const w = world();
    await w.chat("more");
    w.sql(`UPDATE notes SET text = '{"lathe":"0.0.1"}' WHERE kind = 1`);
    await w.differs(/was begun with Lathe 0\.0\.1/);
  });
});
