// The program of npm's executor, an MCP server over stdio: QuickJS behind its own HTTP client. Its tools are those of an
// API that this process serves on loopback.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { returning, versionOf } from "../programs.mjs";

/** GET /NAME?a=1&b=2 calls a tool. */
function serve(tools) {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://bench"), input = Object.fromEntries([...url.searchParams].map(([name, value]) => [name, Number(value)]));
    const text = JSON.stringify(await tools[url.pathname.slice(1)](input));
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    response.end(text);
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(`http://127.0.0.1:${server.address().port}`)));
}

function describe(tools, url) {
  const parameters = ["a", "b"].map((name) => ({ name, in: "query", schema: { type: "number" } }));
  const responses = { 200: { description: "its value", content: { "application/json": { schema: {} } } } };
  const paths = Object.fromEntries(Object.keys(tools).map((name) => [`/${name}`, { get: { operationId: name, parameters, responses } }]));
  return JSON.stringify({ openapi: "3.0.0", info: { title: "bench", version: "1" }, servers: [{ url }], paths });
}

/** ask(method, params) → result */
function connect(child) {
  const waiting = new Map();
  let id = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method, params) => new Promise((yes, no) => {
    waiting.set(++id, ({ result, error }) => (error ? no(new Error(error.message)) : yes(result)));
    send({ id, method, params });
  });
  return { ask, send };
}

export async function open({ tools }) {
  const folder = mkdtempSync(join(tmpdir(), "lathe-bench-")), program = fileURLToPath(new URL("../node_modules/executor-linux-x64/bin/executor", import.meta.url));
  // Without a key there is no connection, and without a connection no tool.
  mkdirSync(join(folder, "executor"));
  writeFileSync(join(folder, "executor", "auth.json"), JSON.stringify({ bench: "none is asked for" }));
  const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, XDG_DATA_HOME: folder };
  const child = spawn(program, ["mcp", "--scope", folder], { env, cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
  process.on("exit", () => {
    child.kill("SIGKILL"); // it does not end with its input
    rmSync(folder, { recursive: true, force: true });
  });
  const { ask, send } = connect(child);
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
  send({ method: "notifications/initialized" });

  async function run(code) {
    let answer = await ask("tools/call", { name: "execute", arguments: { code } });
    while (answer.structuredContent?.status === "waiting_for_interaction") {
      answer = await ask("tools/call", { name: "resume", arguments: { executionId: answer.structuredContent.executionId, action: "accept", content: "{}" } });
    }
    if (answer.structuredContent?.status !== "completed") throw new Error(answer.content[0].text);
    return answer.structuredContent.result;
  }

  async function setUp(tool, input) {
    const { ok, error } = await run(`return await tools.executor.${tool}(${JSON.stringify(input)})`);
    if (!ok) throw new Error(`${tool}: ${error.message}`);
  }

  const key = { slug: "key", type: "apiKey", headers: { "x-key": [{ type: "variable", name: "token" }] } };
  await setUp("openapi.addSpec", { slug: "bench", spec: { kind: "blob", value: describe(tools, await serve(tools)) }, authenticationTemplate: [key] });
  await setUp("coreTools.connections.create", { owner: "org", name: "main", integration: "bench", template: "key", from: { provider: "file", id: "bench" } });
  const dialect = returning((name, input) => `(await tools.bench.org.main.${name}.getOperation(${input})).data`);
  return { name: `executor ${versionOf("executor-linux-x64").replace(/-.*/, "")}`, dialect, run, waiting: { dialect, run }, pids: () => [child.pid] };
}
