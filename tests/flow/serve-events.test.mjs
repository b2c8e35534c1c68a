// Events of lathe serve: their order, readers that come back, that are slow, that are gone, and kills.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { before } from "node:test";
import { describe, folder, run, scripted, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { draftOf, followEvents, serve } from "./server.mjs";

const turns = [
  { user: "hello", replies: ["output('Hello!'); done()"] },
  { user: "talk", replies: ["I say a few words."] },
  { user: "typed", replies: [{ text: "I count.", calls: [{ name: "execute_typescript", arguments: { code: 'console.log("é \\n" + (await Promise.resolve(1)));' } }] }, "It is 1."] },
  { user: "pay", replies: ["output('paid ' + cashPay({ n: 1 }).n); done()"] },
];
let env;
before(async () => {
  env = await recorded(turns, { title: "A title" });
});
/** What is stored: all but pieces of text. */
const numbered = (follower) => follower.events.filter((one) => one.id !== undefined);
const ofPrompts = (follower) => follower.events.filter((one) => one.event.startsWith("prompt."));
const asked = { mcpServers: { cash: scripted([{ tool: { name: "pay", inputSchema: { type: "object" } } }]) }, tools: { policy: [{ match: "cash.pay", action: "ask" }] } };

describe("events", { concurrency: 2 }, () => {
  test("a prompt's events come in order, with growing numbers; pieces of text have none", async () => {
    const s = await serve({}, { env });
    const reader = s.follow();
    await until(() => reader.lastId !== undefined, "the stream has begun");
    const one = (await s.post("/prompt", { input: "talk", mode: "classic" })).json;
    await until(() => reader.names().includes("conversation.updated"), "the conversation has a title");
    const names = ofPrompts(reader).map((event) => event.event);
    assert.equal(names[0], "prompt.created");
    assert.equal(names.at(-1), "prompt.completed");
    const streamed = reader.events.filter((event) => event.event === "prompt.stream");
    assert.equal(streamed.map((event) => event.data.delta).join(""), "I say a few words.");
    assert.ok(streamed.every((event) => event.id === undefined));
    const ids = reader.events.flatMap((event) => event.id ?? []);
    assert.deepEqual(ids, [...ids].sort((a, b) => a - b));
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(reader.events.every((event) => (event.data.promptId ?? one.promptId) === one.promptId));
    reader.close();
    assert.equal((await s.stop()).code, 0);
  });

  for (const [input, mode, code] of [["hello", "code", turns[0].replies[0]], ["typed", "typescript", turns[2].replies[0].calls[0].arguments.code]]) {
    test(`a program is told while it is written: ${mode} mode`, async () => {
      const s = await serve({}, { env });
      const reader = s.follow();
      await until(() => reader.lastId !== undefined, "the stream has begun");
      await s.post("/prompt", { input, mode });
      await until(() => reader.names().includes("prompt.completed"), "it has ended");
      const pieces = reader.events.filter((event) => event.event === "prompt.stream" && event.data.program);
      assert.ok(pieces.length > 1 && pieces.every((event) => event.id === undefined));
      assert.deepEqual(pieces.map((event) => event.data.restart), [true, ...pieces.slice(1).map(() => undefined)]);
      assert.equal(draftOf(pieces), code);
      const output = reader.events.findIndex((event) => event.data.output?.input?.code !== undefined);
      assert.equal(reader.events[output].data.output.input.code, code);
      assert.ok(output > reader.events.lastIndexOf(pieces.at(-1)), "the output comes after the pieces");
      reader.close();
      await s.stop();
    });
  }

  test("a server that is killed while a program is written: the next one has it written again, from its start", async () => {
    const slow = await recorded(turns, {}, "--pace=300");
    const s = await serve({}, { env: slow });
    const reader = s.follow();
    await until(() => reader.lastId !== undefined, "the stream has begun");
    await s.post("/prompt", { input: "hello", mode: "code" });
    await until(() => draftOf(reader.events).length > 0, "a piece is there");
    assert.ok(!reader.names().includes("prompt.output"), "before the program is whole");
    await s.stop("SIGKILL");
    const later = await serve({}, { env: slow, state: s.state, file: s.file });
    const again = later.follow("", { "last-event-id": String(reader.lastId) });
    await until(() => again.names().includes("prompt.completed"), "it has ended");
    assert.equal(again.names()[0], "prompt.resumed");
    assert.equal(draftOf([...reader.events, ...again.events]), turns[0].replies[0]);
    again.close();
    await later.stop();
  });

  test("a reader that comes back misses nothing and gets nothing twice, also after kill -9", async () => {
    const s = await serve({}, { env });
    const whole = s.follow("?after=0");
    for (let i = 0; i < 3; i++) await s.post("/run", { code: `output('${i}')`, keep: true });
    await until(() => whole.names().filter((name) => name === "prompt.completed").length === 3, "three programs have ended");
    const ids = numbered(whole).map((event) => event.id);
    for (const after of [0, ids[0], ids[4], ids.at(-2)]) {
      const again = s.follow("", { "last-event-id": String(after) });
      await until(() => again.events.length === ids.filter((id) => id > after).length, `all after ${after}`);
      assert.deepEqual(again.events, numbered(whole).filter((event) => event.id > after));
      again.close();
    }
    await s.stop("SIGKILL");
    const later = await serve({}, { env, state: s.state, file: s.file });
    const reader = later.follow("", { "last-event-id": String(ids[2]) });
    await later.post("/run", { code: "output('later')", keep: true });
    await until(() => reader.names().filter((name) => name === "prompt.completed").length === 4, "three old ends and a new one");
    assert.deepEqual(numbered(reader).slice(0, ids.length - 3), numbered(whole).slice(3));
    assert.ok(numbered(reader).slice(ids.length - 3).every((event) => event.id > ids.at(-1)));
    reader.close();
    await later.stop();
  });

  test("a filter by prompt, and a prompt's events as the answer to its request", async () => {
    const s = await serve({}, { env });
    const first = (await s.post("/run", { code: "1", keep: true })).json;
    const answer = followEvents(`${s.url}/prompt`, { "content-type": "application/json" }, { method: "POST", body: { input: "hello", mode: "code" } });
    assert.equal(await answer.ended, "ended");
    assert.equal(answer.answer.headers["content-type"], "text/event-stream");
    assert.equal(answer.events[0].event, "prompt.created");
    const end = answer.events.at(-1);
    assert.equal(end.event, "prompt.completed");
    assert.equal(end.data.output.at(-1).content, "Hello!");
    const filtered = s.follow(`?promptId=${first.promptId}&after=0`);
    await until(() => filtered.names().includes("prompt.completed"), "the first one's end");
    assert.ok(filtered.events.every((event) => event.data.promptId === first.promptId));
    filtered.close();
    assert.equal((await s.get("/events/stream", { "last-event-id": "x" })).status, 400);
    await s.stop();
  });

  test("an approval is asked for, decided, and told; a killed server asks again with the same ids", async () => {
    const s = await serve(asked, { env });
    const reader = s.follow();
    await until(() => reader.lastId !== undefined, "the stream has begun");
    const { promptId } = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
    const request = await until(() => reader.events.find((event) => event.event === "prompt.approval-requested"), "it is asked for");
    assert.deepEqual([request.data.promptId, request.data.request.toolName], [promptId, "cash.pay"]);
    await s.stop("SIGKILL");
    const later = await serve({}, { env, state: s.state, file: s.file });
    const again = later.follow("", { "last-event-id": String(reader.lastId) });
    await until(() => again.names().includes("prompt.resumed"), "it is resumed");
    await later.waiting(promptId);
    await later.post(`/prompts/${promptId}/approve`, { toolCallId: request.data.request.toolCallId });
    await until(() => again.names().includes("prompt.completed"), "it has ended");
    const names = again.names();
    assert.ok(names.indexOf("prompt.approval-decided") > names.indexOf("prompt.resumed"));
    assert.equal(again.events.find((event) => event.event === "prompt.completed").data.output.at(-1).content, "paid 1");
    again.close();
    await later.stop();
  });

  test("killed under load: every prompt that was taken has one beginning and one end, in the events and in the store", async () => {
    const s = await serve({}, { env });
    const reader = s.follow("?after=0");
    const taken = [];
    const asking = Array.from({ length: 24 }, async (_, i) => {
      try {
        const { json } = await s.post("/run", { code: `for (let i = 0; i < 5; i++) output('${i} ' + i)`, waitMs: 0 });
        taken.push(json.promptId);
      } catch { /* the server was killed */ }
    });
    await until(() => reader.names().includes("prompt.completed"), "one has ended");
    await s.stop("SIGKILL");
    await Promise.all(asking);
    const later = await serve({}, { env, state: s.state, file: s.file });
    assert.ok(taken.length > 0);
    for (const id of taken) assert.equal((await later.prompt(id)).state, "completed");
    const again = later.follow("?after=0");
    const endsOf = (id) => again.events.filter((event) => event.event === "prompt.completed" && event.data.promptId === id);
    await until(() => taken.every((id) => endsOf(id).length > 0), "every end is told");
    for (const id of taken) {
      const names = again.events.filter((event) => event.data.promptId === id).map((event) => event.event);
      assert.ok(["prompt.created", "prompt.resumed"].includes(names[0]), names.join());
      assert.deepEqual([endsOf(id).length, names.at(-1)], [1, "prompt.completed"], names.join());
    }
    const seen = numbered(reader);
    assert.deepEqual(again.events.slice(0, seen.length), seen, "what was told before is told again, byte for byte");
    again.close();
    await later.stop();
  });

  test("a reader that does not read holds up nobody, and gets everything when it does", async () => {
    const s = await serve({ sandbox: { maxOutputBytes: 4 << 20 } }, { env });
    const slow = followEvents(`${s.url}/events/stream?after=0`);
    await until(() => slow.answer !== undefined, "it is answered");
    slow.answer.pause();
    const quick = s.follow();
    await until(() => quick.lastId !== undefined, "the stream has begun");
    for (let i = 0; i < 8; i++) await s.post("/run", { code: "output('x'.repeat(1 << 20))", keep: true });
    await until(() => quick.names().filter((name) => name === "prompt.completed").length === 8, "the other has all ends");
    slow.answer.resume();
    await until(() => slow.names().filter((name) => name === "prompt.completed").length === 8, "the slow one, too", 30_000);
    assert.deepEqual(numbered(slow), numbered(quick));
    const pieces = (follower) => follower.events.length - numbered(follower).length;
    assert.ok(pieces(slow) < pieces(quick), "what it was too slow for was not kept for it");
    slow.close();
    quick.close();
    await s.stop();
  });

  test("readers that are gone, half closed or too many words in a row leave the server as it was", async () => {
    const s = await serve({}, { env });
    for (let i = 0; i < 20; i++) {
      const socket = connect(s.port, "127.0.0.1");
      await new Promise((done) => socket.on("connect", done));
      socket.write("GET /events/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await new Promise((done) => socket.once("data", done));
      if (i % 2) socket.destroy(); else socket.resetAndDestroy();
    }
    assert.equal((await s.post("/run", { code: "1 + 1" })).json.text, "2");
    const open = s.follow();
    await until(() => open.lastId !== undefined, "the stream has begun");
    assert.equal((await s.stop()).code, 0);
    assert.ok(["ended", "closed", "broken"].includes(await open.ended));
  });

  test("users get their own events only", async () => {
    const state = folder();
    const token = async (user) => ({ authorization: `Bearer ${(await run(["serve", "token", "add", user], { env: { XDG_STATE_HOME: state } })).stdout.trim()}` });
    const ann = await token("ann"), bob = await token("bob");
    const s = await serve({}, { env, state });
    const readers = [s.follow("?after=0", ann), s.follow("?after=0", bob)];
    await s.post("/run", { code: "'of ann'", keep: true }, ann);
    await s.post("/run", { code: "'of bob'", keep: true }, bob);
    for (const reader of readers) await until(() => reader.names().includes("prompt.completed"), "its own end");
    assert.ok(readers[0].text.includes("of ann") && !readers[0].text.includes("of bob"));
    assert.ok(readers[1].text.includes("of bob") && !readers[1].text.includes("of ann"));
    const refused = s.follow();
    await refused.ended;
    assert.equal(refused.status, 401);
    readers.forEach((reader) => reader.close());
    await s.stop();
  });
});
