// Lathe as an MCP server over HTTP: clients of every version of the protocol, who may ask, and clients that go wrong.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { join } from "node:path";
import { serve } from "./server.mjs";
import { bare, describe, fake, folder, patience, recording, root, run, scripted, servers, start, test, until } from "./harness.mjs";

const require = createRequire(join(root, "tests/package.json"));
const JSON_AND_EVENTS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const MODERN = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
const good = (rest = {}) => servers({ good: fake() }, { ...bare, ...rest });

/** The events of a text, or of the answer to a POST as they come: [{id?, data}]. */
const eventsOf = (text) => text.split("\n\n").slice(0, -1).map((event) => {
  const field = (name) => event.split("\n").filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2)).join("\n");
  return { id: field("id"), retry: field("retry"), data: field("data") };
}).filter((event) => event.id !== "" || event.data !== "");

async function serving(args = good(), options = {}) {
  const lathe = start(["mcp", "--http", options.listen ?? "127.0.0.1:0", ...args], options);
  await until(() => /listening at http\S+\n/.test(lathe.text()) || lathe.child.exitCode !== null, lathe.text());
  const url = /listening at (http\S+)\n/.exec(lathe.text())[1], { port, hostname } = new URL(url);
  let last = 0;
  const request = async (method, body, headers = {}, signal) => {
    const answer = await fetch(url, { method, headers, signal, ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }) });
    const text = await answer.text(), isJson = /json/.test(answer.headers.get("content-type") ?? "");
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined, events: /event-stream/.test(answer.headers.get("content-type") ?? "") ? eventsOf(text) : undefined };
  };
  const post = (message, headers = {}, signal) => request("POST", message, { ...JSON_AND_EVENTS, ...headers }, signal);
  /** One request of 2026-07-28. */
  const modern = (method, params = {}, headers = {}, signal) => post({ jsonrpc: "2.0", id: ++last, method, params: { ...params, _meta: MODERN } }, { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...(params.name && { "mcp-name": params.name }), ...headers }, signal);
  const code = async (text) => (await modern("tools/call", { name: "execute_code", arguments: { code: text } })).body.result.content[0].text;
  return {
    url, port: Number(port), hostname, lathe, request, post, modern, code,
    /** A session of an earlier version. */
    async session(protocolVersion = "2025-11-25", more = {}) {
      const hello = await post({ jsonrpc: "2.0", id: "hello", method: "initialize", params: { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } } }, more);
      assert.equal(hello.status, 200, hello.text);
      const headers = { "mcp-session-id": hello.headers.get("mcp-session-id"), "mcp-protocol-version": protocolVersion, ...more };
      const send = (message, signal) => post({ jsonrpc: "2.0", ...message }, headers, signal);
      const ask = (method, params, signal, id = ++last) => send({ id, method, params }, signal);
      assert.equal((await send({ method: "notifications/initialized" })).status, 202);
      return { hello: hello.body.result, headers, send, ask, call: (name, args, signal, id) => ask("tools/call", { name, arguments: args }, signal, id) };
    },
    /** Sends bytes as they are: what comes back until the other side closes, or `done` says that it is enough. */
    raw: (bytes, done = () => false) => new Promise((yes, no) => {
      const socket = connect(Number(port), hostname), got = [];
      socket.on("data", (b) => { got.push(b); if (done(Buffer.concat(got).toString())) socket.destroy(); });
      socket.on("close", () => yes(Buffer.concat(got).toString()));
      socket.on("error", (e) => (e.code === "ECONNRESET" || e.code === "EPIPE" ? yes(Buffer.concat(got).toString()) : no(e)));
      socket.write(bytes);
    }),
    async ends() {
      lathe.child.kill("SIGTERM");
      const end = await lathe.ended;
      assert.deepEqual([end.code, end.stderr], [0, `lathe mcp: listening at ${url}\n`]);
    },
  };
}
const answer = (one) => (one.body ?? JSON.parse(one.events.at(-1).data)).result.content[0].text;

describe("sessions, up to 2025-11-25", { concurrency: 3 }, () => {
  for (const [asked, answered] of [["2025-11-25", "2025-11-25"], ["2025-03-26", "2025-03-26"], ["2024-11-05", "2024-11-05"]]) {
    test(`a client of ${asked} lists, calls and leaves`, async () => {
      const s = await serving(), c = await s.session(asked);
      assert.equal(c.hello.protocolVersion, answered);
      assert.match(c.headers["mcp-session-id"], /^[!-~]{16,}$/);
      assert.deepEqual((await c.ask("ping")).body.result, {});
      assert.equal((await c.ask("tools/list")).body.result.tools.length, 4);
      assert.equal(answer(await c.call("execute_code", { code: "goodAdd({ a: 1, b: 2 })" })), "3");
      assert.equal((await c.ask("no/such")).body.error.code, -32601);
      assert.equal((await s.request("DELETE", undefined, c.headers)).status, 200);
      assert.equal((await c.ask("ping")).status, 404);
      assert.equal((await s.request("DELETE", undefined, c.headers)).status, 404);
      await s.ends();
    });
  }
  test("the official client lists, calls and leaves", async () => {
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js"), { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const s = await serving(), client = new Client({ name: "test", version: "1" }), transport = new StreamableHTTPClientTransport(new URL(s.url));
    await client.connect(transport);
    assert.deepEqual((await client.listTools()).tools.map((t) => t.name), ["search_tools", "execute_code", "continue_run", "read_output"]);
    assert.deepEqual((await client.callTool({ name: "execute_code", arguments: { code: "goodAdd({ a: 1, b: 2 })" } })).content, [{ type: "text", text: "3" }]);
    await transport.terminateSession();
    await client.close();
    await s.ends();
  });
  test("two sessions do not see each other, and use the same ids", async () => {
    const s = await serving(), [a, b] = [await s.session(), await s.session()];
    assert.notEqual(a.headers["mcp-session-id"], b.headers["mcp-session-id"]);
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).call("execute_code", { code: `goodAdd({ a: ${i}, b: 1 })` }, undefined, i >> 1)));
    assert.deepEqual(all.map(answer), Array.from({ length: 20 }, (_, i) => String(i + 1)));
    await s.request("DELETE", undefined, a.headers);
    assert.equal(answer(await b.call("execute_code", { code: "1+2" })), "3");
    await s.ends();
  });
  test("an answer that takes long is a stream, and a client that was cut off comes back for it", async () => {
    const s = await serving(servers({ slow: scripted([{ tool: { name: "wait", inputSchema: { type: "object" } }, delayMs: patience > 1 ? 16_000 : 8000 }]) }, bare)), c = await s.session();
    const cut = new AbortController();
    const first = await fetch(s.url, { method: "POST", headers: { ...JSON_AND_EVENTS, ...c.headers }, signal: cut.signal, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "execute_code", arguments: { code: "slowWait({}); 'done at last'" } } }) });
    assert.equal(first.headers.get("content-type"), "text/event-stream");
    const reader = first.body.getReader(), [primer] = eventsOf(new TextDecoder().decode((await reader.read()).value));
    assert.match(primer.id, /^\d+-0$/);
    assert.deepEqual([primer.data, Number(primer.retry) > 0], ["", true]);
    cut.abort();
    const rest = await s.request("GET", undefined, { accept: "text/event-stream", ...c.headers, "last-event-id": primer.id });
    assert.equal(JSON.parse(rest.events.at(-1).data).result.content[0].text, "done at last");
    // and once more, from the start
    const again = await s.request("GET", undefined, { accept: "text/event-stream", ...c.headers, "last-event-id": primer.id });
    assert.deepEqual(again.events, rest.events);
    for (const id of ["99-0", "x", "1", "1-", "-1", "1-2-3", "9".repeat(40)]) {
      assert.equal((await s.request("GET", undefined, { accept: "text/event-stream", ...c.headers, "last-event-id": id })).status, 400, id);
    }
    await s.ends();
  });
  test("a stream of its own stays open until the session ends", async () => {
    const s = await serving(), c = await s.session();
    const own = await fetch(s.url, { headers: { accept: "text/event-stream", ...c.headers } });
    assert.deepEqual([own.status, own.headers.get("content-type")], [200, "text/event-stream"]);
    const all = own.text();
    assert.equal(answer(await c.call("execute_code", { code: "1+2" })), "3");
    await s.request("DELETE", undefined, c.headers);
    assert.doesNotMatch(await all, /jsonrpc/);
    await s.ends();
  });
});

describe("without sessions, from 2026-07-28 on", { concurrency: 3 }, () => {
  test("a client discovers, lists and calls", async () => {
    const s = await serving();
    const found = await s.modern("server/discover");
    assert.deepEqual([found.status, found.body.result.supportedVersions, found.headers.get("mcp-session-id")], [200, ["2026-07-28"], null]);
    assert.equal((await s.modern("tools/list")).body.result.tools.length, 4);
    const sum = await s.modern("tools/call", { name: "execute_code", arguments: { code: "goodAdd({ a: 1, b: 2 })" } });
    assert.deepEqual([sum.body.result.content[0].text, sum.body.result.resultType], ["3", "complete"]);
    const base64 = `=?base64?${Buffer.from("execute_code").toString("base64")}?=`;
    assert.equal(answer(await s.modern("tools/call", { name: "execute_code", arguments: { code: "1+2" } }, { "mcp-name": base64 })), "3");
    await s.ends();
  });
  test("what is missing, does not fit or does not exist is said", async () => {
    const s = await serving(), headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    const list = (meta, more = {}) => s.post({ jsonrpc: "2.0", id: 7, method: "tools/list", params: { _meta: meta } }, { ...headers, ...more });
    const cases = [
      [await list(MODERN, { "mcp-protocol-version": "2025-11-25" }), 400, -32020],
      [await list(MODERN, { "mcp-method": "tools/call" }), 400, -32020],
      [await list(MODERN, { "mcp-method": "" }), 400, -32020],
      [await s.modern("tools/call", { name: "execute_code", arguments: { code: "1" } }, { "mcp-name": "search_tools" }), 400, -32020],
      [await s.modern("tools/call", { name: "execute_code", arguments: { code: "1" } }, { "mcp-name": "" }), 400, -32020],
      [await list({}), 400, -32602],
      [await list(undefined), 400, -32602],
      [await list({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" }), 400, -32602],
      [await list({ ...MODERN, "io.modelcontextprotocol/protocolVersion": "2031-01-01" }, { "mcp-protocol-version": "2031-01-01" }), 400, -32022],
      [await s.modern("ping"), 404, -32601],
      [await s.modern("initialize"), 404, -32601],
      [await s.modern("no/such"), 404, -32601],
    ];
    for (const [one, status, errorCode] of cases) assert.deepEqual([one.status, one.body.error.code], [status, errorCode], one.text);
    assert.deepEqual(cases[8][0].body.error.data, { supported: ["2026-07-28"], requested: "2031-01-01" });
    assert.equal((await s.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, _meta: MODERN } }, { ...headers, "mcp-method": "notifications/cancelled" })).status, 202);
    assert.equal((await s.post({ jsonrpc: "2.0", id: 1, result: {} }, headers)).status, 400);
    for (const method of ["GET", "DELETE", "PUT", "PATCH"]) assert.equal((await s.request(method, undefined, { accept: "text/event-stream", ...headers })).status, 405);
    await s.ends();
  });
  test("closing the connection cancels the program, and its call", async () => {
    const effects = recording();
    const s = await serving(servers({ slow: scripted([{ tool: { name: "wait", inputSchema: { type: "object" } }, delayMs: 600_000 }], effects.option) }, bare));
    const away = new AbortController();
    const call = s.modern("tools/call", { name: "execute_code", arguments: { code: "slowWait({})" } }, {}, away.signal).catch((e) => e.name);
    await until(() => effects.of("tools/call").length === 1, "the call is made");
    away.abort();
    assert.equal(await call, "AbortError");
    await until(() => effects.of("notifications/cancelled").length === 1, "the call is cancelled");
    assert.equal(await s.code("1+2"), "3");
    await s.ends();
  });
});

describe("lathe serve, at /mcp", { concurrency: 3 }, () => {
  const head = (method, name) => ({ ...JSON_AND_EVENTS, "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...(name && { "mcp-name": name }) });
  const execute = (code) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "execute_code", arguments: { code }, _meta: MODERN } });
  test("progress of the calls of a program", async () => {
    const s = await serve({ ...bare, mcpServers: { good: fake() } });
    const params = { name: "execute_code", arguments: { code: "goodAdd({ a: 1, b: 2 })" }, _meta: { ...MODERN, progressToken: "p" } };
    const said = await s.ask("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, { ...JSON_AND_EVENTS, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "execute_code" });
    assert.deepEqual(eventsOf(said.text).map((event) => JSON.parse(event.data).params?.message), ["good.add", "good.add: done", undefined]);
    assert.equal((await s.stop()).code, 0);
  });
  test("both eras, beside the API, with one store", async () => {
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js"), { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const s = await serve({ ...bare, mcpServers: { good: fake() } });
    const sum = await s.ask("POST", "/mcp", execute("goodAdd({ a: 1, b: 2 })"), head("tools/call", "execute_code"));
    assert.deepEqual([sum.status, sum.json.result.content[0].text], [200, "3"]);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", s.url)));
    assert.deepEqual((await client.callTool({ name: "execute_code", arguments: { code: "goodAdd({ a: 2, b: 2 })" } })).content, [{ type: "text", text: "4" }]);
    await client.close();
    assert.equal((await s.ask("GET", "/healthz")).status, 200);
    assert.equal((await s.ask("POST", "/mcp", execute("1"), { ...head("tools/call", "execute_code"), origin: "http://evil.example" })).status, 403);
    assert.equal((await s.stop()).code, 0);
  });

  test("a user's runs and sessions are nobody else's", async () => {
    const state = folder(), policy = [{ match: "good.add", action: "ask" }];
    const token = async (user) => ({ authorization: `Bearer ${(await run(["serve", "token", "add", user], { env: { XDG_STATE_HOME: state } })).stdout.trim()}` });
    const [ann, bob] = [await token("ann"), await token("bob")];
    const s = await serve({ ...bare, mcpServers: { good: fake() }, tools: { policy }, mcp: { waitMs: 300, approveByCall: true } }, { state });
    const call = async (user, name, args) => (await s.ask("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args, _meta: MODERN } }, { ...head("tools/call", name), ...user })).json.result;
    const told = async (...how) => (await call(...how)).content[0].text;

    const ended = async (user, text) => {
      for (let more; (more = /Run ([0-9a-f]{32}) is not done/.exec(text)); ) text = await told(user, "continue_run", { run: more[1] });
      return text;
    };

    const waits = await told(ann, "execute_code", { code: "goodAdd({ a: 1, b: 2 })" });
    const [, id] = /Run ([0-9a-f]{32}) is not done/.exec(waits);
    let question; // it may not be there yet
    for (let text = waits; !question; text = await told(ann, "continue_run", { run: id })) question = /call "([^"]+)" and decision/.exec(text)?.[1];
    assert.equal((await s.get(`/prompts/${id}`, ann)).json.userId, "ann");
    for (const [name, args] of [["continue_run", { run: id }], ["continue_run", { run: id, call: question, decision: "approve" }], ["read_output", { run: id }]]) {
      const refused = await call(bob, name, args);
      assert.deepEqual([refused.isError, /goodAdd|waiting|not done/.test(refused.content[0].text)], [true, false], refused.content[0].text);
    }
    assert.equal((await s.get(`/prompts/${id}`, bob)).status, 404);
    assert.equal((await s.get(`/prompts/${id}`, ann)).json.state, "waiting_for_approval", "bob has decided nothing");
    assert.equal(await ended(ann, await told(ann, "continue_run", { run: id, call: question, decision: "approve" })), "3");
    assert.equal((await call(bob, "read_output", { run: id })).isError, true, "also when it has ended");

    const work = async (user, code) => ended(user, await told(user, "execute_code", { code, session: "work" }));
    await work(ann, "let secret = 41");
    assert.match(await work(bob, "typeof secret"), /^undefined\b/);
    assert.match(await work(ann, "secret + 1"), /^42\b/);

    const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } };
    const session = (await s.ask("POST", "/mcp", hello, { ...JSON_AND_EVENTS, ...ann })).headers.get("mcp-session-id");
    const listed = async (user) => (await s.ask("POST", "/mcp", { jsonrpc: "2.0", id: 2, method: "tools/list" }, { ...JSON_AND_EVENTS, "mcp-session-id": session, ...user })).status;
    assert.deepEqual([await listed(bob), await listed(ann), await listed({})], [404, 200, 401]);
    assert.equal((await s.stop()).code, 0);
  });
});

test("what servers log goes to the user of the configuration, and to nobody else", async () => {
  const state = folder(), upstream = { command: process.execPath, args: [join(root, "tests/fakes/conformance_upstream.mjs")] };
  const token = async (user) => ({ authorization: `Bearer ${(await run(["serve", "token", "add", user], { env: { XDG_STATE_HOME: state } })).stdout.trim()}` });
  const users = [await token("ann"), await token("local")];
  const s = await serve({ ...bare, mcpServers: { fixture: upstream } }, { state });
  const told = ["", ""], headers = [];
  for (const [i, user] of users.entries()) {
    const send = (message) => s.ask("POST", "/mcp", { jsonrpc: "2.0", ...message }, { ...JSON_AND_EVENTS, ...headers[i], ...user });
    const hello = await send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } });
    headers[i] = { ...user, "mcp-session-id": hello.headers.get("mcp-session-id") };
    assert.deepEqual((await send({ id: 2, method: "logging/setLevel", params: { level: "debug" } })).json.result, {});
  }
  const ends = users.map(async (_, i) => {
    const own = await fetch(new URL("/mcp", s.url), { headers: { accept: "text/event-stream", ...headers[i] } });
    for await (const piece of own.body) told[i] += new TextDecoder().decode(piece);
  });
  const code = "tools['fixture.test_tool_with_logging']({})";
  const made = await s.ask("POST", "/mcp", { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "execute_code", arguments: { code } } }, { ...JSON_AND_EVENTS, ...headers[0] });
  assert.match(made.text, /Tool with logging/);
  await until(() => told[1].includes("execution completed"), "the log is passed on");
  for (const one of headers) assert.equal((await s.ask("DELETE", "/mcp", undefined, one)).status, 200);
  await Promise.all(ends);
  assert.doesNotMatch(made.text + told[0], /notifications.message/);
  assert.equal((await s.stop()).code, 0);
});

describe("who may ask", { concurrency: 3 }, () => {
  test("only this machine's own pages and programs", async () => {
    const s = await serving(good({ server: { hosts: ["lathe.example"], origins: ["https://app.example"] } }));
    const asked = (head) => s.raw(`POST /mcp HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n${head}\r\n\r\n`).then((text) => Number(text.split(" ")[1]));
    for (const [head, status] of [
      ["Host: evil.example", 403],
      ["Host: 127.0.0.1.evil.example", 403],
      [`Host: 127.0.0.1:${s.port}\r\nOrigin: http://evil.example`, 403],
      [`Host: 127.0.0.1:${s.port}\r\nOrigin: null`, 403],
      [`Host: 127.0.0.1:${s.port}`, 415],
      [`Host: localhost:${s.port}\r\nOrigin: http://localhost:${s.port}`, 415],
      ["Host: lathe.example\r\nOrigin: https://app.example", 415],
    ]) assert.equal(await asked(head), status, head);
    await s.ends();
  });
  test("only who has a token, where there are any", async () => {
    const s = await serving(good({ server: { tokens: ["${LATHE_ONE}", "${LATHE_TWO}"] } }), { env: { LATHE_ONE: "one-token-of-32-characters-000000", LATHE_TWO: "two-token-of-32-characters-000000" } });
    for (const authorization of [undefined, "Bearer", "Bearer wrong", "Basic one-token-of-32-characters-000000", "Bearer one-token-of-32-characters-00000", "Bearer one-token-of-32-characters-0000000"]) {
      const refused = await s.modern("tools/list", {}, authorization && { authorization });
      assert.deepEqual([refused.status, refused.headers.get("www-authenticate")], [401, "Bearer"], authorization);
      assert.doesNotMatch(refused.text, /token-of-32/);
    }
    assert.equal((await s.modern("tools/list", {}, { authorization: "Bearer one-token-of-32-characters-000000" })).status, 200);
    assert.equal((await s.modern("tools/list", {}, { authorization: "bearer two-token-of-32-characters-000000" })).status, 200);
    await s.ends();
  });
  test("an address that others reach needs a token, and a token has a length", async () => {
    for (const [listen, rest, code, said] of [
      ["0.0.0.0:0", {}, 3, /can be reached by others.*set server\.tokens/],
      ["[::]:0", {}, 3, /can be reached by others/],
      ["127.0.0.1:0", { server: { tokens: ["short"] } }, 3, /server\.tokens: a token has at least 16/],
      ["elsewhere.example:80", {}, 2, /is no address to listen at/],
      ["127.0.0.1:99999", {}, 2, /is no address to listen at/],
    ]) {
      const end = await run(["mcp", "--http", listen, ...good(rest)]);
      assert.deepEqual([end.code, end.stdout], [code, ""], end.stderr);
      assert.match(end.stderr, said);
    }
  });
  test("an address that somebody has is said", async () => {
    const s = await serving();
    const end = await run(["mcp", "--http", `127.0.0.1:${s.port}`, ...good()]);
    assert.equal(end.code, 1);
    assert.match(end.stderr, /cannot listen on 127\.0\.0\.1:\d+: Address already in use/);
    await s.ends();
  });
});

describe("clients that go wrong", { concurrency: 3 }, () => {
  test("each gets a clear error, and the next one its answer", async () => {
    const s = await serving(), c = await s.session(), deep = (n) => `${"[".repeat(n)}${"]".repeat(n)}`;
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const cases = [
      [() => s.post("{", c.headers), 400, -32700],
      [() => s.post("", c.headers), 400, -32700],
      [() => s.post(Buffer.from([0, 1, 255]).toString("latin1"), c.headers), 400, -32700],
      [() => s.post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":${deep(5000)}}`, c.headers), 400, -32700],
      [() => s.post("[]", c.headers), 400, -32600],
      [() => s.post([ping], c.headers), 400, -32600],
      [() => s.post('"text"', c.headers), 400, -32600],
      [() => s.post({ ...ping, jsonrpc: "1.0" }, c.headers), 400, -32600],
      [() => s.post({ ...ping, id: null }, c.headers), 400, -32600],
      [() => s.post(ping, { ...c.headers, "content-type": "text/plain" }), 415, -32000],
      [() => s.post(ping, { ...c.headers, accept: "text/html" }), 406, -32000],
      [() => s.post(ping, { ...c.headers, "mcp-protocol-version": "1999-01-01" }), 400, -32000],
      [() => s.post(ping), 400, -32000],
      [() => s.post(ping, { ...c.headers, "mcp-session-id": "0".repeat(32) }), 404, -32001],
      [() => s.post({ jsonrpc: "2.0", id: 1, method: "initialize", params: deep(1) }, {}), 200, undefined],
    ];
    for (const [send, status, errorCode] of cases) {
      const one = await send();
      assert.deepEqual([one.status, one.body.error?.code], [status, errorCode], one.text);
      assert.deepEqual((await c.ask("ping")).body.result, {});
    }
    for (const nothing of [{ method: "notifications/cancelled", params: { requestId: 1 } }, { method: "notifications/cancelled" }, { method: "notifications/nobody/knows" }, { id: 17, result: {} }, { id: "x", error: { code: 1, message: "no" } }]) {
      assert.equal((await c.send(nothing)).status, 202);
    }
    assert.equal((await s.request("POST", "{}", { ...JSON_AND_EVENTS, "content-length": "2" })).status, 400);
    assert.equal((await fetch(new URL("/elsewhere", s.url))).status, 404);
    await s.ends();
  });
  test("a body that is too long, a head that is too long, a body that never comes", async () => {
    const s = await serving(), c = await s.session(), host = `Host: 127.0.0.1:${s.port}`;
    assert.match(await s.raw(`POST /mcp HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n`), /^HTTP\/1\.1 413/);
    assert.match(await s.raw(`POST /mcp HTTP/1.1\r\n${host}\r\nX: ${"x".repeat(200_000)}\r\n\r\n`), /^(HTTP\/1\.1 4\d\d|$)/);
    assert.match(await s.raw(`POST /mcp?${"x".repeat(20_000)} HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 414/);
    assert.doesNotMatch(await s.raw("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"), /200 OK/);
    const stuck = Array.from({ length: 100 }, (_, i) => connect(s.port, s.hostname).on("error", () => {}));
    for (const [i, socket] of stuck.entries()) socket.write(i % 2 ? "POST /mcp HTTP/1.1\r\nHost: 127" : `POST /mcp HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    assert.equal(answer(await c.call("execute_code", { code: "goodAdd({ a: 1, b: 2 })" })), "3");
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => s.code(`${i} + 1`)));
    assert.deepEqual(all, all.map((_, i) => String(i + 1)));
    await s.ends(); // with all of them open
    for (const socket of stuck) socket.destroy();
  });
  test("an id that is in use is refused, and the first request goes on", async () => {
    const effects = recording(), approve = { tools: { policy: [{ match: "good.add", action: "ask" }] }, mcp: { waitMs: 3000 * patience } };
    const s = await serving(servers({ good: fake(effects.option) }, { ...bare, ...approve })), c = await s.session();
    const first = c.call("execute_code", { code: "goodEcho({ text: 'first' }); goodAdd({ a: 1, b: 2 })" }, undefined, "same");
    await until(() => effects.of("tools/call").length === 1, "the first one runs, and then waits for approval");
    const second = await c.call("execute_code", { code: "'second'" }, undefined, "same");
    assert.deepEqual([second.status, second.body.error.code, second.body.id], [400, -32600, "same"]);
    assert.match(answer(await first), /waiting for approval of good\.add/);
    assert.equal(answer(await c.call("execute_code", { code: "'third'" }, undefined, "same")), "third");
    await s.ends();
  });
  test("a request that is cancelled has no answer, and its program ends", async () => {
    const effects = recording();
    const s = await serving(servers({ slow: scripted([{ tool: { name: "wait", inputSchema: { type: "object" } }, delayMs: 600_000 }], effects.option) }, bare)), c = await s.session();
    const call = c.call("execute_code", { code: "slowWait({})" }, undefined, 5);
    await until(() => effects.of("tools/call").length === 1, "the call is made");
    assert.equal((await c.send({ method: "notifications/cancelled", params: { requestId: 5, reason: "enough" } })).status, 202);
    const nothing = await call;
    assert.doesNotMatch(nothing.text, /result|error/);
    await until(() => effects.of("notifications/cancelled").length === 1, "the call is cancelled");
    assert.equal(answer(await c.call("execute_code", { code: "1+2" }, undefined, 5)), "3");
    await s.ends();
  });
  test("one that goes away in the middle of a program: the program goes on to its end", async () => {
    const effects = recording();
    const s = await serving(servers({ slow: scripted([{ tool: { name: "wait", inputSchema: { type: "object" } }, delayMs: 1000 }, { tool: { name: "after", inputSchema: { type: "object" } } }], effects.option) }, bare)), c = await s.session();
    const away = new AbortController();
    const call = c.call("execute_code", { code: "slowWait({}); slowAfter({})" }, away.signal).catch((e) => e.name);
    await until(() => effects.of("tools/call").length === 1, "the call is made");
    away.abort();
    assert.equal(await call, "AbortError");
    await until(() => effects.of("tools/call").length === 2, "the program goes on");
    assert.equal(effects.of("notifications/cancelled").length, 0);
    await s.ends();
  });
  test("a flood of requests is answered, every one", async () => {
    const s = await serving(), c = await s.session();
    const all = await Promise.all(Array.from({ length: 400 }, (_, i) => (i % 3 ? c.ask("ping") : s.modern("tools/call", { name: "execute_code", arguments: { code: String(i) } }))));
    assert.deepEqual(all.map((a) => a.status).filter((status) => status !== 200), []);
    await s.ends();
  });
  test("more sessions than there is room for: the ones that were idle longest make place", { timeout: 60_000 * patience }, async () => {
    const s = await serving(good()), first = await s.session();
    let newest;
    for (let i = 0; i < 1000; i += 20) [newest] = await Promise.all(Array.from({ length: 20 }, () => s.session()));
    assert.equal((await first.ask("ping")).status, 404);
    assert.deepEqual((await newest.ask("ping")).body.result, {});
    await s.ends();
  });
});
