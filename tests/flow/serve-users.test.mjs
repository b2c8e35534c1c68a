// Who may ask lathe serve: tokens that are made up, made and removed while it runs.
import assert from "node:assert/strict";
import { describe, folder, run, sleep, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { bare, followEvents, serve, tokens } from "./server.mjs";

const LONG = "await new Promise((done) => setTimeout(done, 60_000))";
const HEAD = (path, headers) => `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;

describe("tokens", { concurrency: 4 }, () => {
  test("a made-up one is refused before the body is read, however new the list is", async () => {
    const state = folder();
    await tokens(state, "ann");
    const s = await serve({}, { state });
    for (const path of ["/run", "/mcp"]) {
      for (const authorization of ["Bearer lathe_0", "Basic YTpi", undefined]) {
        const one = bare(s.port);
        await one.send(HEAD(path, { "content-type": "application/json", "content-length": 1_000_000, ...(authorization && { authorization }) }));
        const text = await one.ended;
        assert.match(text, /^HTTP\/1\.1 401 /, text);
        assert.match(text, /\r\nWWW-Authenticate: Bearer realm="lathe"\r\n/);
        assert.match(text, /\r\nConnection: close\r\n/i);
      }
    }
    assert.equal((await s.stop()).code, 0);
  });

  test("one that is removed ends what it has begun, within about a second; the user's other tokens and other users go on", async () => {
    const state = folder(), env = await recorded([{ user: "wait", replies: [`${LONG}; done()`] }], { title: "T" });
    const [ann, again, bob] = await tokens(state, "ann", "ann", "bob");
    const s = await serve({}, { state, env });
    const events = { ...ann, accept: "text/event-stream" }, json = { "content-type": "application/json" };
    const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } };
    const session = (await s.post("/mcp", hello, { accept: "application/json, text/event-stream", ...ann })).headers.get("mcp-session-id");
    const streams = [
      s.follow("", ann),
      followEvents(`${s.url}/prompt`, { ...events, ...json }, { method: "POST", body: { input: "wait", mode: "code" } }),
      followEvents(`${s.url}/mcp`, { ...events, "mcp-session-id": session }),
    ];
    const others = [s.follow("", again), s.follow("", bob)];
    await until(() => [...streams, ...others].every((one) => one.status === 200), "all are open");
    const ran = s.post("/run", { code: LONG, waitMs: 60_000, keep: true }, ann);
    await until(async () => (await s.get("/conversations", ann)).json.conversations.length > 1, "the program runs");

    const list = (await run(["serve", "token", "list"], { env: { XDG_STATE_HOME: state } })).stdout;
    assert.ok(!list.includes(ann.authorization.slice(7, 20)));
    const names = list.match(/ann\/[0-9a-f]{8}/g);
    assert.equal(new Set(names).size, 2, list);
    const first = (await run(["serve", "token", "remove", names[0]], { env: { XDG_STATE_HOME: state } })).code;
    assert.equal(first, 0);
    const began = Date.now();
    // Tokens that were made within a second have no order of age: the one that is gone is found by its answer.
    await until(async () => (await s.get("/modes", ann)).status === 401 || (await s.get("/modes", again)).status === 401, "one is gone");
    if ((await s.get("/modes", ann)).status === 200) {
      assert.equal((await run(["serve", "token", "remove", names[1]], { env: { XDG_STATE_HOME: state } })).code, 0);
    }
    await Promise.all(streams.map((one) => one.ended));
    assert.equal((await ran).status, 202, "the program goes on");
    assert.ok(Date.now() - began < 8_000);
    assert.ok(!["ended", "closed", "broken"].includes(await Promise.race([others[1].ended, sleep(300)])));
    assert.equal((await s.get("/modes", bob)).status, 200);
    others.forEach((one) => one.close());
    assert.equal((await run(["serve", "token", "remove", "ann/00000000"], { env: { XDG_STATE_HOME: state } })).code, 1);
    assert.equal((await run(["serve", "token", "remove", "ann/"], { env: { XDG_STATE_HOME: state } })).code, 2);
    assert.equal((await s.stop()).code, 0);
  });

  test("one that is made while it runs is good at once, and closes what was open", async () => {
    const state = folder();
    const s = await serve({}, { state });
    assert.equal((await s.get("/modes")).status, 200);
    const [ann] = await tokens(state, "ann");
    await until(async () => (await s.get("/modes", ann)).status === 200, "it is known", 5_000);
    assert.equal((await s.get("/modes")).status, 401);
    assert.equal((await s.stop()).code, 0);
  });
});
