// GET /metrics of lathe serve: the format to the letter, numbers after traffic that is known, and names of strangers.
import assert from "node:assert/strict";
import { before } from "node:test";
import { describe, folder, run, scripted, test, until } from "./harness.mjs";
import { readExposition } from "./exposition.mjs";
import { recorded, scriptedModel } from "./model.mjs";
import { serve } from "./server.mjs";

const turns = [
  { user: "twice", replies: ["shopAdd({ n: 1 }); shopAdd({ n: 2 }); output('ok'); done()"] },
  { user: "broken", replies: ["try { shopFail({}) } catch (e) { output(e.message) } done()"] },
  { user: "ask", replies: ["try { shopPay({}) } catch (e) { output(e.message) } done()"] },
];
const tools = [
  { tool: { name: "add", inputSchema: { type: "object" } } },
  { tool: { name: "fail", inputSchema: { type: "object" } }, result: { isError: true, content: [{ type: "text", text: "no" }] } },
  { tool: { name: "pay", inputSchema: { type: "object" } } },
];
const shop = { mcpServers: { shop: scripted(tools) }, tools: { policy: [{ match: "shop.pay", action: "ask" }] } };

let env;
before(async () => {
  env = await recorded(turns, { title: "A title" });
});

async function scrape(s, headers) {
  const answer = await s.get("/metrics", headers);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return readExposition(answer.text);
}

describe("metrics", { concurrency: 2 }, () => {
  test("everything that happened is counted, once", async () => {
    const s = await serve(shop, { env });
    const empty = await scrape(s);
    for (const name of ["lathe_prompts_total", "lathe_tool_call_duration_seconds_count", "lathe_program_duration_seconds_count"]) {
      assert.equal(empty.value(name), 0, name);
    }
    assert.equal(empty.value("lathe_build_info"), 1);
    assert.ok(empty.value("process_resident_memory_bytes") > 1e6 && empty.value("process_open_fds") > 5 && empty.value("process_threads") >= 1);
    assert.ok(Math.abs(empty.value("process_start_time_seconds") - Date.now() / 1000) < 3600);

    for (const input of ["twice", "twice", "broken"]) {
      const { json } = await s.post("/prompt", { input, mode: "code" });
      assert.equal((await s.prompt(json.promptId)).state, "completed");
    }
    const asked = (await s.post("/prompt", { input: "ask", mode: "code" })).json.promptId;
    const call = await s.waiting(asked);
    let now = await scrape(s);
    assert.deepEqual([now.value("lathe_prompts", { state: "waiting_for_approval" }), now.value("lathe_prompts", { state: "running" })], [1, 0]);
    assert.equal(now.value("lathe_sandbox_boxes", { state: "used" }), 1);
    await s.post(`/prompts/${asked}/reject`, { toolCallId: call.id });
    await s.prompt(asked);
    const gone = (await s.post("/prompt", { input: "ask", mode: "code" })).json.promptId;
    await s.waiting(gone);
    await s.post(`/prompts/${gone}/cancel`, {});
    await s.prompt(gone);

    now = await until(async () => {
      const seen = await scrape(s);
      return seen.value("lathe_model_requests_total", { purpose: "title" }) >= 4 && seen.value("lathe_events_queued") === 0 && seen;
    }, "titles were made");
    assert.equal(now.value("lathe_prompts_total", { mode: "code", state: "completed" }), 4);
    assert.equal(now.value("lathe_prompts_total", { mode: "code", state: "cancelled" }), 1);
    assert.equal(now.value("lathe_prompts_total"), 5);
    assert.equal(now.value("lathe_prompt_duration_seconds_count", { mode: "code" }), 5);
    assert.equal(now.value("lathe_rounds_total", { model: "normal" }), 5);
    assert.equal(now.value("lathe_model_requests_total", { purpose: "round" }), 5);
    assert.ok(now.value("lathe_model_request_duration_seconds_count", { outcome: "ok" }) >= 9);
    assert.ok(now.value("lathe_model_first_token_seconds_count") >= 9);
    assert.ok(now.value("lathe_model_tokens_total", { kind: "input" }) > 0 && now.value("lathe_model_tokens_total", { kind: "output" }) > 0);
    const calls = (tool, outcome) => now.value("lathe_tool_call_duration_seconds_count", { tool, outcome });
    assert.deepEqual([calls("shop.add", "ok"), calls("shop.fail", "error"), calls("shop.pay", "denied"), calls("shop.pay", "cancelled")], [4, 1, 1, 1]);
    assert.equal(now.value("lathe_program_duration_seconds_count", { runner: "quickjs", outcome: "ok" }), 4);
    assert.equal(now.value("lathe_program_duration_seconds_count", { runner: "quickjs", outcome: "cancelled" }), 1);
    assert.equal(now.value("lathe_sandbox_boxes", { state: "used" }), 0);
    assert.ok(now.value("lathe_sandbox_boxes_taken_total") >= 5); // one that waits for more than a second takes its box again
    assert.ok(now.value("lathe_event_lag_seconds_count") >= 5 * 3);
    assert.ok(now.value("lathe_store_size_bytes", { file: "database" }) + now.value("lathe_store_size_bytes", { file: "journal" }) > 10_000);
    assert.deepEqual([now.value("lathe_prompts"), now.value("lathe_prompts_queued")], [0, 0]);
    await s.stop();
  });

  test("tokens and their cost are exact, cached input and titles included; a model without a price has no cost", async () => {
    const replies = [{ text: "output('ok'); done()", usage: [1000, 50, 10, 400] }, { text: "A title", usage: [100, 4] }];
    const models = [{ ref: "normal", model: "m", price: { input: 2, output: 8, cachedInput: 0.5 } }, { ref: "plain", model: "p", price: { input: 3 } }, { ref: "free", model: "f" }];
    const usages = [];
    for (const { ref } of models) {
      const model = await scriptedModel(replies);
      const s = await serve({ models }, { env: model.env });
      const { json } = await s.post("/prompt", { input: "go", mode: "code", model: ref });
      usages.push((await s.prompt(json.promptId)).usage);
      const now = await until(async () => {
        const seen = await scrape(s);
        return seen.value("lathe_model_requests_total", { purpose: "title" }) === 1 && seen;
      }, "the title was made");
      const kinds = ["input", "cached_input", "output", "reasoning"].map((kind) => now.value("lathe_model_tokens_total", { kind }));
      assert.deepEqual(kinds, [1100, 400, 54, 10]);
      const title = 100 * 2 + 4 * 8; // asked of the standard model
      const costs = { normal: { normal: 600 * 2 + 400 * 0.5 + 50 * 8 + title }, plain: { plain: 1000 * 3, normal: title }, free: { normal: title } }[ref];
      assert.deepEqual(now.label("lathe_model_cost_usd_total", "model").sort(), Object.keys(costs).sort());
      for (const [model, cost] of Object.entries(costs)) {
        assert.ok(Math.abs(now.value("lathe_model_cost_usd_total", { model }) - cost / 1e6) < 1e-12, `${ref}, ${model}: ${now.value("lathe_model_cost_usd_total", { model })}`);
      }
      await s.stop();
    }
    for (const { cost, ...usage } of usages) {
      assert.deepEqual(usage, { inputTokens: 1000, outputTokens: 50, totalTokens: 1050, requests: 1, cachedInputTokens: 400, reasoningTokens: 10, resolvedModel: "fake-2026" });
    }
    assert.deepEqual(usages.map((usage) => usage.cost).sort(), [0.0018, 0.003, undefined]); // by each model's price
  });

  test("requests are counted by route and status, also those that nobody knows; readers and connections are seen", async () => {
    const s = await serve({}, { env });
    const before = await scrape(s);
    const count = (now, route, status) => now.value("lathe_http_requests_total", { route, status }) - before.value("lathe_http_requests_total", { route, status });
    await s.get("/models");
    await s.get("/prompts/nope");
    await s.post("/prompt", { input: 1 });
    for (let i = 0; i < 50; i++) await s.get(`/nothing/here${i}`);
    await s.ask("PUT", "/prompt");
    const stream = s.follow();
    await until(() => stream.status === 200, "the stream is open");
    const now = await scrape(s);
    assert.deepEqual([count(now, "listModels", "200"), count(now, "getPrompt", "404"), count(now, "createPrompt", "400"), count(now, "none", "404"), count(now, "none", "405")],
      [1, 1, 1, 50, 1], JSON.stringify([...now.families.get("lathe_http_requests_total").samples]));
    assert.ok(now.label("lathe_http_requests_total", "route").length < 12, "paths that nobody knows are one label");
    assert.equal(now.value("lathe_event_readers"), 1);
    assert.ok(now.value("lathe_http_connections") >= 2);
    stream.close();
    await until(async () => (await scrape(s)).value("lathe_event_readers") === 0, "the reader is gone");
    const streamed = await scrape(s);
    assert.deepEqual([count(streamed, "streamEvents", "200"), streamed.value("lathe_http_request_duration_seconds_count", { route: "streamEvents" })], [1, 0]);
    await s.stop();
  });

  test("names of tools cannot break the format, nor make it grow without end; no user is named", async () => {
    const hostile = ['a"} 1\nlathe_fake 2', "b\\", "c\u0001\u001b[31m", "\u{1f600}", 'd",x="'];
    const many = Array.from({ length: 700 }, (_, i) => `t${i}`);
    const all = [...hostile, ...many].map((name) => ({ tool: { name, inputSchema: { type: "object" } } }));
    const state = folder();
    const made = await run(["serve", "token", "add", "dorothy"], { env: { XDG_STATE_HOME: state } });
    const auth = { authorization: `Bearer ${made.stdout.trim()}` };
    const unbounded = { limits: { requestsPerSecond: 1e6 } }; // the requests below come faster than a user may ask
    const s = await serve({ mcpServers: { evil: scripted(all) }, server: unbounded }, { env, state });
    assert.equal((await s.get("/metrics")).status, 401);
    const ids = (await s.get("/tools", auth)).json.tools.map((tool) => tool.id).filter((id) => id.startsWith("evil."));
    assert.ok(ids.length >= 700);
    for (let i = 0; i < 20; i++) await s.post(`/tools/invented${i}/invoke`, {}, auth);
    for (const id of ids) await s.post(`/tools/${encodeURIComponent(id)}/invoke`, {}, auth);
    const now = await scrape(s, auth);
    assert.equal(now.value("lathe_tool_call_duration_seconds_count", { tool: "unknown" }), 20);
    assert.equal(now.value("lathe_tool_call_duration_seconds_count"), ids.length + 20);
    assert.ok(now.label("lathe_tool_call_duration_seconds_count", "tool").length <= 514);
    assert.ok(now.value("lathe_tool_call_duration_seconds_count", { tool: "other" }) >= ids.length - 512);
    assert.ok(!now.families.has("lathe_fake"));
    const text = (await s.get("/metrics", auth)).text;
    assert.ok(!text.includes("dorothy"));
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f]/);
    await s.stop();
  });
});
