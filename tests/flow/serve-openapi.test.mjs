// The description of lathe serve: it holds against OpenAPI's rules, a client that is generated from it works, and real
// answers are what it says.
import assert from "node:assert/strict";
import { before } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv from "ajv/dist/2020.js";
import { OpenAPIClientAxios } from "openapi-client-axios";
import { describe, noWalls, scripted, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const PAY = "const r = cashPay({ n: 1 });\noutput('paid ' + r.n); done()";
let env;
before(async () => {
  env = await recorded([{ user: "pay", replies: [PAY] }, { user: "hello", replies: ["output('Hello!'); done()"] }], { title: "A title" });
});

const shop = () => {
  const tool = { tool: { name: "pay", inputSchema: { type: "object", properties: { n: { type: "number" } } } } };
  return serve({ mcpServers: { cash: scripted([tool]) }, models: [{ ref: "normal", model: "m", price: { input: 1.5 } }], tools: { policy: [{ match: "cash.pay", action: "ask" }] } }, { env });
};

describe("the description", { concurrency: 2 }, () => {
  test("holds against the rules of OpenAPI 3.1", async () => {
    const s = await shop();
    const { json } = await s.get("/openapi.json");
    const validator = new Validator();
    const found = await validator.validate(json);
    assert.deepEqual([found.valid, validator.version], [true, "3.1"], JSON.stringify(found.errors, null, 1));
    validator.resolveRefs(); // every $ref leads somewhere
    const broken = structuredClone(json);
    delete broken.paths["/prompt"].post.requestBody.content;
    assert.equal((await new Validator().validate(broken)).valid, false);
    await s.stop();
  });

  test("a client that is generated from it asks, approves, runs, lists and hears why not", async () => {
    const s = await shop();
    const definition = (await s.get("/openapi.json")).json;
    const client = await new OpenAPIClientAxios({ definition, axiosConfigDefaults: { baseURL: s.url, validateStatus: () => true } }).init();
    const { data: ids, status } = await client.createPrompt({ "Idempotency-Key": "once" }, { input: "pay", mode: "code" });
    assert.deepEqual((await client.createPrompt({ "Idempotency-Key": "once" }, { input: "pay", mode: "code" })).data, ids);
    assert.equal(status, 200, JSON.stringify(ids));
    const call = await until(async () => (await client.getPrompt({ id: ids.promptId })).data.output.find((one) => one.result?.question), "it asks");
    assert.deepEqual((await client.approve({ id: ids.promptId }, { toolCallId: call.id, input: { n: 4 } })).data, { approved: true });
    await until(async () => (await client.getPrompt({ id: ids.promptId })).data.state === "completed", "it has ended");
    assert.equal((await client.runProgram(null, { code: "6 * 7" })).data.result, 42);
    assert.deepEqual((await client.checkProgram(null, { code: "const a = ;" })).data.problems.length, 1);
    const { data: list } = await client.listConversations({ query: "paid 4", limit: 5 });
    assert.deepEqual(list.conversations.map((one) => one.id), [ids.conversationId]);
    const no = await client.reject({ id: ids.promptId }, { toolCallId: call.id });
    assert.deepEqual([no.status, no.data.error.code], [404, "notfound"]);
    assert.equal((await client.deleteConversation({ id: ids.conversationId })).status, 204);
    await s.stop();
  });

  test("each operation answers as it says, with its status, type and schema", async () => {
    const s = await shop();
    const document = (await s.get("/openapi.json")).json;
    const ajv = new Ajv({ strict: false, allErrors: true });
    ajv.addSchema(document, "api");
    const pointer = (...parts) => parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("").replaceAll("{", "%7B").replaceAll("}", "%7D");
    const seen = new Set();
    /** Asks, and holds the answer against the description; `path` as it is described. */
    const ask = async (method, path, { id = "", query = "", body, status = 200 } = {}) => {
      const operation = document.paths[path][method];
      const answer = await s.ask(method.toUpperCase(), path.replace("{id}", encodeURIComponent(id)) + query, body);
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
      const described = operation.responses[status] ?? operation.responses.default;
      assert.ok(operation.responses[status], `${method} ${path} does not say ${status}`);
      seen.add(operation.operationId);
      if (status === 204) return answer;
      const where = described.$ref ? described.$ref.slice(1) : pointer("paths", path, method, "responses", String(status));
      const { content } = described.$ref ? document.components.responses.Error : described;
      const type = answer.headers.get("content-type").split(";")[0];
      assert.ok(content[type] ?? content["*/*"], `${method} ${path}: ${type}`);
      if (type === "application/json" && content[type]) {
        const check = ajv.compile({ $ref: `api#${where}${pointer("content", type, "schema")}` });
        assert.ok(check(answer.json), `${method} ${path}: ${answer.text}\n${JSON.stringify(check.errors)}`);
      }
      return answer;
    };
    const { json: ids } = await ask("post", "/prompt", { body: { input: "pay", mode: "code" } });
    const id = ids.promptId;
    const call = await s.waiting(id);
    await ask("get", "/prompts/{id}", { id });
    await ask("post", "/prompt", { body: { input: "hello", conversationId: ids.conversationId }, status: 409 });
    await ask("get", "/prompts/{id}/preview", { id, query: `?toolCallId=${call.id}` });
    await ask("delete", "/conversations/{id}", { id: ids.conversationId, status: 409 });
    await ask("post", "/conversations/{id}/compact", { id: ids.conversationId, status: 409 });
    await ask("post", "/prompts/{id}/approve", { id, body: { toolCallId: call.id, remember: "call" } });
    await s.prompt(id);
    await ask("get", "/prompts/{id}", { id });
    await ask("get", "/prompts/{id}/record", { id });
    await ask("post", "/prompts/{id}/approve", { id, body: { toolCallId: call.id }, status: 404 });
    const waits = (await ask("post", "/run", { body: { code: "cashPay({ n: 1 })", waitMs: 0 }, status: 202 })).json;
    const asked = await s.waiting(waits.promptId);
    await ask("post", "/prompts/{id}/reject", { id: waits.promptId, body: { toolCallId: asked.id, reason: "no" } });
    await s.prompt(waits.promptId);
    await ask("get", "/prompts/{id}", { id: waits.promptId });
    const other = (await ask("post", "/tools/{id}/invoke", { id: "cash.pay", body: { input: { n: 1 } }, status: 202 })).json;
    await ask("post", "/prompts/{id}/cancel", { id: other.promptId });
    await ask("post", "/run", { body: { code: "log('a'); storeArtifact({ a: 1 }, 'x')" } });
    await ask("post", "/run", { body: { code: 1 }, status: 400 });
    await ask("post", "/check", { body: { code: "nope(", language: noWalls() ? "javascript" : "python" } });
    const { artifacts } = (await ask("get", "/artifacts")).json;
    await ask("get", "/artifacts/{id}", { id: artifacts[0].id });
    await ask("get", "/artifacts/{id}", { id: "nope", status: 404 });
    await ask("get", "/conversations");
    await ask("get", "/conversations", { query: "?limit=1&query=pay" });
    await ask("get", "/conversations/{id}", { id: ids.conversationId, query: "?limit=1" });
    await ask("post", "/conversations/{id}/compact", { id: ids.conversationId, body: { model: "none" }, status: 404 });
    await ask("post", "/conversations/{id}/compact", { id: ids.conversationId });
    await ask("get", "/conversations/{id}", { id: ids.conversationId });
    await ask("patch", "/conversations/{id}", { id: ids.conversationId, body: { title: "Mine" } });
    await ask("delete", "/conversations/{id}", { id: ids.conversationId, status: 204 });
    await ask("get", "/tools", { query: "?limit=1" });
    await ask("get", "/tools/{id}", { id: "cash.pay" });
    await ask("get", "/declarations", { query: "?language=python" });
    for (const path of ["/modes", "/models", "/healthz", "/readyz", "/openapi.json", "/metrics", "/"]) await ask("get", path);
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item).map((one) => one.operationId));
    assert.deepEqual(operations.filter((one) => !seen.has(one)).sort(), ["getPageFile", "streamEvents"]);
    const streams = ["/events/stream", "/prompt"].map((path) => Object.values(document.paths[path])[0]);
    assert.ok(streams.every((one) => one.responses[200].content["text/event-stream"]));
    assert.deepEqual(streams.map((one) => one.parameters.filter((it) => it.in === "header").map((it) => it.name)), [["Last-Event-ID"], ["Idempotency-Key"]]);
    await s.stop();
  });
});
