// llm() and llmJson() in `lathe run`: the configured model answers, without a prompt around it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { config, describe, folder, prints, program, run, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

describe("llm() in lathe run", () => {
  test("waits for a busy provider are shown, in a run and in a prompt", async () => {
    const busy = { status: 429, text: "slow down", headers: { "retry-after-ms": "10" } };
    const line = "rate limited, trying again in 0.0 s, 2 of 6\n";
    const alone = await scriptedModel([busy, "Fine."]);
    const end = await program("llm('x')", [], { env: alone.env });
    assert.deepEqual([end.stdout, end.stderr], ["Fine.\n", `llm(): ${line}`]);
    const { env } = await scriptedModel(["output(llm('x')); done()", busy, "Fine."]);
    const chat = await run(["chat", "hello", "-m", "code"], { env });
    assert.deepEqual([chat.stdout, chat.stderr.includes(`  ${line}`)], ["Fine.\n", true], chat.stderr);
  });
  test("asks the configured model, in JavaScript and TypeScript", async () => {
    const model = await scriptedModel(["Hello.", "```json\n{\"a\": 1}\n```", "Third."]);
    prints(await program("output(llm('Greet me')); llmJson('Give me a').a", [], { env: model.env }), { stdout: "Hello.\n1\n" });
    prints(await program("console.log(await llm({ what: 'an object' }))", ["--lang", "ts"], { env: model.env }), { stdout: "Third.\n" });
    const asked = model.asked();
    assert.equal(asked[0].model, "scripted");
    assert.equal(asked[0].messages.at(-1).content, "Greet me");
    assert.match(asked[1].messages[0].content, /valid JSON only/);
    assert.equal(asked[2].messages.at(-1).content, '{"what":"an object"}');
  });

  test("defaults.model says which", async () => {
    const model = await scriptedModel(["From the second."]);
    const conf = config({ models: [{ ref: "one", model: "m1", baseUrl: "http://127.0.0.1:1/v1" }, { ref: "two", model: "m2", baseUrl: model.env.OPENAI_BASE_URL }], defaults: { model: "two" } });
    prints(await program("llm('x')", ["--config", conf]), { stdout: "From the second.\n" });
    assert.equal(model.asked()[0].model, "m2");
  });

  test("without a model the error says what to set, and a program that asks none does not need one", async () => {
    const end = await program("llm('x')");
    assert.equal(end.code, 1);
    assert.match(end.stderr, /set OPENAI_API_KEY or ANTHROPIC_API_KEY; or for a local server OPENAI_BASE_URL/);
    assert.match(end.stderr, /at 1:1: llm\('x'\)/);
    const conf = config({ models: [{ ref: "normal", model: "m", baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "MY_KEY" }] });
    assert.match((await program("llmJson('x')", ["--config", conf])).stderr, /set the environment variable MY_KEY/);
    prints(await program("1 + 1", ["--config", conf]), { stdout: "2\n" });
  });

  test("a program can catch it; nothing to ask is an error of its own", async () => {
    assert.match((await program("try { llm('x') } catch (e) { e.message }")).stdout, /OPENAI_API_KEY/);
    assert.match((await program("llm()")).stderr, /llm\(\) expects a prompt/);
  });

  test("--journal records the question and the answer, without secrets", async () => {
    const model = await scriptedModel(["The key is s3cr3t-value-42."]);
    const db = join(folder(), "s.db");
    const conf = config({ store: `sqlite:${db}`, mcpServers: { off: { command: "true", env: { API_TOKEN: "${SECRET_TOKEN}" }, disabled: true } } });
    const end = await program("llm('What is the key?').length", ["--journal", "--config", conf], { env: { ...model.env, SECRET_TOKEN: "s3cr3t-value-42" } });
    assert.deepEqual([end.stdout, end.code], ["27\n", 0], end.stderr);
    const rows = spawnSync("python3", ["-S", "-c", `import sqlite3, json; print(json.dumps(sqlite3.connect(${JSON.stringify(db)}).execute("select tool, input from calls").fetchall()))`], { encoding: "utf8" });
    assert.deepEqual(JSON.parse(rows.stdout), [["llm", '{"args":["What is the key?"]}']], rows.stderr);
  });
});
