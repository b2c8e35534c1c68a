// A conversation whose process was killed: what comes of its prompt in the next one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { describe, folder, isChat, patience, recording, run, scripted, servers, sleep, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";

// What the model says. "pay" has an effect and must not be repeated, "look" may be; both take their time.
const PAY = "const a = cashPay({ n: 1 });\noutput('paid ' + a.n);\nconst b = cashPay({ n: 2 });\noutput('paid ' + b.n);\nb.n";
const CAREFUL = "for (const n of [1, 2]) { try { output('paid ' + cashPay({ n }).n + ';') } catch (e) { output(n + ' ' + e.message + ';') } }\ndone()";
const MANY = "const r = parallel([1, 2, 3].map((n) => ({ tool: 'cash.pay', input: { n } })));\noutput(r.map((one) => one.n ?? JSON.stringify(one)).join());\ndone()";
const RUN = (code) => ({ calls: [{ name: "interpreter_run-code", arguments: { code } }] });
const INNER = "const a = cashPay({ n: 1 }); const b = cashPay({ n: 2 }); log('both'); a.n + b.n";
const TYPED = "const a = await pay({ n: 1 }); console.log('first ' + JSON.stringify(a));\nconst b = await pay({ n: 2 }); console.log('second ' + JSON.stringify(b));";
const turns = [
  { user: "again", replies: ["Again it is."] },
  { user: "for ever", replies: [{ text: "too late", waitMs: 60_000 }] },
  { user: "think", replies: [{ text: "I have thought.", waitMs: 700 }] },
  { user: "pay", replies: [{ text: "I pay.", calls: [{ name: "cash_pay", arguments: { n: 1 } }] }, { text: "It is paid.", waitMs: 300 }] },
  { user: "pay twice", replies: [{ calls: [1, 2].map((n) => ({ name: "cash_pay", arguments: { n } })) }, "Both are paid."] },
  { user: "look", replies: [{ calls: [{ name: "cash_look", arguments: { n: 1 } }] }, "It is seen."] },
  { user: "program", replies: [PAY, { text: "output('end'); done()", waitMs: 200 }] },
  { user: "careful", replies: [CAREFUL] },
  { user: "many", replies: [MANY] },
  { user: "nested", replies: [`output(tools['interpreter.run-code']({ code: ${JSON.stringify(INNER)} }).result); done()`] },
  { user: "run", replies: [RUN(INNER), "It has run."] },
  { user: "clock", replies: ["let n = 0; for (let i = 0; i < 3; i++) n += cashLook({ n: 1 }).n;\nlet s = 0; for (let i = 0; i < 60000; i++) s += i % 7;\nconst r = cashPay({ n, at: Date.now(), day: new Date().toISOString(), by: Math.random(), s });\noutput('at ' + (r.at === Date.parse(r.day))); done()"] },
  { user: "typed", replies: [{ calls: [{ name: "execute_typescript", arguments: { code: TYPED } }] }, "It was typed."] },
];

let env;
before(async () => {
  env = await recorded(turns);
});

/** A home of its own, a server that counts what it is asked for, and ways to say something in it. */
function world({ ask = false, delayMs = 150 } = {}) {
  const effects = recording();
  const tool = (name, annotations) => ({ tool: { name, inputSchema: { type: "object" }, annotations }, delayMs });
  const tools = [tool("pay"), tool("look", { readOnlyHint: true })];
  const policy = ask ? { tools: { policy: [{ match: "cash.pay", action: "ask", reason: "it is money" }] } } : {};
  const args = servers({ cash: scripted(tools, effects.option) }, policy);
  const options = { env: { ...env, XDG_STATE_HOME: folder() } };
  const calls = () => effects.of("tools/call").map((m) => m.params.arguments.n);
  return {
    calls,
    chat: (...more) => run(["chat", ...more, ...args], options),
    start: (...more) => start(["chat", ...more, ...args], options),
    /** Says `message` and kills the process when `when` is true. */
    async kill(when, ...more) {
      const first = start(["chat", ...more, ...args], options);
      await until(() => when(first.text(), calls()), "the moment comes");
      first.child.kill("SIGKILL");
      await first.ended;
      return first.text();
    },
    /** What goes on, and then the answer to "again". */
    async goOn(...more) {
      const end = await run(["chat", "-c", "last", "-m", "classic", "again", ...more, ...args], options);
      assert.equal(end.code, 0, end.stderr);
      assert.ok(end.stdout.endsWith("Again it is.\n"), end.stdout);
      assert.equal(end.stderr.match(/continuing the prompt that was cut short/g)?.length, 1, end.stderr);
      const once = await run(["chat", "-c", "last", "-m", "classic", "again", ...args], options);
      assert.deepEqual([once.code, once.stdout], [0, "Again it is.\n"], once.stderr);
      assert.doesNotMatch(once.stderr, /cut short/);
      return { ...end, rest: end.stdout.slice(0, -"Again it is.\n".length) };
    },
    async killAfter(ms, ...more) {
      const first = start(["chat", ...more, ...args], options);
      await until(() => begun(first.text()), "it has begun");
      await sleep(ms);
      first.child.kill("SIGKILL");
      await first.ended;
    },
    /** Says `message` at a terminal; what is asked there is answered with `type`, events go to a file. */
    ask(...more) {
      const file = join(folder({ events: "" }), "events");
      const run = start(["chat", "--json", ...more, ...args], { ...options, terminal: true, redirect: `>${file}` });
      const events = () => readFileSync(file, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line));
      return {
        ...run,
        file,
        signal: (name) => process.kill(Number(run.pids().find(isChat)), name),
        events,
        requests: () => events().filter((e) => e.event === "prompt.approval-requested").map((e) => e.data.request),
        questions: () => run.text().split("ne[v]er: ").length - 1,
      };
    },
    talk: (...more) => start(["chat", ...more, ...args], { ...options, terminal: true }),
    async events(...more) {
      const end = await run(["chat", "--json", ...more, ...args], options);
      return end.stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
    },
  };
}
/** What the first prompt that was completed has put out. */
const outputs = (events) => events.find((e) => e.event === "prompt.completed").data.output;
const begun = (text) => /conversation [0-9a-f]{32}\n/.test(text);
const after = (count) => (_, calls) => calls.length >= count;
const INTERRUPTED = /interrupted: Lathe ended while this call was being made/;

describe("classic", () => {
  test("killed while the model answers: it is asked again", async () => {
    const w = world();
    await w.kill(begun, "think");
    assert.equal((await w.goOn()).rest, "I have thought.\n");
  });
  test("killed inside a call: it is not made again, and the model is told", async () => {
    const w = world({ delayMs: 1000 });
    await w.kill(after(1), "pay");
    const end = await w.goOn();
    assert.equal(end.rest, "It is paid.\n");
    assert.match(end.stderr, INTERRUPTED);
    assert.deepEqual(w.calls(), [1]);
  });
  test("killed inside a call that may be repeated: it is", async () => {
    const w = world({ delayMs: 500 });
    await w.kill(after(1), "look");
    const end = await w.goOn();
    assert.equal(end.rest, "It is seen.\n");
    assert.doesNotMatch(end.stderr, INTERRUPTED);
    assert.deepEqual(w.calls(), [1, 1]);
  });
  test("killed between rounds: what was done is done once", async () => {
    const w = world({ delayMs: 1 });
    await w.kill((text) => /cash\.pay.* ms\n/.test(text), "pay");
    assert.equal((await w.goOn()).rest, "It is paid.\n");
    assert.deepEqual(w.calls(), [1]);
  });
  test("several calls at once, one of them answered", async () => {
    const w = world({ delayMs: 400 });
    await w.kill(after(2), "pay twice");
    const end = await w.goOn();
    assert.equal(end.rest, "Both are paid.\n");
    assert.deepEqual(w.calls().sort(), [1, 2]);
  });
});


// Side by side: each test is in a world of its own, and waits for the moment to kill.
describe("programs", { concurrency: 3 }, () => {
  for (const [mode, message, answer] of [
    ["code", "careful", /^(paid 1;\n|1 .*interrupted.*;\n)?(paid 2;\n|2 .*interrupted.*;\n)$/],
    ["code", "many", /^(1|.*interrupted.*),(2|.*interrupted.*),(3|.*interrupted.*)\n$/],
    ["classic", "run", /^It has run.\n$/],
    ["typescript", "typed", /^It was typed.\n$/],
  ]) {
    for (const count of [1, 2]) {
      test(`${mode}, ${message}: killed inside call ${count}`, async () => {
        const w = world({ delayMs: 300 });
        await w.kill(after(count), "-m", mode, message);
        const end = await w.goOn();
        assert.match(end.rest, answer);
        assert.match(end.stderr + end.rest, INTERRUPTED);
        assert.equal(new Set(w.calls()).size, w.calls().length, `made twice: ${w.calls()}`);
      });
    }
  }
  test("code: texts and calls of a program that has ended are there once", async () => {
    const w = world({ delayMs: 1 });
    await w.kill((text) => /the program ended/.test(text), "-m", "code", "program");
    const end = await w.goOn();
    assert.match(end.rest, /^(paid 2\n)?end\n$/, "the text in flight at the kill may come twice");
    assert.deepEqual(w.calls(), [1, 2]);
  });
  for (const [mode, message] of [["code", "program"], ["code", "careful"], ["classic", "run"], ["typescript", "typed"], ["code", "many"], ["classic", "pay"]]) {
    test(`${mode}, ${message}: whenever it is killed, all of it is on record, once`, async () => {
      const whole = outputs(await world({ delayMs: 10 }).events("-m", mode, message));
      for (let ms = 20; ms < 400; ms += 60) {
        const w = world({ delayMs: 40 });
        await w.killAfter(ms * patience, "-m", mode, message);
        const events = await w.events("-c", "last", "-m", "classic", "again");
        const ends = events.filter((e) => e.event === "prompt.completed");
        assert.ok(ends.length >= 1 && !events.some((e) => e.event === "prompt.error"), JSON.stringify(events.map((e) => e.event)));
        if (ends.length === 1) continue; // it had not begun, or was done
        const all = outputs(events);
        const ids = all.map((o) => o.id), expected = whole.map((o) => o.id);
        assert.equal(new Set(ids).size, ids.length, `killed after ${ms} ms: ${ids}`);
        if (INTERRUPTED.test(JSON.stringify(all))) assert.ok(ids.every((id) => expected.includes(id)), `killed after ${ms} ms: ${ids}`);
        else assert.deepEqual(ids.sort(), expected.sort(), `killed after ${ms} ms`);
        for (const o of all) assert.notEqual(o.result?.type, "pending", `killed after ${ms} ms: ${o.id}`);
        assert.equal(new Set(w.calls()).size, w.calls().length, `killed after ${ms} ms, made twice: ${w.calls()}`);
      }
    });
  }
});

describe("waiting for approval", () => {
  for (const [mode, message, ids] of [
    ["classic", "pay", ["call_1_0"]],
    ["code", "program", ["call-0.1", "call-0.2"]],
    ["typescript", "typed", ["call_1_0.1", "call_1_0.2"]],
    ["classic", "run", ["call_1_0.1.1.1", "call_1_0.1.1.2"]],
    ["code", "nested", ["call-0.1.1.1", "call-0.1.1.2"]],
  ]) {
    test(`${mode}, ${message}: what waited waits again, with the same ids`, async () => {
      const w = world({ ask: true, delayMs: 1 });
      let one = w.ask("-m", mode, message);
      for (const [i, id] of ids.entries()) {
        for (const again of [1, 2]) { // a process asks and is killed; the next one asks the same
          await until(() => one.questions() === 1, `it is asked\n${one.text()}`);
          assert.deepEqual(one.requests().map((r) => [r.toolCallId, r.toolName, r.reason, r.input.n]), [[id, "cash.pay", "it is money", i + 1]]);
          assert.equal(w.calls().length, i, "nothing was done meanwhile");
          if (again === 1) {
            await one.kill();
            one = w.ask("-c", "last", "-m", "classic", "again");
          }
        }
        one.type("y\n");
        await until(() => w.calls().length === i + 1, "the call is made");
        if (i + 1 < ids.length) { // killed where it waits for the next one
          await until(() => one.questions() === 2, `the next one is asked\n${one.text()}`);
          await one.kill();
          one = w.ask("-c", "last", "-m", "classic", "again");
        }
      }
      assert.equal((await one.ended).code, 0);
      assert.deepEqual(w.calls(), ids.map((_, i) => i + 1));
      const completed = one.events().filter((e) => e.event === "prompt.completed");
      assert.equal(completed.length, 2);
      for (const o of completed[0].data.output) assert.notEqual(o.result?.type, "pending");
    });
  }
  test("the input that is asked about is the same again, the time in it included", async () => {
    const w = world({ ask: true, delayMs: 1 });
    let one = w.ask("-m", "code", "clock"), first;
    for (let again = 0; again < 3; again++) {
      await until(() => one.questions() === 1, `it is asked\n${one.text()}`);
      first ??= one.requests()[0].input;
      assert.deepEqual(one.requests().map((r) => r.input), [first]);
      await one.kill();
      await sleep(300);
      one = w.ask("-c", "last", "-m", "classic", "again");
    }
    await until(() => one.questions() === 1, `it is asked\n${one.text()}`);
    one.type("y\n");
    assert.equal((await one.ended).code, 0);
    const call = outputs(one.events()).find((o) => o.function === "cash.pay");
    assert.deepEqual([call.input, call.result.output], [first, first]);
  });
  test("several at once, one decided before the kill", async () => {
    const w = world({ ask: true, delayMs: 1 });
    const first = w.ask("-m", "code", "many");
    await until(() => first.requests().length === 3, "all three are asked about");
    const ids = first.requests().map((r) => r.toolCallId);
    await until(() => first.questions() === 1, "the first question is there");
    first.type("y\n");
    await until(() => w.calls().length === 1 && first.questions() === 2, "one is made");
    await first.kill();
    const second = w.ask("-c", "last", "-m", "classic", "again");
    await until(() => second.requests().length === 2, "the other two are asked about");
    assert.deepEqual(second.requests().map((r) => r.toolCallId).sort(), ids.filter((id) => id !== first.requests()[0].toolCallId).sort());
    await until(() => second.questions() === 1, "a question");
    second.type("n because no\n");
    await until(() => second.questions() === 2, "the other question");
    second.type("y\n");
    assert.equal((await second.ended).code, 0);
    assert.equal(w.calls().length, 2);
    assert.match(JSON.stringify(second.events()), /was not approved: no/);
  });
});

describe("two processes", () => {
  test("the second one is told who has it", async () => {
    const w = world({ ask: true, delayMs: 1 });
    const first = w.ask("pay");
    await until(() => first.questions() === 1, "it is asked");
    await first.kill();
    const second = w.ask("-c", "last", "-m", "classic", "again");
    await until(() => second.questions() === 1, "it is asked again");
    const third = await w.chat("-c", "last", "-m", "classic", "again");
    assert.equal(third.code, 1);
    assert.match(third.stderr, /^lathe chat: the prompt [0-9a-f]{32} runs in another process, \d+: wait for it, or lathe cancel [0-9a-f]{32}$/m);
    second.type("y\n");
    assert.equal((await second.ended).code, 0);
    assert.deepEqual(w.calls(), [1]);
    assert.equal((await w.chat("-c", "last", "-m", "classic", "again")).code, 0);
  });
  test("a dialogue goes on with it first", async () => {
    const w = world({ ask: true, delayMs: 1 });
    const first = w.ask("pay");
    await until(() => first.questions() === 1, "it is asked");
    await first.kill();
    const second = w.talk("-c", "last");
    await until(() => /continuing the prompt that was cut short[^]*The model wants to call cash\.pay[^]*ne\[v\]er: /.test(second.text()), `it is asked again\n${second.text()}`);
    second.type("y\n");
    await until(() => /It is paid\.[^]*> $/.test(second.text()), `it is answered\n${second.text()}`);
    second.type("again\n");
    await until(() => /Again it is\.[^]*> $/.test(second.text()), `and goes on\n${second.text()}`);
    second.type("/quit\n");
    assert.equal((await second.ended).code, 0);
    assert.deepEqual(w.calls(), [1]);
  });
  test("Ctrl-C ends what is gone on with, and the new message is not sent", async () => {
    const w = world();
    await w.kill(begun, "for ever");
    const second = w.start("-c", "last", "-m", "classic", "again");
    await until(() => /continuing/.test(second.text()), "it goes on");
    second.child.kill("SIGINT");
    const end = await second.ended;
    assert.deepEqual([end.code, end.stdout], [130, ""]);
    assert.equal((await w.chat("-c", "last", "-m", "classic", "again")).stdout, "Again it is.\n");
  });
  test("told to end with a question open or a program running, it loses nothing: the next one goes on", async () => {
    for (const signal of ["SIGTERM", "SIGHUP"]) {
      const w = world({ ask: true, delayMs: 1 });
      const one = w.ask("-m", "code", "careful");
      await until(() => one.questions() === 1, "it is asked");
      one.signal(signal);
      const end = await one.ended;
      assert.equal(end.code, 130);
      assert.match(end.stdout, /told to end: lathe chat -c [0-9a-f]{32} continues with this prompt\r?\n/);
      assert.doesNotMatch(readFileSync(one.file, "utf8"), /prompt\.cancelled|Rejected|not approved/);
      assert.match((await w.chat("--list")).stdout, /  \(waits for approval\)\n$/);
      assert.equal((await w.goOn("--yes")).rest, "paid 1;\npaid 2;\n");
      assert.deepEqual(w.calls(), [1, 2]);
    }
    const closed = world({ ask: true });
    const one = closed.ask("pay");
    await until(() => one.questions() === 1, "it is asked");
    one.child.kill("SIGKILL"); // the terminal's other end
    await one.ended;
    assert.match((await closed.chat("--list")).stdout, /  \(waits for approval\)\n$/);
    const w = world();
    const first = w.start("for ever");
    await until(() => begun(first.text()), "it has begun");
    first.child.kill("SIGTERM");
    const end = await first.ended;
    assert.deepEqual([end.code, end.stdout], [130, ""]);
    assert.match((await w.chat("--list")).stdout, /  \(cut short\)\n$/);
  });
  test("told to end inside a program's call: it goes on as after a kill", async () => {
    const w = world({ delayMs: 1000 });
    const first = w.start("-m", "code", "careful");
    await until(() => w.calls().length === 1, "the call is under way");
    first.child.kill("SIGTERM");
    const end = await first.ended;
    assert.deepEqual([end.code, end.stdout], [130, ""]);
    assert.match((await w.goOn()).rest, /^1 .*interrupted: Lathe ended while this call.*;\npaid 2;\n$/);
    assert.deepEqual(w.calls(), [1, 2]);
  });
  test("Ctrl-C at a question is a cancel: nothing is left", async () => {
    const w = world({ ask: true });
    const one = w.ask("pay");
    await until(() => one.questions() === 1, "it is asked");
    one.type("\x03");
    assert.equal((await one.ended).code, 130);
    assert.doesNotMatch((await w.chat("--list")).stdout, /waits for approval|cut short/);
  });
  test("without a terminal what waits for approval is left alone, and nothing new is begun", async () => {
    const w = world({ ask: true, delayMs: 1 });
    const one = w.ask("pay");
    await until(() => one.questions() === 1, "it is asked");
    await one.kill();
    for (const more of [["again"], [], ["--json", "again"]]) {
      const end = await w.chat("-c", "last", ...more);
      assert.deepEqual([end.code, end.stdout], [1, ""]);
      assert.match(end.stderr, /^lathe chat: a tool call of this conversation waits for approval, and there is no terminal to ask on: go on at one with lathe chat -c [0-9a-f]{32}, decide with lathe approve [0-9a-f]{32}, or approve it with --yes\n$/);
    }
    assert.match((await w.chat("--list")).stdout, /  1  .*  \(waits for approval\)\n$/);
    assert.equal((await w.goOn("--yes")).rest, "It is paid.\n");
    assert.deepEqual(w.calls(), [1]);
  });
  test("without a message only what was cut short is gone on with", async () => {
    const w = world({ delayMs: 1000 });
    await w.kill(after(1), "pay");
    const end = await w.chat("-c", "last");
    assert.deepEqual([end.code, end.stdout], [0, "It is paid.\n"], end.stderr);
    const none = await w.chat("-c", "last");
    assert.deepEqual([none.code, none.stdout, none.stderr], [2, "", "lathe chat: the message is empty: lathe chat MESSAGE\n"]);
  });
  test("what is open is told in the list", async () => {
    const w = world({ ask: true });
    const one = w.ask("pay");
    await until(() => one.questions() === 1, "it is asked");
    await one.kill();
    assert.match((await w.chat("--list")).stdout, /  \(waits for approval\)\n$/);
  });
});
