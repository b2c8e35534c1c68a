// execute_plan as a model in classic mode meets it: what comes back for each step, what is refused, what goes on meanwhile.
import assert from "node:assert/strict";
import { describe, fake, recording, run, servers, start, test, until } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const call = (args, name = "execute_plan") => ({ calls: [{ id: "c1", name, arguments: args }] });
const plan = (...steps) => call({ steps: steps.map(([tool, args]) => ({ tool, ...(args === undefined ? {} : { args }) })) });
const using = (rest = {}, ...options) => servers({ fake: fake(...options) }, { plan: {}, ...rest });

/** Has a model make this call, then say "done": what it was answered, and everything else. */
async function answered(reply, args = using(), options = {}) {
  const model = await scriptedModel([reply, "done"]);
  const end = await run(["chat", "-m", "classic", "--json", "go", ...args], { env: { ...model.env, ...options.env }, ...options });
  assert.equal(end.code, 0, end.stderr);
  const asked = model.asked();
  const events = end.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  return { text: asked[1].messages.at(-1).content, outputs: events.at(-1).data.output };
}
const steps = async (...rest) => JSON.parse((await answered(...rest)).text);

describe("what a model is offered", () => {
  test("execute_plan where the configuration has a plan, by that name", async () => {
    const model = await scriptedModel(["hello"]);
    await run(["chat", "-m", "classic", "go", ...using()], { env: model.env });
    const names = model.asked()[0].tools.map((one) => one.function.name);
    assert.ok(names.includes("execute_plan"), String(names));
    assert.ok(names.includes("fake_add"));
    assert.ok(!names.includes("execute_code"));
  });
  test("not without one, and not in programs", async () => {
    const model = await scriptedModel(["hello"]);
    await run(["chat", "-m", "classic", "go", ...servers({ fake: fake() })], { env: model.env });
    assert.ok(!JSON.stringify(model.asked()).includes("execute_plan"));
    for (const mode of ["code", "typescript"]) {
      const other = await scriptedModel(["done()"]);
      await run(["chat", "-m", mode, "go", ...using({ python: {} })], { env: other.env });
      assert.doesNotMatch(JSON.stringify(other.asked()), /execute_plan|execute_code/, mode);
    }
    const listed = await run(["tools", "--types", "ts", ...using({ python: {} })]);
    assert.doesNotMatch(listed.stdout, /execute_/);
    const found = await run(["run", "-e", "[discoverTools('execute plan code').filter((t) => /^execute/.test(t.id)), typeof execute_plan]", ...using({ python: {} })]);
    assert.equal(found.stdout, '[[],"undefined"]\n');
  });
  test("lathe tools lists it", async () => {
    const end = await run(["tools", "plan", ...using()]);
    assert.match(end.stdout, /^execute_plan  execute_plan  Execute several independent tool calls at once/);
  });
});

describe("results", () => {
  test("one per step, in order; a step that fails does not keep the others from theirs", async () => {
    const { text, outputs } = await answered(plan(["fake_add", { a: 1, b: 2 }], ["fake.fail", {}], ["fakeEcho", { text: "x" }], ["fake_nope"]));
    const result = JSON.parse(text);
    assert.deepEqual(result.slice(0, 3), [
      { step: 0, tool: "fake_add", status: "ok", result: "3" },
      { step: 1, tool: "fake.fail", status: "error", error: "it failed" },
      { step: 2, tool: "fakeEcho", status: "ok", result: { echoed: { text: "x" } } },
    ]);
    assert.equal(result[3].status, "error");
    assert.match(result[3].error, /Tool "fake_nope" not found/);
    const [whole, ...parts] = outputs.filter((one) => one.type === "tool");
    assert.equal(whole.function, "execute_plan");
    assert.deepEqual(parts.map((one) => [one.function, one.parent, one.result.type].join(" ")).sort(), [
      "fake.add c1 success", "fake.echo c1 success", "fake.fail c1 error", "fake_nope c1 error"]);
  });
  test("numbers stay as they were written", async () => {
    const result = (await answered(plan(["fake_raw", { lines: ['{"jsonrpc":"2.0","id":"ID","result":{"content":[],"structuredContent":{"n":12345678901234567890.10}}}'], only: true }]))).text;
    assert.match(result, /"n":12345678901234567890\.10\b/);
  });
  test("steps go on at once, ten unless configured", async () => {
    const meet = (n) => plan(...Array.from({ length: n }, () => ["fake_meet", { n }]));
    assert.deepEqual((await steps(meet(10))).map((one) => one.result), Array(10).fill("met 10"));
    const few = await steps(meet(20), using({ plan: { concurrency: 20 } }));
    assert.equal(few.filter((one) => one.result === "met 20").length, 20);
  });
  test("no more than that at once", async () => {
    const two = await steps(plan(["fake_slow", { ms: 100 }], ["fake_slow", { ms: 100 }], ["fake_heard"]), using({ plan: { concurrency: 2 } }));
    assert.equal(two[2].status, "ok");
    const heard = two[2].result.heard.filter((one) => one.method === "tools/call").map((one) => one.params.name);
    assert.deepEqual(heard, ["slow", "slow", "heard"]);
    const one = await steps(plan(["fake_late", { ms: 50 }], ["fake_pid"]), using({ plan: { concurrency: 1 } }));
    assert.deepEqual(one.map((s) => s.status), ["ok", "ok"]);
  });
  test("a long result is put aside, the short ones beside it stay", async () => {
    const result = await steps(plan(["fake_big", { bytes: 100_000 }], ["fake_add", { a: 1, b: 2 }]));
    assert.equal(result[0].status, "ok");
    assert.equal(result[0].result.bytes, 100_002);
    assert.equal(typeof result[0].result.artifact, "string");
    assert.equal(result[1].result, "3");
  });
  test("programs can be steps", async () => {
    const result = await steps(plan(["interpreter_run-code", { code: "fakeAdd({a: 20, b: 1})" }], ["interpreter.run-code", { code: "typeof execute_plan" }]));
    assert.deepEqual(result.map((one) => one.result), ["21", "undefined"]);
  });
});

describe("refused as a whole", () => {
  const refused = async (reply, args) => {
    const { text, outputs } = await answered(reply, args);
    assert.deepEqual(outputs.filter((one) => one.type === "tool").map((one) => one.function), ["execute_plan"], "a step was carried out");
    return text;
  };
  test("no steps, too many, itself among them, what is no plan", async () => {
    assert.equal(await refused(call({ steps: [] })), 'Error in tool "execute_plan": execute_plan requires at least one step');
    assert.equal(await refused(plan(...Array.from({ length: 51 }, () => ["fake_pid"]))), 'Error in tool "execute_plan": execute_plan limited to 50 steps, got 51');
    assert.match(await refused(plan(["fake_pid"], ["fake_pid"], ["fake_pid"]), using({ plan: { maxSteps: 2 } })), /limited to 2 steps, got 3$/);
    assert.equal(await refused(plan(["fake_pid"], ["execute_plan", { steps: [] }])), 'Error in tool "execute_plan": execute_plan steps cannot call execute_plan');
    assert.match(await refused(call({ steps: [{ args: {} }] })), /input\.steps\[0\]\.tool: is required/);
    assert.match(await refused(call({})), /input\.steps: is required/);
    assert.match(await refused(call({ steps: [{ tool: "fake_pid", args: "x" }] })), /input\.steps\[0\]\.args: /);
    for (const key of ["arguments", "input"]) {
      assert.match(await refused(call({ steps: [{ tool: "fake_pid" }, { tool: "fake_echo", [key]: { text: "x" } }] })), new RegExp(`input\\.steps\\[1\\]\\.${key}: is not a known property.*args`));
    }
    assert.match(await refused(call({ steps: [{ tool: "fake_pid" }], parallel: true })), /input\.parallel: is not a known property/);
  });
  test("50 are fine", async () => {
    assert.equal((await steps(plan(...Array.from({ length: 50 }, () => ["fake_pid"])))).length, 50);
  });
});

describe("approval", () => {
  const asking = { tools: { policy: [{ match: "fake.add", action: "ask", reason: "it adds" }] } };
  const QUESTION = "ne[v]er: ";
  test("a step waits for it without holding the others up, and each is asked about", async () => {
    const model = await scriptedModel([plan(["fake_add", { a: 1, b: 1 }], ["fake_add", { a: 2, b: 2 }], ["fake_echo", { text: "x" }]), "done"]);
    const wire = recording();
    const chat = start(["chat", "-m", "classic", "go", ...using({ ...asking, plan: { concurrency: 1 } }, wire.option)], { terminal: true, env: model.env });
    const isEchoed = () => wire.of("tools/call").some((call) => call.params.name === "echo");
    await until(() => chat.text().includes(QUESTION) && isEchoed(), `the third step is done while the first waits\n${chat.text()}`);
    chat.type("y\n");
    await until(() => /input: \{"a":2,"b":2\}[^]*ne\[v\]er: $/.test(chat.text()), `the second question\n${chat.text()}`);
    chat.type("n not this one\n");
    assert.equal((await chat.ended).code, 0);
    assert.deepEqual(JSON.parse(model.asked()[1].messages.at(-1).content), [
      { step: 0, tool: "fake_add", status: "ok", result: "2" },
      { step: 1, tool: "fake_add", status: "error", error: 'Tool "fake.add" was not approved: not this one' },
      { step: 2, tool: "fake_echo", status: "ok", result: { echoed: { text: "x" } } },
    ]);
  });
  test("the rules hold for steps, and for the plan itself", async () => {
    const denied = await steps(plan(["fake_add", { a: 1, b: 1 }], ["fake_pid"]), using({ tools: { policy: [{ match: "fake.add", action: "deny", reason: "no sums" }] } }));
    assert.equal(denied[0].error, 'Tool "fake.add" is not allowed: no sums');
    assert.equal(denied[1].status, "ok");
    const whole = await answered(plan(["fake_pid"]), using({ tools: { policy: [{ match: "execute_*", action: "deny", reason: "no plans" }] } }));
    assert.equal(whole.text, 'Tool "execute_plan" is not allowed: no plans');
  });
});

test("cancelled in the middle, everything ends", async () => {
  const model = await scriptedModel([plan(["fake_hang"], ["fake_hang"], ["fake_add", { a: 1, b: 2 }]), "done"]);
  const chat = start(["chat", "-m", "classic", "go", ...using()], { env: model.env });
  await until(() => /fake\.add /.test(chat.text()), `the third step is done\n${chat.text()}`);
  chat.child.kill("SIGINT");
  assert.equal((await chat.ended).code, 130);
});

test("configured wrongly, it says how", async () => {
  const end = await run(["tools", ...using({ plan: { maxStep: 1 } })]);
  assert.equal(end.code, 3);
  assert.match(end.stderr, /unknown key "maxStep" in plan \(did you mean "maxSteps"\?\)/);
  const named = await run(["tools", "execute", ...servers({}, { plugins: [{ name: "plan", config: { maxSteps: 4 } }] })]);
  assert.match(named.stdout, /^execute_plan/);
  const off = await run(["tools", ...servers({}, { plan: {}, plugins: [{ name: "plan", disabled: true }] })]);
  assert.doesNotMatch(off.stdout, /execute_plan/);
});
