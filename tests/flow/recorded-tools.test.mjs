// The tools that a prompt saw are part of its record: replay and resumption agree with it whatever the servers do by then.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { describe, fake, folder, run, scripted, start, test, until } from "./harness.mjs";
import { recorded, scriptedModel } from "./model.mjs";

const program = (name, code) => ({ calls: [{ name, arguments: { code } }] });
// A name that only a server has which may be down, as a plain name, by its id, and uncaught.
const CODE = "let n = 0;\ntry { cashLook({ n: 1 }) } catch (e) { output(e.message); n++ }\ntry { tools['cash.look']({ n: 2 }) } catch (e) { output(e.message); n++ }\ntry { tools['cash.gone']({}) } catch (e) { output(e.message); n++ }\noutput('caught ' + n + ' of ' + discoverTools().length);";
const TYPED = "try { console.log(JSON.stringify(await look({ n: 1 }))) } catch (e) { console.log(e.message) }\ntry { console.log(JSON.stringify(await tools['cash.look']({ n: 2 }))) } catch (e) { console.log(e.message) }";
const PYTHON = "for one in ('cash.look', 'cash.gone', 'other.look'):\n  try: print(call_tool(one, {'n': 1}))\n  except ToolError as e: print(e)\ntry: print(cash_look(n=3))\nexcept Exception as e: print(type(e).__name__, e)\nset_result(1)";
const WAITS = "cashLook({ n: 1 });\ntry { cashPay({ n: 1 }) } catch (e) { output(e.message) }\noutput('listed ' + discoverTools().length);\ntry { output(JSON.stringify(tools['cash.look']({ n: 2 }))) } catch (e) { output(e.message) }\ndone()";
const turns = [
  { user: "classic", replies: [{ calls: ["cash_look", "cash_gone", "other_look"].map((name) => ({ name, arguments: { n: 1 } })) }, "It is seen."] },
  { user: "code", replies: [CODE, "cashLook({ n: 4 })", "output('end'); done()"] },
  { user: "typescript", replies: [program("execute_typescript", TYPED), "It was typed."] },
  { user: "python", replies: [program("execute_code", PYTHON), "Python has run."] },
  { user: "run", replies: [program("interpreter_run-code", CODE.replaceAll("output(", "log(")), "It has run."] },
  { user: "crash", replies: [{ calls: [{ name: "cash_echo", arguments: { text: "a" } }] }, { calls: [{ name: "cash_crash", arguments: {} }] }, { calls: [{ name: "cash_echo", arguments: { text: "b" } }] }, "It is over."] },
  { user: "crash code", replies: ["cashEcho({ text: 'a' }); try { cashCrash({}) } catch (e) { output(e.message) }", "try { cashEcho({ text: 'b' }) } catch (e) { output(e.message) }\ndone()"] },
  { user: "grow", replies: [{ calls: [{ name: "cash_grow", arguments: { n: 2 } }] }, { calls: [{ name: "cash_extra-0", arguments: { n: 1 } }] }, { calls: [{ name: "cash_extra-9", arguments: { n: 1 } }] }, "It has grown."] },
  { user: "grow code", replies: ["cashGrow({ n: 2 }); try { output(typeof cashExtra0) } catch (e) { output(e.message) }", "try { output(JSON.stringify(cashExtra0({}))) } catch (e) { output(e.message) }\nstore('n', discoverTools().length); output('n ' + recall('n')); done()"] },
  { user: "waits", replies: [WAITS] },
  { user: "waits classic", replies: [{ calls: [{ name: "cash_pay", arguments: { n: 1 } }] }, { calls: [{ name: "cash_look", arguments: { n: 5 } }] }, "It is over."] },
  { user: "waits typed", replies: [program("execute_typescript", "const a = await look({ n: 1 });\nconst b = await pay({ n: 2 });\nconst c = await look({ n: 3 });\nconsole.log(JSON.stringify([a, b, c]));"), "It was typed."] },
  { user: "waits python", replies: [program("execute_code", "a = cash_look(n=1)\ntry: cash_pay(n=2)\nexcept ToolError as e: print(e)\ntry: cash_look(n=3)\nexcept ToolError as e: print(e)\nset_result(a['n'])"), "Python has run."] },
  { user: "again", replies: ["Again it is."] },
];

let env;
before(async () => {
  env = await recorded(turns);
});

const tool = (name, rest = {}) => ({ tool: { name, inputSchema: { type: "object", properties: { n: { type: "number" } } }, ...rest } });
const down = fake("--exit=1");
const up = (...more) => scripted([tool("look"), tool("pay"), ...more]);
const usual = fake();

/** One store and one configuration file, in which the server "cash" is what it was set to last. */
function world(rest = {}, model = env) {
  const state = folder(), file = join(folder(), "lathe.yaml");
  const options = { env: { ...model, XDG_STATE_HOME: state } };
  const args = ["--config", file];
  return {
    set: (cash) => writeFileSync(file, JSON.stringify({ ...rest, mcpServers: { cash } })),
    chat: (...more) => run(["chat", ...more, ...args], options),
    begin: (...more) => start(["chat", ...more, ...args], { ...options, terminal: true }),
    replay: () => run(["replay", "last", ...args], options),
  };
}

async function same(w) {
  const end = await w.replay();
  assert.deepEqual([end.code, end.stderr], [0, ""]);
  assert.match(end.stdout, /: the same again: /);
}

describe("replayed", { concurrency: 2 }, () => {
  for (const mode of ["classic", "code", "typescript", "python", "run"]) {
    for (const [then, now] of [["down", "up"], ["up", "down"], ["down", "down"]]) {
      test(`${mode}: recorded with a server ${then}, replayed with it ${now}`, async () => {
        const w = world(mode === "python" ? { python: {} } : {});
        w.set(then === "up" ? up() : down);
        const end = await w.chat("-m", ["python", "run"].includes(mode) ? "classic" : mode, mode);
        assert.equal(end.code, 0, end.stderr);
        w.set(now === "up" ? up() : down);
        await same(w);
      });
    }
  }
  for (const [mode, message] of [["classic", "crash"], ["code", "crash code"], ["classic", "grow"], ["code", "grow code"]]) {
    test(`${mode}: ${message} in the middle`, async () => {
      const w = world();
      w.set(usual);
      const end = await w.chat("-m", mode, message);
      assert.equal(end.code, 0, end.stderr);
      await same(w);
      w.set(down);
      await same(w);
    });
  }
});

/** Waits for approval with one list of tools, is killed, and goes on with another. */
async function waiting(then, now, mode, message, model = env) {
  const w = world({ python: {}, tools: { policy: [{ match: "cash.pay", action: "ask" }] } }, model);
  w.set(then);
  const one = w.begin("-m", mode, message);
  await until(() => one.text().includes("ne[v]er: "), `it is asked\n${one.text()}`);
  await one.kill();
  w.set(now);
  const end = await w.chat("-c", "last", "-m", "classic", "-y", "again");
  assert.equal(end.code, 0, end.stderr);
  assert.ok(end.stdout.endsWith("Again it is.\n"), end.stdout);
  return end;
}

describe("gone on with", { concurrency: 2 }, () => {
  test("code: a server that has more tools now: the program sees those it saw", async () => {
    const all = await waiting(up(), up(tool("zoo"), tool("aaa")), "code", "waits");
    const two = await waiting(up(), up(), "code", "waits");
    assert.equal(all.stdout, two.stdout);
  });
  test("code: a server that is down now: what is on record is answered, what is not fails with its reason", async () => {
    const end = await waiting(up(), down, "code", "waits");
    assert.match(end.stdout, /API_TOKEN is wrong[^]*listed \d+\n[^]*API_TOKEN is wrong/);
    assert.doesNotMatch(end.stdout + end.stderr, /diverged|not defined|not found/);
  });
  test("code: a tool that is gone from the list is named, and cannot be called", async () => {
    const end = await waiting(up(), scripted([tool("pay")]), "code", "waits");
    assert.match(end.stdout, /Tool "cash\.look" is not there any more: the prompt began when it was/);
  });
  test("code: a server that is not configured any more", async () => {
    const w = await waiting(up(), { ...down, disabled: true }, "code", "waits");
    assert.match(w.stdout, /Tool "cash\.pay" is not there any more/);
  });
  test("a schema that has changed counts for a call that is not made yet, and for no other", async () => {
    const strict = { inputSchema: { type: "object", properties: { n: { type: "string" } }, required: ["n"] } };
    const end = await waiting(up(), scripted([tool("look", strict), tool("pay")]), "code", "waits");
    assert.match(end.stdout, /input\.n: expected string/);
    assert.doesNotMatch(end.stderr, /diverged/);
  });
  test("classic: the round on record has the tools of then, the next one those of now", async () => {
    const model = await scriptedModel([{ calls: [{ name: "cash_pay", arguments: { n: 1 } }] }, { calls: [{ name: "cash_look-at", arguments: { n: 5 } }] }, "It is over.", "Again it is."]);
    await waiting(up(tool("gone")), up(tool("look-at")), "classic", "go", model.env);
    const offered = model.asked().map((body) => body.tools.map((one) => one.function.name).filter((name) => /^cash_/.test(name)).sort().join());
    assert.equal(offered[0], "cash_gone,cash_look,cash_pay");
    assert.equal(offered[1], "cash_look,cash_look-at,cash_pay");
    assert.match(JSON.stringify(model.asked()[2].messages.at(-1)), /"n\\*":5/);
  });
  test("typescript and Python: other tools meanwhile, a server that is down, and one that is not configured", async () => {
    for (const [mode, message] of [["typescript", "waits typed"], ["classic", "waits python"]]) {
      for (const now of [up(tool("aaa"), tool("zoo")), down, { ...down, disabled: true }]) {
        const end = await waiting(up(), now, mode, message);
        assert.doesNotMatch(end.stderr, /diverged|not defined|NameError/);
        assert.match(end.stdout, mode === "typescript" ? /^It was typed\.\n/ : /^Python has run\.\n/);
      }
    }
  });
});
