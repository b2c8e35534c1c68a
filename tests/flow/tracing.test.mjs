// Traces: every span that `lathe serve`, `run` and `chat` send, to a collector that works, and to those that do not.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { after } from "node:test";
import { collector } from "../fakes/collector.mjs";
import { mcpHttp } from "../fakes/mcp_http_server.mjs";
import { config, describe, folder, jsonLines, recording, report, run, scripted, servers, sleep, start, test, until } from "./harness.mjs";
import { serve } from "./server.mjs";

const TRACE = "0af7651916cd43dd8448eb211c80319c", SPAN = "b7ad6b7169203331";
const PARENT = `00-${TRACE}-${SPAN}-01`;
const FAST = { OTEL_BSP_SCHEDULE_DELAY: "50" };
const SECRET = "hunter2-hunter2";

/** A model that answers each message of a user with the text of the same name; `asked`: the headers it got. */
async function model(replies) {
  const asked = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => (text += piece));
    request.on("end", () => {
      const said = JSON.parse(text).messages.filter((m) => m.role === "user").at(-1).content;
      const reply = replies[Object.keys(replies).find((key) => said.includes(key))] ?? "A title";
      asked.push(request.headers);
      if (typeof reply === "number") return response.writeHead(reply).end('{"error":{"message":"no"}}');
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({
        model: "fake-2", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: reply } }], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } }));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  after(() => { server.closeAllConnections(); server.close(); });
  return { asked, env: { OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, OPENAI_API_KEY: "", OPENAI_MODEL: "fake-1" } };
}

const PAY = "let r = cashPay({ n: 1, note: 'very private words' }).n; webEcho({ a: 1 }); output('paid ' + r); done()";
const pay = { tool: { name: "pay", inputSchema: { type: "object", properties: { n: { type: "number" }, note: { type: "string" } } } }, result: { structuredContent: { n: 5 }, content: [] } };

/** A server with a tool over pipes that is asked about, and one over HTTP. */
async function shop(there, { env = {}, telemetry = {}, replies = { pay: PAY }, ...options } = {}) {
  const effects = recording();
  const web = await mcpHttp();
  const brain = await model(replies);
  const one = await serve({
    mcpServers: { cash: scripted([pay], effects.option), web: { url: `${web.url}?key=${SECRET}` } }, tools: { policy: [{ match: "cash.pay", action: "ask" }] },
    telemetry: { otlp: { endpoint: there.url, headers: { "x-key": "k-1" } }, ...telemetry },
  }, { env: { ...brain.env, ...FAST, ...env }, ...options });
  return { ...one, web, brain, effects };
}

async function paid(s, headers = {}) {
  const { json } = await s.post("/prompt", { input: "pay the private bill", mode: "code" }, headers);
  const call = await s.waiting(json.promptId);
  await s.post(`/prompts/${json.promptId}/approve`, { toolCallId: call.id });
  return s.prompt(json.promptId);
}

describe("what is sent", { concurrency: 2 }, () => {
  test("a prompt's spans: request, prompt, round, program, calls; below the client's, and nothing of what was said", async () => {
    const there = await collector();
    const s = await shop(there);
    const prompt = await paid(s, { traceparent: PARENT, tracestate: "vendor=1" });
    assert.equal(prompt.state, "completed");
    await until(() => there.named(/^invoke_agent/).length === 1 && there.named(/^POST \/prompt$/).length === 1, "the spans are there");
    assert.equal((await s.stop()).code, 0);
    there.check({ outside: [SPAN], apart: [/^invoke_agent/] });

    const one = (pattern) => { const found = there.named(pattern).filter((span) => span.traceId === TRACE); assert.equal(found.length, 1, String(pattern)); return found[0]; };
    const request = one(/^POST \/prompt$/), agent = one(/^invoke_agent lathe$/), round = one(/^chat fake-1$/), program = one(/^run_program javascript$/), cash = one(/^tools\/call pay$/), web = one(/^tools\/call echo$/);
    assert.deepEqual([request.parentSpanId, agent.parentSpanId, round.parentSpanId, program.parentSpanId, cash.parentSpanId, web.parentSpanId],
      [SPAN, request.spanId, agent.spanId, agent.spanId, program.spanId, program.spanId]);
    assert.deepEqual([request, agent, round, program, cash, web].map((span) => span.kind), [2, 1, 3, 1, 3, 3]);
    assert.equal(request.flags & 0x300, 0x300, "its parent is another process's");
    assert.equal(agent.flags & 0x300, 0x100);
    for (const span of [request, agent, round, program, cash, web]) assert.equal(span.traceState, "vendor=1");
    assert.deepEqual([request.attributes["http.request.method"], request.attributes["http.route"], request.attributes["http.response.status_code"], request.attributes["url.path"]], ["POST", "/prompt", 200, "/prompt"]);
    assert.deepEqual(agent.attributes, {
      "gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "openai", "gen_ai.agent.name": "lathe", "gen_ai.agent.version": there.resource["service.version"], "gen_ai.conversation.id": prompt.conversationId,
      "gen_ai.request.model": "fake-1", "gen_ai.usage.input_tokens": 11, "gen_ai.usage.output_tokens": 7, "user.id": "local", "lathe.prompt.id": prompt.id, "lathe.prompt.mode": "code", "lathe.prompt.state": "completed",
    });
    assert.deepEqual(round.attributes, {
      "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "fake-1", "gen_ai.response.model": "fake-2", "gen_ai.conversation.id": prompt.conversationId, "server.address": "127.0.0.1",
      "server.port": round.attributes["server.port"], "gen_ai.usage.input_tokens": 11, "gen_ai.usage.output_tokens": 7, "lathe.question.purpose": "round", "gen_ai.response.finish_reasons": ["stop"],
    });
    assert.equal(program.attributes["lathe.program.runner"], "quickjs");
    const common = (span) => [span.attributes["gen_ai.operation.name"], span.attributes["gen_ai.tool.name"], span.attributes["mcp.method.name"], span.attributes["mcp.protocol.version"], span.attributes["network.transport"]];
    assert.deepEqual(common(cash).filter((_, i) => i !== 3), ["execute_tool", "pay", "tools/call", "pipe"]);
    assert.match(common(cash)[3], /^\d{4}-\d\d-\d\d$/);
    assert.deepEqual(common(web), ["execute_tool", "echo", "tools/call", "2025-11-25", "tcp"]);
    assert.deepEqual([web.attributes["server.address"], web.attributes["server.port"], web.attributes["network.protocol.name"]], ["127.0.0.1", Number(new URL(s.web.url).port), "http"]);
    assert.deepEqual(cash.events.map((event) => event.name), ["approval.requested", "approval.decided"]);
    assert.deepEqual(web.events, []);

    // The context goes on: to the model, and to both servers, in the body and over HTTP.
    assert.equal(s.brain.asked.filter((headers) => headers.traceparent === `00-${TRACE}-${round.spanId}-01` && headers.tracestate === "vendor=1").length, 1);
    const told = s.effects.of("tools/call")[0].params._meta;
    assert.deepEqual([told.traceparent, told.tracestate], [`00-${TRACE}-${cash.spanId}-01`, "vendor=1"]);
    const sent = s.web.seen.find((r) => r.message.method === "tools/call");
    assert.deepEqual([sent.message.params._meta.traceparent, sent.headers.traceparent, sent.headers.tracestate], [`00-${TRACE}-${web.spanId}-01`, `00-${TRACE}-${web.spanId}-01`, "vendor=1"]);

    // Who sends, where to, and how.
    assert.deepEqual([there.resource["service.name"], typeof there.resource["process.pid"]], ["lathe", "number"]);
    assert.match(there.resource["service.instance.id"], /^[0-9a-f]{32}$/);
    for (const got of there.requests) assert.deepEqual([got.method, got.path, got.headers["content-type"], got.headers["x-key"]], ["POST", "/v1/traces", "application/json", "k-1"]);
    const all = there.requests.map((got) => got.text).join();
    for (const word of ["private", "paid", "cashPay", SECRET, "k-1"]) assert.ok(!all.includes(word), `${word} is not sent`);
  });

  test("content is sent when it is asked for, without secrets, and cut", async () => {
    const there = await collector();
    const s = await shop(there, { telemetry: { content: true }, env: { MY_SECRET_TOKEN: SECRET }, replies: { pay: `webEcho({ a: 'open words', b: '${SECRET}', c: 'x'.repeat(9000) }); done()` } });
    const { json } = await s.post("/prompt", { input: `pay with ${SECRET}`, mode: "code" });
    await s.prompt(json.promptId);
    await s.get(`/tools/${SECRET}`);
    await s.stop();
    there.check({ apart: [/^invoke_agent/, /^GET/] });
    assert.deepEqual(there.named(/^GET \/tools/).map((span) => span.attributes["url.path"]), ["/tools/***"]);
    const [call] = there.named(/^tools\/call echo/), [agent] = there.named(/^invoke_agent/), [program] = there.named(/^run_program/);
    assert.match(call.attributes["gen_ai.tool.call.arguments"], /open words/);
    assert.ok(call.attributes["gen_ai.tool.call.arguments"].length <= 4096);
    assert.match(agent.attributes["lathe.prompt.input"], /^pay with /);
    assert.match(program.attributes["lathe.program.code"], /webEcho/);
    assert.ok(!there.requests.map((got) => got.text).join().includes(SECRET));
  });

  test("what fails is an error, and says which kind", async () => {
    const there = await collector();
    const s = await shop(there, { replies: { fails: "try { callTool('nope.nope', {}) } catch {} ; webEcho(3)", pay: 400 } });
    const failed = await s.post("/prompt", { input: "pay", mode: "code" });
    assert.equal((await s.prompt(failed.json.promptId)).state, "failed");
    await s.post("/tools/cash.pay/invoke", { input: { n: "private" } });
    await s.post("/tools/nope.nope/invoke", { input: {} });
    await s.post("/run", { code: "throw new Error('private words')" });
    await s.stop();
    there.check({ apart: [/^invoke_agent/] });
    const kind = (pattern) => there.named(pattern).map((span) => [span.attributes["error.type"], span.status?.code, span.status?.message]);
    assert.deepEqual(kind(/^chat/), [["invalid", 2, undefined]]);
    assert.ok(kind(/^invoke_agent/).some(([type]) => type === "failed"));
    assert.deepEqual(kind(/^execute_tool cash\.pay/), [["invalid", 2, undefined]]);
    assert.deepEqual(kind(/^execute_tool unknown/), [["notfound", 2, undefined]]);
    assert.deepEqual(kind(/^run_program/), [["program", 2, undefined]]);
    assert.ok(!there.requests.map((got) => got.text).join().includes("private"));
  });

  test("a malformed or hostile header begins a new trace, and is never an error", async () => {
    const there = await collector();
    const s = await shop(there);
    const bad = ["", "x", "00-" + "0".repeat(32) + `-${SPAN}-01`, `00-${TRACE}-${"0".repeat(16)}-01`, `ff-${TRACE}-${SPAN}-01`, PARENT.toUpperCase(), `${PARENT}-x`, "00-".repeat(5000)];
    for (const traceparent of bad) assert.equal((await s.get("/modes", { traceparent, tracestate: "a=b" })).status, 200, traceparent.slice(0, 60));
    const states = ["a", "A=1", "a=b=c", "=1", "a=é", "x".repeat(600), Array.from({ length: 33 }, (_, i) => `k${i}=1`).join()];
    for (const tracestate of states) assert.equal((await s.get("/healthz", { traceparent: PARENT, tracestate: Buffer.from(tracestate).toString("latin1") })).status, 200);
    await s.stop();
    there.check({ outside: [SPAN] });
    assert.equal(there.named(/^GET \/modes$/).length, bad.length);
    for (const span of there.named(/^GET \/modes$/)) assert.ok(span.parentSpanId === undefined && span.traceId !== TRACE && span.traceState === undefined);
    const healthy = there.named(/^GET \/healthz$/);
    assert.equal(healthy.length, states.length);
    for (const span of healthy) assert.ok(span.traceId === TRACE && span.parentSpanId === SPAN && span.traceState === undefined);
  });

  test("a prompt that another process goes on with is one span, in the trace of the first", async () => {
    const there = await collector();
    const state = folder();
    const first = await shop(there, { state });
    const { json } = await first.post("/prompt", { input: "pay", mode: "code" }, { traceparent: PARENT });
    await first.waiting(json.promptId);
    await until(() => there.named(/^chat/).length === 1, "its round is there");
    await first.stop("SIGKILL");
    const second = await shop(there, { state, file: first.file, env: first.brain.env });
    const call = await second.waiting(json.promptId);
    await second.post(`/prompts/${json.promptId}/approve`, { toolCallId: call.id });
    await second.prompt(json.promptId);
    await second.stop();
    const agents = there.named(/^invoke_agent/);
    assert.equal(agents.length, 1);
    const [agent] = agents, [round] = there.named(/^chat/).filter((span) => span.attributes["lathe.question.purpose"] === "round"), [cash] = there.named(/^tools\/call pay/);
    assert.deepEqual([agent.traceId, round.traceId, cash.traceId, agent.attributes["lathe.prompt.resumed"]], [TRACE, TRACE, TRACE, true]);
    assert.equal(round.parentSpanId, agent.spanId, "the round of the first process is below the span that the second one sends");
    assert.ok(agent.begin <= round.begin && cash.end <= agent.end);
  });
});

describe("requests over MCP", { concurrency: 2 }, () => {
  const OTHER = "4bf92f3577b34da6a3ce929d0e0e4736", CALLER = "00f067aa0ba902b7";
  const META = { traceparent: `00-${OTHER}-${CALLER}-01`, tracestate: "client=2" };
  const HELLO = { jsonrpc: "2.0", id: "hello", method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } };
  const call = (id, code, _meta) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "execute_code", arguments: { code }, ...(_meta && { _meta }) } });

  test("a call hangs below its request over HTTP, or below the span that _meta names, which wins", async () => {
    const there = await collector(), web = await mcpHttp();
    const s = await serve({ mcpServers: { web: { url: web.url } }, telemetry: { otlp: there.url } }, { env: FAST });
    let session = {};
    const post = (message, headers = {}) => s.post("/mcp", message, { accept: "application/json, text/event-stream", ...session, ...headers });
    const hello = await post(HELLO);
    session = { "mcp-session-id": hello.headers.get("mcp-session-id"), "mcp-protocol-version": "2025-11-25" };
    const http = { traceparent: PARENT, tracestate: "vendor=1" };
    await post(call(1, "webEcho({ a: 1 }).a"), http);
    await post(call("two", "webEcho({ a: 2 }).a", META), http);
    await post(call("three", "throw new Error('private words')"));
    await post({ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "private" } });
    await post({ jsonrpc: "2.0", id: 5, method: "private/words", params: { _meta: { traceparent: "no", tracestate: 7 } } });
    await s.stop();
    there.check({ outside: [SPAN, CALLER], apart: [/^invoke_agent/] });

    const of = (id) => { const found = there.spans.filter((span) => span.attributes["jsonrpc.request.id"] === id); assert.equal(found.length, 1, id); return found[0]; };
    const below = (parent) => there.spans.filter((span) => span.parentSpanId === parent.spanId);
    const [one, two] = [of("1"), of("two")];
    const common = { "mcp.method.name": "tools/call", "mcp.protocol.version": "2025-11-25", "mcp.session.id": session["mcp-session-id"], "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "execute_code", "network.transport": "tcp", "network.protocol.name": "http" };
    assert.deepEqual([one.name, one.kind, one.attributes], ["tools/call execute_code", 2, { ...common, "jsonrpc.request.id": "1" }]);
    assert.deepEqual(two.attributes, { ...common, "jsonrpc.request.id": "two" });
    const [posted, other] = there.named(/^POST \/mcp$/).filter((span) => span.traceId === TRACE);
    assert.deepEqual([posted.parentSpanId, one.parentSpanId, one.traceState, one.links], [SPAN, posted.spanId, "vendor=1", undefined]);
    assert.deepEqual([two.traceId, two.parentSpanId, two.traceState, two.flags], [OTHER, CALLER, "client=2", 0x301]);
    assert.deepEqual(two.links, [{ traceId: TRACE, spanId: other.spanId, traceState: "vendor=1", flags: 0x101 }]);
    for (const span of [one, two]) {
      const [agent] = below(span), [program] = below(agent), [tool] = below(program);
      assert.deepEqual([agent.name, program.name, tool.name], ["invoke_agent lathe", "run_program javascript", "tools/call echo"]);
      const told = web.seen.find((got) => got.message.params?._meta?.traceparent === `00-${span.traceId}-${tool.spanId}-01`);
      assert.equal(told.message.params._meta.tracestate, span.traceState);
    }

    const failed = (span) => [span.name, span.status?.code, span.attributes["error.type"], span.attributes["rpc.response.status_code"]];
    assert.deepEqual(failed(of("hello")), ["initialize", undefined, undefined, undefined]);
    assert.deepEqual(failed(of("three")), ["tools/call execute_code", 2, "tool_error", undefined]);
    assert.deepEqual(failed(of("4")), ["tools/call", 2, "-32602", "-32602"]);
    assert.deepEqual(failed(of("5")), ["unknown", 2, "-32601", "-32601"]);
    assert.equal(of("5").parentSpanId, there.named(/^POST \/mcp$/).find((span) => span.spanId === of("5").parentSpanId).spanId, "a malformed context is none");
    assert.ok(!there.requests.map((got) => got.text).join().includes("private"));
  });

  test("lathe mcp: over pipes, and over HTTP with a client that names the protocol in each request", async () => {
    const there = await collector();
    const args = ["mcp", "--config", config({ telemetry: { otlp: there.url } })];
    const pipes = start(args, { typed: true, env: FAST });
    for (const message of [HELLO, call(1, "1 + 2", META)]) pipes.type(`${JSON.stringify(message)}\n`);
    await until(() => /"id":1/.test(pipes.text()), pipes.text());
    pipes.child.stdin.end();
    assert.equal((await pipes.ended).code, 0);
    const [piped] = there.named(/^tools\/call execute_code$/);
    assert.deepEqual([piped.traceId, piped.parentSpanId, piped.links, piped.attributes["network.transport"], piped.attributes["mcp.session.id"]], [OTHER, CALLER, undefined, "pipe", undefined]);

    const web = start([...args, "--http", "127.0.0.1:0"], { env: FAST });
    const url = await until(() => /listening at (http\S+)\n/.exec(web.text())?.[1], web.text());
    const version = "2026-07-28", modern = { "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {} };
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(call(9, "1 + 2", modern)), headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "execute_code", traceparent: PARENT } });
    assert.equal(answer.status, 200, await answer.text());
    web.child.kill("SIGTERM");
    assert.equal((await web.ended).code, 0);
    there.check({ outside: [SPAN, CALLER], apart: [/^invoke_agent/] });
    const [posted] = there.named(/^POST \/mcp$/), asked = there.named(/^tools\/call execute_code$/)[1];
    assert.deepEqual([posted.parentSpanId, asked.parentSpanId, asked.attributes["mcp.protocol.version"], asked.attributes["network.transport"]], [SPAN, posted.spanId, version, "tcp"]);
  });
});

describe("collectors that do not do as they should", { concurrency: 3 }, () => {
  const ask = async (s, times = 3) => {
    const began = Date.now();
    for (let i = 0; i < times; i++) assert.equal((await s.get("/modes")).status, 200);
    return Date.now() - began;
  };

  test("one that is down: requests are answered, one line says so, the end does not wait", async () => {
    const s = await shop({ url: "http://127.0.0.1:1" });
    assert.ok(await ask(s) < 5000);
    await sleep(300);
    const began = Date.now(), { code, stderr } = await s.stop();
    assert.equal(code, 0);
    assert.ok(Date.now() - began < 8000);
    assert.equal(stderr.match(/traces cannot be sent to 127\.0\.0\.1:1: /g)?.length, 1, stderr);
    assert.match(stderr, /traces: \d+ spans were not sent/);
    assert.ok(!stderr.includes("k-1"));
  });

  test("one that never answers", async () => {
    const there = await collector(() => ({ delayMs: 600_000 }));
    const s = await shop(there);
    assert.ok(await ask(s) < 5000);
    await until(() => there.requests.length > 0, "it was asked");
    const { code, stderr } = await s.stop();
    assert.equal(code, 0);
    assert.match(stderr, /traces: \d+ spans were not sent/);
  });

  test("429 and 503 are tried again, as Retry-After says; nothing is lost", async () => {
    const there = await collector((n) => (n === 0 ? { status: 429, headers: { "retry-after": "1" } } : n === 1 ? { status: 503 } : {}));
    const s = await shop(there);
    await ask(s);
    await until(() => there.requests.length >= 3, "it is tried again", 20_000);
    const { code, stderr } = await s.stop();
    assert.equal(code, 0);
    assert.ok(there.requests[1].at - there.requests[0].at >= 900, "Retry-After was heeded");
    assert.equal(there.requests[0].text, there.requests[2].text);
    assert.equal(there.named(/^GET \/modes$/).length, 3);
    assert.doesNotMatch(stderr, /not sent/);
  });

  test("500 and 400 are not tried again, and a part that is rejected is counted", async () => {
    const there = await collector((n) => (n === 0 ? { status: 500 } : { body: '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}' }));
    const s = await shop(there);
    await ask(s, 1);
    await until(() => there.requests.length === 1, "it was asked");
    await sleep(300);
    await ask(s, 1);
    await until(() => there.requests.length >= 2, "later spans are sent");
    const { stderr } = await s.stop();
    assert.notEqual(there.requests[0].text, there.requests[1].text);
    assert.match(stderr, /it answers 500/);
    assert.match(stderr, /traces: \d+ spans were not sent/);
  });
});

describe("whether and where", { concurrency: 3 }, () => {
  const environment = (there, more = {}) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${there.url}/base/`, ...more });

  test("the variables of the specification", async () => {
    const there = await collector();
    const env = environment(there, { OTEL_SERVICE_NAME: "shop", OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=other,a=b%20c", OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%3Db, x=1", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
    const end = await run(["run", "-e", "1 + 2"], { env });
    assert.deepEqual([end.code, end.stdout.trim()], [0, "3"]);
    assert.match(end.stderr, /^warning: traces: OTEL_EXPORTER_OTLP_PROTOCOL is ignored: only http\/json is spoken/m);
    there.check();
    assert.deepEqual([there.requests[0].path, there.requests[0].headers["api-key"], there.requests[0].headers.x], ["/base/v1/traces", "a=b", "1"]);
    assert.deepEqual([there.resource["service.name"], there.resource["deployment.environment.name"], there.resource.a], ["shop", "test", "b c"]);
    assert.deepEqual(there.named(/./).map((span) => [span.name, span.parentSpanId]), [["run_program javascript", undefined]]);

    const exact = await collector();
    await run(["run", "-e", "1"], { env: environment(there, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${exact.url}/x?y=1` }) });
    assert.deepEqual([exact.requests.map((got) => got.path), there.requests.length], [["/x?y=1"], 1]);
  });

  test("nothing is sent when it is off, and no trace is told to others", async () => {
    const there = await collector();
    const web = await mcpHttp();
    for (const env of [{}, environment(there, { OTEL_SDK_DISABLED: "true" }), environment(there, { OTEL_TRACES_EXPORTER: "none" })]) {
      const { result } = await report("webEcho({ a: 1 })", servers({ web: { url: web.url } }), { env });
      assert.deepEqual(result, { a: 1 });
    }
    assert.equal(there.requests.length, 0);
    for (const got of web.seen) assert.ok(got.headers.traceparent === undefined && got.message.params?._meta?.traceparent === undefined);
  });

  test("samplers: the client's choice, none, a ratio", async () => {
    const there = await collector();
    const sampled = async (OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, traceparent) => {
      const before = there.spans.length;
      const s = await serve({ telemetry: { otlp: there.url } }, { env: { ...FAST, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG } });
      await s.get("/modes", traceparent ? { traceparent } : {});
      const { stderr } = await s.stop();
      return [there.spans.slice(before).filter((span) => /modes/.test(span.name)).length, /OTEL_TRACES_SAMPLER is ignored/.test(stderr)];
    };
    const unsampled = PARENT.replace(/01$/, "00");
    assert.deepEqual(await sampled("", "", unsampled), [0, false]);
    assert.deepEqual(await sampled("always_on", "", unsampled), [1, false]);
    assert.deepEqual(await sampled("always_off", "", PARENT), [0, false]);
    assert.deepEqual(await sampled("parentbased_always_off", "", PARENT), [1, false]);
    assert.deepEqual(await sampled("parentbased_traceidratio", "0"), [0, false]);
    assert.deepEqual(await sampled("traceidratio", "2"), [1, true]);
  });

  test("a folder's own file, which nobody trusts, sends nothing anywhere", async () => {
    const there = await collector();
    const cwd = folder({ "lathe.yaml": JSON.stringify({ telemetry: { otlp: { endpoint: there.url } } }) });
    const end = await run(["run", "-e", "1"], { cwd });
    assert.equal(end.code, 3, end.stderr);
    assert.match(end.stderr, /more than an untrusted file may \(telemetry\)/);
    assert.equal(there.requests.length, 0);
  });

  test("values of headers are secrets, whatever the headers are called", async () => {
    const there = await collector();
    const code = "throw new Error('open-sesame words / open%2Dsesame%20words')";
    const inVariable = await run(["run", "-e", code], { env: environment(there, { OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=open%2Dsesame%20words" }) });
    assert.match(inVariable.stderr, /\*\*\* \/ \*\*\*/);
    const inFile = await run(["run", "-e", code, "--config", config({ telemetry: { otlp: { endpoint: there.url, headers: { "x-tenant": "open-sesame words" } }, content: true } })]);
    assert.match(inFile.stderr, /\*\*\* \/ \*\*\*/);
    assert.deepEqual(there.requests.map((got) => got.headers["x-tenant"]), ["open-sesame words", "open-sesame words"], "the collector gets it");
    for (const text of [inVariable.stdout, inVariable.stderr, inFile.stdout, inFile.stderr, ...there.requests.map((got) => got.text)]) assert.doesNotMatch(text, /sesame/);
  });

  test("headers go to the endpoint of their own file, and to no other one", async () => {
    const mine = await collector(), other = await collector();
    const home = folder();
    mkdirSync(`${home}/lathe`);
    const env = { XDG_CONFIG_HOME: home };
    const traced = async (user, project) => {
      const before = [mine.requests.length, other.requests.length];
      writeFileSync(`${home}/lathe/lathe.yaml`, JSON.stringify({ telemetry: { otlp: user } }));
      const { code, stderr } = await run(["run", "-e", "1", "--config", config({ telemetry: { otlp: project } })], { env });
      assert.equal(code, 0, stderr);
      const got = [...mine.requests.slice(before[0]), ...other.requests.slice(before[1])];
      return [got.length, got[0]?.headers["x-key"], mine.requests.length > before[0], /telemetry\.otlp\.headers is ignored: headers are for the telemetry\.otlp\.endpoint of the same file/.test(stderr)];
    };
    const headers = { "x-key": "sesame-of-mine" }, theirs = { "x-key": "sesame-of-theirs" };
    assert.deepEqual(await traced({ endpoint: mine.url, headers }, {}), [1, "sesame-of-mine", true, false]);
    assert.deepEqual(await traced({ endpoint: mine.url, headers }, other.url), [1, undefined, false, true]);
    assert.deepEqual(await traced({ endpoint: mine.url, headers }, { endpoint: other.url, headers: theirs }), [1, "sesame-of-theirs", false, false]);
    assert.deepEqual(await traced({ endpoint: mine.url, headers }, { headers: theirs }), [1, undefined, true, true]);
    assert.deepEqual(await traced({ headers }, {}), [0, undefined, false, true]);
  });

  test("a configuration that is read again changes nothing about traces, and says which keys wait for a restart", async () => {
    const there = await collector(), other = await collector();
    const s = await serve({ telemetry: { otlp: { endpoint: there.url, headers: { "x-key": "k-1" } } } }, { env: FAST });
    const read = async (telemetry, how) => {
      const before = s.text().length;
      writeFileSync(s.file, JSON.stringify({ telemetry }));
      s.child.kill("SIGHUP");
      await until(() => how.test(s.text().slice(before)), `it says so\n${s.text()}`);
      return [...s.text().slice(before).matchAll(/(telemetry[a-zA-Z.]*) has changed/g)].map((found) => found[1]).sort();
    };
    const sent = async () => {
      const before = there.named(/modes/).length;
      await s.get("/modes");
      await until(() => there.named(/modes/).length > before, "it is sent to the first one");
      return there.requests.at(-1).headers["x-key"];
    };
    assert.equal(await sent(), "k-1");
    for (let i = 0; i < 3; i++) assert.deepEqual(await read({ otlp: { endpoint: other.url, headers: { "x-key": "k-2" } }, content: true }, /configuration reloaded/), ["telemetry.content", "telemetry.otlp.endpoint", "telemetry.otlp.headers"]);
    assert.deepEqual(await read({}, /configuration reloaded/), ["telemetry.otlp.endpoint", "telemetry.otlp.headers"]);
    assert.equal(await sent(), "k-1");
    await read({ otlp: { endpoint: other.url, headers: { "x-key": "a-new-secret-of-theirs" } } }, /configuration reloaded/);
    assert.equal(await sent(), "k-1");
    assert.equal((await s.stop()).code, 0);
    assert.equal(other.requests.length, 0);
    there.check();
  });

  test("an address that is none", async () => {
    const end = await run(["run", "-e", "1", "--config", config({ telemetry: { otlp: "ftp://x" } })]);
    assert.notEqual(end.code, 0);
    assert.match(end.stderr, /telemetry\.otlp\.endpoint is no address of a collector/);
  });
});
