// SIGHUP: servers come, go and change while lathe serve runs, and so does what tools.expose says.
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { commandOf, describe, fake, folder, recording, scripted, test, until } from "./harness.mjs";
import { mcpHttp } from "../fakes/mcp_http_server.mjs";
import { recorded } from "./model.mjs";
import { reload, serve } from "./server.mjs";

const PAY = "let r; try { r = shopPay({ n: 1 }) } catch (e) { r = e.message } output(r); done()";
let env;
before(async () => { env = await recorded([{ user: "pay", replies: [PAY] }], { title: "A title" }); });

const lives = (pid) => commandOf(pid) !== "";
async function call(s, tool, input = {}) {
  const { status, text, json } = await s.post(`/tools/${tool}/invoke`, { input });
  assert.equal(status, 200, text);
  return json.result;
}
const program = async (s, code) => (await s.post("/run", { code: `const said = [];\nconst say = (f) => { try { said.push(f()) } catch (e) { said.push(e.message) } };\n${code}\nsaid` })).json.result;
const ids = async (s) => (await s.get("/tools?brief=true")).json.tools.map((one) => one.id);
const listed = (s, id) => until(async () => (await ids(s)).includes(id), `${id} is there\n${s.text()}`);
const children = (s) => s.pids().filter((pid) => /node\0.*mcp_server\.mjs/.test(commandOf(pid)) && !commandOf(pid).includes("__exec")); // the fake servers
/** A server with a tool "wait", whose calls are open until `end`; `begun` waits for the first one. */
function waiting() {
  const wire = recording(), file = join(folder(), "end");
  return {
    server: fake(wire.option, `--wait=${file}`), end: () => writeFileSync(file, ""),
    begun: () => until(() => wire.of("tools/call").some((one) => one.params.name === "wait"), "the call is open"),
  };
}

describe("servers", { concurrency: 3 }, () => {
  test("one comes, another goes after its last call, and the third is not touched", async () => {
    const shop = waiting(), keep = fake();
    const s = await serve({ mcpServers: { keep, shop: shop.server } });
    const pid = await call(s, "keep.pid"), gone = await call(s, "shop.pid");
    assert.ok(lives(pid) && lives(gone));
    const running = program(s, "say(() => shopWait()); say(() => shopPid()); say(() => keepPid())");
    await shop.begun();
    const said = await reload(s, { mcpServers: { keep, more: fake() } });
    assert.match(said, /tools added server=more/);
    assert.match(said, /tools removed server=shop/);
    assert.ok(lives(gone), "its call is open");
    const now = await ids(s);
    assert.ok(now.includes("keep.pid") && !now.some((id) => id.startsWith("shop.")), `${now}`);
    assert.equal((await s.post("/tools/shop.pid/invoke", {})).status, 404);
    shop.end();
    const [waited, refused, kept] = await running;
    assert.equal(waited, "waited");
    assert.match(refused, /^Tool "shop\.pid" is no longer available: its server was removed, or replaced by one without it\. List the tools again/);
    assert.equal(kept, pid);
    await until(() => !lives(gone), "its process has ended");
    await listed(s, "more.echo");
    assert.deepEqual(await program(s, 'say(() => moreEcho({ text: "here" }).echoed.text)'), ["here"]);
    assert.equal(await call(s, "keep.pid"), pid);
    assert.equal((await s.stop()).code, 0);
  });

  test("a different one takes over, also for a program that runs; each call goes to one of the two", async () => {
    const one = waiting(), two = waiting(), version = (shop, VERSION) => ({ mcpServers: { shop: { ...shop.server, env: { VERSION } } } });
    const s = await serve(version(one, "one"));
    const first = await call(s, "shop.pid");
    const running = program(s, 'say(() => shopEnv({ name: "VERSION" })); say(() => shopWait()); say(() => shopEnv({ name: "VERSION" }))');
    await one.begun();
    assert.match(await reload(s, version(two, "two")), /tools replaced server=shop/);
    assert.ok((await ids(s)).includes("shop.pid"), "its tools are there while the new one starts");
    assert.equal(await call(s, "shop.env", { name: "VERSION" }), "two", "a call waits until it has started");
    assert.ok(lives(first), "the call of the program is open");
    one.end();
    assert.deepEqual(await running, ["one", "waited", "two"]);
    await until(() => !lives(first), "the one before has ended");
    // With other tools: those of before are not there any more, and what takes another input is not called.
    const other = (schema) => ({ mcpServers: { shop: scripted([{ tool: { name: "env", inputSchema: schema } }]) } });
    const held = program(s, 'say(() => shopWait()); say(() => shopEnv({ name: "VERSION" })); say(() => shopPid())');
    await two.begun();
    await reload(s, other({ type: "object", properties: { id: { type: "integer" } }, required: ["id"] }));
    await until(async () => !(await ids(s)).includes("shop.pid"), "its own tools are there");
    two.end();
    const [, otherInput, without] = await held;
    assert.match(otherInput, /^Tool "shop\.env" was not called: its server was replaced meanwhile, and the tool takes another input now/);
    assert.match(without, /^Tool "shop\.pid" is no longer available/);
    await until(() => children(s).length === 1, "one server is left");
    assert.equal((await s.stop()).code, 0);
  });

  test("one that cannot start, or is disabled, has no tools, and the log says why; a broken file changes nothing", async () => {
    const keep = fake(), shop = fake();
    const s = await serve({ mcpServers: { keep, shop } });
    const pids = [await call(s, "keep.pid"), await call(s, "shop.pid")];
    for (const broken of [{ mcpServers: { keep }, nonsense: 1 }, { mcpServers: { more: fake(), keep: { command: "x", args: {} } } }, { mcpServers: {}, tools: { expose: [{ match: "shop.*", as: "nobody" }] } }]) {
      await reload(s, broken, /^error: configuration not reloaded: the one before stays in force/);
    }
    assert.deepEqual([await call(s, "keep.pid"), await call(s, "shop.pid")], pids);
    await reload(s, { mcpServers: { keep, shop: fake("--exit=3"), missing: { command: "/nowhere/server" }, unset: { ...fake(), env: { KEY: "${LATHE_FLOW_NOT_SET}" } } } });
    const warning = (name) => until(() => new RegExp(`^warning: .*"${name}": .*$`, "m").exec(s.text())?.[0], `a warning of ${name}\n${s.text()}`);
    assert.match(await warning("shop"), /API_TOKEN is wrong/);
    assert.match(await warning("missing"), /\/nowhere\/server/);
    assert.match(await warning("unset"), /LATHE_FLOW_NOT_SET/);
    await until(async () => !(await ids(s)).some((id) => /^(shop|missing|unset)\./.test(id)), "they have no tools");
    await until(() => !lives(pids[1]), "the one before has ended");
    await reload(s, { mcpServers: { keep, shop } });
    await listed(s, "shop.pid");
    await reload(s, { mcpServers: { keep, shop: { ...shop, disabled: true } } });
    assert.ok(!(await ids(s)).includes("shop.pid"));
    assert.equal(await call(s, "keep.pid"), pids[0]);
    assert.equal((await s.stop()).code, 0);
  });

  test("over HTTP: another header begins another session, and the one before is ended", async () => {
    const keep = await mcpHttp(), shop = await mcpHttp();
    const at = (key) => ({ mcpServers: { keep: { type: "http", url: keep.url }, shop: { type: "http", url: shop.url, headers: { "X-Key": key } } } });
    const s = await serve(at("one"));
    const echo = async (name) => assert.deepEqual(await call(s, `${name}.echo`, { n: 1 }), { n: 1 });
    const keys = (method) => shop.seen.filter((one) => (one.message?.method ?? one.method) === method).map((one) => one.headers["x-key"]);
    await echo("keep"), await echo("shop");
    await reload(s, at("two"));
    await echo("keep"), await echo("shop");
    assert.deepEqual(keys("tools/call"), ["one", "two"]);
    await until(() => keys("DELETE").length === 1, "the session before was ended");
    assert.deepEqual(keys("DELETE"), ["one"]);
    assert.equal(keep.seen.filter((one) => one.message?.method === "initialize").length, 1, "the other one has its session still");
    assert.equal((await s.stop()).code, 0);
    keep.close(), shop.close();
  });

  test("a call that waits for approval goes to the server that has the tool then, or says that none has", async () => {
    const pay = (text) => scripted([{ tool: { name: "pay", inputSchema: { type: "object" } }, result: { content: [{ type: "text", text }] } }]);
    const rules = (mcpServers, action = "ask") => ({ mcpServers, tools: { policy: [{ match: "shop.pay", action }] } });
    const s = await serve(rules({ shop: pay("old") }), { env });
    const wait = async () => {
      const id = (await s.post("/prompt", { input: "pay", mode: "code" })).json.promptId;
      return { id, call: (await s.waiting(id)).id };
    };
    const approved = async ({ id, call: toolCallId }) => {
      assert.equal((await s.post(`/prompts/${id}/approve`, { toolCallId })).status, 200);
      return (await s.prompt(id)).output.filter((one) => one.type === "text").map((one) => one.content).join("");
    };
    const changed = await wait(), gone = await wait();
    await reload(s, rules({ shop: pay("new") }));
    assert.match(await approved(changed), /new/);
    await reload(s, rules({}));
    assert.match(await approved(gone), /Tool "shop\.pay" is no longer available: its server was removed/);
    assert.equal((await s.stop()).code, 0);
  });

  test("clients of /mcp: the lists change, and nobody waits for a server that is gone", async () => {
    const s = await serve({ mcpServers: { keep: fake() } });
    const headers = { accept: "application/json, text/event-stream" };
    const hello = await s.post("/mcp", { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } }, headers);
    const session = { ...headers, "mcp-session-id": hello.headers.get("mcp-session-id"), "mcp-protocol-version": "2025-11-25" };
    await s.post("/mcp", { jsonrpc: "2.0", method: "notifications/initialized" }, session);
    let last = 0;
    const ask = async (method) => (await s.post("/mcp", { jsonrpc: "2.0", id: ++last, method }, session)).json.result;
    const names = async () => (await ask("tools/list")).tools.map((one) => one.name);
    await reload(s, { mcpServers: { keep: fake(), stuck: fake("--never") }, tools: { expose: [{ match: "keep.echo", as: "both" }, { match: "keep.p*", as: "hidden" }] } });
    assert.ok((await names()).some((name) => name.includes("echo")));
    const now = await ids(s);
    assert.ok(now.includes("keep.add") && !now.includes("keep.pid") && !now.includes("keep.progress"), `${now}`);
    const resources = ask("resources/list");
    await until(() => children(s).length === 2, "the one that never answers has started");
    await reload(s, { mcpServers: { keep: fake() } });
    assert.deepEqual((await resources).resources, []);
    assert.ok(!(await names()).some((name) => name.includes("echo")));
    assert.ok((await ids(s)).includes("keep.pid"));
    await until(() => children(s).length === 1, "it has ended");
    assert.equal((await s.stop()).code, 0);
  });

  test("fifty times in a row while calls run: no call is lost, no process and no file is left", async () => {
    const keep = fake(), at = (n) => ({ mcpServers: { keep, shop: { ...fake(), env: { VERSION: `v${Math.floor(n / 5) % 2}` } }, ...(n % 2 && { extra: fake("--tools=2") }) } });
    const s = await serve(at(1));
    const pid = await call(s, "keep.pid"), files = () => readdirSync(`/proc/${s.child.pid}/fd`).length;
    const answers = [];
    let isOver = false, filesThen;
    const callers = ["one", "two"].map(async () => {
      while (!isOver) answers.push(...await program(s, 'say(() => keepPid()); say(() => shopEnv({ name: "VERSION" })); say(() => keepSlow({ ms: 5 }))'));
    });
    for (let n = 1; n <= 50; n++) {
      await reload(s, at(n));
      if (n === 4 || n === 9) await until(() => answers.includes(n < 5 ? "v0" : "v1"), "it is called");
      if (n === 9) filesThen = files();
    }
    isOver = true;
    await Promise.all(callers);
    assert.deepEqual([...new Set(answers)].sort(), [pid, "slept 5", "v0", "v1"].sort(), "no call has failed");
    await reload(s, { mcpServers: { keep } });
    await until(() => children(s).length === 1, `one server is left: ${children(s)}`);
    assert.equal(await call(s, "keep.pid"), pid);
    assert.ok(files() <= filesThen, `${files()} files, ${filesThen} before`);
    assert.equal((await s.stop()).code, 0);
  });
});
