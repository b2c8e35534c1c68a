// Requests per second of `lathe mcp --http`: execute_code of 1+2 from 1, 16 and 128 clients at once, each on a connection
// that stays open, with the memory of the process afterwards. Beside it npm's `executor`, where LATHE_BENCH_EXECUTOR
// names its program. The client shares the machine: its own time is in every figure.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printTable } from "./figures.mjs";

const CLIENTS = [1, 16, 128];
const folder = mkdtempSync(join(tmpdir(), "lathe-bench-"));
const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder };
const config = join(folder, "lathe.yaml");
writeFileSync(config, "{}");

/** Starts a server, and waits until it says or answers at which address. */
function serve(program, args, port) {
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((yes) => {
    let said = "";
    const hear = (bytes) => {
      said += bytes;
      const url = /http:\/\/(127\.0\.0\.1|localhost):(\d+)/.exec(said);
      if (url) yes({ child, port: Number(url[2]) });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", () => yes(undefined));
    child.on("exit", () => yes(undefined));
    setTimeout(() => yes(port ? { child, port } : undefined), 15_000).unref();
  });
}

/** One connection: ask(message, headers) → {status line and headers, body}. */
function client(port) {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  let text = "", done, fail;
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = text.slice(0, end), body = text.slice(end + 4), length = /content-length: (\d+)/i.exec(head);
    if (length ? body.length >= Number(length[1]) : /transfer-encoding: chunked/i.test(head) ? body.endsWith("0\r\n\r\n") : true) {
      text = "";
      done({ head, body });
    }
  });
  socket.on("error", (error) => fail?.(error));
  socket.on("close", () => fail?.(new Error("the connection was closed")));
  return {
    ask(message, headers) {
      const body = JSON.stringify(message);
      const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
      return new Promise((yes, no) => {
        [done, fail] = [yes, no];
        socket.write(`POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`);
      });
    },
    close() { fail = undefined; socket.destroy(); },
  };
}

const VERSION = "2026-07-28";
const servers = {
  lathe: {
    program: process.env.LATHE, args: ["mcp", "--http", "127.0.0.1:0", "--config", config], requests: 4000,
    begin: async () => ({ "mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": "execute_code" }),
    call: { name: "execute_code", arguments: { code: "1+2" }, _meta: { "io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {} } },
  },
  executor: {
    program: process.env.LATHE_BENCH_EXECUTOR, args: ["web", "--port", "47881", "--scope", folder], port: 47881, requests: 200,
    async begin(one) {
      const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
      const { head } = await one.ask({ jsonrpc: "2.0", id: 0, method: "initialize", params }, {});
      const session = /mcp-session-id: (\S+)/i.exec(head)?.[1];
      return { "mcp-protocol-version": "2025-06-18", ...(session && { "mcp-session-id": session }) };
    },
    call: { name: "execute", arguments: { code: "return 1+2" } },
  },
};

async function measure(server, port, clients, requests) {
  const times = [];
  let left = requests;
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, async () => {
    const one = client(port), headers = await server.begin(one);
    while (left-- > 0) {
      const start = performance.now();
      const { body } = await one.ask({ jsonrpc: "2.0", id: 1, method: "tools/call", params: server.call }, headers);
      times.push(performance.now() - start);
      if (!/"text":"3"/.test(body)) throw new Error(body.slice(0, 200));
    }
    one.close();
  }));
  const seconds = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  return { rate: times.length / seconds, p50: at(0.5), p99: at(0.99), min: times[0] };
}

const memory = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

const rows = [];
for (const [name, server] of Object.entries(servers)) {
  const running = server.program ? await serve(server.program, server.args, server.port) : undefined;
  if (!running) {
    rows.push([name, "not measured:", server.program ? `${server.program} did not start` : "it is not installed", "", "", "", ""]);
    continue;
  }
  try {
    for (const clients of CLIENTS) {
      const { rate, min, p50, p99 } = await measure(server, running.port, clients, server.requests);
      const ms = (value) => `${value.toFixed(2)} ms`;
      rows.push([name, String(clients), rate.toFixed(0), ms(min), ms(p50), ms(p99), `${memory(running.child.pid).toFixed(0)} MB`]);
    }
  } catch (error) {
    rows.push([name, "not measured:", error.message, "", "", "", ""]);
  }
  running.child.kill("SIGKILL");
}
printTable("lathe mcp --http, execute_code of 1+2", ["", "clients", "requests in a second", "min", "median", "p99", "memory"], rows);
rmSync(folder, { recursive: true, force: true });
process.exit(0);
