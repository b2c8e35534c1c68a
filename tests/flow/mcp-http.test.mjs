// MCP servers over HTTP: both eras of the protocol, the old transport, sessions, streams, and everything that goes wrong.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { folder, report, run, servers, value, describe, test, until } from "./harness.mjs";
import { mcpHttp } from "../fakes/mcp_http_server.mjs";
import { installed } from "./npm-servers.mjs";
import { selfSigned } from "../fakes/self_signed.mjs";

const web = (server, more = {}) => servers({ web: { url: server.url, ...more } });
const methods = (server) => server.seen.map((r) => r.message.method ?? r.method);

describe("which protocol is spoken", { concurrency: 4 }, () => {
  test("a server with sessions: handshake, version and session in each request, an end", async () => {
    const server = await mcpHttp();
    assert.deepEqual(await value("webEcho({ a: 1 })", web(server)), { a: 1 });
    assert.deepEqual(methods(server).filter((m) => m !== "GET"), ["server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call", "DELETE"]);
    const [, hello, ...rest] = server.seen.filter((r) => r.method !== "GET");
    assert.equal(hello.headers["mcp-session-id"], undefined);
    assert.equal(new Set(rest.map((r) => r.headers["mcp-session-id"])).size, 1);
    for (const r of rest) assert.equal(r.headers["mcp-protocol-version"], "2025-11-25");
    assert.equal(server.sessions.size, 0, "the session was ended");
  });
  test("a stateless server: no handshake, the version in header and body, no session", async () => {
    const server = await mcpHttp({ era: "stateless" });
    assert.deepEqual(await value("webEcho({ a: 1 })", web(server)), { a: 1 });
    assert.deepEqual(methods(server), ["server/discover", "tools/list", "tools/call"]);
    for (const { headers, message } of server.seen) {
      assert.equal(headers["mcp-protocol-version"], "2026-07-28");
      assert.equal(headers["mcp-method"], message.method);
      assert.equal(message.params._meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
      assert.deepEqual(message.params._meta["io.modelcontextprotocol/clientCapabilities"], {});
    }
    assert.equal(server.seen.at(-1).headers["mcp-name"], "echo");
  });
  const overStdio = (body) => ({ command: process.execPath, args: ["-e", `
    const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    require("readline").createInterface({ input: process.stdin }).on("line", (line) => { const m = JSON.parse(line); ${body} });`] });
  test("a stateless server over stdio", async () => {
    const server = overStdio(`
      if (m.method === "server/discover") say(m.id, { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" });
      else if (m.method === "tools/list") say(m.id, { resultType: "complete", tools: [{ name: "meta", inputSchema: { type: "object" } }], ttlMs: 0, cacheScope: "private" });
      else if (m.method === "tools/call") say(m.id, { resultType: "complete", content: [], structuredContent: m.params._meta });
      else process.exit(9);`);
    assert.equal((await value("sMeta({})", servers({ s: server })))["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
  });
  test("an older server over stdio that exits at what is not initialize", async () => {
    const server = overStdio(`
      if (m.method === "initialize") say(m.id, { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } });
      else if (m.method === "tools/list") say(m.id, { tools: [{ name: "hi", inputSchema: { type: "object" } }] });
      else if (m.method === "tools/call") say(m.id, { content: [{ type: "text", text: "hi" }] });
      else if (m.method !== "notifications/initialized") process.exit(9);`);
    const r = await report("sHi({})", servers({ s: server }));
    assert.deepEqual([r.result, r.stderr], ["hi", ""]);
  });
  test("the transport of 2024-11-05, found out and named", async () => {
    for (const type of [{}, { type: "sse" }]) {
      const server = await mcpHttp({ era: "sse" });
      assert.deepEqual(await value("webEcho({ a: 1 })", web(server, type)), { a: 1 });
      assert.deepEqual(methods(server).slice(-4), ["initialize", "notifications/initialized", "tools/list", "tools/call"]);
    }
  });
  test("an old server that names somebody else's address gets nothing", async () => {
    const other = await mcpHttp();
    const server = await mcpHttp({ era: "sse", answer: (m, request, response) => request.method === "GET" && (response.writeHead(200, { "content-type": "text/event-stream" }), response.write(`event: endpoint\ndata: ${other.url}\n\n`), true) });
    const r = await report("1", web(server, { type: "sse", headers: { Authorization: "Bearer secret-key-1" } }));
    assert.match(r.stderr, /"web": the server names an address for messages that is not its own/);
    assert.equal(other.seen.length, 0);
  });
});

describe("requests and answers", { concurrency: 4 }, () => {
  test("headers of the configuration are sent, and their values are secrets", async () => {
    const server = await mcpHttp({ call: (m) => ({ content: [{ type: "text", text: "key is bearer-key-77" }] }) });
    const end = await run(["run", "-e", "log(webEcho({}))", ...web(server, { headers: { Authorization: "Bearer ${WEB_KEY}", "X-Plain": "1" } })], { env: { WEB_KEY: "bearer-key-77" } });
    assert.equal(end.stderr, "[log] key is ***\n");
    for (const { headers } of server.seen) assert.deepEqual([headers.authorization, headers["x-plain"]], ["Bearer bearer-key-77", "1"]);
  });
  test("an answer as events, after others", async () => {
    const server = await mcpHttp({ stream: true, call: (m, send) => (send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "error", data: "half full" } }), { content: [{ type: "text", text: "done" }] }) });
    const r = await report("webEcho({})", web(server));
    assert.equal(r.result, "done");
    assert.match(r.stderr, /"web": logs: half full/);
  });
  test("a stream that breaks is taken up where it ended, after the time the server wants", async () => {
    let id, begun, again;
    const server = await mcpHttp({ answer: (m, request, response) => {
      if (m.method === "tools/call") {
        id = m.id;
        response.writeHead(200, { "content-type": "text/event-stream" }).end("id: e-1\nretry: 300\ndata: \n\n");
        begun = Date.now();
      } else if (request.method === "GET" && request.headers["last-event-id"]) {
        again = Date.now();
        assert.equal(request.headers["last-event-id"], "e-1");
        response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "late" }] } })}\n\n`);
      } else return false;
      return true;
    } });
    assert.equal(await value("webEcho({})", web(server)), "late");
    assert.ok(again - begun >= 290, `${again - begun} ms`);
  });
  test("a session that is lost is begun again, once, and the call is made again", async () => {
    const losing = await mcpHttp({ tools: [{ name: "forget", inputSchema: { type: "object" } }], call: (m) => m.params.name === "forget" && (losing.forget(), { content: [] }) });
    const s = await report("const a = webEcho({ n: 1 }); webForget({}); [a, webEcho({ n: 2 }), webEcho({ n: 3 })]", web(losing));
    assert.deepEqual(s.result, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    assert.equal(methods(losing).filter((m) => m === "initialize").length, 2);
  });
  test("arguments as headers, for a stateless server; a tool whose headers are wrong is left out", async () => {
    const string = (name) => ({ type: "object", properties: { region: { type: "string", "x-mcp-header": name } } });
    const server = await mcpHttp({ era: "stateless", tools: [{ name: "good", inputSchema: string("Region") }, { name: "bad", inputSchema: string("Re gion") }] });
    const r = await report("webGood({ region: 'Zürich' }); typeof webBad", web(server));
    assert.equal(r.result, "undefined");
    assert.match(r.stderr, /"web": .*"bad".*x-mcp-header/);
    assert.equal(server.seen.at(-1).headers["mcp-param-region"], "=?base64?WsO8cmljaA==?=");
  });
  test("a redirect within the origin is followed, one to another is not", async () => {
    const inside = await mcpHttp({ answer: (m, request, response) => request.url === "/mcp" && (response.writeHead(307, { location: "/mcp/" }).end(), true) });
    assert.deepEqual(await value("webEcho({ a: 1 })", web(inside)), { a: 1 });
    const other = await mcpHttp();
    const outside = await mcpHttp({ answer: (m, request, response) => (response.writeHead(307, { location: other.url }).end(), true) });
    const r = await report("1", web(outside, { headers: { Authorization: "Bearer secret-key-1" } }));
    assert.match(r.stderr, new RegExp(`"web": .*307.*sends us to http://127.0.0.1:${other.port}; Lathe does not follow`));
    assert.equal(other.seen.length, 0);
  });
  test("too many requests: asked again after the time that the server names", async () => {
    let refused = 0;
    const server = await mcpHttp({ answer: (m, request, response) => m.method === "tools/call" && refused++ === 0 && (response.writeHead(429, { "retry-after": "0" }).end(), true) });
    assert.deepEqual(await value("webEcho({ a: 1 })", web(server)), { a: 1 });
  });
  test("more input that a server wants: its state is sent back unchanged, and nothing that was not given", async () => {
    const state = "s\u00e9\u2028\\\"1";
    const server = await mcpHttp({ era: "stateless", call: (m) => (m.params.requestState === undefined ? { resultType: "input_required", requestState: state } : undefined) });
    assert.deepEqual(await value("webEcho({ a: 1 })", web(server)), { a: 1 });
    const [first, second] = server.seen.filter((r) => r.message.method === "tools/call").map((r) => r.message);
    assert.equal(second.params.requestState, state);
    assert.ok(!("inputResponses" in second.params) && first.id !== second.id);
  });
});

describe("what a server asks", { concurrency: 4 }, () => {
  const form = { type: "object", properties: { name: { type: "string", default: "Ada" }, age: { type: "integer" } }, required: ["name"] };
  const asking = (requestedSchema) => ({ era: "stateless", call: (m) => (m.params.inputResponses ? { content: [{ type: "text", text: JSON.stringify(m.params.inputResponses) }] } : { resultType: "input_required", inputRequests: { "q 1": { method: "elicitation/create", params: { message: "who?", requestedSchema } }, r: { method: "roots/list" } } }) });
  test("questions of a stateless server are answered with their defaults, and with the roots", async () => {
    const server = await mcpHttp(asking(form));
    assert.deepEqual(await value("webEcho({})", web(server, { answerWithDefaults: true, roots: ["/tmp/a b"] })), { "q 1": { action: "accept", content: { name: "Ada" } }, r: { roots: [{ uri: "file:///tmp/a%20b" }] } });
    assert.deepEqual(server.seen[0].message.params._meta["io.modelcontextprotocol/clientCapabilities"], { elicitation: { form: {} }, roots: {} });
  });
  test("a required field without a default: declined", async () => {
    const server = await mcpHttp(asking({ ...form, required: ["age"] }));
    assert.deepEqual((await value("webEcho({})", web(server, { answerWithDefaults: true, roots: ["/"] })))["q 1"], { action: "decline" });
  });
  test("a server that asks what nobody has offered: the call fails and says so", async () => {
    const r = await report("webEcho({})", web(await mcpHttp(asking(form))));
    assert.match(JSON.stringify(r), /wants input that Lathe has not offered to give: .*elicitation/);
  });
});

describe("what goes wrong", { concurrency: 4 }, () => {
  const html = "<html>\u001b[31mlogin</html>";
  const starts = [
    ["401", (r) => r.writeHead(401).end(), /HTTP status 401; it wants a key/],
    ["403", (r) => r.writeHead(403).end("go away"), /HTTP status 403.*It says: go away/],
    ["404 everywhere", (r) => r.writeHead(404).end("no page"), /HTTP status 404/],
    ["500", (r) => r.writeHead(500).end("oops"), /HTTP status 500; the fault is on its side.*oops/],
    ["HTML", (r) => r.writeHead(200, { "content-type": "text/html" }).end(html), /answers with text\/html.*check that "url" is the address of an MCP server/],
    ["JSON that is no message", (r) => r.writeHead(200, { "content-type": "application/json" }).end('{"hello": 1}'), /not the answer/],
    ["no answer, but accepted", (r) => r.writeHead(202).end(), /answers with nothing/],
    ["an answer cut off", (r) => { r.writeHead(200, { "content-type": "application/json", "content-length": 1000 }); r.write("{"); setTimeout(() => r.destroy(), 20); }, /broke the connection off/],
    ["a stream that ends early", (r) => r.writeHead(200, { "content-type": "text/event-stream" }).end(": hello\n\n"), /closed the event stream before it answered/],
    ["429 for a long time", (r) => r.writeHead(429, { "retry-after": "3600" }).end(), /HTTP status 429; it wants fewer requests/],
  ];
  for (const [name, answer, words] of starts) {
    test(`at the start: ${name}`, async () => {
      const server = await mcpHttp({ answer: (m, request, response) => (answer(response), true) });
      const r = await report("1 + 1", web(server));
      assert.deepEqual([r.exit, r.result], [0, 2]);
      assert.match(r.stderr, /^warning: MCP server "web": [^\n\u001b]*\n$/);
      assert.match(r.stderr, words);
    });
  }
  const calls = [
    ["a stall", () => {}, /deadline|timed out|time/],
    ["endless comments", (r) => { r.writeHead(200, { "content-type": "text/event-stream" }); const t = setInterval(() => r.write(": keep waiting\n"), 5); r.on("close", () => clearInterval(t)); }, /deadline|timed out|time/],
    ["events that are no JSON", (r) => r.writeHead(200, { "content-type": "text/event-stream" }).end("data: {broken\n\ndata: nonsense\n\n"), /closed the event stream before it answered/],
    ["401", (r) => r.writeHead(401).end(), /HTTP status 401/],
    ["503", (r) => r.writeHead(503).end("busy"), /HTTP status 503.*busy/],
    ["a cut", (r) => r.destroy(), /broke the connection off/],
  ];
  for (const [name, answer, words] of calls) {
    test(`in a call: ${name}; the next call works`, async () => {
      let first = true;
      const server = await mcpHttp({ answer: (m, request, response) => m.method === "tools/call" && first && (first = false, answer(response), true) });
      const isSilent = name === "a stall" || name === "endless comments";
      const bound = isSilent ? { sandbox: { timeoutMs: 700 } } : {};
      const r = await report("let e; try { webEcho({ a: 1 }) } catch (x) { e = x.message } [e, webEcho({ a: 2 })]", servers({ web: { url: server.url } }, bound));
      if (isSilent) return assert.match(JSON.stringify(r), words);
      assert.match(r.result[0], words);
      assert.deepEqual(r.result[1], { a: 2 });
    });
  }
});

describe("TLS and proxies", () => {
  test("a certificate that is not trusted, and one of an own CA", async () => {
    const tls = selfSigned();
    const server = await mcpHttp({ tls });
    const refused = await run(["run", "-e", "1", ...web(server)], { env: { CURL_CA_BUNDLE: "" } });
    assert.match(refused.stderr, /"web": cannot reach 127\.0\.0\.1:\d+: .*certificate.*SSL_CERT_FILE/s);
    const file = join(folder({ "ca.pem": tls.cert }), "ca.pem");
    const end = await run(["run", "-e", "webEcho({ a: 1 }).a", ...web(server)], { env: { CURL_CA_BUNDLE: "", SSL_CERT_FILE: file } });
    assert.equal(end.stdout, "1\n", end.stderr);
  });
  test("a certificate that has expired, of a CA that is trusted", async () => {
    const tls = selfSigned({ until: new Date(Date.now() - 60_000) });
    const server = await mcpHttp({ tls });
    const file = join(folder({ "ca.pem": tls.cert }), "ca.pem");
    const end = await run(["run", "-e", "webEcho({ a: 1 })", ...web(server)], { env: { CURL_CA_BUNDLE: "", SSL_CERT_FILE: file } });
    assert.equal(end.code, 1);
    assert.match(end.stderr, /"web": cannot reach 127\.0\.0\.1:\d+: [^\n]*certificate[^\n]*expired[^\n]* \(its owner has to renew the certificate; or is the clock of this machine wrong\?\)/);
    assert.deepEqual(server.seen, []);
  });
  test("a proxy carries requests to other machines, and none to this one", async () => {
    const server = await mcpHttp(), asked = [];
    const proxy = createServer((request, response) => { asked.push(request.url); response.writeHead(502).end("no"); });
    proxy.on("connect", (request, socket) => {
      asked.push(request.url);
      const to = connect(server.port, "127.0.0.1", () => { socket.write("HTTP/1.1 200 OK\r\n\r\n"); to.pipe(socket); socket.pipe(to); });
      to.on("error", () => socket.destroy());
      socket.on("error", () => to.destroy());
    });
    await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
    proxy.unref();
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.address().port}`, https_proxy: `http://127.0.0.1:${proxy.address().port}`, http_proxy: `http://127.0.0.1:${proxy.address().port}` };
    assert.equal((await run(["run", "-e", "webEcho({ a: 1 }).a", ...web(server)], { env })).stdout, "1\n");
    assert.deepEqual(asked, []);
    const far = await run(["run", "-e", "1", ...servers({ far: { url: "https://mcp.invalid/mcp" } })], { env });
    assert.match(far.stderr, /"far"/);
    assert.deepEqual(asked, ["mcp.invalid:443"]);
    const not = await run(["run", "-e", "1", ...servers({ far: { url: "https://mcp.invalid/mcp" } })], { env: { ...env, NO_PROXY: "mcp.invalid", no_proxy: "mcp.invalid" } });
    assert.match(not.stderr, /"far": cannot reach mcp\.invalid/);
    assert.equal(asked.length, 1);
    proxy.closeAllConnections?.();
    proxy.close();
  });
});

describe("a real server", { skip: !installed("@modelcontextprotocol/server-everything") && "not installed" }, () => {
  for (const [transport, path] of [["streamableHttp", "/mcp"], ["sse", "/sse"]]) {
    test(`server-everything over ${transport}`, async (t) => {
      const probe = createServer();
      await new Promise((done) => probe.listen(0, "127.0.0.1", done));
      const { port } = probe.address();
      await new Promise((done) => probe.close(done));
      const child = spawn(process.execPath, [join(installed("@modelcontextprotocol/server-everything"), "dist/index.js"), transport], { env: { ...process.env, PORT: String(port) }, stdio: "ignore" });
      try {
        await until(() => fetch(`http://localhost:${port}/`).then(() => true, () => false), "the server listens");
        const args = servers({ everything: { url: `http://localhost:${port}${path}` } });
        assert.equal(await value("everythingEcho({ message: 'hello' })", args), "Echo: hello");
        assert.match(JSON.stringify(await value("everythingGetTinyImage({})", args)), /"mimeType":"image\/png"/);
        assert.equal((await value("everythingGetStructuredContent({ location: 'Chicago' })", args)).conditions, "Light rain / drizzle");
      } finally {
        child.kill("SIGKILL");
      }
    });
  }
});
