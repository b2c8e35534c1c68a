// lathe serve over real HTTP: seed 014's requests, wrong ones, users, and what outlives the process.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { before } from "node:test";
import { describe, folder, recording, run, scripted, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const PAY = "let r = 'none';\ntry { r = cashPay({ n: 1 }).n } catch (e) { r = e.message }\noutput('paid ' + r); done()";
const turns = [{ user: "pay", replies: [PAY] }, { user: "hello", replies: ["output('Hello!'); done()"] }, { user: "again", replies: ["output('Again.'); done()"] }];
const HEX = /^[0-9a-f]{32}$/;
const JSON_TYPE = { "content-type": "application/json" };

let env;
before(async () => {
  env = await recorded(turns, { title: "A title" });
});

/** A server with a tool "cash.pay" that is asked about. */
async function shop(options = {}) {
  const effects = recording();
  const tool = { tool: { name: "pay", inputSchema: { type: "object", properties: { n: { type: "number" } } } } };
  const one = await serve({ mcpServers: { cash: scripted([tool], effects.option) }, tools: { policy: [{ match: "cash.pay", action: "ask" }] } }, { env, ...options });
  return { ...one, paid: () => effects.of("tools/call").map((call) => call.params.arguments) };
}

describe("prompts", { concurrency: 2 }, () => {
  test("POST /prompt answers at once, and the prompt runs on", async () => {
    const s = await serve({}, { env });
    const { status, json } = await s.post("/prompt", { input: "hello", mode: "code" });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json), ["promptId", "conversationId"]);
    assert.match(json.promptId, HEX);
    const prompt = await s.prompt(json.promptId);
    assert.deepEqual([prompt.state, prompt.mode, prompt.userId, prompt.input], ["completed", "code", "local", "hello"]);
    assert.deepEqual(prompt.output.map((one) => one.type), ["tool", "text"]);
    assert.equal(prompt.output[1].content, "Hello!");

    const second = await s.post("/prompt", { input: "again", mode: "code", conversationId: json.conversationId });
    assert.equal(second.json.conversationId, json.conversationId);
    await s.prompt(second.json.promptId);
    const conversation = await s.get(`/conversations/${json.conversationId}`);
    assert.deepEqual(conversation.json.prompts.map((one) => one.input), ["hello", "again"]);
    await until(async () => (await s.get(`/conversations/${json.conversationId}`)).json.conversation.title === "A title", "it has a title");
    assert.equal((await s.stop()).code, 0);
  });

  test("what is wrong with a request is said, with its status", async () => {
    const s = await serve({}, { env });
    const wrong = async (path, body, status, message, headers) => {
      const answer = await s.post(path, body, headers);
      assert.deepEqual([answer.status, answer.json?.error?.message], [status, message], answer.text);
      assert.match(answer.json.error.code, /^[a-z]+$/);
    };
    await wrong("/prompt", { input: "x", mode: "nope" }, 400, 'Unknown execution mode: "nope"');
    await wrong("/prompt", { input: "x", model: "nope" }, 400, 'Unknown model: "nope". Models: normal');
    await wrong("/prompt", { input: "x", conversationId: "nope" }, 404, 'Conversation "nope" not found');
    await wrong("/prompt", { mode: "code" }, 400, "body.input: is required");
    await wrong("/prompt", { input: 1 }, 400, "body.input: expected string, got number");
    const unknown = await s.post("/prompt", { input: "x", fast: true });
    assert.equal(unknown.status, 400);
    assert.match(unknown.json.error.message, /^body\.fast: is not a known property/);
    for (const verb of ["approve", "reject"]) await wrong(`/prompts/nope/${verb}`, { toolCallId: "call-0" }, 404, 'Prompt "nope" not found or no longer active');
    await wrong("/prompts/nope/cancel", undefined, 404, 'Prompt "nope" not found or no longer active');
    await wrong("/tools/nope/invoke", { input: {} }, 404, 'Tool "nope" not found');
    assert.equal((await s.get("/prompts/nope")).status, 404);
    assert.equal((await s.get("/nothing")).status, 404);
    assert.equal((await s.get("/conversations?limit=0")).status, 400);
    assert.equal((await s.get("/conversations?colour=red")).status, 400);
    assert.equal((await s.get("/conversations?cursor=%ff~")).status, 400);
    assert.equal((await s.get("/prompts/%zz")).status, 400);
    const method = await s.ask("DELETE", "/prompt");
    assert.deepEqual([method.status, method.headers.get("allow")], [405, "POST"]);
    const options = await s.ask("OPTIONS", "/conversations/x");
    assert.deepEqual([options.status, options.headers.get("allow")], [204, "GET, HEAD, PATCH, DELETE"]);
    assert.equal((await s.post("/prompt", "input=x", { "content-type": "application/x-www-form-urlencoded" })).status, 415);
    await s.stop();
  });

  test("bad bodies get an answer, and the server stays", async () => {
    const s = await serve({}, { env });
    const status = async (body) => (await s.post("/prompt", body, JSON_TYPE)).status;
    assert.equal(await status('{"input": "x"'), 400);
    assert.equal(await status(""), 400);
    assert.equal(await status("[".repeat(100_000)), 413);
    assert.equal(await status(Buffer.from([...Buffer.from('{"input":"'), 0xff, 0xfe, ...Buffer.from('"}')])), 400);
    assert.equal(await status(JSON.stringify({ input: "   " })), 400);
    assert.equal(await status(JSON.stringify({ input: "x".repeat(5 * 1024 * 1024) })), 413);
    const huge = await s.post("/prompt", JSON.stringify({ input: "x".repeat(9 * 1024 * 1024) }), JSON_TYPE).catch((e) => e);
    assert.ok(huge.status === 413 || huge instanceof Error);
    assert.equal((await s.get("/healthz")).status, 200);
    await s.stop();
  });

  test("pages of other sites, and names that point here, are refused", async () => {
    const s = await serve({ server: { hosts: ["lathe.example"], origins: ["https://app.example"] } }, { env });
    // fetch does not let Host be set: as it stands on the wire
    const raw = (head) => new Promise((done, no) => {
      let said = "";
      const socket = connect(s.port, "127.0.0.1", () => socket.write(`${head}\r\nConnection: close\r\n\r\n`));
      socket.on("data", (bytes) => (said += bytes)).on("end", () => done(said)).on("error", no);
    });
    assert.match(await raw("GET /modes HTTP/1.1\r\nHost: evil.example"), /^HTTP\/1\.1 421 /);
    assert.match(await raw("GET /modes HTTP/1.1\r\nHost: lathe.example"), /^HTTP\/1\.1 200 /);
    assert.equal((await s.post("/prompt", { input: "hello" }, { origin: "https://evil.example" })).status, 403);
    assert.equal((await s.post("/prompts/x/cancel", undefined, { origin: "null" })).status, 403);
    const app = await s.get("/modes", { origin: "https://app.example" });
    assert.deepEqual([app.status, app.headers.get("access-control-allow-origin")], [200, "https://app.example"]);
    assert.equal((await s.get("/modes", { origin: s.url })).status, 200);
    await s.stop();
  });

  test("the same Idempotency-Key is the same prompt, also for a later process", async () => {
    const s = await serve({}, { env });
    const key = { "idempotency-key": "k1" };
    const all = await Promise.all([1, 2, 3].map(() => s.post("/prompt", { input: "hello", mode: "code" }, key)));
    assert.deepEqual(all.map((one) => one.status), [200, 200, 200], all.map((one) => one.text).join());
    assert.equal(new Set(all.map((one) => one.json.promptId)).size, 1);
    assert.equal(new Set(all.map((one) => one.json.conversationId)).size, 1);
    await s.prompt(all[0].json.promptId);
    assert.equal((await s.post("/prompt", { input: "again", mode: "code" }, key)).status, 400);
    await s.stop();
    const later = await serve({}, { env, state: s.state, file: s.file });
    assert.deepEqual((await later.post("/prompt", { input: "hello", mode: "code" }, key)).json, all[0].json);
    assert.equal((await later.get("/conversations")).json.conversations.length, 1);
    await later.stop();
  });
});

describe("decisions", { concurrency: 2 }, () => {
  test("approve with another input, and reject with a reason", async () => {
    const s = await shop();
    const one = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
    const call = await s.waiting(one.promptId);
    assert.equal(call.function, "cash.pay");
    assert.deepEqual((await s.post(`/prompts/${one.promptId}/approve`, { toolCallId: call.id, input: { n: 7 } })).json, { approved: true });
    assert.equal((await s.prompt(one.promptId)).output.at(-1).content, "paid 7");
    assert.deepEqual(s.paid(), [{ n: 7 }]);
    const late = await s.post(`/prompts/${one.promptId}/approve`, { toolCallId: call.id });
    assert.deepEqual([late.status, late.json.error.message], [404, `Prompt "${one.promptId}" not found or no longer active`]);

    const two = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
    const other = await s.waiting(two.promptId);
    const none = await s.post(`/prompts/${two.promptId}/reject`, { toolCallId: "call-99" });
    assert.deepEqual([none.status, none.json.error.message], [404, 'No tool call "call-99" waits for approval']);
    assert.deepEqual((await s.post(`/prompts/${two.promptId}/reject`, { toolCallId: other.id, reason: "too much" })).json, { rejected: true });
    assert.match((await s.prompt(two.promptId)).output.at(-1).content, /too much/);
    assert.equal(s.paid().length, 1);
    await s.stop();
  });

  test("a busy conversation is refused and not removed, and cancelled while it waits", async () => {
    const s = await shop();
    const one = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
    await s.waiting(one.promptId);
    const busy = await s.post("/prompt", { input: "again", mode: "code", conversationId: one.conversationId });
    assert.deepEqual([busy.status, busy.json.error.code], [409, "busy"]);
    const kept = await s.ask("DELETE", `/conversations/${one.conversationId}`);
    assert.deepEqual([kept.status, kept.json.error.code], [409, "busy"]);
    assert.match(kept.json.error.message, /has not ended: wait for it, or cancel it/);
    assert.deepEqual((await s.post(`/prompts/${one.promptId}/cancel`)).json, { cancelled: true });
    assert.equal((await s.prompt(one.promptId)).state, "cancelled");
    const again = (await s.post("/prompt", { input: "again", mode: "code", conversationId: one.conversationId })).json;
    await s.prompt(again.promptId);
    assert.equal((await s.ask("DELETE", `/conversations/${one.conversationId}`)).status, 204);
    assert.deepEqual(s.paid(), []);
    await s.stop();
  });

  for (const signal of ["SIGKILL", "SIGTERM"]) {
    test(`a prompt that waits does so after ${signal}, too, and is decided in the next process`, async () => {
      const s = await shop();
      const one = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
      const call = await s.waiting(one.promptId);
      await s.stop(signal);
      const later = await shop({ state: s.state, file: s.file });
      assert.equal((await later.waiting(one.promptId)).id, call.id);
      assert.deepEqual((await later.post(`/prompts/${one.promptId}/approve`, { toolCallId: call.id })).json, { approved: true });
      assert.equal((await later.prompt(one.promptId)).output.at(-1).content, "paid 1");
      assert.equal(s.paid().length, 1, "the file of calls is the first server's");
      await later.stop();
    });
  }
});

test("requests for a busy conversation wait in their order when they ask for it; who goes away has asked for nothing", async () => {
  const s = await shop();
  const one = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
  const call = await s.waiting(one.promptId);
  const queued = (input, signal) => fetch(`${s.url}/prompt`, { method: "POST", signal, headers: JSON_TYPE, body: JSON.stringify({ input, mode: "code", conversationId: one.conversationId, whenBusy: "queue" }) });
  const gone = new AbortController();
  const left = queued("hello", gone.signal).catch((e) => e.name);
  const first = queued("again");
  await until(async () => (await s.get("/healthz")).status === 200, "it answers meanwhile");
  gone.abort();
  assert.equal(await left, "AbortError");
  const before = (await s.get(`/conversations/${one.conversationId}`)).json.prompts.length;
  assert.equal(before, 1, "nothing has started");
  await s.post(`/prompts/${one.promptId}/approve`, { toolCallId: call.id });
  const answer = await first;
  assert.equal(answer.status, 200);
  await s.prompt((await answer.json()).promptId);
  const inputs = (await s.get(`/conversations/${one.conversationId}`)).json.prompts.map((prompt) => prompt.input);
  assert.deepEqual(inputs, ["pay", "again"]);
  await s.stop();
});

describe("beside lathe chat on the same store", { concurrency: 2 }, () => {
  test("what waits in a chat is decided over HTTP, and the chat goes on with it", async () => {
    const s = await shop();
    const chat = start(["chat", "--json", "--decisions", "-m", "code", "pay", "--config", s.file], { env: { ...env, XDG_STATE_HOME: s.state }, typed: true, limitMs: 60_000 });
    const line = await until(() => chat.out().split("\n").find((one) => one.includes("prompt.approval-requested")), "the chat asks");
    const { promptId, request } = JSON.parse(line).data;
    assert.equal((await s.get(`/prompts/${promptId}`)).json.state, "waiting_for_approval");
    assert.deepEqual((await s.post(`/prompts/${promptId}/approve`, { toolCallId: request.toolCallId, input: { n: 5 } })).json, { approved: true });
    const end = await chat.ended;
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /paid 5/);
    assert.equal((await s.prompt(promptId)).state, "completed");
    await s.stop();
  });

  test("what waits here is no chat's, and is cancelled from the command line", async () => {
    const s = await shop();
    const one = (await s.post("/prompt", { input: "pay", mode: "code" })).json;
    await s.waiting(one.promptId);
    const options = { env: { ...env, XDG_STATE_HOME: s.state } };
    const chat = await run(["chat", "-c", one.conversationId, "again", "--config", s.file], options);
    assert.equal(chat.code, 1);
    assert.match(chat.stderr, /runs in another process/);
    assert.equal((await run(["cancel", one.promptId, "--config", s.file], options)).code, 0);
    assert.equal((await s.prompt(one.promptId)).state, "cancelled");
    await s.stop();
  });

  test("an answer that is remembered holds for the calls after it", async () => {
    const s = await shop();
    const code = "const said = [];\nfor (const n of [1, 2, 2]) { try { said.push(cashPay({ n }).n) } catch (e) { said.push('no') } }\nsaid";
    const decide = async (verb, remember) => {
      const { promptId } = (await s.post("/run", { code, waitMs: 0 })).json;
      const call = await s.waiting(promptId);
      assert.equal((await s.post(`/prompts/${promptId}/${verb}`, { toolCallId: call.id, remember })).status, 200);
      return (await s.prompt(promptId)).output[0].result.output;
    };
    assert.deepEqual(await decide("approve", "tool"), [1, 2, 2]);
    assert.deepEqual(await decide("reject", "tool"), ["no", "no", "no"]);
    assert.deepEqual(s.paid(), [{ n: 1 }, { n: 2 }, { n: 2 }]);
    const wrong = await s.post("/prompts/x/approve", { toolCallId: "y", remember: "ever" });
    assert.deepEqual([wrong.status, wrong.json.error.code], [400, "invalid"]);
    await s.stop();
  });
});

describe("programs and tools", { concurrency: 2 }, () => {
  test("a program runs without a model; its record says what came from outside", async () => {
    const s = await shop();
    const done = await s.post("/run", { code: "output('sum'); 1 + 2" });
    assert.deepEqual([done.status, done.json.state, done.json.text], [200, "completed", "sum\n3"]);
    const failed = await s.post("/run", { code: "nothing()" });
    assert.deepEqual([failed.status, failed.json.state], [200, "failed"]);
    assert.match(failed.json.error, /nothing/);
    const waits = await s.post("/run", { code: "cashPay({ n: 2 }).n", waitMs: 0 });
    assert.equal(waits.status, 202);
    const call = await s.waiting(waits.json.promptId);
    await s.post(`/prompts/${waits.json.promptId}/approve`, { toolCallId: call.id });
    assert.equal((await s.prompt(waits.json.promptId)).output.at(-1).content, "2");
    const record = (await s.get(`/prompts/${waits.json.promptId}/record`)).json;
    const calls = record.runs.flatMap((one) => one.calls);
    assert.deepEqual(calls.map((one) => [one.tool, one.output]), [["cash.pay", { n: 2 }]]);
    const notes = record.runs.map((one) => one.notes.map((note) => note.kind));
    assert.deepEqual(notes[0], ["start", "decision"]);
    assert.deepEqual([notes[1][0], notes[1].at(-1)], ["begin", "end"]);
    assert.deepEqual([record.runs[1].runner, record.runs[1].notes.find((note) => note.kind === "ready").call], ["quickjs", 1]);
    assert.equal(record.runs[0].notes[1].approved, true);
    assert.deepEqual(record.runs[1].notes.at(-1).data.status, "OK");
    assert.equal((await s.post("/run", { code: "1", language: "cobol" })).status, 400);
    await s.stop();
  });

  test("tools, declarations, and calls under the rules", async () => {
    const echo = { tool: { name: "echo", description: "Says it again", inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } } };
    const s = await serve({ mcpServers: { shop: scripted([echo]) } }, { env });
    const { tools, found } = (await s.get("/tools?query=echo&limit=1")).json;
    assert.deepEqual([tools.length, tools[0].id, tools[0].name, tools[0].requiresApproval], [1, "shop.echo", "shopEcho", false]);
    assert.deepEqual([tools[0].source, tools[0].typescriptName, tools[0].inputSchema], ["shop", "echo", echo.tool.inputSchema]);
    const [brief] = (await s.get("/tools?query=echo&limit=1&brief=true")).json.tools;
    assert.deepEqual([brief.id, brief.inputSchema], ["shop.echo", undefined]);
    const one = (await s.get("/tools/shop.echo")).json;
    assert.deepEqual([one.id, one.inputSchema], ["shop.echo", echo.tool.inputSchema]);
    assert.match(one.declarations.typescript, /declare function echo\(input: EchoInput\)/);
    assert.match(one.declarations.python, /^def shop_echo\(\*, n: float\)/);
    assert.equal((await s.get("/tools/shop.nope")).status, 404);
    assert.ok(found >= 1);
    assert.deepEqual((await s.post("/tools/shop.echo/invoke", { input: { n: 3 } })).json, { result: { n: 3 } });
    const wrong = await s.post("/tools/shop.echo/invoke", {});
    assert.equal(wrong.status, 400);
    assert.match((await s.get("/declarations")).text, /echo/);
    assert.match((await s.get("/declarations?language=python")).text, /shop_echo/);
    const globals = (await s.get("/declarations?part=globals")).text;
    for (const name of ["output", "recall", "toolSchema", "storeArtifact"]) assert.match(globals, new RegExp(`^declare function ${name}\\(`, "m"));
    assert.doesNotMatch(globals, /echo/);
    assert.match((await s.get("/declarations?part=globals&language=python")).text, /def set_result/);
    assert.equal((await s.get("/declarations?part=some")).status, 400);
    assert.equal((await s.get("/declarations?language=cobol")).status, 400);
    await s.stop();
  });

  test("a call of a tool that needs an approval waits as a prompt does", async () => {
    const s = await shop();
    const one = await s.post("/tools/cash.pay/invoke", { input: { n: 1 } });
    assert.deepEqual([one.status, Object.keys(one.json)], [202, ["promptId", "conversationId"]], one.text);
    const call = await s.waiting(one.json.promptId);
    assert.deepEqual([call.function, call.input, s.paid()], ["cash.pay", { n: 1 }, []]);
    await s.post(`/prompts/${one.json.promptId}/approve`, { toolCallId: call.id, input: { n: 2 } });
    assert.equal((await s.prompt(one.json.promptId)).state, "completed");
    assert.deepEqual(s.paid(), [{ n: 2 }]);

    const decide = async (verb, body) => {
      const known = (await s.get("/conversations")).json.conversations.map((it) => it.id);
      const answer = s.post("/tools/cash.pay/invoke", { input: { n: 3 }, waitMs: 30_000 });
      const fresh = await until(async () => (await s.get("/conversations")).json.conversations.find((it) => !known.includes(it.id)), "it asks");
      const prompt = (await s.get(`/conversations/${fresh.id}`)).json.prompts[0].id;
      await s.post(`/prompts/${prompt}/${verb}`, { toolCallId: (await s.waiting(prompt)).id, ...body });
      return answer;
    };
    assert.deepEqual((await decide("approve")).json, { result: { n: 3 } });
    const no = await decide("reject", { reason: "too much" });
    assert.deepEqual([no.status, no.json.error.code], [422, "tool"]);
    assert.match(no.json.error.message, /too much/);
    assert.deepEqual(s.paid(), [{ n: 2 }, { n: 3 }]);
    await s.stop();
    const never = await serve({ mcpServers: { cash: scripted([{ tool: { name: "pay", inputSchema: { type: "object" } } }]) }, tools: { policy: [{ match: "cash.pay", action: "deny" }] } }, { env });
    assert.equal((await never.post("/tools/cash.pay/invoke", {})).status, 403);
    await never.stop();
  });

  test("a run without an effect leaves nothing behind, one with an effect or a wait is a prompt", async () => {
    const s = await shop();
    const reader = s.follow();
    await until(() => reader.status === 200, "the reader is there");
    const sum = (await s.post("/run", { code: "console.log('adding'); 1 + 2" })).json;
    assert.deepEqual([sum.state, sum.isStored, sum.result, sum.logs, sum.text], ["completed", false, 3, "adding", "adding\n3"]);
    assert.deepEqual((await s.post("/run", { code: "'3'" })).json.result, "3");
    assert.equal("result" in (await s.post("/run", { code: "undefined" })).json, false);
    assert.equal((await s.post("/run", { code: "nope()" })).json.isStored, false);
    assert.equal((await s.get(`/prompts/${sum.promptId}`)).status, 404);
    assert.deepEqual((await s.get("/conversations")).json.conversations, []);
    const kept = (await s.post("/run", { code: "1 + 2", keep: true })).json;
    assert.deepEqual([kept.isStored, kept.result], [true, 3]);
    const stored = (await s.get(`/prompts/${kept.promptId}`)).json;
    assert.deepEqual([stored.state, stored.output[0].result.output], ["completed", 3]);
    assert.match((await run(["conversations"], { env: { XDG_STATE_HOME: s.state } })).stdout, /     1  Program: 1 \+ 2\n$/);
    const slow = await s.post("/run", { code: "output('a'); await sleep(2000); 5", waitMs: 100 });
    assert.deepEqual([slow.status, slow.json.isStored, slow.json.state], [202, true, "running"], slow.text);
    assert.equal((await s.prompt(slow.json.promptId)).state, "completed");
    const effect = (await s.post("/run", { code: "storeArtifact({ a: 1 })" })).json;
    assert.equal(effect.isStored, true);
    assert.equal((await s.get(`/prompts/${effect.promptId}`)).json.state, "completed");
    await until(() => reader.names().filter((name) => name === "prompt.completed").length === 3, "the events of the three that are stored");
    assert.deepEqual([...new Set(reader.events.map((one) => one.data.promptId))], [kept, slow.json, effect].map((one) => one.promptId));
    assert.ok(reader.events.every((one) => one.event === "prompt.stream" || one.id > 0));
    reader.close();
    await s.stop();
  });

  test("an artifact comes as an attachment that cannot run as a page", async () => {
    const s = await serve({}, { env });
    const made = (await s.post("/run", { code: "storeArtifact({ html: '<script>' }, 'a page')" })).json;
    const { status, headers, json } = await s.get(`/artifacts/${made.text}`);
    assert.equal(status, 200, made.text);
    assert.deepEqual(json, { html: "<script>" });
    assert.match(headers.get("content-disposition"), /^attachment; /);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.match(headers.get("content-security-policy"), /sandbox/);
    assert.equal((await s.get("/artifacts/nope")).status, 404);
    await s.stop();
  });

  test("conversations in pages, renamed, removed", async () => {
    const s = await serve({}, { env });
    for (let i = 0; i < 5; i++) await s.post("/run", { code: `${i}`, keep: true });
    const ids = [];
    for (let cursor = ""; ;) {
      const { json } = await s.get(`/conversations?limit=2${cursor}`);
      ids.push(...json.conversations.map((one) => one.id));
      if (!json.nextCursor) break;
      cursor = `&cursor=${encodeURIComponent(json.nextCursor)}`;
    }
    assert.equal(new Set(ids).size, 5);
    assert.equal(ids.length, 5);
    const events = s.follow();
    await until(() => events.status === 200, "the events are followed");
    assert.equal((await s.ask("PATCH", `/conversations/${ids[0]}`, { title: "Mine" })).json.title, "Mine");
    const told = await until(() => events.events.find((one) => one.event === "conversation.updated"), "others are told");
    assert.deepEqual([told.data, Number.isInteger(told.id)], [{ conversationId: ids[0], title: "Mine" }, true]);
    events.close();
    const usual = async (configuration) => {
      const other = configuration ? await serve(configuration) : s;
      const { modes } = (await other.get("/modes")).json;
      if (configuration) await other.stop();
      return modes.filter((one) => one.isDefault).map((one) => one.id);
    };
    assert.deepEqual(await Promise.all([usual(), usual({ defaults: { mode: "code" } }), usual({ defaults: { codeMode: true } })]), [["classic"], ["code"], ["typescript"]]);
    assert.equal((await s.ask("DELETE", `/conversations/${ids[1]}`)).status, 204);
    assert.equal((await s.get(`/conversations/${ids[1]}`)).status, 404);
    assert.equal((await s.get("/conversations")).json.conversations.length, 4);
    await s.stop();
  });

  test("conversations are found by their title, a message or an answer, in pages", async () => {
    const s = await serve({}, { env });
    for (let i = 0; i < 3; i++) await s.post("/run", { code: `output('Number ${i} says "h\u00e9llo"\\n')`, keep: true });
    await s.post("/run", { code: "'something else'", keep: true });
    const found = async (query, more = "") => (await s.get(`/conversations?query=${encodeURIComponent(query)}${more}`)).json;
    assert.equal((await found('says "h\u00e9llo"')).conversations.length, 3); // as it was said, not as it is written in JSON
    assert.equal((await found("NUMBER 1")).conversations.length, 1);
    assert.equal((await s.get("/conversations?query=number+1")).json.conversations.length, 1);
    assert.deepEqual((await found("100%")).conversations, []);
    const page = await found("number", "&limit=2");
    const next = await found("number", `&limit=2&cursor=${encodeURIComponent(page.nextCursor)}`);
    assert.deepEqual([page.conversations.length, next.conversations.length, next.nextCursor], [2, 1, undefined]);
    await s.ask("PATCH", `/conversations/${next.conversations[0].id}`, { title: "A zebra" });
    assert.deepEqual((await found("zebra")).conversations.map((one) => one.id), [next.conversations[0].id]);
    await s.stop();
  });

  test("prompts of a conversation, artifacts and tools in pages", async () => {
    const s = await serve({ mcpServers: { shop: scripted([1, 2, 3].map((n) => ({ tool: { name: `tool${n}`, inputSchema: { type: "object" } } }))) } }, { env });
    const one = (await s.post("/prompt", { input: "hello", mode: "code" })).json;
    const ids = [one.promptId];
    for (const input of ["again", "hello"]) {
      await s.prompt(ids.at(-1));
      ids.push((await s.post("/prompt", { input, mode: "code", conversationId: one.conversationId, whenBusy: "queue" })).json.promptId);
    }
    await s.prompt(ids.at(-1));
    const newest = (await s.get(`/conversations/${one.conversationId}?limit=2`)).json;
    assert.deepEqual([newest.prompts.map((it) => it.id), newest.nextCursor], [ids.slice(1), ids[1]]);
    const older = (await s.get(`/conversations/${one.conversationId}?limit=2&cursor=${newest.nextCursor}`)).json;
    assert.deepEqual([older.prompts.map((it) => it.id), older.nextCursor], [ids.slice(0, 1), undefined]);
    await s.post("/run", { code: "for (let i = 0; i < 5; i++) storeArtifact({ i })" });
    const seen = [];
    for (let cursor = ""; ;) {
      const { artifacts, nextCursor } = (await s.get(`/artifacts?limit=2${cursor}`)).json;
      seen.push(...artifacts.map((it) => it.id));
      if (nextCursor === undefined) break;
      cursor = `&cursor=${nextCursor}`;
    }
    assert.deepEqual([seen.length, new Set(seen).size], [5, 5]);
    const all = (await s.get("/tools?brief=true")).json;
    assert.equal(all.tools.length, all.found);
    const first = (await s.get("/tools?brief=true&limit=2")).json;
    const rest = (await s.get(`/tools?brief=true&cursor=${first.nextCursor}`)).json;
    assert.deepEqual([...first.tools, ...rest.tools], all.tools);
    assert.deepEqual((await s.get("/tools?cursor=1000")).json.tools, []);
    await s.stop();
  });

  test("what a write would change, secrets masked; prices of models", async () => {
    const schema = (...names) => ({ type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])), required: names });
    const write = { tool: { name: "write_file", inputSchema: schema("path", "content") } };
    const read = { tool: { name: "read_text_file", inputSchema: schema("path"), annotations: { readOnlyHint: true } }, result: { content: [{ type: "text", text: "one\ntwo s3cr3t-t0k3n-of-ours\n" }] } };
    const models = [{ ref: "normal", model: "m", price: { input: 0.15, output: 2, cachedInput: 0.075 } }, { ref: "free" }];
    const s = await serve({ mcpServers: { fs: { ...scripted([write, read]), env: { KEY: "${SECRET_KEY}" } } }, models, tools: { policy: [{ match: "*.write_file", action: "ask" }] } }, { env: { ...env, SECRET_KEY: "s3cr3t-t0k3n-of-ours" } });
    const run = (await s.post("/run", { code: "fsWriteFile({ path: 'a.md', content: 'one\\nthree\\n' })", waitMs: 0 })).json;
    const call = await s.waiting(run.promptId);
    const { diff } = (await s.get(`/prompts/${run.promptId}/preview?toolCallId=${call.id}`)).json;
    assert.match(diff, /^--- a\.md\n\+\+\+ a\.md\n one\n-two (?!s3cr3t)\S+\n\+three\n$/);
    assert.equal((await s.get(`/prompts/${run.promptId}/preview?toolCallId=nope`)).status, 404);
    assert.equal((await s.get("/prompts/nope/preview?toolCallId=x")).status, 404);
    await s.post(`/prompts/${run.promptId}/reject`, { toolCallId: call.id });
    await s.prompt(run.promptId);
    assert.equal((await s.get(`/prompts/${run.promptId}/preview?toolCallId=${call.id}`)).status, 404);
    assert.deepEqual((await s.get("/models")).json.models.map((one) => [one.ref, one.price]), [["normal", { input: 0.15, output: 2, cachedInput: 0.075 }], ["free", undefined]]);
    await s.stop();
    const plain = await shop();
    const other = (await plain.post("/run", { code: "cashPay({})", waitMs: 0 })).json;
    const asked = await plain.waiting(other.promptId);
    assert.deepEqual((await plain.get(`/prompts/${other.promptId}/preview?toolCallId=${asked.id}`)).json, {});
    await plain.stop();
  });

  test("the API describes itself, and every operation of it exists", async () => {
    const s = await serve({}, { env });
    const document = (await s.get("/openapi.json")).json;
    assert.match(document.openapi, /^3\.1\./);
    const operations = Object.entries(document.paths).flatMap(([path, item]) => Object.keys(item).map((method) => ({ path, method, ...item[method] })));
    assert.equal(new Set(operations.map((one) => one.operationId)).size, operations.length);
    for (const { path, method, parameters } of operations) {
      assert.equal(path.includes("{id}"), parameters.some((one) => one.in === "path"), path);
      if (path === "/events/stream") continue; // never ends
      const answer = await s.ask(method.toUpperCase(), path.replace("{id}", "x"), method === "get" || method === "delete" ? undefined : {});
      assert.notEqual(answer.status, 405, `${method} ${path}`);
      assert.ok(answer.status < 500, `${method} ${path}: ${answer.text}`);
    }
    await s.stop();
  });
});

describe("users", { concurrency: 2 }, () => {
  test("with tokens, each request needs one, and sees what is its user's", async () => {
    const state = folder();
    const token = async (...words) => run(["serve", "token", ...words], { env: { XDG_STATE_HOME: state } });
    const [ann, bob] = [await token("add", "ann"), await token("add", "bob")].map((one) => ({ authorization: `Bearer ${one.stdout.trim()}` }));
    const s = await serve({}, { env, state });
    assert.equal((await s.get("/healthz")).status, 200);
    const none = await s.get("/conversations");
    assert.deepEqual([none.status, none.json.error.code], [401, "unauthorized"]);
    assert.equal((await s.get("/conversations", { authorization: "Bearer lathe_0" })).status, 401);
    const made = (await s.post("/run", { code: "storeArtifact({ secret: 1 })" }, ann)).json;
    assert.equal(made.state, "completed");
    assert.equal((await s.get(`/prompts/${made.promptId}`, ann)).json.userId, "ann");
    for (const path of [`/prompts/${made.promptId}`, `/prompts/${made.promptId}/record`, `/conversations/${made.conversationId}`, `/artifacts/${made.text}`]) {
      assert.equal((await s.get(path, ann)).status, 200, path);
      assert.equal((await s.get(path, bob)).status, 404, path);
    }
    assert.equal((await s.post(`/prompts/${made.promptId}/cancel`, undefined, bob)).status, 404);
    assert.equal((await s.post("/prompt", { input: "x", mode: "code", conversationId: made.conversationId }, bob)).status, 404);
    assert.deepEqual((await s.get("/conversations", bob)).json.conversations, []);
    assert.match((await token("list")).stdout, /^\d{4}-\d\d-\d\d {2}ann\/[0-9a-f]{8}\n\d{4}-\d\d-\d\d {2}bob\/[0-9a-f]{8}\n$/);
    assert.equal((await token("remove", "bob")).code, 0);
    await until(async () => (await s.get("/conversations", bob)).status === 401, "bob's token is gone");
    assert.equal((await s.get("/conversations", ann)).status, 200);
    const last = await token("remove", "ann");
    assert.deepEqual([last.code, /no token is left/.test(last.stderr)], [0, true], last.stderr);
    await until(async () => (await s.get("/conversations", ann)).status === 401, "ann's token is gone");
    assert.equal((await s.get("/conversations")).status, 401, "a server that had tokens does not open");
    const end = await s.stop();
    assert.ok(!end.stderr.includes(ann.authorization.slice(7)));
  });

  test("what is said of tokens is checked", async () => {
    for (const words of [["add"], ["list", "ann"], ["drop", "ann"], ["add", "a b"], []]) {
      assert.equal((await run(["serve", "token", ...words])).code, 2, words.join(" "));
    }
    assert.equal((await run(["serve", "token", "remove", "ann"])).code, 1);
  });
});

test("the address: what is no loopback, or taken, is said", async () => {
  const s = await serve({}, { env });
  const taken = await run(["serve", "--listen", `127.0.0.1:${s.port}`]);
  assert.equal(taken.code, 1);
  assert.match(taken.stderr, /^error: cannot listen on 127\.0\.0\.1:/m);
  const open = await run(["serve", "--listen", "0.0.0.0:0"]);
  assert.equal(open.code, 3, open.stderr);
  assert.match(open.stderr, /0\.0\.0\.0 can be reached by others.*lathe serve token add USER/);
  for (const wrong of ["here", "elsewhere.example:80", "127.0.0.1:99999", "127.0.0.1:"]) assert.equal((await run(["serve", "--listen", wrong])).code, 2, wrong);
  await s.stop();
});

test("an address that others reach: never without a token, also after the last one is removed", async () => {
  const state = folder(), options = { env: { XDG_STATE_HOME: state } };
  const ann = { authorization: `Bearer ${(await run(["serve", "token", "add", "ann"], options)).stdout.trim()}` };
  const s = await serve({}, { env, state, listen: "0.0.0.0:0" });
  assert.equal((await s.get("/conversations", ann)).status, 200);
  assert.equal((await s.get("/conversations")).status, 401);
  assert.equal((await run(["serve", "token", "remove", "ann"], options)).code, 0);
  await until(async () => (await s.get("/conversations", ann)).status === 401, "ann's token is gone");
  assert.equal((await s.get("/conversations")).status, 401);
  assert.equal((await s.post("/run", { code: "1" })).status, 401);
  assert.equal((await s.stop()).code, 0);
});
