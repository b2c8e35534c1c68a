// Mixed requests to one `lathe serve`, many of them: what tests/flow/soak.test.mjs does for seconds and
// scripts/soak-serve.mjs for an hour's worth. Each request's answer is checked; what the process has is sampled meanwhile.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const AS_JSON = { "content-type": "application/json" };
const MCP = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "execute_code", accept: "application/json, text/event-stream" };
const META = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };

/** A model that answers at once: a program that asks for an approval where the message says ASK, else one that does not. */
function model() {
  const server = createServer((ask, answer) => {
    let body = "";
    ask.setEncoding("utf8").on("data", (text) => { body += text; }).on("end", () => {
      const content = /ASK/.test(body) ? "output(String(fakeAdd({a: 1, b: 2}))); done();" : 'output("hello"); done();';
      const pieces = [{ choices: [{ index: 0, delta: { role: "assistant", content } }] }, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }];
      answer.writeHead(200, { "content-type": "text/event-stream" });
      answer.end(pieces.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("") + "data: [DONE]\n\n");
    });
  });
  return new Promise((yes) => server.listen(0, "127.0.0.1", () => yes({ server, url: `http://127.0.0.1:${server.address().port}/v1` })));
}

/** What a process has: {rss, fds, threads, store}; bytes, and counts. */
function sample(pid, state) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8"), field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)[1]);
  const size = (name) => (existsSync(join(state, "lathe", name)) ? statSync(join(state, "lathe", name)).size : 0);
  return { rss: field("VmRSS") * 1024, threads: field("Threads"), fds: readdirSync(`/proc/${pid}/fd`).length, store: size("lathe.db"), log: size("lathe.db-wal") };
}

/** Starts a server for a soak: {pid, port, state, stop() → {code, said}}. `work` is an empty folder. */
async function begin(lathe, work, fakeServer) {
  const stub = await model(), file = join(work, "lathe.yaml"), state = join(work, "state");
  mkdirSync(state);
  writeFileSync(file, JSON.stringify({ mcpServers: { fake: { command: process.execPath, args: [fakeServer] } }, tools: { policy: [{ match: "fake.add", action: "ask" }] } }));
  const env = { ...process.env, HOME: work, XDG_STATE_HOME: state, XDG_CONFIG_HOME: work, XDG_CACHE_HOME: work, OPENAI_BASE_URL: stub.url, OPENAI_MODEL: "stub", OPENAI_API_KEY: "" };
  const child = spawn(lathe, ["serve", "--listen", "127.0.0.1:0", "--config", file], { env, stdio: ["ignore", "pipe", "pipe"] });
  process.on("exit", () => child.kill("SIGKILL"));
  const ended = new Promise((yes) => child.on("exit", (code, signal) => yes(code ?? signal)));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => { said = (said + bytes).slice(-65536); });
  while (!/http:\/\/127\.0\.0\.1:\d+\b.*\n/.test(said) && child.exitCode === null) await sleep(20);
  if (child.exitCode !== null) throw new Error(`lathe serve ended: ${said}`);
  const port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(said)[1]);
  return {
    pid: child.pid, port, state,
    async stop() {
      child.kill("SIGTERM");
      const code = await ended;
      stub.server.close();
      stub.server.closeAllConnections();
      return { code, said };
    },
  };
}

/** What clients do. Each counts its requests, and throws where an answer is not what it should be. */
function actions(server, count) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const send = (method, path, body, headers, onAnswer) => {
    count.requests++;
    return new Promise((yes, no) => {
      const one = request({ host: "127.0.0.1", port: server.port, method, path, agent, headers: { ...(body !== undefined && AS_JSON), ...headers } }, (answer) => onAnswer(answer, yes, no, one));
      one.on("error", no);
      one.end(body);
    });
  };
  const ask = async (method, path, body, expected = 200, headers = {}) => {
    const { status, text } = await send(method, path, body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body), headers, (answer, yes) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece) => { text += piece; }).on("end", () => yes({ status: answer.statusCode, text })).on("error", () => yes({ status: 0, text }));
    });
    if (status !== expected) throw new Error(`${method} ${path}: ${status} in place of ${expected}: ${text.slice(0, 300)}`);
    return text;
  };
  /** Sends a request whose answer is a stream; `on(event, data)` of each event. Yields all names. */
  const follow = (method, path, body, on) => send(method, path, body && JSON.stringify(body), { accept: "text/event-stream" }, (answer, yes, no, one) => {
    const names = [];
    let rest = "";
    answer.setEncoding("utf8").on("data", (piece) => {
      rest += piece;
      for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
        const line = rest.slice(0, end).split("\n").find((text) => text.startsWith("data: "));
        if (line) {
          const { event, data } = JSON.parse(line.slice(6));
          names.push(event);
          on(event, data);
        }
      }
      if (on === leave) { one.destroy(); yes(names); }
    }).on("end", () => yes(names)).on("error", (error) => (on === leave ? yes(names) : no(error)));
  });
  const leave = () => {};
  const nothing = () => {};
  const ends = (names, wanted) => { if (names.at(-1) !== wanted) throw new Error(`events: ${names}, which do not end with ${wanted}`); };
  /** A prompt whose program's call waits; `decide(promptId, toolCallId)` ends the wait. */
  const waiting = async (decide, wanted) => {
    let decided;
    const names = await follow("POST", "/prompt", { input: "ASK me", mode: "code" }, (event, data) => {
      if (event === "prompt.approval-requested") decided = decide(data.promptId, data.request.toolCallId).catch((error) => error);
    });
    const error = await decided;
    if (error instanceof Error) throw error;
    ends(names, wanted);
  };
  const raw = (bytes, isHalfClosed) => new Promise((yes) => {
    count.requests++;
    const socket = connect(server.port, "127.0.0.1", () => {
      socket.write(bytes);
      if (isHalfClosed) socket.end();
      else setTimeout(() => socket.destroy(), 2);
    });
    socket.on("close", yes).on("error", yes).resume();
  });
  const head = (more) => `POST /run HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
  const wrong = [
    () => ask("POST", "/run", "{\"code\":", 400), () => ask("POST", "/run", { code: "1", cod: "2" }, 400), () => ask("POST", "/run", { code: 1 }, 400),
    () => ask("GET", "/nowhere", undefined, 404), () => ask("DELETE", "/run", undefined, 405), () => ask("GET", "/prompts/none", undefined, 404),
    () => ask("POST", "/prompt", { input: "x", mode: "nope" }, 400), () => ask("POST", "/prompts/none/approve", { toolCallId: "x" }, 404),
    () => ask("POST", "/run", "x=1", 415, { "content-type": "application/x-www-form-urlencoded" }), () => ask("GET", "/tools?limi=1", undefined, 400),
    () => ask("GET", "/healthz", undefined, 421, { host: "evil.example" }), () => ask("GET", "/tools", undefined, 403, { origin: "http://evil.example" }),
    () => ask("POST", "/run", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400), () => ask("POST", "/run", "[".repeat(100_000), 413),
  ];
  const long = "x".repeat(7 << 20);
  let turn = 0;
  return [
    [28, "run", async () => { if (!(await ask("POST", "/run", { code: "1+2" })).includes('"text":"3"')) throw new Error("1+2 is not 3"); }],
    [3, "failing run", () => ask("POST", "/run", { code: "throw new Error('no')" })],
    [18, "prompt, followed", async () => ends(await follow("POST", "/prompt", { input: "hello", mode: "code" }, nothing), "prompt.completed")],
    [4, "prompt, looked at", async () => {
      const { promptId } = JSON.parse(await ask("POST", "/prompt", { input: "hello", mode: "classic" }));
      while (JSON.parse(await ask("GET", `/prompts/${promptId}`)).state !== "completed") await sleep(5);
    }],
    [5, "approved", () => waiting((id, toolCallId) => ask("POST", `/prompts/${id}/approve`, { toolCallId }), "prompt.completed")],
    [3, "rejected", () => waiting((id, toolCallId) => ask("POST", `/prompts/${id}/reject`, { toolCallId, reason: "no" }), "prompt.completed")],
    [3, "cancelled", () => waiting((id) => ask("POST", `/prompts/${id}/cancel`), "prompt.cancelled")],
    [10, "events, left", () => follow("GET", `/events/stream${turn++ % 2 ? "?after=0" : ""}`, undefined, leave)],
    [12, "wrong", () => wrong[turn++ % wrong.length]()],
    [8, "lists", () => ask("GET", ["/conversations?limit=20", "/tools", "/modes", "/models", "/healthz", "/readyz", "/openapi.json", "/artifacts"][turn++ % 8])],
    [5, "mcp", async () => { if (!(await ask("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "execute_code", arguments: { code: "1+2" }, _meta: META } }, 200, MCP)).includes('"3"')) throw new Error("mcp: 1+2 is not 3"); }],
    [2, "gone in the middle", () => raw(head("Content-Length: 1000") + "{", false)],
    [2, "half closed", () => raw(head("Content-Length: 14") + '{"code":"1+2"}', true)],
    [0.1, "upload, nearly too long", () => ask("POST", "/prompt", { input: long, mode: "classic" }, 413)],
  ];
}

/** Every action in turn, weighted, by a fixed sequence: the same requests each time. */
function* order(all) {
  const total = all.reduce((sum, [weight]) => sum + weight, 0), due = all.map(() => 0);
  for (;;) {
    all.forEach(([weight], i) => { due[i] += weight; });
    const next = due.indexOf(Math.max(...due));
    due[next] -= total;
    yield all[next];
  }
}

/**
 * Sends about `requests` requests by `clients` at once, and samples `samples` times. `each(sample)` is called with every
 * sample. → {requests, seconds, failures: [text], failed, samples, after, code, said}
 */
export async function soak({ lathe, work, fakeServer, requests, clients = 32, samples = 40, each = () => {} }) {
  const server = await begin(lathe, work, fakeServer), count = { requests: 0 }, failures = [], taken = [];
  const next = order(actions(server, count)), started = performance.now();
  let failed = 0;
  const take = () => {
    const one = { requests: count.requests, seconds: (performance.now() - started) / 1000, ...sample(server.pid, server.state) };
    taken.push(one);
    each(one);
  };
  await Promise.all(Array.from({ length: clients }, async () => {
    while (count.requests < requests) {
      const [, name, act] = next.next().value;
      try {
        await act();
      } catch (error) {
        if (failed++ < 20) failures.push(`${name}: ${error.message}`);
      }
      if (count.requests >= ((taken.length + 1) * requests) / samples) take();
    }
  }));
  const seconds = (performance.now() - started) / 1000;
  await sleep(500); /* what was left is noticed as gone */
  const after = sample(server.pid, server.state);
  return { requests: count.requests, seconds, failed, failures, samples: taken, after, ...(await server.stop()) };
}
