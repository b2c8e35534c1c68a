// Decisions about a prompt's calls from another process, or for a prompt that no process runs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { describe, folder, recording, run, scripted, servers, sleep, sql, start, test, until } from "./harness.mjs";
import { recorded, scriptedModel } from "./model.mjs";

const PAIR = "const r = parallel([1, 2].map((n) => ({ tool: 'cash.pay', input: { n } })));\noutput(r.map((one) => one.n ?? one.error).join());\ndone()";
const TWICE = "output(cashPay({ n: 1 }).n + ' ' + cashPay({ n: 1 }).n + ' '); try { output(cashPay({ n: 2 }).n) } catch (e) { output(e.message) }\ndone()";
const turns = [
  { user: "again", replies: ["Again it is."] },
  { user: "for ever", replies: [{ text: "too late", waitMs: 60_000 }] },
  { user: "pay", replies: [{ text: "I pay.", calls: [{ name: "cash_pay", arguments: { n: 1 } }] }, "It is paid."] },
  { user: "pair", replies: [PAIR] },
  { user: "long", replies: ["try { cashPay({ n: 1, s: 'x'.repeat(2_000_000) }) } catch (e) { output(e.message) }\ndone()"] },
  { user: "twice", replies: [TWICE] },
];

let env;
before(async () => {
  env = await recorded(turns);
});

/** A home of its own, a server that counts what it is asked for, and ways to say something in it. */
function world(model = env) {
  const effects = recording();
  const tools = [{ tool: { name: "pay", inputSchema: { type: "object", properties: { n: { type: "number" } } } }, delayMs: 1 }];
  const args = servers({ cash: scripted(tools, effects.option) }, { tools: { policy: [{ match: "cash.pay", action: "ask", reason: "it is money" }] } });
  const state = folder(), options = { env: { ...model, XDG_STATE_HOME: state } };
  const config = args.slice(0, 2);
  const decider = (command, words, more = {}) => start([command, ...words, ...config], { ...options, ...more });
  return {
    state,
    sql: (text) => sql(state, text),
    calls: () => effects.of("tools/call").map((m) => m.params.arguments.n),
    /** With a pipe as standard input: `type` writes to it. */
    starts: (...more) => start(["chat", ...more, ...args], { ...options, typed: true }),
    chat: (...more) => run(["chat", ...more, ...args], options),
    decide: (command, ...words) => decider(command, words).ended,
    /** The same at a terminal. */
    decideAt: (command, ...words) => decider(command, words, { terminal: true }),
    /** Says something at a terminal; events go to a file. */
    ask(...more) {
      const file = join(folder({ events: "" }), "events");
      const run = start(["chat", "--json", ...more, ...args], { ...options, terminal: true, redirect: `>${file}` });
      const events = () => readFileSync(file, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line));
      const first = (name) => events().find((e) => e.event === name)?.data;
      return {
        ...run,
        events,
        requests: () => events().filter((e) => e.event === "prompt.approval-requested").map((e) => e.data.request),
        decided: () => events().filter((e) => e.event === "prompt.approval-decided").map((e) => e.data),
        prompt: () => (first("prompt.created") ?? first("prompt.resumed"))?.promptId,
        conversation: () => (first("prompt.created") ?? first("prompt.resumed"))?.conversationId,
      };
    },
  };
}
const waiting = async (w, count, ...more) => {
  const first = w.ask(...more);
  await until(() => first.requests().length === count, `${count} are asked about: ${first.text()}`);
  await until(() => /ne\[v\]er/.test(first.text()), "the question is there");
  return first;
};
const INACTIVE = (id) => new RegExp(`^Prompt "${id}" not found or no longer active$`, "m");

describe("a prompt that waits in another process", () => {
  test("is approved at another terminal; the question at the first one is closed", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    const second = w.decideAt("approve", first.prompt());
    await until(() => /The model wants to call cash\.pay[^]*why it is asked: it is money[^]*n\b[^]*1[^]*ne\[v\]er: $/.test(second.text()), `the question as it is\n${second.text()}`);
    assert.deepEqual(w.calls(), []);
    second.type("y\n");
    const end = await second.ended;
    assert.equal(end.code, 0, second.text());
    assert.match(second.text(), /^approved; process \d+ goes on\r?$/m);
    assert.equal((await first.ended).code, 0);
    assert.deepEqual(w.calls(), [1]);
    assert.deepEqual(first.decided().map((d) => [d.toolCallId, d.decision]), [[first.requests()[0].toolCallId, "approve"]]);
  });
  test("is rejected with a reason, which the program is told; no terminal is needed", async () => {
    const w = world();
    const first = await waiting(w, 2, "-m", "code", "pair");
    const [one, two] = first.requests().map((r) => r.toolCallId);
    const several = await w.decide("reject", first.prompt());
    assert.equal(several.code, 1);
    assert.match(several.stderr, new RegExp(`several calls wait for approval, say which: lathe reject ${first.prompt()} CALL, where CALL is ${one} \\(cash\\.pay\\), ${two} \\(cash\\.pay\\)`));
    const end = await w.decide("reject", first.prompt(), two, "--reason", "not the second");
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /^rejected; process \d+ goes on\n$/);
    assert.equal((await w.decide("reject", first.prompt(), two)).code, 1);
    await w.decide("reject", first.prompt(), one, "--reason", "nor the first");
    assert.equal((await first.ended).code, 0);
    assert.deepEqual(w.calls(), []);
    assert.match(JSON.stringify(first.events()), /was not approved: nor the first.*was not approved: not the second/);
  });
  test("is cancelled, also while the model thinks", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    const end = await w.decide("cancel", first.prompt().slice(0, 12));
    assert.deepEqual([end.code, end.stdout.replace(/\d+/, "N")], [0, "cancelled; process N ends the prompt\n"], end.stderr);
    assert.notEqual((await first.ended).code, 0);
    assert.ok(first.events().some((e) => e.event === "prompt.cancelled"));
    const second = w.ask("for ever");
    await until(() => second.prompt(), "it has begun");
    assert.equal((await w.decide("cancel", second.prompt())).code, 0);
    await second.ended;
    assert.ok(second.events().some((e) => e.event === "prompt.cancelled"));
    assert.deepEqual(w.calls(), []);
  });
  test("two decide at once: the first one counts, the second is told", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    const ends = await Promise.all([1, 2, 3].map((n) => w.decide("reject", first.prompt(), "--reason", `reason ${n}`)));
    await first.ended;
    assert.equal(ends.filter((end) => end.code === 0).length, 1, JSON.stringify(ends));
    for (const end of ends.filter((one) => one.code !== 0)) assert.match(end.stderr, /somebody has decided already|No tool call of the prompt waits|no longer active/);
    assert.equal(first.decided().length, 1);
    assert.deepEqual(w.calls(), []);
  });
});

describe("a prompt that no process runs", () => {
  test("is approved; whoever continues makes the call once and asks nobody", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    await first.kill();
    const second = w.decideAt("approve", first.prompt(), first.requests()[0].toolCallId);
    await until(() => /ne\[v\]er: $/.test(second.text()), "the question");
    second.type("y\n");
    assert.equal((await second.ended).code, 0, second.text());
    assert.match(second.text(), new RegExp(`approved; no process runs the prompt: it continues with lathe chat -c ${first.conversation()}`));
    assert.deepEqual(w.calls(), []);
    const again = await w.decide("reject", first.prompt());
    assert.equal(again.code, 1);
    assert.match(again.stderr, /somebody has decided already \(approve/);
    const end = await w.chat("-c", "last", "-m", "classic", "again"); // no terminal
    assert.equal(end.code, 0, end.stderr);
    assert.deepEqual(w.calls(), [1]);
    assert.match(end.stdout, /It is paid\.\nAgain it is\.\n$/);
  });
  test("is found in another database, which --store names", async () => {
    const w = world(), elsewhere = folder();
    const first = await waiting(w, 1, "pay");
    await first.kill();
    const there = (command, state) => run([command, first.prompt(), "--store", `sqlite:${join(state, "lathe/lathe.db")}`], { env: { XDG_STATE_HOME: elsewhere } });
    for (const command of ["reject", "cancel"]) assert.match((await there(command, elsewhere)).stderr, INACTIVE(first.prompt()));
    assert.match((await there("approve", w.state)).stderr, /terminal/);
    assert.match((await there("reject", w.state)).stdout, /^rejected; no process runs the prompt/);
    assert.match((await there("cancel", w.state)).stdout, /^cancelled/);
    assert.deepEqual(w.calls(), []);
  });
  test("is rejected, and the model is told", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    await first.kill();
    assert.match((await w.decide("reject", first.prompt(), "--reason", "not today")).stdout, /^rejected; no process runs the prompt/);
    const second = await w.chat("--json", "-c", "last", "-m", "classic", "again");
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stdout, /was not approved: not today/);
    assert.deepEqual(w.calls(), []);
  });
  test("is cancelled at once", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    await first.kill();
    const end = await w.decide("cancel", first.prompt());
    assert.deepEqual([end.code, end.stdout], [0, "cancelled\n"], end.stderr);
    const shown = await w.decide("conversations", "show", first.conversation(), "--json");
    assert.match(shown.stdout, /"error":\s*"cancelled"/);
    assert.doesNotMatch(shown.stdout, /"pending"/);
    const next = await w.chat("-c", "last", "-m", "classic", "again");
    assert.deepEqual([next.code, next.stdout], [0, "Again it is.\n"], next.stderr);
    const late = await w.decide("cancel", first.prompt());
    assert.equal(late.code, 1);
    assert.match(late.stderr, INACTIVE(first.prompt()));
    assert.deepEqual(w.calls(), []);
  });
  test("a decision outlives a process that took it and was killed before it said so", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    await first.kill();
    await w.decide("reject", first.prompt(), "--reason", "never mind");
    w.sql("UPDATE decisions SET taken_at = created_at");
    const late = await w.decide("reject", first.prompt(), "--reason", "never ever");
    assert.match(late.stderr, /somebody has decided already \(reject/);
    const next = await w.chat("--json", "-c", "last", "-m", "classic", "again");
    assert.equal(next.code, 0, next.stderr);
    assert.match(next.stdout, /was not approved: never mind/);
    assert.deepEqual(w.calls(), []);
  });
  test("a decision outlives kill -9 between it and the call", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    await first.kill();
    await w.decide("reject", first.prompt(), "--reason", "never mind");
    const second = w.ask("-c", "last", "-m", "classic", "again");
    await until(() => second.events().length > 0, "it goes on");
    await second.kill();
    const third = await w.chat("--json", "-c", "last", "-m", "classic", "again");
    assert.equal(third.code, 0, third.stderr);
    assert.doesNotMatch(third.stdout, /approval-requested/);
    assert.deepEqual(w.calls(), []);
  });
});

describe("what is refused", () => {
  test("approve without a terminal, unknown ids, calls that do not wait", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    const blind = await w.decide("approve", first.prompt());
    assert.equal(blind.code, 1);
    assert.match(blind.stderr, /there is no terminal to show the question on/);
    const unknown = await w.decide("reject", "ffffffffffffffffffffffffffffffff");
    assert.deepEqual([unknown.code, unknown.stderr], [1, 'Prompt "ffffffffffffffffffffffffffffffff" not found or no longer active\n']);
    const other = await w.decide("reject", first.prompt(), "call-99");
    assert.deepEqual([other.code, other.stderr], [1, 'No tool call "call-99" waits for approval\n']);
    const conversation = await w.decide("cancel", first.conversation());
    assert.match(conversation.stderr, INACTIVE(first.conversation()));
    assert.equal((await w.decide("cancel", first.prompt(), "call-0")).code, 2);
    assert.equal((await w.decide("approve")).code, 2);
    assert.deepEqual(w.calls(), []);
    await w.decide("cancel", first.prompt());
    await first.ended;
  });
  test("approve of an input of which only a preview is stored", async () => {
    const w = world();
    const first = await waiting(w, 1, "-m", "code", "long");
    const second = w.decideAt("approve", first.prompt());
    assert.equal((await second.ended).code, 1);
    assert.match(second.text(), /input is too long to be shown here/);
    await w.decide("reject", first.prompt());
    assert.notEqual((await first.ended).code, undefined);
    assert.deepEqual(w.calls(), []);
  });
  test("an answer of no at lathe approve rejects", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    const second = w.decideAt("approve", first.prompt());
    await until(() => /ne\[v\]er: $/.test(second.text()), "the question");
    second.type("n because it is late\n");
    assert.equal((await second.ended).code, 0);
    assert.match(second.text(), /rejected; process \d+ goes on/);
    assert.equal((await first.ended).code, 0);
    assert.match(JSON.stringify(first.events()), /was not approved: it is late/);
    assert.deepEqual(w.calls(), []);
  });
});

describe("what is remembered", () => {
  test("for the tool: until the prompt ends, also after kill -9, and not in the next prompt", async () => {
    const w = world();
    const first = await waiting(w, 1, "-m", "code", "twice");
    await w.decide("reject", first.prompt(), "--remember", "tool", "--reason", "no money today");
    assert.notEqual((await first.ended).code, undefined);
    assert.equal(first.requests().length, 1);
    const second = await waiting(w, 1, "-c", "last", "-m", "classic", "pay"); // asked again
    await w.decide("cancel", second.prompt());
    await second.ended;
    assert.deepEqual(w.calls(), []);
  });
  test("for the session: in later prompts and processes of the conversation, and in no other", async () => {
    const w = world();
    const first = await waiting(w, 1, "pay");
    await w.decide("reject", first.prompt(), "--remember", "session", "--reason", "not in this conversation");
    await first.ended;
    const second = await w.chat("--json", "-c", first.conversation(), "-m", "classic", "pay");
    assert.match(second.stdout, /was not approved: not in this conversation/);
    assert.doesNotMatch(second.stdout, /approval-requested/);
    const other = await waiting(w, 1, "pay");
    await w.decide("cancel", other.prompt());
    await other.ended;
    assert.deepEqual(w.calls(), []);
  });
});

describe("decisions on standard input", () => {
  /** A prompt whose decisions come as lines; `each` gives the lines for a question. */
  async function lines(w, each, ...more) {
    const first = w.starts("--json", "--decisions", ...more);
    let asked = 0;
    const events = () => first.out().split("\n").slice(0, -1).map((line) => JSON.parse(line));
    const ended = first.ended.then((end) => end);
    for (let done = false; !done; ) {
      done = await Promise.race([ended.then(() => true), sleep(20).then(() => false)]);
      const requests = events().filter((e) => e.event === "prompt.approval-requested");
      for (; asked < requests.length; asked++) {
        for (const line of each(requests[asked].data.request, requests[asked].data.promptId)) first.type(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
      }
    }
    return { ...(await ended), events: events() };
  }
  test("approve with an edited input: the tool gets it, and the model is told", async () => {
    const w = world();
    const end = await lines(w, (r) => [{ toolCallId: r.toolCallId, decision: "approve", input: { n: 5 } }], "pay");
    assert.equal(end.code, 0, end.stderr);
    assert.deepEqual(w.calls(), [5]);
    const output = end.events.find((e) => e.event === "prompt.completed").data.output.find((o) => o.type === "tool");
    assert.deepEqual([output.input, output.editedInput], [{ n: 1 }, { n: 5 }]);
    assert.deepEqual(end.events.find((e) => e.event === "prompt.approval-decided").data.input, { n: 5 });
  });
  for (const [mode, replies] of [
    ["classic", [{ calls: [{ name: "cash_pay", arguments: { n: 1 } }] }, "Paid."]],
    ["code", ["cashPay({ n: 1 }).n", "output('Paid.'); done()"]],
    ["typescript", [{ calls: [{ name: "execute_typescript", arguments: { code: "await pay({ n: 1 });" } }] }, "Paid."]],
  ]) test(`${mode}: the model is told of the edit; the same after kill -9, and for lathe replay`, async () => {
    const model = await scriptedModel(replies);
    const w = world(model.env);
    const first = await waiting(w, 1, "-m", mode, "pay");
    await first.kill();
    const end = await lines(w, (r) => [{ toolCallId: r.toolCallId, decision: "approve", input: { n: 5 } }], "-c", "last");
    assert.equal(end.code, 0, end.stderr);
    assert.deepEqual(w.calls(), [5]);
    const told = model.asked().at(-1).messages.filter((m) => m.role === "user").at(-1).content;
    assert.match(told, /The user changed the input of "cash\.pay" before approving the call\. It was made with: \{"n":5\}/);
    const replay = await w.decide("replay", "last");
    assert.deepEqual([replay.code, /the same again/.test(replay.stdout)], [0, true], replay.stdout + replay.stderr);
  });
  test("an edited input that does not fit is asked about again, also with remember", async () => {
    const w = world();
    const end = await lines(w, (r) => [{ toolCallId: r.toolCallId, decision: "approve", ...(r.refusal ? { input: { n: 7 } } : { input: { n: "x" }, remember: "tool" }) }], "pay");
    assert.equal(end.code, 0, end.stderr);
    const requests = end.events.filter((e) => e.event === "prompt.approval-requested").map((e) => e.data.request.refusal);
    assert.deepEqual(requests, [undefined, "input.n: expected number, got string"]);
    assert.deepEqual(w.calls(), [7]);
  });
  test("remembered for equal arguments: asked once for them, again for others", async () => {
    const w = world();
    const end = await lines(w, (r) => [{ toolCallId: r.toolCallId, decision: r.input.n === 1 ? "approve" : "reject", reason: r.input.n === 1 ? undefined : "only one", ...(r.input.n === 1 ? { remember: "call" } : {}) }], "-m", "code", "twice");
    assert.equal(end.code, 0, end.stderr);
    assert.deepEqual(end.events.filter((e) => e.event === "prompt.approval-requested").map((e) => e.data.request.input.n), [1, 2]);
    assert.deepEqual(w.calls(), [1, 1]);
  });
  test("remembered for the tool: the other call that waits is decided, too", async () => {
    const w = world();
    const end = await lines(w, (r) => (r.input.n === 1 ? [{ toolCallId: r.toolCallId, decision: "reject", remember: "tool" }] : []), "-m", "code", "pair");
    assert.equal(end.code, 0, end.stderr);
    assert.equal(end.events.filter((e) => e.event === "prompt.approval-decided").length, 2);
    assert.deepEqual(w.calls(), []);
  });
  test("what cannot be used is named, and decides nothing", async () => {
    const w = world();
    const end = await lines(w, (r, promptId) => [
      "approve", "[]", "", { toolCallId: r.toolCallId, decision: "approve", forever: true }, { toolCallId: r.toolCallId, decision: "maybe" },
      { toolCallId: r.toolCallId, decision: "approve", input: "{}" }, { toolCallId: r.toolCallId, decision: "reject", input: {} },
      { toolCallId: r.toolCallId, decision: "approve", remember: "always" }, { toolCallId: "call-99", decision: "approve" },
      { promptId: "f".repeat(32), toolCallId: r.toolCallId, decision: "approve" }, { promptId, decision: "cancel" },
    ], "pay");
    assert.deepEqual(w.calls(), []);
    assert.ok(end.events.some((e) => e.event === "prompt.cancelled"));
    const said = end.stderr.match(/standard input, line (\d+): .*/g).map((line) => line.replace("standard input, line ", ""));
    assert.deepEqual(said.map((line) => parseInt(line)), [1, 2, 4, 5, 6, 7, 8, 9, 10]);
    assert.match(said[2], /unknown member "forever"/);
    assert.match(said[8], /Prompt "f{32}" not found or no longer active/);
  });
  test("the end of the lines without a decision rejects; a socket needs no option", async () => {
    const w = world();
    const first = w.starts("--json", "pay");
    await until(() => /approval-requested/.test(first.out()), "it is asked");
    await sleep(200);
    first.child.stdin.end();
    const end = await first.ended;
    assert.match(end.stdout, /was not approved: Tool \\?"cash\.pay\\?" needs approval and there is no terminal/);
    assert.deepEqual(w.calls(), []);
  });
});
