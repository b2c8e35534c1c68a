// One store for lathe serve and lathe chat: what one leaves the other carries on, what one has the other leaves alone, decisions cross.
import assert from "node:assert/strict";
import { before } from "node:test";
import { config, describe, folder, patience, recording, run, scripted, sleep, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const PAY = "let r; try { r = cashPay({ n: 1 }).n } catch (e) { r = e.message }\noutput('paid ' + r); done()";
const TWO = "const said = [];\nfor (const n of [1, 2]) { try { said.push(cashPay({ n }).n) } catch (e) { said.push(e.message) } }\noutput(said.join('; ')); done()";
const turns = [
  { user: "again", replies: ["output('Again it is.'); done()"] },
  { user: "pay", replies: [PAY] },
  { user: "two", replies: [TWO] },
  { user: "beside", replies: ["const r = parallel([{ tool: 'cash.look', input: { n: 7 } }, { tool: 'cash.pay', input: { n: 1 } }]);\noutput(r.map((one) => one.n ?? one.error).join()); done()"] },
];
const INTERRUPTED = /interrupted/;
let env;
before(async () => {
  env = await recorded(turns);
});

/** A store, a configuration and a server of tools that notes what it is called for. `asks`: pay needs a yes. */
function world({ asks = false, delayMs = 1, ...rest } = {}) {
  const effects = recording(), state = folder();
  const tools = [{ tool: { name: "pay", inputSchema: { type: "object" } }, delayMs }, { tool: { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }, delayMs }];
  const policy = asks ? { tools: { policy: [{ match: "cash.pay", action: "ask" }] } } : {};
  const file = config({ mcpServers: { cash: scripted(tools, effects.option) }, ...policy, ...rest });
  const options = { env: { ...env, XDG_STATE_HOME: state }, limitMs: 60_000 };
  return {
    file, state,
    calls: () => effects.of("tools/call").map((call) => call.params.arguments.n),
    serve: () => serve({}, { env, state, file }),
    lathe: (command, ...more) => run([command, ...more, "--config", file], options),
    chat: (...more) => start(["chat", "-m", "code", ...more, "--config", file], options),
    /** A chat at a terminal that asks, and a way to kill it. */
    async asking(input = "pay") {
      const one = start(["chat", "-m", "code", input, "--config", file], { ...options, terminal: true });
      await until(() => one.text().includes("ne[v]er: "), `it is asked\n${one.text()}`);
      return one;
    },
  };
}
const texts = (prompt) => prompt.output.filter((one) => one.type === "text").map((one) => one.content).join("");
/** The only conversation's last prompt. */
async function lastPrompt(s) {
  const [conversation] = (await s.get("/conversations")).json.conversations;
  return (await s.get(`/conversations/${conversation.id}`)).json.prompts.at(-1).id;
}
const took = (from) => Date.now() - from;

describe("what a process leaves", { concurrency: 3 }, () => {
  test("a chat that was killed in the middle of a program: the next server carries it on, and no effect is doubled", async () => {
    const w = world({ delayMs: 1500 });
    const chat = w.chat("two");
    await until(() => w.calls().length === 2, "the second call is under way");
    chat.child.kill("SIGKILL");
    await chat.ended;
    const s = await w.serve();
    const prompt = await s.prompt(await lastPrompt(s));
    assert.equal(prompt.state, "completed");
    assert.match(texts(prompt), /^1; /);
    assert.match(texts(prompt), INTERRUPTED);
    assert.deepEqual(w.calls(), [1, 2]);
    await s.stop();
  });

  test("a chat that is killed while it asks: a server that runs already takes the question over, with its id", async () => {
    const w = world({ asks: true });
    const s = await w.serve();
    const reader = s.follow();
    await until(() => reader.lastId !== undefined, "the stream has begun");
    const chat = await w.asking();
    const id = await lastPrompt(s);
    const before = (await s.get(`/prompts/${id}`)).json.output.find((one) => one.result.question);
    await sleep(2500); // longer than it takes to notice a process that is gone
    assert.deepEqual(reader.events, [], "a chat that lives keeps its prompt");
    await chat.kill();
    await until(() => reader.names().includes("prompt.approval-requested"), "the server asks");
    assert.equal(reader.names()[0], "prompt.resumed");
    const waits = await s.waiting(id);
    assert.deepEqual([waits.id, waits.start], [before.id, before.start]);
    assert.deepEqual((await s.post(`/prompts/${id}/approve`, { toolCallId: waits.id })).json, { approved: true });
    const prompt = await s.prompt(id);
    assert.equal(texts(prompt), "paid 1");
    assert.deepEqual(w.calls(), [1]);
    const call = prompt.output.find((one) => one.function === "cash.pay");
    assert.ok(call.start < call.decided && call.decided <= call.end, JSON.stringify(call));
    reader.close();
    await s.stop();
  });

  test("two servers: what the one that is killed had, the other has within seconds", async () => {
    const w = world({ asks: true });
    const [first, second] = [await w.serve(), await w.serve()];
    const waits = (await first.post("/prompt", { input: "pay", mode: "code" })).json.promptId;
    const call = await first.waiting(waits);
    const runs = (await first.post("/run", { code: "await sleep(1500); 'slept'", waitMs: 0 })).json.promptId;
    assert.equal((await second.get(`/prompts/${waits}`)).json.state, "waiting_for_approval", "both see it");
    await first.stop("SIGKILL");
    const from = Date.now();
    const reader = second.follow(`?promptId=${waits}&after=0`);
    await until(() => reader.names().includes("prompt.resumed"), "it is taken over");
    assert.ok(took(from) < 8000 * patience, `${took(from)} ms`);
    assert.equal((await second.prompt(runs)).state, "completed");
    await second.waiting(waits);
    await second.post(`/prompts/${waits}/reject`, { toolCallId: call.id, reason: "no" });
    assert.match(texts(await second.prompt(waits)), /no$/);
    assert.deepEqual(w.calls(), []);
    reader.close();
    await second.stop();
  });

  test("what waits, waits for ever: over restarts, and longer than a program may run", async () => {
    const timeoutMs = patience > 6 ? 700 * patience : 700; // under emulation a program takes long to come to its question
    const w = world({ asks: true, sandbox: { timeoutMs } });
    let s = await w.serve();
    const id = (await s.post("/prompt", { input: "pay", mode: "code" })).json.promptId;
    const call = await s.waiting(id);
    for (const signal of ["SIGKILL", "SIGTERM", "SIGKILL"]) {
      await s.stop(signal);
      s = await w.serve();
      await s.waiting(id);
    }
    await sleep(timeoutMs + 800);
    await s.post(`/prompts/${id}/approve`, { toolCallId: call.id });
    assert.equal(texts(await s.prompt(id)), "paid 1");
    assert.deepEqual(w.calls(), [1]);
    await s.stop();
  });

  test("a prompt of another configuration stays as it is, and that is said once", async () => {
    const w = world({ asks: true }), other = world();
    const s = await w.serve();
    const id = (await s.post("/prompt", { input: "pay", mode: "code" })).json.promptId;
    await s.waiting(id);
    await s.stop("SIGKILL");
    const stranger = await serve({}, { env, state: w.state, file: other.file });
    await sleep(2500);
    assert.equal((await stranger.get(`/prompts/${id}`)).json.state, "waiting_for_approval");
    assert.equal(stranger.text().split(`the prompt ${id} is not resumed`).length, 2, stranger.text());
    await stranger.stop();
  });
});

describe("what lives is left alone", { concurrency: 3 }, () => {
  test("a decision over HTTP reaches a chat that asks", async () => {
    const w = world({ asks: true });
    const s = await w.serve();
    const chat = await w.asking();
    const id = await lastPrompt(s);
    const call = await s.waiting(id);
    assert.equal((await s.post(`/prompts/${id}/approve`, { toolCallId: call.id })).status, 200);
    await chat.ended;
    const prompt = (await s.get(`/prompts/${id}`)).json;
    assert.deepEqual([prompt.state, texts(prompt), w.calls()], ["completed", "paid 1", [1]]);
    const decided = prompt.output.find((one) => one.function === "cash.pay");
    assert.ok(decided.start <= decided.decided && decided.decided <= decided.end, JSON.stringify(decided));
    await s.stop();
  });

  test("a decision of the command line reaches a server; a chat does not take its prompt", async () => {
    const w = world({ asks: true });
    const s = await w.serve();
    const reader = s.follow();
    await until(() => reader.lastId !== undefined, "the stream has begun");
    const { promptId } = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
    await s.waiting(promptId);
    const chat = await w.lathe("chat", "-c", "last", "-m", "code", "again");
    assert.notEqual(chat.code, 0);
    assert.match(chat.stderr, /runs in another process/);
    const rejected = await w.lathe("reject", promptId, "--reason", "too dear");
    assert.equal(rejected.code, 0, rejected.stderr);
    await until(() => reader.names().includes("prompt.completed"), "it has ended");
    const names = reader.names();
    assert.ok(names.indexOf("prompt.approval-requested") < names.indexOf("prompt.approval-decided"));
    assert.ok(!names.includes("prompt.resumed"));
    assert.match(texts(await s.prompt(promptId)), /too dear$/);
    assert.deepEqual(w.calls(), []);
    reader.close();
    await s.stop();
  });
});

describe("ends", { concurrency: 3 }, () => {
  test("of a prompt that a server began and a chat ends: a reader of the next server gets it, once", async () => {
    const w = world({ asks: true });
    const first = await w.serve();
    const { promptId } = (await first.post("/prompt", { input: "pay", mode: "code" })).json;
    await first.waiting(promptId);
    await first.stop();
    const chat = start(["chat", "-m", "code", "-c", "last", "again", "--config", w.file], { env: { ...env, XDG_STATE_HOME: w.state }, limitMs: 60_000, terminal: true });
    await until(() => chat.text().includes("ne[v]er: "), `it is asked\n${chat.text()}`);
    const s = await w.serve(), reader = s.follow(`?promptId=${promptId}&after=0`);
    chat.type("y\n");
    await until(() => reader.names().includes("prompt.completed"), "the end is told");
    await chat.ended;
    await sleep(1500); // longer than between two looks
    const again = s.follow(`?promptId=${promptId}&after=0`);
    await until(() => again.names().includes("prompt.completed"), "it is stored");
    assert.deepEqual(again.events, reader.events);
    assert.equal(reader.names().filter((name) => name === "prompt.completed").length, 1, reader.names().join());
    assert.equal(texts(reader.events.at(-1).data), "paid 1");
    for (const one of [reader, again]) one.close();
    await s.stop();
  });
});

describe("cancel", { concurrency: 3 }, () => {
  test("kill -9 right behind its answer, and behind that of a decision: both hold in the next process", async () => {
    const w = world({ asks: true });
    let s = await w.serve();
    const begin = async () => (await s.post("/prompt", { input: "pay", mode: "code" })).json.promptId;
    const [cancelled, rejected] = [await begin(), await begin()];
    await s.waiting(cancelled);
    const call = await s.waiting(rejected);
    const answers = await Promise.all([s.post(`/prompts/${cancelled}/cancel`, {}), s.post(`/prompts/${rejected}/reject`, { toolCallId: call.id, reason: "too dear" })]);
    await s.stop("SIGKILL");
    assert.deepEqual(answers.map((one) => one.json), [{ cancelled: true }, { rejected: true }]);
    s = await w.serve();
    assert.equal((await s.prompt(cancelled)).state, "cancelled");
    assert.match(texts(await s.prompt(rejected)), /too dear$/);
    assert.deepEqual(w.calls(), []);
    await s.stop();
  });

  test("while it waits, and of a prompt that was resumed", async () => {
    const w = world({ asks: true });
    let s = await w.serve();
    const ids = [];
    for (let i = 0; i < 2; i++) ids.push((await s.post("/prompt", { input: "pay", mode: "code" })).json.promptId);
    for (const id of ids) await s.waiting(id);
    assert.deepEqual((await s.post(`/prompts/${ids[0]}/cancel`, {})).json, { cancelled: true });
    assert.equal((await s.prompt(ids[0])).state, "cancelled");
    await s.stop("SIGKILL");
    s = await w.serve();
    const call = await s.waiting(ids[1]);
    assert.deepEqual((await s.post(`/prompts/${ids[1]}/cancel`, {})).json, { cancelled: true });
    const prompt = await s.prompt(ids[1]);
    assert.equal(prompt.state, "cancelled");
    assert.equal(prompt.output.find((one) => one.id === call.id).result.type, "error");
    assert.equal((await s.post(`/prompts/${ids[1]}/approve`, { toolCallId: call.id })).status, 404);
    assert.equal((await s.post(`/prompts/${ids[1]}/cancel`, {})).status, 404);
    assert.deepEqual(w.calls(), []);
    await s.stop();
  });

  test("a request that waits for its conversation leaves nothing when its client goes", async () => {
    const w = world({ asks: true });
    const s = await w.serve();
    const { promptId, conversationId } = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
    await s.waiting(promptId);
    const gone = new AbortController();
    const queued = fetch(`${s.url}/prompt`, { method: "POST", signal: gone.signal, headers: { "content-type": "application/json" }, body: JSON.stringify({ input: "again", mode: "code", conversationId, whenBusy: "queue" }) });
    await sleep(500);
    gone.abort();
    await assert.rejects(queued);
    const next = s.post("/prompt", { input: "again", mode: "code", conversationId, whenBusy: "queue" });
    await s.post(`/prompts/${promptId}/cancel`, {});
    const answer = (await next).json;
    await s.prompt(answer.promptId);
    const prompts = (await s.get(`/conversations/${conversationId}`)).json.prompts;
    assert.deepEqual(prompts.map((one) => one.id), [promptId, answer.promptId]);
    await s.stop();
  });
});

describe("the end of a server", { concurrency: 3 }, () => {
  test("a call that can end within the grace does, and its prompt with it; no new prompt is taken meanwhile", async () => {
    const w = world({ delayMs: 800 });
    const s = await w.serve();
    const { promptId } = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
    await until(() => w.calls().length === 1, "the call is under way");
    const ended = s.stop();
    await until(async () => (await s.get("/readyz")).status === 503, "it says that it ends");
    const refused = await s.post("/prompt", { input: "again", mode: "code" });
    assert.deepEqual([refused.status, refused.json.error.code], [503, "closed"]);
    assert.equal((await s.get(`/prompts/${promptId}`)).json.state, "running", "everything else is answered");
    assert.equal((await ended).code, 0);
    const later = await w.serve();
    assert.equal(texts((await later.get(`/prompts/${promptId}`)).json), "paid 1");
    assert.deepEqual(w.calls(), [1]);
    await later.stop();
  });

  test("what takes longer is left to the next process; a second signal does not wait for it", async () => {
    const w = world({ delayMs: 30_000, server: { graceMs: 60_000 } });
    const s = await w.serve();
    const { promptId } = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
    await until(() => w.calls().length === 1, "the call is under way");
    const from = Date.now();
    const ended = s.stop();
    await until(async () => (await s.get("/readyz")).status === 503, "it says that it ends");
    await s.stop();
    assert.equal((await ended).code, 0);
    assert.ok(took(from) < 10_000 * patience, `${took(from)} ms`);
    const later = await w.serve();
    assert.match(texts(await later.prompt(promptId)), INTERRUPTED);
    assert.deepEqual(w.calls(), [1]);
    await later.stop();
  });

  test("a question does not hold it up, but a call beside the question does", async () => {
    const w = world({ asks: true, delayMs: 900, server: { graceMs: 60_000 } });
    let s = await w.serve();
    const { promptId } = (await s.post("/prompt", { input: "beside", mode: "code" })).json;
    await s.waiting(promptId);
    await until(() => w.calls().length === 1, "the other call is under way");
    await s.stop();
    s = await w.serve();
    const call = await s.waiting(promptId);
    assert.deepEqual(w.calls(), [7], "it has ended, and is not made again");
    await s.post(`/prompts/${promptId}/approve`, { toolCallId: call.id });
    assert.equal(texts(await s.prompt(promptId)), "7,1");
    await s.stop();
  });
});
