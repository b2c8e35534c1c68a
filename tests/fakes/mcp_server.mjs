#!/usr/bin/env node
// A fake MCP server over stdio for the tests: Node 18 or later, no dependencies, scripted by its arguments.
//
//   node mcp_server.mjs [--option[=value] ...]
//
// Start:    --noise=N            N lines that are no JSON before the handshake
//           --never              reads, never answers anything
//           --silent-list        answers initialize, never tools/list
//           --exit=CODE          exits during the handshake, after a line on stderr
//           --exit-once=FILE     the first process exits with 7 when it has been initialized; later ones (FILE exists) live
//           --crash-start        handshakes, then dies as soon as it is initialized
//           --version=V          answers initialize with this version
//           --init-error         answers initialize with an error
//           --no-tools           declares no tools capability
//           --stderr=TEXT        writes TEXT to stderr at the start (\n and \e are unescaped)
//           --stderr-env=NAME    writes the value of that variable to stderr at the start
//           --tell-env=NAME      says the value of that variable wherever a server can: instructions, version, tools' texts
//           --stubborn           ignores end of input and SIGTERM
//           --deaf               stops reading its input once it has told its tools
//           --instructions=TEXT
// List:     --tools=N            N tools t0, t1, ... instead of the usual ones
//           --page=N             tools per page
//           --circle             pages never end: the same cursor again
//           --endless            pages never end: always a new cursor
//           --changes=N          N list_changed notifications right after `initialized`
//           --bad-list           tools/list is answered without an array
//           --script=FILE        only the tools of FILE: [{"tool": {"name", ...}, "result"?: {...}, "delayMs"?}, ...]; each answers its
//                                result, or its input as structured content
//           --annotate           adds the tool "annotate", which changes the annotations of another one
//           --wait=FILE          adds the tool "wait", which answers when FILE is there
//           --rude-tools         adds tools without a name, without a schema, with a schema that is no object
// Wire:     --batch              sends every message in an array
//           --blank              an empty line and CR LF line ends
//           --ask                sends ping, roots/list and an invalid request after `initialized`
//           --questions          adds the tool "question" {method, params, cancelMs?}, which sends that request to the client, and answers
//                                with what comes back, or takes it back after a while; and "capabilities", which answers those of the client
//           --record=FILE        appends every message it gets to FILE, a line each
//           --string-ids         answers tools/call with the id as a string as well, first
//
// Tools: see `tools` below. What the client sent can be asked with the tools `cancelled`, `heard` and `pid`.
import { createInterface } from "node:readline";
import { appendFileSync, existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";

const options = {};
for (const arg of process.argv.slice(2)) {
  const [, name, , value] = /^--([^=]+)(=([\s\S]*))?$/.exec(arg) ?? [];
  if (name) options[name] = value ?? true;
}
const number = (name, fallback) => (name in options ? Number(options[name]) : fallback);
const unescape = (text) => String(text).replace(/\\n/g, "\n").replace(/\\e/g, "\x1b");

// Synchronous writes: what was sent before a crash has been sent. EAGAIN is a full pipe.
function writeAll(fd, text) {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (e) {
      if (e.code !== "EAGAIN") throw e;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.2);
    }
  }
}
const line = (text) => writeAll(1, text + (options.blank ? "\r\n\r\n" : "\n"));
const send = (message) => line(JSON.stringify(options.batch ? [message] : message));
const notify = (method, params) => send({ jsonrpc: "2.0", method, ...(params ? { params } : {}) });
const answer = (id, result) => send({ jsonrpc: "2.0", id, result });
const refuse = (id, code, message, data) => send({ jsonrpc: "2.0", id, error: { code, message, data } });
const text = (value) => ({ content: [{ type: "text", text: String(value) }] });

const cancelled = []; // params of notifications/cancelled
const heard = []; // every line of the client, as it came
const meeting = []; // ids of open calls of `meet`
let extra = 0; // tools added by `grow`

const schema = (properties = {}) => ({ type: "object", properties });
const tools = {
  echo: {
    title: "Echo",
    description: "Answers \"text\"\n\u00e9\ud83d\ude00",
    inputSchema: schema({ text: { type: "string" } }),
    outputSchema: schema({ echoed: {} }),
    annotations: { readOnlyHint: true },
    run: (id, a) => answer(id, { ...text(a.text), structuredContent: { echoed: a } }),
  },
  add: { run: (id, a) => answer(id, text(a.a + a.b)) },
  slow: { run: (id, a) => setTimeout(() => answer(id, text("slept " + a.ms)), a.ms) },
  fail: { run: (id) => answer(id, { ...text("it failed"), isError: true }) },
  error: { run: (id, a) => refuse(id, a.code ?? -32000, a.message ?? "no such luck", a.data) },
  "odd-error": { run: (id) => send({ jsonrpc: "2.0", id, error: "no" }) },
  "no-result": { run: (id) => send({ jsonrpc: "2.0", id }) },
  "text-result": { run: (id) => send({ jsonrpc: "2.0", id, result: "text" }) },
  crash: {
    run: (id, a) => {
      writeAll(2, a.words ?? "fake: about to crash\n");
      if (a.signal) process.kill(process.pid, a.signal);
      else process.exit(a.code ?? 3);
    },
  },
  "crash-later": { run: (id, a) => { answer(id, text("soon")); setTimeout(() => process.exit(4), a.ms ?? 1); } },
  hang: { run: () => {} },
  garbage: { run: (id, a) => { for (let i = 0; i < (a.lines ?? 3); i++) line(`{garbage ${a.text ?? i}`); answer(id, text("done")); } },
  "broken-json": { run: (id) => line(`{"jsonrpc":"2.0","id":${id},"result":{`) },
  big: { run: (id, a) => answer(id, text("x".repeat(a.bytes))) },
  dense: { run: (id, a) => line(`{"jsonrpc":"2.0","id":${id},"result":{"n":[${"0,".repeat(a.items)}0]}}`) },
  deep: { run: (id, a) => line(`{"jsonrpc":"2.0","id":${id},"result":{"d":${"[".repeat(a.n)}${"]".repeat(a.n)}}}`) },
  progress: {
    run: (id, a, meta) => {
      const token = meta?.progressToken;
      notify("notifications/progress", { progressToken: "nobody", progress: 9 });
      for (let i = 1; token !== undefined && i <= a.steps; i++) {
        notify("notifications/progress", { progressToken: token, progress: i, total: a.steps, message: `${a.text ?? "step"} ${i}` });
      }
      const end = () => {
        answer(id, text(`token ${JSON.stringify(token)}`));
        if (token !== undefined) notify("notifications/progress", { progressToken: token, progress: 99 });
      };
      if (a.ms) setTimeout(end, a.ms);
      else end();
    },
  },
  grow: { run: (id, a) => { extra += a.n ?? 1; for (let i = 0; i < (a.times ?? 1); i++) changed(); answer(id, text(extra)); } },
  duplicate: { run: (id) => { answer(id, text("once")); answer(id, text("twice")); } },
  unknown: { run: (id) => { answer(id + 1000, text("?")); answer(String(id), text("string")); answer(id, text("mine")); } },
  // Answers the calls that come next, before they are made.
  ahead: { run: (id, a) => { for (let i = 1; i <= (a.n ?? 1); i++) answer(id + i, text("forged")); answer(id, text("mine")); } },
  flood: {
    run: (id, a) => {
      const kinds = [["message", { level: "info", data: "x".repeat(a.bytes ?? 100) }], ["progress", { progressToken: id, progress: 1 }], ["odd", [1]], ["resources/updated"], ...(a.changes ? [["tools/list_changed"]] : [])];
      for (let i = 0; i < a.n; i++) notify(`notifications/${kinds[i % kinds.length][0]}`, kinds[i % kinds.length][1]);
      answer(id, text("done"));
    },
  },
  // Sends each of `lines` as it is, but for the call's own "ID", then answers.
  raw: { run: (id, a) => { for (const one of a.lines) line(one.replaceAll('"ID"', id)); if (!a.only) answer(id, text("mine")); } },
  bytes: { run: (id, a) => { writeAll(1, Buffer.from(a.base64, "base64")); answer(id, text("mine")); } },
  // Answers when `n` calls of it are open at the same time, and not before.
  meet: {
    run: (id, a) => {
      meeting.push(id);
      if (meeting.length < a.n) return;
      for (const guest of meeting.splice(0)) answer(guest, text(`met ${a.n}`));
    },
  },
  late: { run: (id, a) => setTimeout(() => answer(id, text("late")), a.ms) },
  cancelled: { run: (id) => answer(id, { ...text("list"), structuredContent: { cancelled } }) },
  heard: { run: (id) => answer(id, { ...text("list"), structuredContent: { heard } }) },
  pid: { run: (id) => answer(id, text(process.pid)) },
  env: { run: (id, a) => answer(id, text(process.env[a.name] ?? "(unset)")) },
  "stderr-now": { run: (id, a) => { writeAll(2, a.text); answer(id, text("written")); } },
  "close-stdin": { run: () => { process.stdin.destroy(); } },
};
const changed = () => notify("notifications/tools/list_changed");
if (options.script) {
  Object.keys(tools).forEach((name) => delete tools[name]);
  for (const { tool, result, delayMs } of JSON.parse(readFileSync(options.script, "utf8"))) {
    const say = (id, a) => answer(id, result ?? { content: [], structuredContent: a });
    const run = delayMs ? (id, a) => setTimeout(say, delayMs, id, a) : say;
    tools[tool.name] = { ...tool, run };
  }
}

// A tool that gives other tools new annotations, and tells of it.
if (options.annotate) {
  tools.annotate = { run: (id, a) => { tools[a.tool].annotations = a.annotations; changed(); answer(id, text("done")); } };
}

if (options.wait) {
  tools.wait = { run: (id) => { const timer = setInterval(() => { if (existsSync(options.wait)) { clearInterval(timer); answer(id, text("waited")); } }, 5); } };
}

const asked = new Map(); // id of a request of ours -> what is done with its answer
let capabilities;
if (options.questions) {
  tools.question = {
    run: (id, a) => {
      const own = `question-${asked.size}`;
      asked.set(own, (reply) => answer(id, text(JSON.stringify(reply.result ?? { error: reply.error }))));
      send({ jsonrpc: "2.0", id: own, method: a.method, params: a.params });
      if (a.cancelMs) setTimeout(() => { notify("notifications/cancelled", { requestId: own }); answer(id, text("taken back")); }, a.cancelMs);
    },
  };
  tools.capabilities = { run: (id) => answer(id, text(JSON.stringify(capabilities))) };
}

if (options["tell-env"]) {
  const told = process.env[options["tell-env"]];
  const say = `the secret is ${told}`;
  tools.teller = {
    title: say,
    description: say,
    inputSchema: schema({ key: { type: "string", description: say, default: told, enum: [told, "other"] } }),
    outputSchema: schema({ key: { type: "string", description: say } }),
    annotations: { title: say },
    run: (id, a) => (a.how === "fails" ? answer(id, { ...text(say), isError: true }) : refuse(id, -32000, say, { say })),
  };
}

function listed() {
  if (options.tools) {
    return Array.from({ length: number("tools") + extra }, (_, i) => ({ name: `t${i}`, inputSchema: schema() }));
  }
  const list = Object.entries(tools).map(([name, { run, ...rest }]) => ({ name, inputSchema: schema(), ...rest }));
  for (let i = 0; i < extra; i++) list.push({ name: `extra-${i}`, inputSchema: schema() });
  if (options["rude-tools"]) {
    list.push({ title: "nameless", inputSchema: schema() }, { name: "" }, { name: 5 }, "tool", null);
    list.push({ name: "no-schema" }, { name: "odd-schema", inputSchema: true, outputSchema: [], annotations: 1 });
    list.push({ name: "old-title", annotations: { title: "Old" }, inputSchema: null, description: null });
  }
  return list;
}

function list(id, params) {
  if (options["silent-list"]) return;
  if (options["bad-list"]) return answer(id, { tools: { no: "array" } });
  const all = listed();
  const from = Number(/\d+/.exec(params?.cursor ?? "0")[0]);
  const size = number("page", all.length + 1);
  const page = { tools: all.slice(from, from + size) };
  if (from + size < all.length) page.nextCursor = `after "${from + size}"\n`; // opaque, and awkward to escape
  if (options.circle) page.nextCursor = "again 0";
  if (options.endless) page.nextCursor = `at ${from + 1}`;
  answer(id, page);
  if (options.deaf) {
    input.pause();
    setInterval(() => {}, 1000);
  }
}

function initialize(id, params) {
  capabilities = params.capabilities;
  if (options.exit !== undefined) {
    writeAll(2, "fake: cannot start: API_TOKEN is wrong\n");
    process.exit(Number(options.exit));
  }
  if (options["init-error"]) return refuse(id, -32602, "Unsupported protocol version");
  answer(id, {
    protocolVersion: options.version ?? params.protocolVersion,
    capabilities: options["no-tools"] ? {} : { tools: { listChanged: true } },
    serverInfo: { name: "fake", version: "1" },
    ...(options.instructions ? { instructions: options.instructions } : {}),
    ...(options["tell-env"] ? { instructions: process.env[options["tell-env"]] } : {}),
  });
}

function initialized() {
  if (options["crash-start"]) process.exit(9);
  if (options["exit-once"] && !existsSync(options["exit-once"])) {
    writeFileSync(options["exit-once"], "");
    process.exit(7);
  }
  for (let i = 0; i < number("changes", 0); i++) changed();
  if (options.ask) {
    send({ jsonrpc: "2.0", id: "p\n1", method: "ping" });
    send({ jsonrpc: "2.0", id: 77, method: "roots/list" });
    send({ jsonrpc: "2.0", id: null, method: "ping" });
    line(JSON.stringify([{ jsonrpc: "2.0", id: 78, method: "ping" }, { jsonrpc: "2.0", id: 79, method: "ping" }]));
  }
}

function call(id, { name, arguments: args, _meta }) {
  if (options["string-ids"]) answer(String(id), text("not yours"));
  const tool = tools[name] ?? (options.tools || name.startsWith("extra-") ? tools.echo : undefined);
  if (tool) tool.run(id, args ?? {}, _meta);
  else refuse(id, -32602, `Unknown tool: ${name}`);
}

function receive(message) {
  const { id, method, params } = message;
  if (method === "initialize") initialize(id, params);
  else if (method === "notifications/initialized") initialized();
  else if (method === "notifications/cancelled") cancelled.push(params);
  else if (method === "tools/list") list(id, params);
  else if (!method && asked.has(id)) asked.get(id)(message);
  else if (method === "tools/call") call(id, params);
  else if (id !== undefined && method) refuse(id, -32601, "Method not found");
}

if (options.stubborn) process.on("SIGTERM", () => {});
if (options.stderr) writeAll(2, unescape(options.stderr));
if (options["stderr-env"]) writeAll(2, `token is ${process.env[options["stderr-env"]]}!\n`);
for (let i = 0; i < number("noise", 0); i++) writeAll(1, `\x1b[32mINFO\x1b[0m starting up (${i})\n`);

const input = createInterface({ input: process.stdin, crlfDelay: Infinity });
input.on("line", (json) => {
  if (options.record && json) appendFileSync(options.record, json + "\n");
  if (options.never || !json) return;
  heard.push(JSON.parse(json));
  heard.at(-1) instanceof Array ? heard.at(-1).forEach(receive) : receive(heard.at(-1));
});
input.on("close", () => {
  if (options.stubborn) setInterval(() => {}, 1000);
  else process.exit(0);
});
