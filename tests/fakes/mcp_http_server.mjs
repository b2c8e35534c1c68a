#!/usr/bin/env node
// A fake MCP server over HTTP for the tests: Node 18 or later, no dependencies.
//
//   const server = await mcpHttp({ era?, ...faults })    in a test; {url, seen, port, close, ...} comes back
//
// era        "session" (2025-11-25, the usual one), "stateless" (2026-07-28) or "sse" (the transport of 2024-11-05)
// answer     (message, request, response) => true: it has answered itself
// tls        {key, cert}: speaks TLS
// tools      [{name, inputSchema?, ...}], beside `echo`
// call       (message, send) => result: what a tool answers; `send` writes a message to the stream before that
// stream     every answer is an event stream
// `seen` has every request: {method, url, headers, message}.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";

const event = (message, id) => `${id ? `id: ${id}\n` : ""}event: message\ndata: ${JSON.stringify(message)}\n\n`;

export async function mcpHttp(options = {}) {
  const { era = "session", tls } = options;
  const sessions = new Set(), seen = [], listeners = new Set();
  const state = { sessions, seen, listeners, forget: () => sessions.clear() };

  function result(message, send) {
    const { method, params } = message;
    if (method === "server/discover" && era === "stateless") return { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: { listChanged: Boolean(options.listen) } }, ttlMs: 0, cacheScope: "private", instructions: "stateless" };
    if (method === "initialize" && era !== "stateless") return { protocolVersion: era === "sse" ? "2024-11-05" : "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "fake", version: "1" }, instructions: "with a handshake" };
    if (method === "tools/list") return { resultType: "complete", tools: [{ name: "echo", inputSchema: { type: "object" } }, ...(options.tools ?? [])], ttlMs: 0, cacheScope: "private" };
    if (method === "tools/call") return { resultType: "complete", ...(options.call?.(message, send) || { content: [{ type: "text", text: JSON.stringify(params.arguments) }] }) };
    return undefined;
  }
  const answerTo = (message, send) => {
    const value = result(message, send);
    return value ? { jsonrpc: "2.0", id: message.id, result: value } : { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Method not found" } };
  };

  function post(message, request, response) {
    const session = request.headers["mcp-session-id"];
    if (era === "session" && message.method !== "initialize" && !sessions.has(session)) {
      const status = session ? 404 : 400;
      return response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "no such session" } }));
    }
    if (message.id === undefined || !message.method) return response.writeHead(202).end();
    const headers = {};
    if (era === "session" && message.method === "initialize") sessions.add((headers["mcp-session-id"] = randomUUID()));
    if (options.stream) {
      response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
      return response.end(event(answerTo(message, (one) => response.write(event(one)))));
    }
    const answer = answerTo(message, () => {});
    const status = answer.error && era === "stateless" ? 404 : 200;
    return response.writeHead(status, { ...headers, "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(answer));
  }

  function old(message, request, response) {
    if (request.method === "GET" && request.url === "/mcp") {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("event: endpoint\ndata: /messages?session=1\n\n");
      listeners.add(response);
      return;
    }
    if (request.method !== "POST" || !request.url.startsWith("/messages")) return void response.writeHead(404).end("not here");
    response.writeHead(202).end("Accepted");
    if (message.id !== undefined && message.method) for (const one of listeners) one.write(event(answerTo(message, (m) => one.write(event(m)))));
  }

  const handle = (request, response) => {
    let text = "";
    request.on("data", (piece) => (text += piece));
    request.on("end", () => {
      let message = {};
      try { message = text ? JSON.parse(text) : {}; } catch { /* a test looks at `seen` */ }
      seen.push({ method: request.method, url: request.url, headers: request.headers, message });
      if (options.answer?.(message, request, response, state)) return;
      if (era === "sse") return void old(message, request, response);
      if (request.method === "DELETE" && era === "session") { sessions.delete(request.headers["mcp-session-id"]); return void response.writeHead(200).end(); }
      if (request.method !== "POST") return void response.writeHead(405).end();
      post(message, request, response);
    });
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  server.unref();
  return Object.assign(state, { port, url: `${tls ? "https" : "http"}://127.0.0.1:${port}/mcp`, close: () => { server.closeAllConnections?.(); server.close(); } });
}
