// Bounds: what a peer may send, hold or leave behind, and the one clear line that says where it ended.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after } from "node:test";
import { join } from "node:path";
import { config, describe, folder, report, run, servers, test } from "./harness.mjs";

describe("a model's stream", () => {
  /** `lathe chat` with a provider that sends `head` once and then `bit` for ever. */
  async function chat(bit, head = "") {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "text/event-stream" }).write(head);
      const piece = bit.repeat(2000), more = () => { while (!response.destroyed && response.write(piece)); };
      response.on("drain", more);
      more();
    }).listen(0, "127.0.0.1");
    after(() => { server.closeAllConnections(); server.close(); });
    await new Promise((done) => server.once("listening", done));
    const models = [{ ref: "normal", model: "m", baseUrl: `http://127.0.0.1:${server.address().port}/v1`, apiKeyEnv: "MODEL_KEY" }];
    return run(["chat", "--config", config({ models }), "hello"], { env: { MODEL_KEY: "key-4711" } });
  }
  const delta = (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  for (const [name, bit] of Object.entries({ comments: ": keep-alive\n\n", "one comment without an end": ":".repeat(64), "empty events": "data: {\"choices\":[]}\n\n", "ids and retries": "id: 7\nretry: 10\n\n" }))
    test(`${name} for ever: an error, not the deadline`, async () => {
      const end = await chat(bit);
      assert.equal(end.code, 1);
      assert.match(end.stderr, /sent 4 MiB of comments and empty events in a row/);
    });
  test("comments for ever after text was shown", async () => {
    const end = await chat(": keep-alive\n\n", delta("Hello"));
    assert.equal(end.code, 1);
    assert.match(end.stdout, /Hello/);
    assert.match(end.stderr, /comments and empty events in a row/);
  });
});

describe("a server whose answer is not UTF-8", () => {
  /** A server with two tools; "bad" answers with the lines of `bad`, bytes as Latin-1 has them, ID replaced. */
  function server(bad, more = {}) {
    const path = join(folder({ "server.mjs": `
      import { createInterface } from "node:readline";
      const say = (text, encoding = "utf8") => process.stdout.write(Buffer.from(text + "\\n", encoding));
      createInterface({ input: process.stdin }).on("line", (line) => {
        const m = JSON.parse(line), answer = (result) => say(JSON.stringify({ jsonrpc: "2.0", id: m.id, result }));
        if (m.method === "initialize") { if (${JSON.stringify(more.utf16 ?? false)}) say(JSON.stringify({ jsonrpc: "2.0", id: m.id, result: {} }), "utf16le"); else answer({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }); }
        if (m.method === "tools/list") answer({ tools: ["bad", "good", "slow"].map((name) => ({ name, inputSchema: { type: "object" } })) });
        if (m.method === "tools/call" && m.params.name === "good") answer({ content: [{ type: "text", text: "fine" }] });
        if (m.method === "tools/call" && m.params.name === "slow") setTimeout(answer, 300, { content: [{ type: "text", text: "slow" }] });
        if (m.method === "tools/call" && m.params.name === "bad") { for (const one of ${JSON.stringify(bad)}) say(one.replace("ID", m.id), "latin1"); if (${JSON.stringify(more.then ?? false)}) answer({ content: [{ type: "text", text: "late" }] }); }
      });` }), "server.mjs");
    return servers({ s: { command: process.execPath, args: [path] } });
  }
  const latin1 = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"Gr\u00fc\u00dfe"}]}}';
  const call = "let said; try { said = sBad() } catch (e) { said = e.message } [said, sGood()]";
  const NOT = /^Tool "s\.bad" failed: MCP server "s": the server's answer is not UTF-8: let it write UTF-8 to its stdout \(a server in Python: PYTHONUTF8=1 in its env\)$/;
  test("its call fails at once, the others do not notice", async () => {
    const r = await report(call, server([latin1]));
    assert.match(r.result[0], NOT);
    assert.equal(r.result[1], "fine");
    assert.ok(r.durationMs < 5000, String(r.durationMs));
  });
  test("another call that is open has its answer", async () => {
    const code = "const slow = sSlow(); const bad = sBad().then(() => 'no', (e) => e.message); [await slow, await bad, await sGood()]";
    const r = await report(code, server([latin1]));
    assert.match(r.result[1], NOT);
    assert.deepEqual([r.result[0], r.result[2]], ["slow", "fine"]);
  });
  test("cut characters, overlong ones, a byte in a key", async () => {
    for (const bytes of ["\u00c3", "\u00c0\u0080", "\u00f5\u0080\u0080\u0080", "\u00ff"])
      for (const line of [`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"${bytes}"}]}}`, `{"${bytes}":1,"jsonrpc":"2.0","id":ID,"result":{"content":[]}}`, `[{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"${bytes}"}}]`])
        assert.match((await report(call, server([line]))).result[0], NOT);
  });
  test("an id that cannot be read: every open call of that server fails", async () => {
    for (const line of ['{"jsonrpc":"2.0","id":"\u00ff","result":{}}', '{"jsonrpc":"2.0","id":ID,"result":{"content":"\u00ff}}'])
      assert.match((await report(call, server([line]))).result[0], NOT);
  });
  test("a log line that is not UTF-8 fails no call", async () => {
    for (const line of ["[12:00] Gr\u00fc\u00dfe", '{"level":"info","text":"Gr\u00fc\u00dfe"}', "{Gr\u00fc\u00dfe}", '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\u00ff"}}'])
      assert.deepEqual((await report(call, server([line], { then: true }))).result, ["late", "fine"]);
  });
  test("an answer that comes in good order after the garbled one is no second answer", async () => {
    const r = await report(call, server([latin1], { then: true }));
    assert.match(r.result[0], NOT);
    assert.equal(r.result[1], "fine");
  });
  test("UTF-16 from the first message on: it cannot be started, and says why", async () => {
    const r = await report("let said; try { said = sGood() } catch (e) { said = e.message } said", server([], { utf16: true }));
    assert.match(r.text + r.stderr, /not UTF-8/);
    assert.ok(r.durationMs < 5000, String(r.durationMs));
  });
});
