// What a client of 2026-07-28 is told of lists that change (subscriptions/listen), and what servers ask it about prompts.
import assert from "node:assert/strict";
import { join } from "node:path";
import { bare, describe, root, servers, start, test, until } from "./harness.mjs";

const fixture = (...options) => ({ command: process.execPath, args: [join(root, "tests/fakes/conformance_upstream.mjs"), ...options] });
const direct = { tools: { expose: [{ match: "fixture.*", as: "direct" }] } };
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId", NAMED = { action: "accept", content: { context: "weather" } };

/** A client that speaks the wire itself. */
function client(behind, capabilities = {}) {
  const made = start(["mcp", ...servers({ fixture: behind }, { ...bare, ...direct })], { typed: true });
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities };
  const messages = () => made.out().split("\n").slice(0, -1).map((line) => JSON.parse(line));
  const send = (message) => made.type(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  const asks = (method, params) => { send({ id: ++last, method, params: { ...params, _meta } }); return last; };
  const told = (method, id) => messages().filter((m) => m.method === method && m.params._meta[SUBSCRIPTION] === id);
  return {
    send, told,
    async ask(method, params = {}) {
      const id = asks(method, params);
      return until(() => messages().find((m) => m.id === id), `${method} is answered\n${made.text()}`);
    },
    async listens(notifications) {
      const id = asks("subscriptions/listen", { notifications });
      const [{ params }] = await until(() => (told("notifications/subscriptions/acknowledged", id).length > 0 ? told("notifications/subscriptions/acknowledged", id) : undefined), `it is acknowledged\n${made.text()}`);
      return { id, granted: params.notifications };
    },
    hears: (method, id, count = 1) => until(() => told(method, id).length >= count, `${method} for ${id}\n${made.text()}`),
    async ends() { made.child.stdin.end(); const end = await made.ended; assert.equal(end.code, 0, end.stderr); },
  };
}
const TOOLS = "notifications/tools/list_changed", PROMPTS = "notifications/prompts/list_changed";

describe("subscriptions/listen", { concurrency: 2 }, () => {
  test("each stream hears what it asked for, until it is cancelled", async () => {
    const c = client(fixture());
    const names = async () => (await c.ask("tools/list")).result.tools.map((tool) => tool.name);
    await until(async () => (await names()).includes("test_trigger_tool_change"), "the tools are there");
    const changes = (what) => c.ask("tools/call", { name: `test_trigger_${what}_change`, arguments: {} });
    const tools = await c.listens({ toolsListChanged: true, resourcesListChanged: false, unheardOf: true }), prompts = await c.listens({ promptsListChanged: true });
    assert.deepEqual([tools.granted, prompts.granted], [{ toolsListChanged: true }, { promptsListChanged: true }]);
    await changes("tool");
    await c.hears(TOOLS, tools.id);
    await until(async () => (await names()).includes("there_now_and_then"), "the new tool is listed");
    await changes("prompt");
    await c.hears(PROMPTS, prompts.id);
    c.send({ method: "notifications/cancelled", params: { requestId: tools.id } });
    const later = await c.listens({ toolsListChanged: true }), before = c.told(TOOLS, tools.id).length;
    await changes("tool");
    await c.hears(TOOLS, later.id);
    assert.equal(c.told(TOOLS, tools.id).length, before);
    assert.deepEqual([c.told(TOOLS, prompts.id), c.told(PROMPTS, tools.id), c.told(PROMPTS, later.id)], [[], [], []]);
    await c.ends();
  });
});

describe("a prompt whose server, of 2026-07-28, asks first", { concurrency: 2 }, () => {
  const name = "test_input_required_result_prompt";
  test("the client gets the question, and its next request brings the answer", async () => {
    const c = client(fixture("--modern"), { elicitation: {} });
    const { result } = await c.ask("prompts/get", { name });
    assert.equal(result.resultType, "input_required");
    assert.deepEqual(Object.keys(result.inputRequests), ["user_context"]);
    assert.equal(result.inputRequests.user_context.params.message, 'Server "fixture" asks: What context should the prompt use?');
    const forged = await c.ask("prompts/get", { name, requestState: `${result.requestState}0`, inputResponses: { user_context: NAMED } });
    assert.equal(forged.error?.code, -32602);
    const again = await c.ask("prompts/get", { name, requestState: result.requestState, inputResponses: {} });
    assert.equal(again.result.resultType, "input_required");
    const end = await c.ask("prompts/get", { name, requestState: again.result.requestState, inputResponses: { user_context: NAMED } });
    assert.equal(end.result.resultType, "complete");
    assert.equal(end.result.messages[0].content.text, "Context: weather");
    await c.ends();
  });
  test("a client that has not declared elicitation gets error -32021", async () => {
    const c = client(fixture("--modern"), { sampling: {} });
    const { error } = await c.ask("prompts/get", { name });
    assert.equal(error?.code, -32021, JSON.stringify(error));
    assert.deepEqual(error.data, { requiredCapabilities: { elicitation: { form: {} } } });
    await c.ends();
  });
});
