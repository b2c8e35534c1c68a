// What clients of lathe serve may use (server.limits), a proxy that names users (server.proxy), and unix sockets.
import assert from "node:assert/strict";
import { existsSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { config, describe, folder, lathe, run, sleep, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { bare, serve, tokens } from "./server.mjs";

const LONG = "await new Promise((done) => setTimeout(done, 60_000))";
const limited = (answer, key) => {
  assert.equal(answer.status, 429, answer.text);
  assert.equal(answer.json.error.code, "limited");
  assert.match(answer.json.error.message, new RegExp(`server\\.limits\\.${key}`));
  assert.match(answer.headers.get("retry-after"), /^[1-9]\d*$/);
};
const times = (n, ask) => Promise.all(Array.from({ length: n }, (_, i) => ask(i)));
const count = (answers, status) => answers.filter((one) => one.status === status).length;

describe("limits", { concurrency: 4 }, () => {
  test("requests of a user each second: the others have theirs; after a while there are more", async () => {
    const state = folder(), [ann, bob] = await tokens(state, "ann", "bob");
    const s = await serve({ server: { limits: { requestsPerSecond: 2, requestsBurst: 10 } } }, { state });
    const all = await times(30, () => s.get("/modes", ann));
    assert.ok(count(all, 200) >= 10 && count(all, 200) <= 14, `${count(all, 200)}`);
    limited(all.find((one) => one.status !== 200), "requestsPerSecond");
    assert.equal((await s.get("/modes", bob)).status, 200);
    await sleep(1100);
    assert.equal((await s.get("/modes", ann)).status, 200);
    assert.equal((await s.post("/mcp", {}, ann)).status === 429, false);
    assert.equal((await s.stop()).code, 0);
  });

  test("what names no user counts for its address: wrong tokens, pages of other sites, what is public", async () => {
    const state = folder(), [ann] = await tokens(state, "ann");
    const s = await serve({ server: { limits: { addressRequestsPerSecond: 1, addressRequestsBurst: 20 } } }, { state });
    const guesses = await times(60, (i) => s.get("/modes", { authorization: `Bearer lathe_${i}` })), looks = await times(60, () => s.get("/healthz"));
    assert.ok(count(guesses, 401) <= 40 && count(guesses, 429) >= 20, `${count(guesses, 401)}`);
    limited(guesses.find((one) => one.status === 429), "addressRequestsPerSecond");
    limited(looks.find((one) => one.status === 429), "addressRequestsPerSecond");
    assert.equal((await s.get("/modes", ann)).status, 200, "who has a token is not held up by its neighbours");
    assert.equal((await s.stop()).code, 0);
  });

  test("prompts, programs, streams of events and waiting requests at once", async () => {
    const env = await recorded([{ user: "wait", replies: [`${LONG}; done()`] }], { title: "T" });
    const state = folder(), [ann, bob] = await tokens(state, "ann", "bob");
    const s = await serve({ server: { limits: { prompts: 3, readers: 2, queued: 1, requests: 6 } } }, { env, state });
    const wait = (user, more = {}) => s.post("/prompt", { input: "wait", mode: "code", ...more }, user);
    const started = [];
    for (let i = 0; i < 3; i++) started.push(await wait(ann));
    assert.equal(count(started, 200), 3);
    limited(await wait(ann), "prompts");
    limited(await s.post("/run", { code: "1" }, ann), "prompts");
    assert.equal((await wait(bob)).status, 200);
    assert.equal((await s.post(`/prompts/${started[0].json.promptId}/cancel`, undefined, ann)).status, 200);
    await s.prompt(started[0].json.promptId, ann);
    assert.equal((await s.post("/run", { code: "1" }, ann)).json.text, "1", "one place is free again");

    const readers = [s.follow("", ann), s.follow("", ann)];
    await until(() => readers.every((one) => one.status === 200), "two readers");
    limited(await s.get("/events/stream", ann), "readers");
    limited(await s.post("/prompt", { input: "wait", mode: "code" }, { ...ann, accept: "text/event-stream" }), "readers");
    assert.equal((await s.get(`/conversations`, ann)).json.conversations.length, 3, "what was refused has not begun");
    readers[0].close();
    await until(async () => {
      const again = s.follow("", ann);
      await until(() => again.status !== 0, "an answer");
      again.close();
      return again.status === 200;
    }, "a reader's place is free again");

    const conversationId = started[1].json.conversationId;
    const queued = wait(ann, { conversationId, whenBusy: "queue" });
    await sleep(300);
    limited(await wait(ann, { conversationId, whenBusy: "queue" }), "(queued|prompts)");
    assert.equal((await s.post(`/prompts/${started[1].json.promptId}/cancel`, undefined, ann)).status, 200);
    assert.equal((await queued).status, 200);
    assert.equal((await s.stop()).code, 0);
  });

  test("requests at once: programs that are waited for, streams", async () => {
    const state = folder(), [ann, bob] = await tokens(state, "ann", "bob");
    const s = await serve({ server: { limits: { requests: 4 } } }, { state });
    const running = Array.from({ length: 4 }, () => s.post("/run", { code: LONG, waitMs: 3000 }, ann));
    await until(async () => (await s.get("/modes", ann)).status === 429, "four run");
    limited(await s.get("/modes", ann), "requests");
    assert.equal((await s.get("/modes", bob)).status, 200);
    assert.equal(count(await Promise.all(running), 202), 4);
    assert.equal((await s.get("/modes", ann)).status, 200);
    assert.equal((await s.stop()).code, 0);
  });

  test("bytes of a body and of a head", async () => {
    const s = await serve({ server: { limits: { bodyBytes: 2048, headerBytes: 8192 } } });
    assert.equal((await s.post("/run", { code: `"${"x".repeat(1500)}".length` })).json.text, "1500");
    assert.equal((await s.post("/run", { code: `"${"x".repeat(3000)}".length` })).status, 413);
    const long = bare(s.port);
    await long.send(`GET /modes HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${"x".repeat(10_000)}\r\n\r\n`);
    assert.match(await long.ended, /^HTTP\/1\.1 431 /);
    const chunked = bare(s.port);
    await chunked.send(`POST /run HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n${"x".repeat(4096)}\r\n0\r\n\r\n`);
    assert.doesNotMatch(await chunked.ended, /^HTTP\/1\.1 200/);
    assert.equal((await s.get("/modes")).status, 200);
    assert.equal((await s.stop()).code, 0);
  });

  test("connections of an address: its own oldest one that owes a request makes place", async () => {
    const s = await serve({ server: { limits: { connectionsPerAddress: 5 } } });
    const idle = Array.from({ length: 5 }, () => bare(s.port));
    await Promise.all(idle.map((one) => new Promise((done) => one.socket.on("connect", done))));
    const stream = s.follow();
    await until(() => stream.status === 200, "the stream is open");
    await until(() => idle.filter((one) => one.socket.readyState !== "open").length >= 1, "one has made place");
    assert.equal((await s.get("/healthz")).status, 200);
    assert.equal(stream.status, 200);
    assert.ok(idle.some((one) => one.socket.readyState === "open"));
    idle.forEach((one) => one.close());
    stream.close();
    assert.equal((await s.stop()).code, 0);
  });

  test("too few files may be open: it says so, and goes on with fewer connections", async () => {
    const state = folder(), file = config({});
    const one = start(["--nofile=400:400", lathe, "serve", "--listen", "127.0.0.1:0", "--config", file], { env: { XDG_STATE_HOME: state }, program: "prlimit" });
    const text = await until(() => /http:\/\/[\d.]+:\d+/.test(one.text()) && one.text(), "it listens");
    assert.match(text, /200 connections at once are possible, not 12000 \(server\.limits\.connections\): this process may open 400 files only; raise that/);
    one.child.kill("SIGTERM");
    assert.equal((await one.ended).code, 0);
  });

  test("limits that are none are said", async () => {
    for (const [limits, message] of [[{ bodyBytes: 1 }, /bodyBytes/], [{ connections: 0 }, /connections/], [{ requestPerSecond: 1 }, /requestsPerSecond/]]) {
      const end = await run(["serve", "--listen", "127.0.0.1:0", "--config", config({ server: { limits } })]);
      assert.equal(end.code, 3, end.stderr);
      assert.match(end.stderr, message);
    }
  });
});

/** A request whose headers are exactly these; `to`: options of http.request. */
const ask = (to, headers, { method = "GET", path = "/conversations", body } = {}) => new Promise((done, fail) => {
  const one = request({ method, path, headers, ...to }, (answer) => {
    let text = "";
    answer.on("data", (more) => (text += more));
    answer.on("end", () => done({ status: answer.statusCode, headers: new Headers(answer.headers), text, json: text ? JSON.parse(text) : undefined }));
  });
  one.on("error", fail);
  one.end(body);
});

describe("a proxy that names users", { concurrency: 4 }, () => {
  const proxy = (more = {}) => ({ server: { proxy: { from: ["127.0.0.2"], userHeader: "X-Remote-User", ...more } } });
  const via = (s, localAddress) => ({ host: "127.0.0.1", port: s.port, localAddress });

  test("its word counts; the same header from anybody else is refused, also where none is needed", async () => {
    const state = folder(), [ann] = await tokens(state, "ann");
    const s = await serve(proxy(), { state });
    const own = await ask(via(s, "127.0.0.2"), { "X-Remote-User": "bob", "content-type": "application/json" }, { method: "POST", path: "/run", body: '{"code":"1","keep":true}' });
    assert.equal(own.json.text, "1");
    assert.equal((await ask(via(s, "127.0.0.2"), { "X-Remote-User": "bob" })).json.conversations.length, 1);
    assert.equal((await ask(via(s, "127.0.0.2"), { "X-Remote-User": "carol" })).json.conversations.length, 0);
    for (const path of ["/conversations", "/healthz", "/mcp"]) {
      const spoofed = await ask(via(s, "127.0.0.1"), { "x-remote-user": "bob", ...ann }, { path });
      assert.equal(spoofed.status, 403, path);
      assert.match(spoofed.json.error.message, /X-Remote-User: this header counts from the proxy only \(server\.proxy\.from\)/);
    }
    assert.equal((await ask(via(s, "127.0.0.1"), ann)).status, 200, "a token is good beside it");
    assert.equal((await ask(via(s, "127.0.0.2"), ann)).status, 200);
    assert.equal((await ask(via(s, "127.0.0.2"), {})).status, 401, "nobody is local");
    assert.equal((await ask(via(s, "127.0.0.2"), { "X-Remote-User": "bob", ...ann })).status, 401, "two users are none");
    for (const name of ["", "a b", "../x", "x".repeat(200), "bob, ann", ["bob", "ann"], "b\u00f6b"]) {
      assert.equal((await ask(via(s, "127.0.0.2"), { "X-Remote-User": name })).status, 403, String(name));
    }
    assert.equal((await s.stop()).code, 0);
  });

  test("without a token a server with it listens at other addresses, and lets nobody in without the header", async () => {
    const s = await serve(proxy(), { listen: "0.0.0.0:0" });
    assert.equal((await s.get("/conversations")).status, 401);
    assert.equal((await s.stop()).code, 0);
  });

  test("with a secret, the address alone is not enough; the secret is in no answer", async () => {
    const s = await serve(proxy({ secret: "${PROXY_SECRET}" }), { env: { PROXY_SECRET: "s3cret-of-the-proxy" } });
    const named = { "X-Remote-User": "bob" };
    for (const headers of [named, { ...named, "Lathe-Proxy-Secret": "" }, { ...named, "Lathe-Proxy-Secret": "s3cret-of-the-prox" }]) {
      const refused = await ask(via(s, "127.0.0.2"), headers);
      assert.equal(refused.status, 403);
      assert.ok(!refused.text.includes("s3cret"));
    }
    assert.equal((await ask(via(s, "127.0.0.2"), { ...named, "Lathe-Proxy-Secret": "s3cret-of-the-proxy" })).status, 200);
    assert.equal((await ask(via(s, "127.0.0.1"), { ...named, "Lathe-Proxy-Secret": "s3cret-of-the-proxy" })).status, 403);
    assert.ok(!(await s.stop()).stderr.includes("s3cret"));
  });

  test("X-Forwarded-For says whose rate counts, from the proxy alone, and from its end", async () => {
    const s = await serve({ server: { proxy: { from: ["127.0.0.2", "10.0.0.0/8"] }, limits: { addressRequestsPerSecond: 1, addressRequestsBurst: 5 } } });
    const from = (forwarded, localAddress = "127.0.0.2") => ask(via(s, localAddress), { "X-Forwarded-For": forwarded }, { path: "/healthz" });
    const all = await times(10, () => from("192.0.2.1"));
    assert.equal(count(all, 200), 5);
    assert.equal((await from("192.0.2.2")).status, 200);
    assert.equal((await from("198.51.100.7, 192.0.2.1")).status, 429, "what stands before it is the client's word");
    assert.equal((await from("192.0.2.1, 10.1.2.3")).status, 429, "a proxy behind the proxy");
    assert.equal((await from("203.0.113.1, unknown")).status, 200);
    const v6 = await times(10, (i) => from(`[2001:db8::${i + 1}]:443`));
    assert.equal(count(v6, 200), 5, "a network of 64 bits is one client");
    const direct = await times(10, (i) => from(`192.0.2.${100 + i}`, "127.0.0.3"));
    assert.equal(count(direct, 200), 5, "anybody else's word does not count");
    assert.equal((await s.stop()).code, 0);
  });

  test("a configuration that says half of it is refused", async () => {
    for (const [proxyOf, message] of [
      [{ userHeader: "X-Remote-User" }, /server\.proxy\.from is missing/], [{ from: ["proxy.example"], userHeader: "X-User" }, /no address/],
      [{ from: ["10.1.0.0/8"] }, /10\.1\.0\.0\/8/], [{ from: ["unix"], userHeader: "Authorization" }, /header of its own/], [{ from: ["unix"], userHeader: "X User" }, /header of its own/],
    ]) {
      const end = await run(["serve", "--listen", "127.0.0.1:0", "--config", config({ server: { proxy: proxyOf } })]);
      assert.equal(end.code, 3, `${JSON.stringify(proxyOf)} ${end.stderr}`);
      assert.match(end.stderr, message);
    }
  });

  test("over a unix socket, which only its user may open, or a group's members", async () => {
    const dir = folder(), path = join(dir, "lathe.sock"), group = String(process.getgid());
    for (const [more, mode] of [[{}, 0o600], [{ socketGroup: group }, 0o660]]) {
      const file = config({ server: { listen: `unix:${path}`, proxy: { from: ["unix"], userHeader: "X-Remote-User" }, ...more } });
      const one = start(["serve", "--config", file], { env: { XDG_STATE_HOME: folder() } });
      await until(() => one.text().includes(`unix:${path} `), "it listens");
      assert.equal(statSync(path).mode & 0o777, mode);
      assert.equal((await ask({ socketPath: path }, { "X-Remote-User": "bob", host: "localhost" })).status, 200);
      assert.equal((await ask({ socketPath: path }, { host: "localhost" })).status, 401);
      assert.equal((await ask({ socketPath: path }, { "X-Remote-User": "bob", host: "evil.example" })).status, 421);
      if (mode === 0o600) {
        one.child.kill("SIGKILL");
        await one.ended;
        assert.ok(existsSync(path), "a killed process leaves it behind, and the next one takes it");
      } else {
        const second = await run(["serve", "--config", file]);
        assert.equal(second.code, 1, "one that is in use is not taken");
        one.child.kill("SIGTERM");
        assert.equal((await one.ended).code, 0);
        assert.ok(!existsSync(path));
      }
    }
    const none = await run(["serve", "--config", config({ server: { listen: `unix:${path}`, socketGroup: "no-such-group" } })]);
    assert.match(none.stderr, /there is no group "no-such-group" here/);
    assert.ok(!existsSync(path));
  });
});
