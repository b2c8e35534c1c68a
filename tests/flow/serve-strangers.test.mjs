// What one user of lathe serve learns of another: nothing. Each request with an id, as /openapi.json lists them, answers
// somebody else's id in the very bytes in which it answers one that nobody has.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { before } from "node:test";
import { cc, describe, folder, root, scripted, sleep, test, until } from "./harness.mjs";
import { serve, tokens } from "./server.mjs";

const WORD = "pomegranate"; // stands in everything of ann's
const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } };
const MCP = { accept: "application/json, text/event-stream" };

let todo;
before(() => {
  todo = join(folder(), "todo.so");
  execFileSync(cc, ["-shared", "-fPIC", "-Iinclude", "-o", todo, "examples/todo/todo.c"], { cwd: root });
});

/** A server with two users, of whom ann has one of everything; what she has, as ids. */
async function world() {
  const state = folder(), [ann, bob] = await tokens(state, "ann", "bob");
  const pay = { tool: { name: "pay", inputSchema: { type: "object" } } };
  const s = await serve({ plugins: [todo], mcpServers: { cash: scripted([pay]) }, tools: { policy: [{ match: "cash.pay", action: "ask" }] } }, { state });
  const bobs = s.follow("?after=0", bob);
  const code = `todoAdd({ text: "${WORD}" }); const id = storeArtifact("${WORD}", "${WORD}"); output("${WORD} " + id); cashPay({ for: "${WORD}" })`;
  const { promptId, conversationId } = (await s.post("/run", { code, waitMs: 0 }, ann)).json;
  const call = await s.waiting(promptId, ann);
  assert.equal((await s.ask("PATCH", `/conversations/${conversationId}`, { title: WORD }, ann)).status < 300, true);
  const artifact = (await s.get("/artifacts", ann)).json.artifacts[0].id;
  const session = (await s.post("/mcp", hello, { ...MCP, ...ann })).headers.get("mcp-session-id");
  const keyed = (await s.post("/prompt", { input: WORD }, { ...ann, "idempotency-key": "the-same" })).json;
  assert.ok(promptId && conversationId && call.id && artifact && session && keyed.promptId);
  return { s, ann, bob, bobs, ids: { prompts: promptId, conversations: conversationId, artifacts: artifact }, call: call.id, session, keyed };
}
/** An id of the same form that nobody has. */
const other = (id) => id.replace(/[0-9a-f]/g, (digit) => (digit === "f" ? "0" : (parseInt(digit, 16) + 1).toString(16)));
const seen = ({ status, text, headers }, id) => ({ status, text: text.replaceAll(id, "ID"), headers: [...headers].filter(([name]) => name !== "date").map(([name, value]) => `${name}: ${value.replaceAll(id, "ID")}`) });

describe("a stranger", { concurrency: 2 }, () => {
  test("cannot tell somebody's id from one that nobody has, with any request", async () => {
    const w = await world(), { s, bob, ids } = w;
    const same = async (what, ask, id, status) => {
      const theirs = seen(await ask(id), id), nobodys = seen(await ask(other(id)), other(id));
      assert.deepEqual(theirs, nobodys, what);
      assert.ok(status.includes(theirs.status), `${what}: ${theirs.status} ${theirs.text}`);
      assert.doesNotMatch(theirs.text, new RegExp(WORD), what);
    };
    const document = (await s.get("/openapi.json", bob)).json;
    const bodies = { approve: [{ toolCallId: w.call }, { toolCallId: w.call, input: {}, remember: "session" }, { toolCallId: "call-99" }], reject: [{ toolCallId: w.call, reason: "no" }], PATCH: [{ title: "mine" }] };
    let count = 0;
    for (const [path, methods] of Object.entries(document.paths)) {
      const kind = path.split("/")[1], [, , , verb] = path.split("/");
      if (!path.includes("{id}") || ids[kind] === undefined) continue;
      for (const method of Object.keys(methods).map((one) => one.toUpperCase())) {
        for (const body of bodies[verb] ?? bodies[method] ?? [undefined]) {
          for (const query of verb === "preview" ? [`?toolCallId=${w.call}`] : [""]) {
            count++;
            await same(`${method} ${path} ${JSON.stringify(body)}`, (id) => s.ask(method, path.replace("{id}", id) + query, body, bob), ids[kind], [404]);
          }
        }
      }
    }
    assert.ok(count >= 12, `${count} requests`);
    for (const whenBusy of [undefined, "queue"]) await same(`POST /prompt ${whenBusy}`, (conversationId) => s.post("/prompt", { input: "x", conversationId, whenBusy }, bob), ids.conversations, [404]);
    for (const method of ["GET", "POST", "DELETE"]) {
      await same(`${method} /mcp`, (id) => s.ask(method, "/mcp", method === "POST" ? { jsonrpc: "2.0", id: 2, method: "tools/list" } : undefined, { ...MCP, ...bob, "mcp-session-id": id }), w.session, [404]);
    }
    for (const [tool, input] of [["artifact.get", (id) => ({ id })]]) await same(tool, (id) => s.post(`/tools/${tool}/invoke`, { input: input(id) }, bob), ids.artifacts, [200, 404, 422]);
    const fresh = (await s.post("/prompt", { input: "mine" }, { ...bob, "idempotency-key": "the-same" })).json;
    assert.notEqual(fresh.promptId, w.keyed.promptId, "a key is a user's own");

    assert.equal((await s.get(`/prompts/${ids.prompts}`, w.ann)).json.state, "waiting_for_approval", "nothing has happened to it");
    assert.equal((await s.get(`/conversations/${ids.conversations}`, w.ann)).json.conversation.title, WORD);
    assert.equal((await s.get(`/artifacts/${ids.artifacts}`, w.ann)).json, WORD);
    assert.equal((await s.post("/mcp", { jsonrpc: "2.0", id: 2, method: "tools/list" }, { ...MCP, ...w.ann, "mcp-session-id": w.session })).status, 200);
    w.bobs.close();
    assert.equal((await s.stop()).code, 0);
  });

  test("sees nothing of it in lists, searches, events, state of plugins, programs, metrics and errors", async () => {
    const { s, ann, bob, bobs, ids, call, keyed } = await world();
    const nothing = [WORD, ids.prompts, ids.conversations, ids.artifacts, keyed.promptId];
    const clean = (what, text) => nothing.forEach((one) => assert.ok(!text.includes(one), `${what} has ${one}`));
    for (const path of ["/conversations", `/conversations?query=${WORD}`, "/artifacts", "/tools", `/tools?query=${WORD}`, "/declarations", "/modes", "/models", "/readyz", "/metrics"]) {
      const answer = await s.get(path, bob);
      assert.equal(answer.status, 200, path);
      clean(path, answer.text.replaceAll(`query=${WORD}`, ""));
    }
    assert.deepEqual((await s.get("/conversations", bob)).json.conversations, []);
    const filtered = s.follow(`?after=0&promptId=${ids.prompts}`, bob), anns = s.follow(`?after=0&promptId=${ids.prompts}`, ann);
    const program = await s.post("/run", { code: "todoAdd({ text: 'mine' }); let list = 'none'; try { list = JSON.stringify(tools['artifact.list']({})) } catch (e) { list = e.message }\noutput(list); JSON.stringify(todoList({ all: true }))" }, bob);
    assert.match(program.json.text, /"text":"mine"/);
    clean("a program", program.text);
    await s.post(`/prompts/${ids.prompts}/approve`, { toolCallId: call }, ann);
    await s.prompt(ids.prompts, ann);
    await until(() => anns.names().includes("prompt.completed"), "ann sees her own end");
    await until(() => bobs.names().includes("prompt.completed"), "bob sees his program's end");
    await sleep(200);
    clean("all events", bobs.text);
    clean("filtered events", filtered.text);
    assert.deepEqual(filtered.events, []);
    assert.match(anns.text, new RegExp(WORD));
    for (const one of [bobs, filtered, anns]) one.close();
    assert.equal((await s.stop()).code, 0);
  });
});
