// The log of lathe serve: a line for what happens, as text and as JSON; names of strangers and secrets in it.
import assert from "node:assert/strict";
import { before } from "node:test";
import { describe, scripted, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const SECRET = "s3cr3t-of-the-shop-4711";
const turns = [
  { user: "hello", replies: ["output('Hello!'); done()"] },
  { user: "wait", replies: ["try { shopPay({}) } catch (e) { output(e.message) } done()"] },
];

let env;
before(async () => {
  env = { ...(await recorded(turns, { title: "A title" })), SHOP_KEY: SECRET };
});
const waiting = { mcpServers: { shop: scripted([{ tool: { name: "pay", inputSchema: { type: "object" } } }]) }, tools: { policy: [{ match: "shop.pay", action: "ask" }] } };

const lines = (text) => text.split("\n").filter(Boolean);
const records = (text) => lines(text).map((line) => JSON.parse(line));

describe("the log", { concurrency: 2 }, () => {
  test("JSON: every line is a record with time, level and message; prompts with their id, state and duration", async () => {
    const s = await serve({ ...waiting, server: { log: "json" } }, { env });
    const { json } = await s.post("/prompt", { input: "hello", mode: "code" });
    await s.prompt(json.promptId);
    const asked = (await s.post("/prompt", { input: "wait", mode: "code" })).json.promptId;
    await s.waiting(asked);
    const end = await s.stop();
    const all = records(end.stderr);
    for (const one of all) {
      assert.match(one.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.match(one.level, /^(info|warning|error)$/);
      assert.equal(typeof one.message, "string");
    }
    const of = (id) => all.filter((one) => one.promptId === id).map((one) => one.message);
    assert.deepEqual(of(json.promptId), ["prompt begun", "prompt completed"]);
    const ended = all.find((one) => one.message === "prompt completed");
    assert.deepEqual([ended.user, ended.mode, ended.model, ended.conversationId], ["local", "code", "normal", json.conversationId]);
    assert.ok(Number.isInteger(ended.durationMs) && ended.durationMs >= 0);
    assert.deepEqual(of(asked), ["prompt begun"], "it is left to the next process");
    assert.equal(all.find((one) => one.message === "listening").url, s.url);
    const last = all.at(-1);
    assert.deepEqual([last.message, last.promptsWaiting], ["ending; prompts are left to the next process", 1]);
    assert.ok(!end.stderr.includes("hello"), "no input is in the log");

    const again = await serve({}, { env, state: s.state, file: s.file });
    await again.waiting(asked);
    await again.post(`/prompts/${asked}/cancel`, {});
    await again.prompt(asked);
    const second = records((await again.stop()).stderr);
    assert.deepEqual(second.filter((one) => one.promptId === asked).map((one) => one.message), ["prompt resumed", "prompt cancelled"]);
  });

  test("text: one line each, and the level decides which", async () => {
    const s = await serve({ server: { logLevel: "debug" } }, { env });
    const { json } = await s.post("/prompt", { input: "hello", mode: "code" });
    await s.prompt(json.promptId);
    const { stderr } = await s.stop();
    assert.match(stderr, new RegExp(`^lathe serve: listening url=${s.url} version=\\S+ store=\\S+ users=local$`, "m"));
    assert.match(stderr, new RegExp(`^lathe serve: prompt completed promptId=${json.promptId} .* durationMs=\\d+$`, "m"));
    assert.match(stderr, /^debug: request route=createPrompt status=200 user=local durationMs=\d+$/m);
  });

  test("what strangers write cannot begin a line, move the cursor or look like another fact; secrets are masked", async () => {
    const evil = `x"\nerror: forged promptId=1 \u001b[2J\u202e ${SECRET}`;
    const tools = [{ tool: { name: "bad", inputSchema: { type: "object" }, outputSchema: { type: "object", required: [evil] } }, result: { content: [{ type: "text", text: "{}" }], structuredContent: {} } }];
    for (const log of ["text", "json"]) {
      const s = await serve({ mcpServers: { shop: { ...scripted(tools), env: { KEY: "${SHOP_KEY}" } } }, server: { log, logLevel: "debug" } }, { env });
      const { json } = await s.post("/prompt", { input: evil, mode: "code" });
      await s.prompt(json.promptId);
      await s.post("/tools/shop.bad/invoke", {});
      await s.get(`/${encodeURIComponent(evil)}`);
      const warned = await until(() => /shop\.bad/.exec(s.text()), `the tool's answer is warned of\n${s.text()}`);
      assert.ok(warned);
      const { stderr } = await s.stop();
      assert.ok(!stderr.includes(SECRET), stderr);
      assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f]/);
      assert.doesNotMatch(stderr, /^error: /m);
      assert.ok(lines(stderr).every((line) => (log === "json" ? JSON.parse(line).message : /^(lathe serve|warning|debug): /.test(line))), stderr);
      if (log === "text") assert.doesNotMatch(stderr, /\u202e/);
    }
  });

  test("a request that failed for a reason of ours is an error with its route; one that was wrong is none", async () => {
    const s = await serve({ mcpServers: { shop: scripted([{ tool: { name: "slow", inputSchema: { type: "object" } }, delayMs: 20_000 }]) }, server: { log: "json" } }, { env });
    assert.equal((await s.post("/tools/shop.slow/invoke", { timeoutMs: 50 })).status, 504);
    assert.equal((await s.post("/tools/shop.slow/invoke", { timeoutMs: "x" })).status, 400);
    const all = records((await s.stop()).stderr).filter((one) => one.level !== "info");
    assert.deepEqual(all.map((one) => [one.level, one.message, one.route, one.status, one.user]), [["error", "request failed", "invokeTool", 504, "local"]]);
    assert.match(all[0].error, /"shop": no answer to tool "slow"/);
  });
});
