// `lathe mcp` asks its client: about approvals, and what the servers behind it want to know; in both eras.
import assert from "node:assert/strict";
import { mcpHttp } from "../fakes/mcp_http_server.mjs";
import { bare, describe, fake, folder, scripted, servers, start, test, until } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const FORM = { elicitation: { form: {}, url: {} } };
const ALL = { ...FORM, sampling: {}, roots: { listChanged: true } };
const form = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };

/** A client that speaks the wire; what it is asked goes to `answer` (method, params) => result, {error}, or undefined: never. */
function client(args, { capabilities = {}, modern = false, answer = () => undefined, ...options } = {}) {
  const process = start(["mcp", ...args], { ...options, typed: true });
  const asked = [], messages = [];
  let last = 0, read = 0;
  const send = (message) => process.type(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  process.child.stdout.on("data", () => {
    const lines = process.out().split("\n").slice(0, -1);
    for (; read < lines.length; read++) {
      const message = JSON.parse(lines[read]);
      messages.push(message);
      if (!message.method || message.id === undefined) continue;
      asked.push(message);
      const result = answer(message.method, message.params);
      if (result?.error) send({ id: message.id, error: result.error });
      else if (result) send({ id: message.id, result });
    }
  });
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities };
  const ask = async (method, params = {}) => {
    const id = ++last;
    send({ id, method, params: modern ? { ...params, _meta } : params });
    return until(() => messages.find((m) => m.id === id && !m.method), `request ${id} is answered\n${process.text()}`);
  };
  const c = {
    ...process, send, asked, messages, ask,
    async begins() {
      if (modern) return c;
      await ask("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "test", version: "1" } });
      send({ method: "notifications/initialized" });
      return c;
    },
    raw: (name, args, more = {}) => ask("tools/call", { name, arguments: args, ...more }),
    /** A call as a modern client makes it: again, as long as input is wanted and it has answers. */
    async call(name, args, rounds = 10) {
      let more = {};
      for (;;) {
        const { result, error } = await c.raw(name, args, more);
        assert.equal(error, undefined, JSON.stringify(error));
        if (result.resultType !== "input_required" || rounds-- === 0) return { ...result, text: result.content?.[0].text };
        const inputResponses = {};
        for (const [key, { method, params }] of Object.entries(result.inputRequests)) { asked.push({ method, params }); inputResponses[key] = answer(method, params); }
        more = { inputResponses, requestState: result.requestState };
      }
    },
    /** The text of a program's answer that fits; on a slow machine the first ones may only say that it is not done. */
    async says(args, what) {
      let { text } = await c.call("execute_code", args);
      while (!what.test(text)) {
        assert.match(text, RUN);
        ({ text } = await c.call("continue_run", { run: RUN.exec(text)[1] }));
      }
      return text;
    },
    /** The answer of a call, continued until it says this: a slow machine may take longer than mcp.waitMs. */
    async until(wanted, name, args) {
      for (let answer = await c.call(name, args); ; answer = await c.call("continue_run", { run: RUN.exec(answer.text)[1] })) if (wanted.test(answer.text) || !RUN.test(answer.text)) return answer;
    },
    async ends() { process.child.stdin.end(); const end = await process.ended; assert.equal(end.code, 0, end.stderr); return end; },
  };
  return c.begins();
}
const bank = () => scripted([{ tool: { name: "transfer", description: "x" }, result: { content: [{ type: "text", text: "sent" }] } }]);
const guarded = (more = {}) => servers({ bank: bank() }, { ...bare, tools: { policy: [{ match: "bank.*", action: "ask", reason: "money\u202e leaves" }] }, ...more });
const PAY = { code: "bankTransfer({ amount: 100, to: 'Ada\\u200b' })" };
const RUN = /Run ([0-9a-f]{32})/;

for (const modern of [false, true]) describe(modern ? "an approval, 2026-07-28" : "an approval, up to 2025-11-25", { concurrency: 3 }, () => {
  test("the client is asked with tool, reason and input; accept makes the call", async () => {
    const c = await client(guarded(), { modern, capabilities: FORM, answer: () => ({ action: "accept", content: {} }) });
    const answer = await c.call("execute_code", PAY);
    assert.equal(answer.text, "sent");
    assert.equal(c.asked.length, 1);
    const { method, params } = c.asked[0];
    assert.equal(method, "elicitation/create");
    assert.deepEqual(params.requestedSchema, { type: "object", properties: {} });
    assert.match(params.message, /^The program wants to call bank\.transfer\nwhy it is asked: money leaves\ninput: \{\n  "amount": 100,\n  "to": "Ada\\u200[bB]"\n\}\nAccept: the call is made\. Otherwise it goes on waiting; `lathe reject [0-9a-f]{32}` ends that\.$/);
    await c.ends();
  });
  for (const action of ["decline", "cancel"]) test(`${action} decides nothing: the run waits, says so at once, and asks again when it is continued`, async () => {
    let says = action;
    const c = await client(guarded({ mcp: { waitMs: 20_000 } }), { modern, capabilities: FORM, answer: () => ({ action: says }) });
    const first = await c.call("execute_code", PAY);
    assert.match(first.text, /waiting for approval of bank\.transfer [^]*lathe approve/);
    says = "accept";
    const again = await c.call("continue_run", { run: RUN.exec(first.text)[1] });
    assert.equal(again.text, "sent");
    assert.equal(c.asked.length, 2);
    await c.ends();
  });
  test("a client that has not declared elicitation is not asked", async () => {
    const c = await client(guarded({ mcp: { waitMs: 300 } }), { modern, answer: () => ({ action: "accept" }) });
    await c.says(PAY, /waiting for approval/);
    assert.deepEqual(c.asked, []);
    await c.ends();
  });
  test("an input that is too long to be shown whole is decided elsewhere", async () => {
    const c = await client(guarded({ mcp: { waitMs: 300 } }), { modern, capabilities: FORM, answer: () => ({ action: "accept" }) });
    await c.says({ code: "bankTransfer({ note: 'x'.repeat(9000) })" }, /waiting for approval/);
    assert.deepEqual(c.asked, []);
    await c.ends();
  });
});

describe("an approval that is decided elsewhere", { concurrency: 3 }, () => {
  test("the question is withdrawn from the client", async () => {
    const env = { XDG_STATE_HOME: folder() }, args = guarded();
    const c = await client(args, { capabilities: FORM, env });
    const answer = c.call("execute_code", PAY);
    const question = await until(() => c.asked[0], "it asks");
    const [, run] = /lathe reject ([0-9a-f]{32})/.exec(question.params.message);
    const person = start(["approve", run, ...args], { env, terminal: true });
    await until(() => /: $/.test(person.text()), "the person is asked");
    person.type("y\n");
    await person.ended;
    assert.equal((await answer).text, "sent");
    assert.deepEqual(c.messages.find((m) => m.method === "notifications/cancelled").params, { requestId: question.id, reason: "the question is closed" });
    c.send({ id: question.id, result: { action: "accept" } });
    await c.ends();
  });
  test("a client that goes leaves it waiting, and the next one is asked", async () => {
    const env = { XDG_STATE_HOME: folder() }, args = guarded();
    const one = await client(args, { capabilities: FORM, env });
    void one.raw("execute_code", PAY).catch(() => {});
    const question = await until(() => one.asked[0], "it asks");
    const [, run] = /lathe reject ([0-9a-f]{32})/.exec(question.params.message);
    await one.ends();
    const two = await client(args, { capabilities: FORM, env, answer: () => ({ action: "accept" }) });
    assert.equal((await two.call("continue_run", { run })).text, "sent");
    await two.ends();
  });
});

describe("what servers ask", { concurrency: 3 }, () => {
  const old = () => servers({ old: fake("--questions") }, bare);
  const code = (method, params) => ({ code: `oldQuestion(${JSON.stringify({ method, params })})` });
  const told = (method) => (method === "roots/list" ? { roots: [{ uri: "file:///w" }] } : method === "sampling/createMessage" ? { role: "assistant", content: { type: "text", text: "hi" }, model: "m" } : { action: "accept", content: { name: "Ada" } });
  for (const modern of [false, true]) test(`goes to the client and back: elicitation, sampling, roots (${modern ? "2026-07-28" : "2025-11-25"})`, async () => {
    const c = await client(old(), { modern, capabilities: ALL, answer: told });
    for (const [method, params] of [["elicitation/create", form], ["elicitation/create", { mode: "url", message: "go", url: "https://a.example/", elicitationId: "1" }], ["sampling/createMessage", { messages: [], maxTokens: 5 }], ["roots/list", {}]]) {
      assert.deepEqual(JSON.parse((await c.call("execute_code", code(method, params))).text), told(method));
    }
    assert.deepEqual(c.asked.map((q) => q.method), ["elicitation/create", "elicitation/create", "sampling/createMessage", "roots/list"]);
    assert.equal(c.asked[0].params.message, 'Server "old" asks: Who?');
    assert.deepEqual(c.asked[0].params.requestedSchema, form.requestedSchema);
    await c.ends();
  });
  test("a client that cannot: a form is declined, the rest is unknown; the model of the configuration comes before the client", async () => {
    const c = await client(old(), { answer: told });
    assert.deepEqual(JSON.parse((await c.call("execute_code", code("elicitation/create", form))).text).error?.code ?? "decline", "decline");
    assert.equal(JSON.parse((await c.call("execute_code", code("roots/list", {}))).text).error.code, -32601);
    assert.deepEqual(c.asked, []);
    await c.ends();
    const model = await scriptedModel(["from the model"]);
    const d = await client(servers({ old: { ...fake("--questions"), sampling: true } }, bare), { capabilities: ALL, answer: told, env: model.env });
    assert.match((await d.call("execute_code", code("sampling/createMessage", { messages: [{ role: "user", content: { type: "text", text: "x" } }], maxTokens: 5 }))).text, /from the model/);
    assert.deepEqual(d.asked, []);
    await d.ends();
  });
  test("questions inside an answer of a server of 2026-07-28 reach a client of 2026-07-28 together", async () => {
    const inputRequests = { a: { method: "elicitation/create", params: form }, b: { method: "roots/list" }, c: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } } };
    const server = await mcpHttp({ era: "stateless", call: (m) => (m.params.inputResponses ? { content: [{ type: "text", text: JSON.stringify(m.params.inputResponses) }] } : { resultType: "input_required", inputRequests }) });
    const c = await client(servers({ web: { url: server.url } }, bare), { modern: true, capabilities: ALL, answer: told });
    const { result } = await c.raw("execute_code", { code: "webEcho({})" });
    assert.equal(result.resultType, "input_required");
    assert.deepEqual(Object.entries(result.inputRequests).map(([key, q]) => [key, q.method]).sort(), [["a", "elicitation/create"], ["b", "roots/list"], ["c", "sampling/createMessage"]]);
    const inputResponses = Object.fromEntries(Object.entries(result.inputRequests).map(([key, q]) => [key, told(q.method)]));
    for (const requestState of [`${result.requestState}0`, "x", 5, result.requestState.split(".")[0]]) assert.equal((await c.raw("execute_code", { code: "1" }, { inputResponses, requestState })).error.code, -32602);
    const some = Object.fromEntries(Object.entries(inputResponses).slice(0, 1));
    const second = (await c.raw("execute_code", { code: "webEcho({})" }, { inputResponses: some, requestState: result.requestState })).result;
    assert.equal(Object.keys(second.inputRequests).length, 2, "what was not answered is asked again");
    const end = (await c.raw("execute_code", { code: "webEcho({})" }, { inputResponses, requestState: second.requestState })).result;
    assert.deepEqual(JSON.parse(end.content[0].text), { a: told("elicitation/create"), b: told("roots/list"), c: told("sampling/createMessage") });
    assert.equal(server.seen.filter((r) => r.message.method === "tools/call").length, 2, "the program ran once");
    await c.ends();
  });
  test("a client that answers with an error, or late: the server is told, and nothing is lost", async () => {
    const c = await client(servers({ old: fake("--questions") }, { ...bare, mcp: { waitMs: 500 } }), { capabilities: ALL, answer: (method) => (method === "roots/list" ? { error: { code: -32000, message: "no" } } : undefined) });
    assert.equal(JSON.parse(await c.says(code("roots/list", {}), /^\{/)).error.code, -1);
    const first = await c.says(code("elicitation/create", form), /0 of 1 calls done\.\nwaiting for an answer to elicitation\/create of a server\n/);
    c.send({ id: c.asked.at(-1).id, result: { action: "accept", content: { name: "late" } } });
    c.send({ id: c.asked.at(-1).id, result: { action: "decline" } });
    c.send({ id: 4711, result: {} });
    assert.match((await c.until(/late/, "continue_run", { run: RUN.exec(first)[1] })).text, /"late"/);
    await c.ends();
  });
});

describe("a decision that comes with continue_run", { concurrency: 3 }, () => {
  const waiting = async (more) => {
    const env = { XDG_STATE_HOME: folder() }, args = guarded({ mcp: { waitMs: 300, ...more } });
    const c = await client(args, { env });
    const text = await c.says(PAY, /lathe approve/);
    return { c, env, args, text, run: RUN.exec(text)[1], call: /lathe approve [0-9a-f]{32} (\S+?)`/.exec(text)[1] };
  };
  const continues = async (c) => (await c.ask("tools/list")).result.tools.find((tool) => tool.name === "continue_run");
  test("without mcp.approveByCall it is not in the schema, and refused by its name", async () => {
    const { c, run, call } = await waiting({});
    assert.deepEqual(Object.keys((await continues(c)).inputSchema.properties), ["run"]);
    const { result } = await c.raw("continue_run", { run, call, decision: "approve" });
    assert.ok(result.isError);
    assert.match(result.content[0].text, /^decision: this gateway takes no decision from a call: a person decides/);
    assert.match((await c.until(/waiting for approval/, "continue_run", { run })).text, /waiting for approval/);
    await c.ends();
  });
  test("with it: approve, reject with a reason, and what cannot be decided", async () => {
    const { c, run, call, text } = await waiting({ approveByCall: true });
    const tool = await continues(c);
    assert.deepEqual([Object.keys(tool.inputSchema.properties), tool.annotations.destructiveHint], [["run", "decision", "call", "reason"], true]);
    assert.match(text, new RegExp(`or ask the user, and call continue_run with call "${call}" and decision`));
    for (const [args, why] of [[{ decision: "yes", call }, /^decision: expected/], [{ decision: "approve" }, /^call: expected/], [{ decision: "approve", call: "x" }, /^call: no such call/]]) {
      assert.match((await c.call("continue_run", { run, ...args })).text, why);
    }
    assert.equal((await c.until(/^sent/, "continue_run", { run, call, decision: "approve" })).text, "sent");
    assert.match((await c.call("continue_run", { run, call, decision: "approve" })).text, /^call: no such call/);
    await c.ends();
    const other = await waiting({ approveByCall: true });
    assert.match((await other.c.until(/not approved/, "continue_run", { run: other.run, call: other.call, decision: "reject", reason: "too much" })).text, /was not approved: too much/);
    await other.c.ends();
  });
  test("of a run whose gateway has ended: the next one carries it out, once", async () => {
    const { c, env, args, run, call } = await waiting({ approveByCall: true });
    await c.ends();
    const d = await client(args, { env });
    assert.equal((await d.until(/^sent/, "continue_run", { run, call, decision: "approve" })).text, "sent");
    await d.ends();
  });
});
