// lathe serve as a service: the configuration is read again at SIGHUP, and the service manager is told what happens.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { describe, folder, lathe, root, run, scripted, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { reload, serve } from "./server.mjs";

const PAY = "for (const n of [1, 2]) { let r; try { r = shopPay({ n }) } catch (e) { r = e.message } output(`${n}: ${r}`) }\ndone()";
let env;
before(async () => {
  env = await recorded([{ user: "pay", replies: [PAY] }, { user: "hello", replies: ["output('Hello!'); done()"] }], { title: "A title" });
});

const tools = scripted([{ tool: { name: "pay", inputSchema: { type: "object" } }, result: { content: [{ type: "text", text: "paid" }] } }]);
const rules = (action, rest = {}) => ({ mcpServers: { shop: tools }, tools: { policy: [{ match: "shop.pay", action }] }, ...rest });

describe("SIGHUP", { concurrency: 2 }, () => {
  test("a rule that became stricter holds at once, also for a prompt that runs; one that was relaxed, too", async () => {
    const s = await serve(rules("ask"), { env });
    const id = (await s.post("/prompt", { input: "pay", mode: "code" })).json.promptId;
    const first = await s.waiting(id);
    await reload(s, rules("deny"), /^lathe serve: configuration reloaded$/);
    await s.post(`/prompts/${id}/approve`, { toolCallId: first.id });
    const prompt = await s.prompt(id);
    const text = prompt.output.filter((one) => one.type === "text").map((one) => one.content).join("");
    assert.match(text, /2: .*tools\.policy\[0\]/, "the second call was denied");
    await reload(s, rules("allow"), /reloaded/);
    const next = await s.prompt((await s.post("/prompt", { input: "pay", mode: "code" })).json.promptId);
    assert.match(next.output.filter((one) => one.type === "text").map((one) => one.content).join(""), /1: paid\s*2: paid/);
    assert.equal((await s.stop()).code, 0);
  });

  test("models, origins and the form of the log change; what cannot is named once, and keeps its value", async () => {
    const s = await serve({}, { env });
    assert.deepEqual((await s.get("/models")).json.models.map((one) => one.ref), ["normal"]);
    const origin = { origin: "https://app.example" };
    assert.equal((await s.get("/models", origin)).status, 403);
    const said = await reload(s, {
      models: [{ ref: "normal" }, { ref: "fast", model: "small" }], server: { origins: [origin.origin], listen: "127.0.0.1:1", log: "json" }, store: "sqlite:/nowhere/x.db", sandbox: { timeZone: "Europe/Vienna" },
    }, /"message":"configuration reloaded"/);
    const warned = said.split("\n").filter((line) => line.includes("after a restart")).map((line) => /([a-zA-Z.]+) has changed/.exec(line)[1]);
    assert.deepEqual(warned.sort(), ["sandbox.timeZone", "server.listen", "store.url"]);
    assert.deepEqual((await s.get("/models", origin)).json.models.map((one) => one.ref), ["normal", "fast"]);
    const { json } = await s.post("/prompt", { input: "hello", mode: "code" });
    assert.equal((await s.prompt(json.promptId)).state, "completed");
    assert.equal((await s.stop()).code, 0);
  });

  test("a broken file changes nothing", async () => {
    const s = await serve(rules("deny"), { env });
    for (const broken of ["models: [", "nonsense: 1", JSON.stringify({ tools: { policy: [{ match: "shop.pay", action: "ask", when: "input. <" }] } }), JSON.stringify({ defaults: { mode: "nope" } })]) {
      const said = await reload(s, broken, /^error: configuration not reloaded: the one before stays in force error=/);
      assert.match(said, /lathe\.yaml|nope/, said);
    }
    assert.equal((await s.post("/tools/shop.pay/invoke", {})).status, 403, "the rule is still there");
    await reload(s, rules("allow"), /configuration reloaded$/);
    assert.equal((await s.post("/tools/shop.pay/invoke", {})).status, 200);
    assert.equal((await s.stop()).code, 0);
  });

  test("a secret that is new in the file is masked from then on, and stays so; many reloads cost little", async () => {
    const s = await serve({}, { env: { ...env, LATER: "a-value-that-nobody-knows" } });
    const say = async () => (await s.post("/run", { code: "output(['a-value-that', 'nobody-knows'].join('-'))" })).text;
    assert.match(await say(), /a-value-that-nobody-knows/);
    await reload(s, { mcpServers: { other: { type: "http", url: "http://127.0.0.1:1/", headers: { Authorization: "Bearer ${LATER}" } } } }, /configuration reloaded$/);
    for (const rest of [{}, { models: [{ ref: "normal", baseUrl: "http://me:pa55w0rd-of-mine@127.0.0.1:1/v1" }] }, {}]) {
      const masked = await say();
      assert.match(masked, /\*\*\*/);
      assert.doesNotMatch(masked, /a-value-that-nobody-knows/);
      await reload(s, rest, /configuration reloaded$/);
    }
    assert.doesNotMatch((await s.post("/run", { code: "output(['pa55w0rd', 'of', 'mine'].join('-'))" })).text, /pa55w0rd-of-mine/);
    for (let i = 0; i < 30; i++) await reload(s, { server: { origins: [`https://app${i}.example`] } }, /configuration reloaded$/);
    assert.equal((await s.get("/models", { origin: "https://app29.example" })).status, 200);
    assert.equal((await s.get("/models", { origin: "https://app28.example" })).status, 403);
    await reload(s, { server: { limits: { requestsPerSecond: 1, requestsBurst: 2 } } }, /configuration reloaded$/);
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push((await s.get("/models")).status);
    assert.ok(answers.includes(429), `limits count from the next request on: ${answers}`);
    assert.equal((await s.stop()).code, 0);
  });
});

test("a folder's own file that was trusted and has changed counts when it is trusted again, and not before", async () => {
  const state = folder(), cwd = folder({ "lathe.yaml": JSON.stringify(rules("allow")) });
  const trust = async () => assert.equal((await run(["trust"], { cwd, env: { XDG_STATE_HOME: state } })).code, 0);
  await trust();
  const s = await serve({}, { env, state, cwd });
  const pay = async () => (await s.post("/tools/shop.pay/invoke", {})).status;
  assert.equal(await pay(), 200);
  for (const changed of [rules("deny"), { ...rules("deny"), mcpServers: { shop: tools, more: { command: "touch", args: [join(cwd, "started")] } } }]) {
    await reload(s, changed, /^error: configuration not reloaded.*lathe\.yaml has changed since you trusted it/);
    assert.equal(await pay(), 200, "the one before stays in force");
  }
  assert.ok(!existsSync(join(cwd, "started")));
  writeFileSync(s.file, JSON.stringify(rules("deny")));
  await trust();
  await reload(s, rules("deny"), /^lathe serve: configuration reloaded$/);
  assert.equal(await pay(), 403);
  assert.equal((await s.stop()).code, 0);
});

// A small disk in a mount namespace of its own, which only root or a user namespace can make.
const unshare = ["unshare -m", "unshare -rm"].find((command) => spawnSync("sh", ["-c", `${command} mount -t tmpfs none /mnt`]).status === 0);

test("a full disk: the server is not ready and says why; with room it is again", { skip: !unshare && "no mount namespaces here: neither root nor user namespaces" }, async () => {
  const state = folder();
  const program = join(folder({ lathe: `#!/bin/sh\nexec ${unshare} sh -c 'mount -t tmpfs -o size=8m none "$XDG_STATE_HOME" && exec "$0" "$@"' "${lathe}" "$@"\n` }), "lathe");
  chmodSync(program, 0o755);
  const s = await serve({}, { env, state, program });
  const say = async () => (await s.prompt((await s.post("/prompt", { input: "hello", mode: "code" })).json.promptId)).state;
  assert.equal(await say(), "completed");
  const pad = `/proc/${s.child.pid}/root${join(state, "pad")}`;
  assert.throws(() => writeFileSync(pad, Buffer.alloc(9 << 20)), { code: "ENOSPC" });
  const full = await s.get("/readyz");
  assert.deepEqual([full.status, full.json.error.code], [503, "store"], full.text);
  assert.equal((await s.get("/healthz")).status, 200, "to start it again would not help");
  const refused = await s.post("/prompt", { input: "hello", mode: "code" });
  assert.ok(refused.status >= 500, `${refused.status} ${refused.text}`);
  assert.match(refused.text, /the disk is full/);
  unlinkSync(pad);
  assert.equal((await s.get("/readyz")).status, 200);
  assert.equal(await say(), "completed");
  assert.equal((await s.stop()).code, 0);
});

// Node.js has no datagrams on unix sockets; Python has.
const LISTEN = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace("@", "\\0", 1))
print("ready", flush=True)
while True:
    print(repr(s.recv(4096).decode()), flush=True)
`;

test("the service manager is told: ready, alive, reloading, ready again, stopping", async () => {
  for (const name of [join(folder(), "notify"), `@lathe-flow-${process.pid}`]) {
    const manager = spawn("python3", ["-S", "-c", LISTEN, name], { stdio: ["ignore", "pipe", "inherit"] });
    let told = "";
    manager.stdout.on("data", (text) => { told += text; });
    await until(() => told.includes("ready\n"), "the manager listens");
    const s = await serve({}, { env: { ...env, NOTIFY_SOCKET: name, WATCHDOG_USEC: "200000" } });
    await until(() => /'READY=1'/.test(told) && told.split("WATCHDOG=1").length > 3, "it is ready, and alive");
    await reload(s, {}, /configuration reloaded$/);
    await until(() => /'RELOADING=1\\nMONOTONIC_USEC=\d+'\n(.*\n)*?'READY=1'/.test(told), `it was reloaded\n${told}`);
    await s.stop();
    await until(() => told.includes("'STOPPING=1'"), `it ends\n${told}`);
    manager.kill();
  }
});

test("the unit: what systemd says of it", { skip: existsSync("/usr/bin/systemd-analyze") ? false : "no systemd-analyze here" }, async () => {
  const unit = readFileSync(join(root, "packaging/lathe.service"), "utf8");
  const file = join(folder(), "lathe.service");
  writeFileSync(file, unit.replace("/usr/local/bin/lathe", process.execPath).replace(/^Documentation=.*\n/m, ""));
  const ask = (...args) => new Promise((done) => {
    const child = spawn("systemd-analyze", args, { env: { ...process.env, LC_ALL: "C.UTF-8" } });
    let text = "";
    for (const out of [child.stdout, child.stderr]) out.on("data", (piece) => { text += piece; });
    child.on("close", (code) => done({ code, text }));
  });
  const verified = await ask("verify", file);
  assert.deepEqual([verified.code, verified.text], [0, ""]);
  const { text } = await ask("security", "--offline=yes", file);
  const score = Number(/exposure level for lathe\.service: ([\d.]+)/.exec(text)?.[1]);
  assert.ok(score <= 2, `exposure ${score}\n${text}`);
});

test("a reader of the log that does not read stops nothing; what it missed is counted", async () => {
  const s = await serve({ server: { log: "json" } }, { env });
  s.child.stderr.pause();
  const keep = async () => {
    for (let i = 0; i < 150; i++) assert.equal((await s.post("/run", { code: "1 + 2", keep: true })).status, 200);
  };
  await Promise.all(Array.from({ length: 8 }, keep));
  s.child.stderr.resume();
  const lost = await until(async () => {
    await s.post("/run", { code: "1 + 2", keep: true });
    return /^\{.*"level":"warning","message":"lines of the log are lost: its reader did not read","lines":(\d+)\}$/m.exec(s.text());
  }, "it says how many lines are lost");
  assert.ok(Number(lost[1]) > 0);
  for (const line of s.text().trim().split("\n")) JSON.parse(line);
  assert.equal((await s.stop()).code, 0);
});
