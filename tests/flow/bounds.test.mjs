// Bounds: what a peer may send, hold or leave behind, and the one clear line that says where it ended.
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import { after } from "node:test";
import { dirname, join } from "node:path";
import { commandOf, config, describe, fake, folder, program, recording, report, run, servers, start, test, until } from "./harness.mjs";

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

describe("what a server has started", () => {
  /** A server that has started `children` before the handshake: shell commands, each with a session of its own. */
  const family = (children, ...options) => {
    const { command, args } = fake(...options);
    return { command: "sh", args: ["-c", `${children.map((child) => `setsid sh -c '${child}' </dev/null >/dev/null 2>&1 &`).join(" ")} sleep 0.2; exec "$0" "$@"`, command, ...args] };
  };
  const stubborn = 'trap "" TERM HUP INT; while :; do sleep 1000; done';
  const hanging = (wire) => until(() => wire.of("tools/call").some((m) => m.params.name === "hang"), "the call hangs");

  test("dies with Lathe after SIGKILL: children with sessions of their own, orphans, and theirs", async () => {
    for (const children of [["sleep 1000"], [stubborn], ["setsid sleep 1000 & sleep 0.1"], ["(setsid sh -c \"sleep 1000 & sleep 1000\" &) ; exit 0", "sleep 1000"]]) {
      const wire = recording();
      const r = start(["run", "-e", "fakeHang({})", ...servers({ fake: family(children, "--stubborn", wire.option) })]);
      await hanging(wire);
      assert.ok(r.pids().length >= 3, String(r.pids().length));
      r.child.kill("SIGKILL");
      await r.ended; // and nothing is left
    }
  });
  test("dies as an ordinary user's, too", async (t) => {
    if (process.getuid() !== 0) return t.skip("not root: all the other tests are such ones");
    const wire = recording();
    const args = servers({ fake: family([stubborn], "--stubborn", wire.option) });
    for (const path of [wire.path, args[1]]) chmodSync(dirname(path), 0o777);
    const r = start(["run", "-e", "fakeHang({})", ...args], { uid: 65534 });
    await hanging(wire);
    r.child.kill("SIGKILL");
    await r.ended;
  });
  test("dies with a server that ignores end of input, and one that ignores SIGTERM, too", async () => {
    const end = await program("fakeAdd({ a: 1, b: 1 })", servers({ fake: family([stubborn, "sleep 1000"], "--stubborn") }));
    assert.deepEqual([end.code, end.stdout, end.stderr], [0, "2\n", ""]);
    const slow = { command: "sh", args: ["-c", `setsid sleep 1000 & ${[fake().command, ...fake().args].map((word) => `"${word}"`).join(" ")}; sleep 1000`] };
    assert.equal((await program("fakeAdd({ a: 1, b: 1 })", servers({ fake: slow }))).stdout, "2\n");
  });
  test("a hundred generations that end at once, each with a child", async () => {
    const wire = recording();
    const chain = 'n=0; f() { n=$((n+1)); if [ $n -lt 100 ]; then setsid sh -c ":"; (f &) ; else sleep 1000; fi; }; f; sleep 1000';
    const r = start(["run", "-e", "fakeHang({})", ...servers({ fake: family([chain], "--stubborn", wire.option) })]);
    await hanging(wire);
    r.child.kill("SIGKILL");
    await r.ended;
  });
  test("dies when Lathe is killed while the server starts", async () => {
    const wire = recording();
    const r = start(["run", "-e", "1", ...servers({ never: family([stubborn], "--never", "--stubborn", wire.option) })]);
    await until(() => wire.messages().length > 0, "the server hears the handshake");
    r.child.kill("SIGKILL");
    await r.ended;
  });
  test("a keeper that is killed takes its server along, and the call fails", async () => {
    const wire = recording();
    const r = start(["run", "-e", "try { fakeHang({}) } catch (e) { output(e.message) }", ...servers({ fake: fake("--stubborn", wire.option) })]);
    await hanging(wire);
    const keeper = r.pids().find((pid) => commandOf(pid).includes("__exec"));
    process.kill(Number(keeper), "SIGKILL");
    const end = await r.ended;
    assert.match(end.stdout, /^Tool "fake\.hang" failed: .*was killed by SIGKILL/);
  });
  test("the server's end is told as it is", async () => {
    const said = async (script) => (await program("1", servers({ s: { command: "sh", args: ["-c", script] } }))).stderr;
    assert.match(await said("exit 5"), /exited with code 5/);
    assert.match(await said("kill -SEGV $$"), /was killed by SIGSEGV/);
    assert.match(await said("kill -9 $$"), /was killed by SIGKILL/);
    assert.match(await said("kill -USR2 $$"), /was killed by SIGUSR2/);
    assert.match(await said("exec /no/such/program"), /exited with code 127/);
  });
  test("a server has its own group, and its parent is there", async () => {
    const script = 'read line; set -- $(cat /proc/$$/stat); echo "pid $$ group $5 session $6 parent $4 of $(readlink /proc/$4/exe)" >&2; exit 3';
    const end = await program("1", servers({ s: { command: "sh", args: ["-c", script] } }));
    const [, pid, group, session, parent] = end.stderr.match(/pid (\d+) group (\d+) session (\d+) parent (\d+) of \S*lathe/) ?? assert.fail(end.stderr);
    assert.deepEqual([group, session], [pid, pid]);
    assert.notEqual(parent, "1");
  });
});

describe("what one Python program holds in the kernel", () => {
  const python = (code, ...more) => report(code, ["--lang", "python", ...more]);
  test("pipes: 64 KiB each, whatever it asks for", async () => {
    const r = await python(`
import fcntl, os
pipes, held = [], 0
try:
    while True:
        r, w = os.pipe()
        pipes.append((r, w))
        try:
            fcntl.fcntl(w, 1031, 1 << 20)  # F_SETPIPE_SZ
        except PermissionError:
            pass
        os.set_blocking(w, False)
        try:
            while True:
                held += os.write(w, bytes(65536))
        except BlockingIOError:
            pass
except OSError as e:
    set_result([len(pipes), held, e.strerror])`);
    assert.equal(r.exit, 0, r.text);
    assert.ok(r.result[0] < 128 && r.result[1] <= 128 * 65536, String(r.result));
    assert.equal(r.result[2], "Too many open files");
  });
  test("pages of deleted files in pipes: neither splice nor sendfile nor tee; libraries copy instead", async () => {
    const r = await python(`
import os, shutil
open("f", "wb").write(b"x" * 100000)
f, (r, w) = os.open("f", os.O_RDONLY), os.pipe()
def said(what):
    try:
        return what()
    except OSError as e:
        return e.strerror
shutil.copyfile("f", "g")
tried = [said(lambda: os.sendfile(w, f, 0, 4096)), said(lambda: os.splice(f, w, 4096)) if hasattr(os, "splice") else "Invalid argument"]
set_result(tried + [os.path.getsize("g")])`);
    assert.deepEqual(r.result, ["Invalid argument", "Invalid argument", 100000], r.text);
  });
  test("locks of files: an error, in a folder of its own and in the user's", async () => {
    const code = `
import fcntl, os
fds = [os.open(f"f{i}", os.O_RDWR | os.O_CREAT) for i in range(200)]
i = 0
while True:
    fcntl.lockf(fds[i % 200], fcntl.LOCK_SH, 1, i // 200 * 2)
    i += 1`;
    for (const rest of [{}, { python: { workspace: folder() } }]) {
      if (rest.python) chmodSync(rest.python.workspace, 0o777);
      const r = await report(code, ["--lang", "python", "--timeout", "20000", "--config", config(rest)]);
      assert.match(r.error, /holds too many locks of files: at most 10000/);
    }
  });
  test("locks that nobody could count are refused; those of sqlite work", async () => {
    const r = await python(`
import fcntl, os, sqlite3, struct
f = os.open("f", os.O_RDWR | os.O_CREAT)
try:
    fcntl.fcntl(f, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 1, 0))  # F_OFD_SETLK
    said = "locked"
except PermissionError:
    said = "refused"
db = sqlite3.connect("d.db")
db.execute("create table t (x)")
with db:
    db.execute("insert into t values (4711)")
set_result([said, db.execute("select x from t").fetchone()[0]])`);
    assert.deepEqual(r.result, ["refused", 4711], r.text);
  });
  test("threads end with an error of Python's", async () => {
    const r = await python(`
import threading
threading.stack_size(32768)
go, n = threading.Event(), 0
try:
    while n < 100000:
        threading.Thread(target=go.wait, daemon=True).start()
        n += 1
except RuntimeError as e:
    go.set()
    set_result([n, str(e)])`, "--timeout", "30000");
    assert.match(r.result[1], /can't start new thread/);
    assert.ok(r.result[0] < 1024 + 30_000, String(r.result[0])); // and as many as run on the machine
  });
});
