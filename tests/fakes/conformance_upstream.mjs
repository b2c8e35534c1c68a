// A fixture: the MCP server, over stdio, that the conformance suite wants to find behind what it tests. Its tools,
// resources and prompts are those that the suite's scenarios name; it speaks 2025-11-25, with `--modern` 2026-07-28.
// `--record=FILE` keeps what it is sent; the variable FIXTURE_SAYS is a secret that it gives away.
import { AsyncLocalStorage } from "node:async_hooks";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const modern = process.argv.includes("--modern"), current = new AsyncLocalStorage(); // the call that is carried out
const record = process.argv.find((word) => word.startsWith("--record="))?.slice(9), secret = process.env.FIXTURE_SAYS;
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const empty = { type: "object", properties: {} };
const text = (said) => ({ content: [{ type: "text", text: said }] });
const pause = () => new Promise((done) => setTimeout(done, 10));
const embedded = (uri, mimeType, said) => ({ type: "resource", resource: { uri, mimeType, text: said } });
const image = { type: "image", data: PNG, mimeType: "image/png" };

let unsent = "";
/** Questions that are asked at once arrive at once: in one piece. */
function send(message) {
  if (unsent === "") setImmediate(() => { process.stdout.write(unsent); unsent = ""; });
  unsent += `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
}
const notify = (method, params) => send({ method, params });
const waiting = new Map();
let asked = 0, client = {};
const ask = (method, params, key) => modern ? current.getStore().ask(method, params, key ?? `question${++asked}`) : new Promise((done, fail) => { const id = `q${++asked}`; waiting.set(id, { done, fail }); send({ id, method, params }); });

const choice = (title, more) => ({ type: "string", title, ...more });
const enums = {
  untitledSingle: choice("One", { enum: ["option1", "option2", "option3"] }),
  titledSingle: choice("Two", { oneOf: [{ const: "value1", title: "First" }, { const: "value2", title: "Second" }] }),
  legacyEnum: choice("Three", { enum: ["opt1", "opt2"], enumNames: ["One", "Two"] }),
  untitledMulti: { type: "array", title: "Four", items: { type: "string", enum: ["option1", "option2"] } },
  titledMulti: { type: "array", title: "Five", items: { anyOf: [{ const: "value1", title: "First" }, { const: "value2", title: "Second" }] } },
};
const defaults = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};
async function elicit(message, properties, required = []) {
  if (!client.elicitation) return { ...text("the client does not ask people"), isError: true };
  const answer = await ask("elicitation/create", { message, requestedSchema: { type: "object", properties, required } });
  return text(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
}

const name = { name: { type: "string" } }, said = (answer, key) => answer.content?.[key] ?? `(${answer.action})`;
const form = (message, properties, key) => ask("elicitation/create", { message, requestedSchema: { type: "object", properties, required: Object.keys(properties) } }, key);
const sample = (words, maxTokens = 100) => ask("sampling/createMessage", { messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens });
const changing = (list, method, make) => () => {
  const extra = "there_now_and_then";
  if (list[extra]) delete list[extra]; else list[extra] = make();
  notify(method);
  return text("changed");
};

const tools = {
  test_missing_capability: { run: async () => (client.sampling ? text((await sample("Anything?")).content?.text ?? "nothing") : { ...text("the client has no model"), isError: true }) },
  test_streaming_elicitation: { run: async () => text(`Hello, ${said(await form("What is your name?", name), "name")}!`) },
  test_logging_tool: { run: () => { notify("notifications/message", { level: "info", logger: "fixture", data: "logged" }); return text("logged"); } },
  test_trigger_tool_change: { run: () => changing(tools, "notifications/tools/list_changed", () => ({ run: () => text("here") }))() },
  test_trigger_prompt_change: { run: () => changing(prompts, "notifications/prompts/list_changed", () => ({ get: () => [says({ type: "text", text: "here" })] }))() },
  test_input_required_result_elicitation: { run: async () => text(`Hello, ${said(await form("What is your name?", name, "user_name"), "name")}!`) },
  test_input_required_result_sampling: { run: async () => text(`The model says: ${(await sample("What is the capital of France?")).content?.text}`) },
  test_input_required_result_list_roots: { run: async () => text(`Roots: ${JSON.stringify((await ask("roots/list", {})).roots)}`) },
  test_input_required_result_request_state: { run: async () => text(`state-ok: ${said(await form("Please confirm", { ok: { type: "boolean" } }), "ok")}`) },
  test_input_required_result_multiple_inputs: { async run() {
    const [who, greeting, { roots }] = await Promise.all([form("What is your name?", name), sample("Generate a greeting", 50), ask("roots/list", {})]);
    return text(`${greeting.content?.text}, ${said(who, "name")} of ${JSON.stringify(roots)}`);
  } },
  test_input_required_result_multi_round: { async run() {
    const who = said(await form("Step 1: What is your name?", name), "name"), color = said(await form("Step 2: What is your favorite color?", { color: { type: "string" } }), "color");
    return text(`${who} likes ${color}`);
  } },
  test_input_required_result_tampered_state: { run: async () => text(`confirmed: ${said(await form("Please confirm", { ok: { type: "boolean" } }), "ok")}`) },
  test_input_required_result_capabilities: { run: async () => text(`The model says: ${(await sample("What is the capital of France?")).content?.text}`) },
  test_simple_text: { run: () => text("This is a simple text response for testing.") },
  test_image_content: { run: () => ({ content: [image] }) },
  test_audio_content: { run: () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] }) },
  test_embedded_resource: { run: () => ({ content: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")] }) },
  test_multiple_content_types: { run: () => ({ content: [{ type: "text", text: "Multiple content types test:" }, image, embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')] }) },
  test_tool_with_logging: { async run() {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) { notify("notifications/message", { level: "info", logger: "fixture", data }); await pause(); }
    if (secret) notify("notifications/message", { level: "info", logger: "fixture", data: { said: secret } });
    return text("Tool with logging executed");
  } },
  test_tool_with_progress: { async run(_, meta) {
    for (const progress of [0, 50, 100]) { if (meta?.progressToken !== undefined) notify("notifications/progress", { progressToken: meta.progressToken, progress, total: 100, message: `${progress} of 100` }); await pause(); }
    return text("Tool with progress executed");
  } },
  test_error_handling: { run: () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }) },
  test_sampling: { schema: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] }, async run({ prompt }) {
    if (!client.sampling) return { ...text("the client has no model"), isError: true };
    const answer = await ask("sampling/createMessage", { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens: 100 });
    return text(`LLM response: ${answer.content?.text ?? ""}`);
  } },
  test_elicitation: { schema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] }, run: ({ message }) => elicit(message, { username: { type: "string", description: "User's response" }, email: { type: "string", description: "User's email address" } }, ["username", "email"]) },
  test_elicitation_sep1034_defaults: { run: () => elicit("Please review", defaults) },
  test_elicitation_sep1330_enums: { run: () => elicit("Please choose", enums) },
  json_schema_2020_12_tool: { schema: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } }, properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } }, additionalProperties: false }, run: () => text("ok") },
  all_at_once: { title: "Everything", annotations: { readOnlyHint: true, title: "Everything" }, output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }, run: (args, meta) => ({ content: [{ type: "text", text: "3" }, image, { type: "resource_link", uri: "test://static-text", name: "link" }], structuredContent: { sum: 3 }, _meta: { "example.com/kept": args ?? null } }) },
};

const resources = {
  "test://static-text": { name: "Static text", mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { name: "Static binary", mimeType: "image/png", blob: PNG },
  "test://watched-resource": { name: "Watched", mimeType: "text/plain", text: "watched" },
};
function read(uri) {
  const found = resources[uri], template = /^test:\/\/template\/([^/]+)\/data$/.exec(uri);
  if (found) { const { name, ...content } = found; return { contents: [{ uri, ...content }] }; }
  if (uri === "test://secret") return { contents: [{ uri, mimeType: "text/plain", text: secret }] };
  if (template) return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify({ id: template[1], templateTest: true, data: `Data for ID: ${template[1]}` }) }] };
  throw Object.assign(new Error("Resource not found"), { code: -32002, data: { uri } });
}

const says = (content) => ({ role: "user", content });
const prompts = {
  test_simple_prompt: { get: () => [says({ type: "text", text: "This is a simple prompt for testing." })] },
  test_prompt_with_arguments: { arguments: ["arg1", "arg2"], get: (a) => [says({ type: "text", text: `Prompt with arguments: arg1='${a.arg1}', arg2='${a.arg2}'` })] },
  test_prompt_with_embedded_resource: { arguments: ["resourceUri"], get: (a) => [says(embedded(a.resourceUri, "text/plain", "Embedded resource content for testing.")), says({ type: "text", text: "Please process the embedded resource above." })] },
  test_input_required_result_prompt: { get: async () => [says({ type: "text", text: `Context: ${said(await form("What context should the prompt use?", { context: { type: "string" } }, "user_context"), "context")}` })] },
  test_prompt_with_image: { get: () => [says(image), says({ type: "text", text: "Please analyze the image above." })] },
};

const watched = new Set();
const methods = {
  initialize: ({ capabilities }) => { client = capabilities; return { protocolVersion: "2025-11-25", serverInfo: { name: "conformance-fixture", version: "1" }, capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true }, logging: {}, completions: {} } }; },
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "tools/list": () => ({ tools: Object.entries(tools).map(([name, t]) => ({ name, title: t.title, description: `Fixture ${name}`, inputSchema: t.schema ?? empty, outputSchema: t.output, annotations: t.annotations })) }),
  "tools/call": async ({ name: wanted, arguments: given, _meta }) => { try { return await tools[wanted].run(given, _meta); } catch (e) { return { ...text(e.message), isError: true }; } },
  "resources/list": () => ({ resources: Object.entries(resources).map(([uri, { name, mimeType }]) => ({ uri, name, mimeType })) }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "Template", mimeType: "application/json" }] }),
  "resources/read": ({ uri }) => read(uri),
  "resources/subscribe": ({ uri }) => { watched.add(uri); setTimeout(() => watched.has(uri) && notify("notifications/resources/updated", { uri }), 20); return {}; },
  "resources/unsubscribe": ({ uri }) => { watched.delete(uri); return {}; },
  "prompts/list": () => ({ prompts: Object.entries(prompts).map(([name, p]) => ({ name, description: `Fixture ${name}`, arguments: (p.arguments ?? []).map((a) => ({ name: a, description: a, required: true })) })) }),
  "prompts/get": async ({ name: wanted, arguments: given }) => ({ messages: await prompts[wanted].get(given ?? {}) }),
  "completion/complete": ({ argument }) => ({ completion: { values: ["paris", "park"].filter((v) => v.startsWith(argument.value)), total: 2, hasMore: false } }),
};

/** 2026-07-28: a call goes on where it waits for answers, which the next request brings. */
const open = new Map();
let states = 0;
function begin(method, params) {
  const call = { questions: new Map(), pause: () => call.resume(true) };
  call.ask = (asks, its, key) => new Promise((done, fail) => { call.questions.set(key, { request: { method: asks, params: its }, done, fail }); setImmediate(call.pause); });
  call.ends = current.run(call, async () => methods[method](params));
  call.ends.catch(() => {});
  return call;
}
async function carryOut(method, params) {
  const call = params.requestState === undefined ? begin(method, params) : open.get(params.requestState);
  if (!call) throw Object.assign(new Error("requestState is not one of this server"), { code: -32602 });
  open.delete(params.requestState);
  const paused = new Promise((done) => { call.resume = done; });
  for (const [key, answer] of Object.entries(params.inputResponses ?? {})) { call.questions.get(key)?.done(answer); call.questions.delete(key); }
  if (call.questions.size > 0) setImmediate(call.pause); // some are still open
  if (!(await Promise.race([call.ends.then(() => false), paused]))) return { resultType: "complete", ttlMs: 0, cacheScope: "private", ...await call.ends };
  const requestState = `state${++states}`;
  open.set(requestState, call);
  return { resultType: "input_required", inputRequests: Object.fromEntries([...call.questions].map(([key, { request }]) => [key, request])), requestState };
}
if (modern) {
  const { capabilities } = methods.initialize({});
  delete methods.initialize;
  methods["server/discover"] = () => ({ supportedVersions: ["2026-07-28"], capabilities });
  methods["subscriptions/listen"] = ({ notifications }) => { notify("notifications/subscriptions/acknowledged", { notifications }); return new Promise(() => {}); };
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  if (record) appendFileSync(record, `${line}\n`);
  const message = JSON.parse(line), { id, method, params = {} } = message;
  if (method === undefined) {
    if (message.error) waiting.get(id)?.fail(new Error(message.error.message)); else waiting.get(id)?.done(message.result);
    waiting.delete(id);
    return;
  }
  if (id === undefined) return;
  try {
    if (!methods[method]) throw Object.assign(new Error("Method not found"), { code: -32601 });
    if (modern) client = params._meta["io.modelcontextprotocol/clientCapabilities"];
    send({ id, result: await (modern ? carryOut : (name, given) => methods[name](given))(method, params) });
  } catch (e) { send({ id, error: { code: e.code ?? -32603, message: e.message, data: e.data } }); }
}).on("close", () => process.exit(0));
