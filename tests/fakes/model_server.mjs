#!/usr/bin/env node
// A fake server of chat completions, OpenAI's way, for the tests: Node 18 or later, no dependencies.
//
//   node model_server.mjs [--https=CERT_FILE] [--port=N]
//
// Prints "PORT N" when it listens; ends when its input ends. With --https it makes a certificate for itself and writes it
// to CERT_FILE. The first part of the path says how to behave, a second one tells users of the same behaviour apart:
//
//   POST /normal/NAME/v1/chat/completions
//
// GET /asked/NAME answers what was asked under NAME: [{path, headers, body}, ...].
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { writeFileSync } from "node:fs";
import { selfSigned } from "./self_signed.mjs";

const option = (name) => process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);

const chunk = (delta, more = {}) => ({
  id: "chatcmpl-1", object: "chat.completion.chunk", model: "fake-2026",
  choices: [{ index: 0, delta, finish_reason: null, ...more.choice }], ...more.top,
});
const end = (reason) => chunk({}, { choice: { finish_reason: reason } });
const usage = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 1 } } };
const event = (value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const stream = (...values) => values.map(event).join("");
const hello = [chunk({ role: "assistant", content: "" }), chunk({ content: "Hello" }), chunk({ content: ", wörld" })];
const normal = stream(...hello, end("stop"), usage, "[DONE]");
const call = (...calls) => chunk({ tool_calls: calls });
const sse = (res) => res.writeHead(200, { "content-type": "text/event-stream" });
const json = (res, status, value, headers = {}) => {
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify(value));
};
const fail = (res, status, message, headers) => json(res, status, { error: { message, type: "some_error" } }, headers);
const events = (...values) => ({ res }) => sse(res).end(stream(...values));
const text = (body) => ({ res }) => sse(res).end(body);
// The first `n` times one thing, then another.
const first = (n, before, after) => (ask) => (ask.times <= n ? before(ask) : after(ask));
const ok = text(normal);

const behaviours = {
  normal: ok,
  slow: ({ res }) => setTimeout(() => sse(res).end(normal), 200),
  bytes: async ({ res }) => {
    sse(res);
    for (const byte of Buffer.from(normal)) {
      res.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    res.end();
  },
  crlf: text("\uFEFF: hello\r\n\r\n" + normal.replaceAll("\n", "\r\n")),
  comments: text(": OPENROUTER PROCESSING\n\n" + normal.replaceAll("data:", ": ping\nid: 7\ndata:")),
  "one-newline": text(normal.replaceAll("\n\n", "\n")),
  "no-last-newline": text(normal.trimEnd()),
  "no-done": events(...hello, end("stop"), usage),
  "no-done-hanging": ({ res }) => sse(res).write(stream(...hello, end("stop"), usage)),
  "no-usage": events(...hello, end("stop"), "[DONE]"),
  "no-finish": events(...hello, "[DONE]"),
  "no-end": events(...hello),
  cut: ({ res }) => (sse(res).write(stream(...hello)), setTimeout(() => res.destroy(), 20)),
  "cut-once": first(1, ({ res }) => (sse(res).write(stream(...hello)), setTimeout(() => res.destroy(), 20)), ok),
  "cut-first": first(1, ({ res }) => (sse(res).write(stream(chunk({ role: "assistant", content: "" }))),
    setTimeout(() => res.destroy(), 20)), ok),
  "cut-half": first(1, ({ res }) => (res.socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"choi")), ok),
  "close-first": first(1, ({ res }) => res.destroy(), ok),
  empty: first(1, text(""), ok),
  repeated: text(stream(...hello, ...hello, end("stop"), end("stop"), usage, usage, "[DONE]", "[DONE]") + stream(...hello)),
  endless: ({ res }) => {
    sse(res);
    const piece = stream(...Array(50).fill(chunk({ content: "x".repeat(10000) })));
    const more = () => { while (!res.destroyed && res.write(piece)); };
    res.on("drain", more);
    more();
  },
  ...Object.fromEntries(Object.entries({ "comment-flood": ": keep-alive\n\n", "comment-line": ":".repeat(64), "event-flood": event(chunk({})), "blank-flood": "\r\n".repeat(32) }).map(([name, bit]) => [name, ({ res }) => {
    sse(res);
    const piece = bit.repeat(2000), more = () => { while (!res.destroyed && res.write(piece)); };
    res.on("drain", more);
    more();
  }])),
  "comment-drip": ({ res }) => {
    sse(res);
    const drip = setInterval(() => res.write(": keep-alive\n\n"), 20);
    res.on("close", () => clearInterval(drip));
  },
  "comment-between": ({ res }) => {
    sse(res).write(stream(...hello));
    const drip = setInterval(() => res.write(": keep-alive\n\n"), 20);
    res.on("close", () => clearInterval(drip));
  },
  "comment-after": ({ res }) => {
    sse(res).write(stream(...hello, end("stop"), usage, "[DONE]"));
    const drip = setInterval(() => res.write(": keep-alive\n\n"), 20);
    res.on("close", () => clearInterval(drip));
  },
  "comment-patient": ({ res }) => { // what a model that thinks looks like behind a proxy
    sse(res);
    const drip = setInterval(() => res.write(": keep-alive\n\n"), 10);
    setTimeout(() => { clearInterval(drip); res.end(normal); }, 200);
  },
  giant: events(chunk({ content: "g".repeat(3 << 20) }), end("stop"), "[DONE]"),
  "giant-line": ({ res }) => {
    sse(res).write("data: ");
    const more = () => { while (!res.destroyed && res.write("y".repeat(1 << 20))); };
    res.on("drain", more);
    more();
  },
  html: ({ res }) => (res.writeHead(200, { "content-type": "text/html" }), res.end("<!doctype html><h1>Welcome</h1>")),
  "not-json": text("data: oops\n\n"),
  "half-json": events('{"choices":[{"delta":{"content":"'),
  array: events([]),
  plain: ({ res }) => (res.writeHead(200), res.end("hello there")),
  cached: events(...hello, end("stop"), { choices: [], usage: { prompt_tokens: 12, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 8 } } }, "[DONE]"),
  "cached-other": events(...hello, end("stop"), { choices: [], usage: { prompt_tokens: 12, completion_tokens: 3, prompt_cache_hit_tokens: 7 } }, "[DONE]"),
  "cached-too-many": events(...hello, end("stop"), { choices: [], usage: { prompt_tokens: 12, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 99 } } }, "[DONE]"),
  whole: ({ res }) => json(res, 200, {
    model: "fake-2026", usage: { prompt_tokens: 5, completion_tokens: 6 },
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "All at once", reasoning: "hm" } }],
  }),
  "whole-calls": ({ res }) => json(res, 200, {
    choices: [{ finish_reason: "tool_calls", message: { content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }] } }],
  }),
  "whole-error": ({ res }) => json(res, 200, { error: { message: "model crashed", code: 400 } }),
  "whole-nothing": ({ res }) => json(res, 200, { object: "list", data: [] }),
  reasoning: events(chunk({ reasoning_content: "Let me " }), chunk({ reasoning_content: "think" }), ...hello, end("stop"), usage, "[DONE]"),
  "reasoning-other": events(chunk({ reasoning: "Hm" }), ...hello, end("stop"), usage),
  think: events(chunk({ content: "<think>\nLet me think\n</think>\n\n" }), ...hello, end("stop"), usage, "[DONE]"),
  "think-pieces": events(...[..." \n<think>a </b> </thin </think> \n"].map((content) => chunk({ content })), ...hello, end("stop"), "[DONE]"),
  "think-once": events(chunk({ content: "<think></think><think>x</think> is a tag" }), end("stop"), "[DONE]"),
  "think-open": events(chunk({ content: "<think>so long, " }), chunk({ content: "</thin" }), end("length"), "[DONE]"),
  "think-later": events(chunk({ content: "\n Use " }), chunk({ content: "<think>x</think>" }), end("stop"), "[DONE]"),
  "think-not": events(...[..." <thin"].map((content) => chunk({ content })), end("stop"), "[DONE]"),
  "think-unopened": events(...[..."so </thin </think>\n\nHello"].map((content) => chunk({ content })), end("stop"), "[DONE]"),
  "think-quoted": events(...[..."it is `</think>` </think>"].map((content) => chunk({ content })), end("stop"), "[DONE]"),
  "bad-bytes": ({ res }) => sse(res).end(Buffer.concat([Buffer.from(stream(chunk({ content: "a\u0001" })).replace("\\u0001", "\u0001")),
    Buffer.from(stream(end("stop"), "[DONE]"))].map((bytes) => bytes.map((byte) => (byte === 1 ? 0xff : byte))))),
  "bad-whole": ({ res }) => {
    res.writeHead(200, { "content-type": "application/json" });
    const [head, tail] = JSON.stringify({ choices: [{ finish_reason: "stop", message: { role: "assistant", content: "a|z" } }] }).split("|");
    res.end(Buffer.concat([Buffer.from(head), Buffer.from([0xe4, 0xb8]), Buffer.from(tail)]));
  },
  "think-whole": ({ res }) => json(res, 200, {
    choices: [{ finish_reason: "stop", message: { role: "assistant", content: "<think>hm</think>All at once" } }],
  }),
  blank: events(...Array(2000).fill(chunk({ content: " " })), chunk({ content: "<think>" }), end("stop"), "[DONE]"),
  parts: events(chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }, { type: "text", text: "Hello" }] }), end("stop"), "[DONE]"),
  surrogates: text('data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\ndata: {"choices":[{"delta":{"content":"\\ude00b"}}]}\n\ndata: [DONE]\n\n'),
  choices: events(chunk({ content: "wrong" }, { choice: { index: 1 } }), ...hello, chunk({ content: "x" }, { choice: { index: 1, finish_reason: "length" } }), end("stop"), "[DONE]"),
  "empty-choices": events({ choices: [] }, { choices: null }, {}, ...hello, { choices: [{ index: 0 }] }, end("stop"), "[DONE]"),
  length: events(...hello, end("length"), "[DONE]"),
  filtered: events(...hello, end("content_filter"), "[DONE]"),
  refusal: events(chunk({ refusal: "I will not" }), end("stop"), "[DONE]"),
  calls: events(
    call({ index: 0, id: "call_a", type: "function", function: { name: "weather", arguments: "" } }),
    call({ index: 0, function: { arguments: '{"city":' } }),
    call({ index: 1, id: "call_b", type: "function", function: { name: "time", arguments: '{"z' } }),
    call({ index: 0, function: { arguments: '"Paris"}' } }),
    call({ index: 1, function: { arguments: 'one":1}' } }),
    end("tool_calls"), usage, "[DONE]"),
  "calls-no-ids": events(
    call({ index: 0, function: { name: "weather", arguments: "{}" } }), call({ index: 1, function: { name: "time", arguments: "{}" } }),
    end("tool_calls"), "[DONE]"),
  "calls-same-ids": events(
    call({ index: 0, id: "x", function: { name: "weather", arguments: "{}" } }), call({ index: 1, id: "x", function: { name: "time", arguments: "{}" } }),
    end("tool_calls"), "[DONE]"),
  "calls-objects": events(call({ function: { name: "weather", arguments: { city: "Rome" } } }), end("stop"), "[DONE]"),
  "calls-no-index": events(
    call({ id: "a", function: { name: "weather", arguments: '{"c' } }), call({ function: { arguments: '":1}' } }),
    call({ id: "b", function: { name: "time", arguments: "{}" } }), end("tool_calls"), "[DONE]"),
  "calls-all-zero": events(
    call({ index: 0, id: "a", function: { name: "weather", arguments: "{}" } }), call({ index: 0, id: "b", function: { name: "time", arguments: "{}" } }),
    end("tool_calls"), "[DONE]"),
  "calls-named-again": events(
    call({ index: 0, id: "a", function: { name: "weather", arguments: '{"c' } }), call({ index: 0, id: "a", function: { name: "weather", arguments: '":1}' } }),
    end("tool_calls"), "[DONE]"),
  "calls-legacy": events(chunk({ function_call: { name: "weather", arguments: "" } }), chunk({ function_call: { arguments: '{"city":1}' } }), end("function_call"), "[DONE]"),
  "calls-broken": events(call({ index: 0, id: "a", function: { name: "weather", arguments: '{"city": "Par' } }), end("length"), "[DONE]"),
  "calls-many": events(...Array.from({ length: 2000 }, (_, i) => call({ index: i, function: { name: `f${i}`, arguments: "{}" } })), end("tool_calls"), "[DONE]"),
  "calls-none": events(...hello, end("tool_calls"), "[DONE]"),
  "error-first": first(1, events({ error: { message: "overloaded", type: "overloaded_error" } }), ok),
  "error-middle": events(...hello, { error: { message: "the GPU fell off", code: 502 } }),
  "error-event": text('event: error\ndata: {"message":"not good","code":400}\n\n'),
  "error-choice": events(chunk({ content: "Hel" }), { choices: [{ index: 0, delta: {}, finish_reason: "error", error: { code: 502, message: "upstream died" } }] }),
  401: ({ res, req }) => fail(res, 401, `Incorrect API key provided: ${(req.headers.authorization ?? "").replace("Bearer ", "")}. Find yours on our page.`),
  402: ({ res }) => fail(res, 402, "Insufficient Balance"),
  403: ({ res }) => json(res, 403, { detail: "no access" }),
  404: ({ res }) => json(res, 404, { error: 'model "nope" not found, try pulling it first' }),
  301: ({ res }) => (res.writeHead(301, { location: "/elsewhere?token=secret" }), res.end()),
  400: ({ res }) => json(res, 400, { detail: [{ msg: "messages: field required", loc: [] }] }),
  "400-html": ({ res }) => (res.writeHead(400, { "content-type": "text/html" }), res.end("<html>nginx</html>")),
  "400-long": ({ res }) => fail(res, 400, "This model's maximum context length is 8192 tokens."),
  "400-list": ({ res }) => json(res, 400, [{ error: { code: 400, message: "API key not valid?\nNo: \x1b[31mred" } }]),
  "429-once": first(1, ({ res }) => fail(res, 429, "slow down", { "retry-after": "0" }), ok),
  "429-ms": first(2, ({ res }) => fail(res, 429, "slow down", { "retry-after-ms": "30", "retry-after": "60" }), ok),
  "429-forever": ({ res }) => fail(res, 429, "slow down", { "retry-after": "0" }),
  "429-plain": ({ res }) => fail(res, 429, "slow down"),
  "429-hour": ({ res }) => fail(res, 429, "slow down", { "retry-after": "3600" }),
  "429-date": first(1, ({ res }) => fail(res, 429, "slow down", { "retry-after": new Date(Date.now() - 1000).toUTCString() }), ok),
  "429-money": ({ res }) => json(res, 429, { error: { message: "You exceeded your current quota", code: "insufficient_quota" } }),
  "500-twice": first(2, ({ res }) => fail(res, 500, "oops", { "retry-after": "0" }), ok),
  "500-backoff": first(1, ({ res }) => fail(res, 503, "oops"), ok),
  "503-forever": ({ res }) => (res.writeHead(503, { "retry-after": "0", "content-type": "text/html" }), res.end("<html>busy</html>")),
  "hang-head": () => {},
  "hang-body": ({ res }) => sse(res).write(stream(...hello)),
  "hang-silent": ({ res }) => (sse(res), res.flushHeaders()),
  "hang-error": ({ res }) => (res.writeHead(500, { "retry-after": "3600" }), res.write("half an err")),
  "wants-other": (ask) => ("max_completion_tokens" in ask.body && !("max_tokens" in ask.body) ? ok(ask)
    : fail(ask.res, 400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")),
  "wants-plain": (ask) => ("stream_options" in ask.body || "response_format" in ask.body
    ? fail(ask.res, 422, `unexpected field ${"stream_options" in ask.body ? "stream_options" : "response_format"}`) : ok(ask)),
  "wants-nothing": (ask) => ("stream_options" in ask.body || "response_format" in ask.body
    ? json(ask.res, 400, { object: "error", code: 400, message: "[" + "{'type': 'extra_forbidden', 'loc': ('body', 'messages', 0)}, ".repeat(20) +
        "{'type': 'extra_forbidden', 'loc': ('body', 'stream_options')}, {'loc': ('body', 'response_format')}]" })
    : ask.body.stream ? fail(ask.res, 400, "Unsupported value: 'stream' does not support true with this model.") : behaviours.whole(ask)),
  "too-many": ({ res }) => fail(res, 400, "max_tokens is too large: 999999. This model supports at most 4096"),
  // Not completions: what test_http asks for.
  echo: ({ res, req, raw }) => json(res, 200, { method: req.method, url: req.url, headers: req.headers, body: raw }, { "x-twice": "one", "X-Twice2": "  two  " }),
  big: ({ res, req }) => {
    let left = Number(new URL(req.url, "http://x").searchParams.get("bytes"));
    res.writeHead(200, { "content-length": left });
    const more = () => {
      while (left > 0) {
        const n = Math.min(left, 65536);
        left -= n;
        sent += n;
        if (!res.write(Buffer.alloc(n, 0x61))) return;
      }
      res.end();
    };
    res.on("drain", more);
    more();
  },
  sent: ({ res }) => json(res, 200, sent),
  "then-close": ({ req, res }) => (res.on("finish", () => setTimeout(() => req.socket.destroy(), 2)), json(res, 200, { method: req.method })),
  short: ({ res }) => (res.writeHead(200, { "content-length": 1000 }), res.write("only this"), setTimeout(() => res.destroy(), 20)),
  garbage: ({ res }) => res.socket.end("this is no HTTP\r\n\r\n"),
  "big-head": ({ res }) => {
    const lines = Array.from({ length: 40 }, (_, i) => `x-${i}: ${"h".repeat(16000)}\r\n`).join("");
    res.socket.end(`HTTP/1.1 200 OK\r\n${lines}\r\n`);
  },
  interim: ({ res }) => res.socket.end("HTTP/1.1 103 Early Hints\r\nx-a: early\r\n\r\nHTTP/1.1 200 OK\r\nx-a: late\r\ncontent-length: 2\r\n\r\nok"),
  nothing: ({ res }) => (res.writeHead(204), res.end()),
};

let sent = 0;
const times = new Map();
const asked = new Map();

async function answer(req, res) {
  const [behaviour, name] = new URL(req.url, "http://x").pathname.split("/").slice(1);
  if (behaviour === "asked") {
    return json(res, 200, asked.get(name) ?? []);
  }
  if (req.method === "GET" && req.url.endsWith("/models")) return fail(res, 404, "no list of models");
  const pieces = [];
  for await (const piece of req) pieces.push(piece);
  const raw = Buffer.concat(pieces).toString();
  let body = {};
  try { body = JSON.parse(raw); } catch { /* not ours to say */ }
  const key = `${behaviour}/${name}`;
  times.set(key, (times.get(key) ?? 0) + 1);
  if (!asked.has(name)) asked.set(name, []);
  if (asked.get(name).length < 1000) asked.get(name).push({ path: req.url, headers: req.headers, body, port: req.socket.remotePort });
  const act = behaviours[behaviour];
  if (!act) return fail(res, 404, `no behaviour "${behaviour}"`);
  return act({ req, res, body, raw, times: times.get(key) });
}

const certFile = option("https");
let server;
if (certFile) {
  const own = selfSigned();
  writeFileSync(certFile, own.cert);
  server = createTlsServer(own, answer);
} else {
  server = createServer(answer);
}
server.keepAliveTimeout = 60000;
server.listen({ port: Number(option("port") ?? 0), host: "127.0.0.1", backlog: 4096 }, () => console.log(`PORT ${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0)).resume();
