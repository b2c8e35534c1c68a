// execute_code and execute_plan of a process that was killed: what had been done is not done again, what was asked is asked again.
import assert from "node:assert/strict";
import { before } from "node:test";
import { describe, folder, recording, run, scripted, servers, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";

const PAY = "a = cash_pay(n=1)\nprint('first', a['n'])\nb = cash_pay(n=2)\nset_result(a['n'] + b['n'])";
const CAREFUL = "r = []\nfor n in (1, 2):\n  try: r.append(cash_pay(n=n)['n'])\n  except ToolError as e: r.append(str(e))\nset_result(r)";
const code = (text) => [{ calls: [{ id: "c1", name: "execute_code", arguments: { code: text } }] }, "It has run."];
const turns = [
  { user: "again", replies: ["Again it is."] },
  { user: "python", replies: code(PAY) },
  { user: "careful", replies: code(CAREFUL) },
  { user: "plan", replies: [{ calls: [{ id: "c1", name: "execute_plan", arguments: { steps: [1, 2, 3].map((n) => ({ tool: "cash_pay", args: { n } })) } }] }, "It is planned."] },
];
let env;
before(async () => {
  env = await recorded(turns);
});

function world({ ask = false, delayMs = 150, plan = {} } = {}) {
  const effects = recording();
  const tools = [{ tool: { name: "pay", inputSchema: { type: "object" } }, delayMs }];
  const policy = ask ? { tools: { policy: [{ match: "cash.pay", action: "ask" }] } } : {};
  const args = servers({ cash: scripted(tools, effects.option) }, { python: {}, plan, ...policy });
  const options = { env: { ...env, XDG_STATE_HOME: folder() } };
  const calls = () => effects.of("tools/call").map((m) => m.params.arguments.n);
  return {
    calls,
    async kill(when, message) {
      const first = start(["chat", "-m", "classic", message, ...args], { ...options });
      await until(() => when(first.text(), calls()), "the moment comes");
      first.child.kill("SIGKILL");
      await first.ended;
    },
    async killAsked(message, answers = []) {
      const first = start(["chat", "-m", "classic", message, ...args], { ...options, terminal: true });
      for (const answer of [...answers, null]) {
        await until(() => /input: [^]*ne\[v\]er: $/.test(first.text()), `it is asked\n${first.text()}`);
        if (answer) first.type(answer);
      }
      await first.kill();
    },
    goOn: () => run(["chat", "-c", "last", "-m", "classic", "--json", "again", ...args], options),
    goOnAsked: () => start(["chat", "-c", "last", "-m", "classic", "again", ...args], { ...options, terminal: true }),
  };
}
const events = (end) => end.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
/** What the prompt that goes on has put out. */
const outputs = (end) => events(end).find((e) => e.event === "prompt.completed").data.output;
const toolOf = (list, name) => list.find((one) => one.function === name);

describe("execute_code", () => {
  test("killed between two calls of a program: the first is not made again", async () => {
    const w = world({ delayMs: 400 });
    await w.kill((text) => /cash\.pay \{"n":1\}/.test(text), "python");
    const end = await w.goOn();
    assert.equal(end.code, 0, end.stderr);
    const whole = toolOf(outputs(end), "execute_code");
    const interrupted = whole.result.type === "error"; // inside the second call, or just before it
    assert.match(interrupted ? whole.result.error : whole.result.output, interrupted ? /interrupted/ : /^3\n\nlogs:\n[^]*first 1$/);
    assert.deepEqual(w.calls().filter((n) => n === 1), [1]);
    assert.ok(w.calls().filter((n) => n === 2).length <= 1);
  });
  test("killed inside a call: the program gets an error it can catch", async () => {
    const w = world({ delayMs: 2000 });
    await w.kill((_, calls) => calls.length >= 1, "careful");
    const end = await w.goOn();
    assert.equal(end.code, 0, end.stderr);
    const [answer, logs] = toolOf(outputs(end), "execute_code").result.output.split("\n\nlogs:\n");
    const [first, second] = JSON.parse(answer);
    assert.match(logs, /this program is run again, because Lathe was interrupted/);
    assert.match(first, /interrupted: Lathe ended while this call was being made/);
    assert.equal(second, 2);
    assert.deepEqual(w.calls(), [1, 2]);
  });
  test("killed while somebody is asked: it is asked again, and the program goes on with the answer", async () => {
    const w = world({ ask: true, delayMs: 1 });
    await w.killAsked("python");
    assert.deepEqual(w.calls(), []);
    const next = w.goOnAsked();
    for (const n of [1, 2]) {
      await until(() => new RegExp(`input: \\{"n":${n}\\}[^]*ne\\[v\\]er: $`).test(next.text()), `it is asked about ${n}\n${next.text()}`);
      next.type("y\n");
    }
    const end = await next.ended;
    assert.equal(end.code, 0, end.stdout);
    assert.match(end.stdout, /It has run\.[^]*Again it is\./);
    assert.deepEqual(w.calls(), [1, 2]);
  });
});

describe("execute_plan", () => {
  test("killed inside its steps: none of them is made again", async () => {
    const w = world({ delayMs: 2000 });
    await w.kill((_, calls) => calls.length >= 3, "plan");
    const end = await w.goOn();
    assert.equal(end.code, 0, end.stderr);
    const steps = toolOf(outputs(end), "execute_plan").result.output;
    assert.equal(steps.length, 3);
    for (const step of steps) assert.match(step.error, /interrupted/);
    assert.deepEqual(w.calls().sort(), [1, 2, 3]);
  });
  test("killed after some of them: those have their answers, the rest are made", async () => {
    const w = world({ delayMs: 600, plan: { concurrency: 1 } });
    // Not before the server has the second one: killed on the way there, it would not be made at all.
    await w.kill((text, calls) => /cash\.pay \{"n":1\}/.test(text) && calls.length > 1, "plan");
    const end = await w.goOn();
    assert.equal(end.code, 0, end.stderr);
    const steps = toolOf(outputs(end), "execute_plan").result.output;
    assert.deepEqual(steps[0], { step: 0, tool: "cash_pay", status: "ok", result: { n: 1 } });
    assert.deepEqual(steps[2], { step: 2, tool: "cash_pay", status: "ok", result: { n: 3 } });
    assert.deepEqual(w.calls().sort(), [1, 2, 3]);
  });
});
