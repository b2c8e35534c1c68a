// Servers that go wrong: the run still works, the error says what to do, and no process is left behind. (That none is
// left is looked at after every run, see harness.mjs.)
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandOf, describe, failure, fake, folder, patience, program, recording, report, servers, sleep, start, test, until, value } from "./harness.mjs";

const beside = (entry) => servers({ good: fake(), bad: entry });
/** The good server works, the bad one is warned of, and calling it says why it cannot be. */
async function worksBeside(entry, reason, options) {
  const r = await report("let why; try { tools['bad.anything']({}) } catch (e) { why = e.message } [goodAdd({ a: 1, b: 2 }), why]", beside(entry), options);
  assert.equal(r.exit, 0, r.error);
  assert.equal(r.result[0], "3");
  assert.match(r.stderr, /^warning: .*bad.*\n/);
  assert.match(r.stderr, reason);
  return r;
}

describe("servers that do not start", () => {
  test("a command that does not exist", async () => {
    const r = await worksBeside({ command: "no-such-command-here", args: [] }, /warning: .*"?bad"?.*no-such-command-here/);
    assert.match(r.stderr, /not found|No such file|PATH|install/i);
    assert.equal(r.stderr.trim().split("\n").length, 1, r.stderr);
  });
  test("a path that does not exist", async () => worksBeside({ command: "/no/such/path", args: [] }, /\/no\/such\/path/));
  test("a file that cannot be executed", async () => {
    const path = join(folder({ "server.txt": "not a program" }), "server.txt");
    await worksBeside({ command: path }, /server\.txt/);
  });
  test("a folder to start in that is not there", async () => worksBeside({ ...fake(), cwd: "/no/such/folder" }, /\/no\/such\/folder|folder|directory/));
  test("one that exits at once, with its own words", async () => worksBeside(fake("--exit=3"), /API_TOKEN is wrong/));
  test("one that exits with 0", async () => worksBeside({ command: "true" }, /warning: .*bad/));
  test("one that is killed at once", async () => worksBeside({ command: "sh", args: ["-c", "kill -9 $$"] }, /signal|kill/i));
  test("one that refuses the handshake", async () => worksBeside(fake("--init-error"), /Unsupported protocol version/));
  test("one of another version", async () => worksBeside(fake("--version=1999-01-01"), /1999-01-01/));
  test("one that lists no array", async () => worksBeside(fake("--bad-list"), /warning: .*bad/));
  test("one that is no MCP server at all", async () => worksBeside({ command: "cat", args: ["/etc/passwd"] }, /warning: .*bad/));
  test("one that echoes", async () => worksBeside({ command: "cat" }, /warning: .*bad/));
  test("one that prints without end", async () => worksBeside({ command: "yes" }, /warning: .*bad/));
  test("one that prints without a newline without end", async () => {
    const r = await worksBeside({ command: "sh", args: ["-c", "tr '\\0' x </dev/zero & cat >/dev/null"] }, /warning: .*bad/);
    assert.match(r.stderr, /MiB|long|large|not JSON|JSON/);
  });
  test("one that dies as soon as it is initialized", async () => worksBeside(fake("--crash-start"), /warning: .*bad/));
  test("an address where nobody listens", async () => {
    const r = await report("1", servers({ web: { type: "http", url: "http://127.0.0.1:1/mcp" }, good: fake() }));
    assert.deepEqual([r.exit, r.result], [0, 1]);
    assert.match(r.stderr, /^warning: .*"web".*cannot reach 127\.0\.0\.1:1.*\n$/);
  });
  test("a disabled one is not started and not spoken of", async () => {
    const r = await report("goodAdd({ a: 1, b: 1 })", beside({ command: "no-such-command-here", disabled: true }));
    assert.deepEqual([r.result, r.stderr], ["2", ""]);
  });
  test("only bad ones: programs still run", async () => {
    const r = await report("1 + 1", servers({ a: { command: "no-such-command-here" }, b: { command: "/no/such" } }));
    assert.deepEqual([r.exit, r.result], [0, 2]);
    assert.equal(r.stderr.trim().split("\n").length, 2);
  });
  test("its tools fail with the reason", async () => {
    const r = await failure("\ntools['bad.read']({})", beside({ command: "no-such-command-here" }));
    assert.match(r.error, /^Tool "bad\.read" failed: .*"bad".*no-such-command-here/);
    assert.equal(r.line, 2);
    const ts = await value("await tools['bad.read']({})", [...beside({ command: "no-such-command-here" }), "--lang", "ts"]);
    assert.equal(ts.success, false);
    assert.match(ts.error, /no-such-command-here/);
  });
  test("its functions have no names, and the error says whose they would be", async () => {
    const r = await failure("badRead({})", beside({ command: "no-such-command-here" }));
    assert.match(r.error, /^ReferenceError: badRead is not defined: "bad" has told no tools/);
  });
  test("servers that are not there at all are another matter", async () => {
    assert.match((await failure("tools['worse.read']({})", beside({ command: "no-such-command-here" }))).error, /^ReferenceError: Tool "worse\.read" not found/);
    assert.deepEqual(await value("['worse.read' in tools, 'bad' in tools, 'bad.' in tools]", beside({ command: "no-such-command-here" })), [false, false, false]);
  });
});

describe("servers that start oddly", () => {
  test("noise before the handshake is a warning", async () => {
    const r = await report("badAdd({ a: 1, b: 2 })", beside(fake("--noise=5")));
    assert.deepEqual([r.exit, r.result], [0, "3"]);
    assert.match(r.stderr, /warning: .*bad.*stdout/i);
    assert.ok(!r.stderr.includes("\x1b"), "no escape sequences of a stranger");
    assert.ok(r.stderr.trim().split("\n").length <= 2, r.stderr);
  });
  test("too much noise is a reason to give it up", async () => worksBeside(fake("--noise=5000"), /warning: .*bad/));
  test("blank lines and CR LF are fine", async () => assert.equal(await value("badAdd({ a: 1, b: 2 })", beside(fake("--blank"))), "3"));
  test("batches are fine", async () => assert.equal(await value("badAdd({ a: 1, b: 2 })", beside(fake("--batch"))), "3"));
  test("an old version is fine", async () => assert.equal(await value("badAdd({ a: 1, b: 2 })", beside(fake("--version=2024-11-05"))), "3"));
  test("requests of the server are answered", async () => {
    const wire = recording();
    assert.equal(await value("badAdd({ a: 1, b: 2 })", beside(fake("--ask", wire.option))), "3");
    assert.ok(wire.messages().some((m) => m.id === "p\n1" && m.result));
    assert.ok(wire.messages().some((m) => m.id === 77 && m.error?.code === -32601));
  });
  test("pages, one tool each", async () => assert.equal(await value("badAdd({ a: 1, b: 2 })", beside(fake("--page=1"))), "3"));
  test("pages in a circle, and without end", async () => {
    for (const option of ["--circle", "--endless"]) {
      const r = await report("goodAdd({ a: 1, b: 2 })", beside(fake(option)));
      assert.deepEqual([r.exit, r.result], [0, "3"]);
    }
  });
  test("tools without names and schemas do not hurt the others", async () => {
    const r = await report("[badAdd({ a: 1, b: 2 }), 'bad.no-schema' in tools, toolSchema('bad.odd-schema'), discoverTools('bad').length > 10]", beside(fake("--rude-tools")));
    assert.deepEqual(r.result, ["3", true, {}, true]);
    assert.match(r.stderr, /^warning: .*"bad".*without a name/);
  });
  test("a server without tools", async () => assert.deepEqual(await value("discoverTools().filter((t) => t.id.startsWith('bad')).length", beside(fake("--no-tools"))), 0));
  test("a list that changes at once", async () => assert.equal(await value("badAdd({ a: 1, b: 2 })", beside(fake("--changes=50"))), "3"));
  test("a secret of its environment is not shown", async () => {
    const entry = { ...fake("--stderr-env=API_TOKEN", "--exit=1"), env: { API_TOKEN: "s3cr3t-value" } };
    const r = await worksBeside(entry, /API_TOKEN is wrong/);
    assert.ok(!r.stderr.includes("s3cr3t-value"), r.stderr);
  });
});

describe("tools that go wrong", () => {
  const one = servers({ fake: fake() });
  const caught = (call) => value(`let why; try { ${call}; why = "nothing" } catch (e) { why = e.message } [why, fakeAdd({ a: 1, b: 2 })]`, one);

  test("one that fails", async () => assert.deepEqual(await caught("fakeFail()"), ['Tool "fake.fail" failed: it failed', "3"]));
  for (const name of ["odd-error", "no-result", "text-result"]) {
    test(`one that answers nonsense: ${name}`, async () => {
      const [why, sum] = await caught(`tools["fake.${name}"]()`);
      assert.match(why, new RegExp(`^Tool "fake\\.${name}" failed: .{5,}`));
      assert.equal(sum, "3");
    });
  }
  test("one that prints garbage before it answers", async () => {
    const r = await report("fakeGarbage({ lines: 20 })", one);
    assert.deepEqual([r.exit, r.result], [0, "done"]);
  });
  test("one that prints too much of it", async () => {
    const r = await report("let r; try { r = fakeGarbage({ lines: 100000 }) } catch (e) { r = e.message } r", one);
    assert.equal(r.exit, 0);
  });
  test("one that answers in broken JSON and then never", async () => {
    const end = await program("fakeBrokenJson()", [...one, "--timeout", 500]);
    assert.ok(end.code === 124 || end.code === 1, end.stderr);
  });
  test("one that answers twice, and for others", async () => {
    assert.deepEqual(await value("[fakeDuplicate(), fakeAdd({ a: 1, b: 1 }), fakeUnknown(), fakeAdd({ a: 2, b: 2 })]", one), ["once", "2", "mine", "4"]);
  });
  test("one that answers 50 MB: a program may have it, if it has the memory", async () => {
    assert.deepEqual(await value("const s = fakeBig({ bytes: 50 * 1024 * 1024 }); [s.length, s[0]]", [...one, "--memory", 512]), [50 * 1024 * 1024, "x"]);
  });
  test("one that answers 50 MB to a small program", async () => {
    const r = await report("output('before'); let n; try { n = fakeBig({ bytes: 50 * 1024 * 1024 }).length } catch (e) { n = e.message } n", one);
    assert.deepEqual(r.outputs, ["before"]);
    assert.ok(r.exit === 0 || r.memory, r.error);
  });
  test("the report of 50 MB says how much it was", async () => {
    const r = await report("fakeBig({ bytes: 50 * 1024 * 1024 }).length", [...one, "--memory", 512]);
    assert.ok(r.text.length < 1e6);
    assert.equal(r.calls[0].resultBytes, 50 * 1024 * 1024 + 2);
  });
  test("one that answers more than any message may have", async () => {
    const [why, sum] = await caught("fakeBig({ bytes: 70 * 1024 * 1024 })");
    assert.match(why, /64 MiB/);
    assert.equal(sum, "3");
  });
  test("one that answers deep JSON", async () => {
    const [why, sum] = await caught("fakeDeep({ n: 100000 })");
    assert.match(why, /^Tool "fake\.deep" failed: /); // it says "over 64 MiB", which is not why
    assert.equal(sum, "3");
  });
  test("one that hangs: the deadline ends it, the server hears of it", async () => {
    const wire = recording();
    const r = await report("output('before'); fakeHang({})", [...servers({ fake: fake(wire.option) }), "--timeout", 300]);
    assert.deepEqual([r.exit, r.timeout, r.outputs], [124, true, ["before"]]);
    const [call] = wire.of("tools/call");
    assert.equal(wire.of("notifications/cancelled").length, 1);
    assert.equal(wire.of("notifications/cancelled")[0].params.requestId, call.id);
  });
  test("on the terminal that is one line and what was called", async () => {
    const end = await program("fakeAdd({ a: 1, b: 1 });\nfakeHang({})", [...one, "--timeout", 300]);
    assert.equal(end.code, 124);
    assert.equal(end.stderr, "error: Execution timed out after 300ms\n  tools called before: fake.add, fake.hang (cut short)\n");
  });
  test("one whose server dies in the middle: how, and its last words", async () => {
    const [why, sum] = await caught("fakeCrash({ code: 3 })");
    assert.match(why, /^Tool "fake\.crash" failed: .*(exit|code).*3/);
    assert.match(why, /about to crash/);
    assert.equal(sum, "3", "the server was started again");
  });
  test("by a signal", async () => {
    const [why] = await caught("fakeCrash({ signal: 'SIGKILL' })");
    assert.match(why, /SIGKILL|signal 9|[Kk]illed/);
  });
  test("calls beside it fail as well, later ones work", async () => {
    const code = `const hang = fakeHang({}).then(() => 'no', (e) => e.message); const crash = fakeCrash({}).then(() => 'no', (e) => e.message);
      const r = await Promise.all([hang, crash]); [...r, await fakeAdd({ a: 2, b: 2 })]`;
    const [a, b, sum] = await value(code, one);
    assert.match(a, /^Tool "fake\.hang" failed: /);
    assert.match(b, /^Tool "fake\.crash" failed: /);
    assert.equal(sum, "4");
  });
  test("a crash between calls is not noticed", async () => {
    const r = await report("const a = fakeCrashLater({ ms: 1 }); sleep(300); [a, fakeAdd({ a: 1, b: 1 })]", one);
    assert.deepEqual(r.result, ["soon", "2"]);
  });
  test("a server that crashes again and again is given up", async () => {
    const r = await report("const why = []; for (let i = 0; i < 8; i++) { try { fakeCrash({}) } catch (e) { why.push(e.message) } } [why.length, why[7]]", [...one, "--timeout", 60_000], { limitMs: 70_000 });
    assert.equal(r.result[0], 8);
    assert.match(r.result[1], /crash|down|restart|times/i);
  });
  test("one that stops reading", async () => {
    const end = await program("fakeAdd({ a: 1, b: 2 })", [...servers({ fake: fake("--deaf") }), "--timeout", 500]);
    assert.equal(end.code, 124);
  });
  test("one that is sent 10 MB and one that is sent 70 MB", async () => {
    assert.equal(await value("fakeEcho({ text: 'x'.repeat(10e6) }).echoed.text.length", [...one, "--memory", 256]), 10e6);
    assert.match((await failure("fakeEcho({ text: 'x'.repeat(70 * 1024 * 1024) })", [...one, "--memory", 1024])).error, /64 MiB/);
  });
  test("new tools of a list that changed can be called in the next run only, old ones stay", async () => {
    assert.deepEqual(await value("[fakeGrow({ n: 2, times: 3 }), fakeAdd({ a: 1, b: 1 })]", one), ["2", "2"]);
  });
});

describe("the end", () => {
  test("servers that end with their input are not killed", async () => {
    const end = await program("fakeAdd({ a: 1, b: 1 })", servers({ fake: fake() }));
    assert.equal(end.stdout, "2\n");
    assert.ok(end.ms < 3000 * patience);
  });
  test("one that ignores end of input and SIGTERM is killed", async () => {
    const end = await program("fakeAdd({ a: 1, b: 1 })", servers({ fake: fake("--stubborn") }));
    assert.deepEqual([end.code, end.stdout, end.stderr], [0, "2\n", ""]);
  });
  test("ten of those at once, side by side", async () => {
    const all = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`s${i}`, fake("--stubborn")]));
    const end = await program("1", servers(all), { limitMs: 30_000 });
    assert.equal(end.code, 0);
    assert.ok(end.ms < 15_000 * patience, `${end.ms} ms`);
  });
  test("its children go, too", async () => {
    const entry = { command: "sh", args: ["-c", `sleep 1000 & sh -c 'trap "" TERM; sleep 1000' & exec "$0" "$@"`, ...[fake().command, ...fake("--stubborn").args]] };
    const end = await program("fakeAdd({ a: 1, b: 1 })", servers({ fake: entry }));
    assert.equal(end.stdout, "2\n");
  });
  test("a program that fails leaves nothing behind", async () => {
    const end = await program("fakeAdd({ a: 1, b: 1 }); nope()", servers({ fake: fake("--stubborn") }));
    assert.equal(end.code, 1);
  });
});

describe("signals", () => {
  const args = (wire, ...options) => servers({ fake: fake(wire.option, ...options), other: fake() });
  const hanging = (wire, calls = 1) => until(() => wire.of("tools/call").filter((m) => m.params.name === "hang").length >= calls, "the calls hang");

  for (const [signal, again] of [["SIGINT", "Ctrl-C"], ["SIGTERM", "kill"], ["SIGHUP", "kill"]]) {
    test(`${signal} while calls hang: cancelled, kept, ended`, async () => {
      const wire = recording();
      const r = start(["run", "--json", "-e", "output('before'); await Promise.all([fakeHang({}), fakeHang({})])", ...args(wire)]);
      await hanging(wire, 2);
      r.child.kill(signal);
      const end = await r.ended;
      assert.ok(end.code === 130 || end.code === 143, `${again}: code ${end.code} ${end.signal}`);
      const json = JSON.parse(end.stdout);
      assert.deepEqual(json.outputs, ["before"]);
      assert.match(json.error, /cancelled/);
      assert.equal(wire.of("notifications/cancelled").length, 2);
    });
    test(`${signal} with a server that ignores everything`, async () => {
      const wire = recording();
      const r = start(["run", "-e", "fakeHang({})", ...args(wire, "--stubborn")]);
      await hanging(wire);
      r.child.kill(signal);
      const end = await r.ended;
      assert.ok(end.code === 130 || end.code === 143, `code ${end.code} ${end.signal}`);
      assert.match(end.stderr, /^error: Execution was cancelled\n/);
    });
    test(`${signal} in an endless loop`, async () => {
      const r = start(["run", "-e", "output('started'); for (;;) {}"]);
      await until(() => r.text().includes("started"), "it runs");
      r.child.kill(signal);
      const end = await r.ended;
      assert.ok(end.code === 130 || end.code === 143);
      assert.equal(end.stdout, "started\n");
    });
    test(`${signal} while servers start`, async () => {
      const wire = recording();
      const r = start(["run", "-e", "1", ...servers({ never: fake("--never", wire.option), good: fake() })]);
      await until(() => wire.messages().length > 0, "the server hears the handshake");
      const began = Date.now();
      r.child.kill(signal);
      const end = await r.ended;
      assert.ok(end.code === 130 || end.code === 143, `code ${end.code} ${end.signal}`);
      assert.equal(end.stdout, "");
      assert.ok(Date.now() - began < 10_000 * patience);
    });
    test(`${signal} twice`, async () => {
      const wire = recording();
      const r = start(["run", "-e", "fakeHang({})", ...args(wire, "--stubborn")]);
      await hanging(wire);
      r.child.kill(signal);
      await sleep(50);
      r.child.kill(signal);
      await r.ended;
    });
  }
  for (const signal of ["SIGKILL", "SIGQUIT"]) {
    test(`${signal} while calls hang`, async () => {
      const wire = recording();
      const r = start(["run", "-e", "fakeHang({})", ...args(wire, "--stubborn")]);
      await hanging(wire);
      assert.ok(r.pids().length >= 3);
      r.child.kill(signal);
      assert.equal((await r.ended).signal, signal); // and nothing is left
    });
  }
  test("SIGKILL with a server behind a shell, as npx starts it", async () => {
    const wire = recording();
    const { command, args: words } = fake(wire.option);
    const r = start(["run", "-e", "fakeHang({})", ...servers({ fake: { command: "sh", args: ["-c", '"$0" "$@"; true', command, ...words] } })]);
    await hanging(wire);
    r.child.kill("SIGKILL");
    await r.ended;
  });
  test("SIGKILL while servers start", async () => {
    const wire = recording();
    const r = start(["run", "-e", "1", ...servers({ never: fake("--never", "--stubborn", wire.option) })]);
    await until(() => wire.messages().length > 0, "the server hears the handshake");
    r.child.kill("SIGKILL");
    await r.ended;
  });
  test("SIGTERM of a server while its call hangs is a failure of the call", async () => {
    const wire = recording();
    const r = start(["run", "--json", "-e", "let why; try { fakeHang({}) } catch (e) { why = e.message } why", ...args(wire)]);
    await hanging(wire);
    const pid = Number(serverOf(r, wire));
    process.kill(pid, "SIGKILL");
    const end = await r.ended;
    assert.match(JSON.parse(end.stdout).result, /^Tool "fake\.hang" failed: /);
  });
  test("a reader of stdout that goes away", async () => {
    const r = start(["run", "-e", "for (let i = 0; i < 100; i++) { output('x'.repeat(500)); sleep(5) } fakeAdd({ a: 1, b: 1 })", ...servers({ fake: fake("--stubborn") })]);
    await until(() => r.text().includes("x"), "it writes");
    r.child.stdout.destroy();
    const end = await r.ended;
    assert.notEqual(end.signal, "SIGSEGV");
  });
});

/** The process id of the server that records to `wire`. */
function serverOf(r, wire) {
  return r.pids().find((pid) => commandOf(pid).includes(wire.path));
}

// These take as long as a server may take to start. They run while the tests above do.
const silent = Promise.all([
  worksBeside(fake("--never", "--stderr=waiting for the moon"), /warning: .*bad.*(answer|30)/, { limitMs: 60_000 }),
  worksBeside(fake("--silent-list"), /warning: .*bad/, { limitMs: 60_000 }),
]);
silent.catch(() => {});
test("servers that never answer are given up after 30 seconds", async () => {
  const [r] = await silent;
  assert.match(r.stderr, /waiting for the moon/);
});
