// A server whose list of tools changes: every protocol and transport, as a long-lived process (the gateway) sees it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { mcpHttp } from "../fakes/mcp_http_server.mjs";
import { bare, describe, fake, folder, servers, start, test, until } from "./harness.mjs";

/** A client of `lathe mcp` that knows which tools it can find. */
async function gateway(args) {
  const process = start(["mcp", ...args], { typed: true });
  let last = 0;
  const ask = async (method, params) => {
    const id = ++last;
    process.type(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const line = await until(() => process.out().split("\n").slice(0, -1).find((one) => JSON.parse(one).id === id), `request ${id} is answered\n${process.text()}`);
    return JSON.parse(line).result;
  };
  const call = async (name, args) => (await ask("tools/call", { name, arguments: args })).content[0].text;
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } });
  return { ...process, call, finds: async (id) => (await call("search_tools", { query: id })).includes(id), async ends() { process.child.stdin.end(); assert.equal((await process.ended).code, 0); } };
}
/** A tool that was not there is found after the server has said that its list changed. */
async function follows(args, grow, id) {
  const g = await gateway(args);
  assert.equal(await g.finds(id), false);
  await grow(g);
  await until(() => g.finds(id), `${id} is found\n${g.text()}`);
  return g;
}
const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
const event = (message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

/** A server over HTTP whose streams for notifications are `streams`; `grow` adds a tool and says so there. */
async function web(era) {
  const streams = [], tools = [];
  const isStream = (m, request) => (era === "stateless" ? m.method === "subscriptions/listen" : request.method === "GET");
  const server = await mcpHttp({ era, listen: true, tools, answer: (m, request, response) => {
    if (!isStream(m, request)) return false;
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (era === "stateless") response.write(event({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: { notifications: m.params.notifications, _meta: { "io.modelcontextprotocol/subscriptionId": m.id } } }));
    streams.push(response);
    return true;
  } });
  const grow = (name) => { tools.push({ name, inputSchema: { type: "object" } }); streams.at(-1).write(event(changed)); };
  return { server, streams, grow, args: servers({ web: { url: server.url, start: "always" } }, bare) };
}

describe("a list that changes", { concurrency: 3 }, () => {
  test("a process, up to 2025-11-25: a notification", async () => {
    const g = await follows(servers({ old: fake() }, bare), (c) => c.call("execute_code", { code: "tools['old.grow']({ n: 1 })" }), "old.extra-0");
    await g.ends();
  });
  test("a process of 2026-07-28: subscriptions/listen", async () => {
    const path = join(folder({ "modern.mjs": `import { createInterface } from "node:readline";
const tools = [{ name: "grow", inputSchema: { type: "object" } }];
let listening;
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
const answer = (id, result) => send({ id, result: { resultType: "complete", ...result } });
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "server/discover") answer(id, { supportedVersions: ["2026-07-28"], capabilities: { tools: { listChanged: true } }, ttlMs: 0, cacheScope: "private" });
  else if (method === "tools/list") answer(id, { tools, ttlMs: 0, cacheScope: "private" });
  else if (method === "subscriptions/listen") { listening = params; send({ method: "notifications/subscriptions/acknowledged", params: { notifications: params.notifications } }); }
  else if (method === "tools/call") {
    tools.push({ name: "extra", inputSchema: { type: "object" } });
    if (listening?.notifications.toolsListChanged) send({ method: "notifications/tools/list_changed" });
    answer(id, { content: [{ type: "text", text: "grown" }] });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
}).on("close", () => process.exit(0));
` }), "modern.mjs");
    const g = await follows(servers({ new: { command: process.execPath, args: [path] } }, bare), (c) => c.call("execute_code", { code: "tools['new.grow']({})" }), "new.extra");
    await g.ends();
  });
  for (const [era, how] of [["session", "the stream of a GET"], ["stateless", "subscriptions/listen"]]) test(`over HTTP: ${how}; again after that stream has broken`, async () => {
    const { streams, grow, args } = await web(era);
    const g = await follows(args, async () => { await until(() => streams.length > 0, "it listens"); grow("first"); }, "web.first");
    streams.at(-1).destroy();
    await until(() => streams.length > 1, "it listens again");
    grow("second");
    await until(() => g.finds("web.second"), `web.second is found\n${g.text()}`);
    await g.ends();
  });
});
