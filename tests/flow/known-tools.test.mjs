// Servers whose tools are known from the last time: what starts, what does not, and what a list of yesterday must not change.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bare, describe, fake, folder, program, recording, report, root, servers, test } from "./harness.mjs";

/** A home of its own, in which one command after the other finds what the one before has left. */
function home() {
  const cache = folder(), lists = join(cache, "lathe/servers");
  const options = { env: { XDG_CACHE_HOME: cache } };
  return {
    cache,
    options,
    files: () => { try { return readdirSync(lists).map((name) => join(lists, name)); } catch { return []; } },
    run: (code, args, more = {}) => report(code, args, { ...options, ...more }),
    change(edit) {
      for (const path of this.files()) writeFileSync(path, JSON.stringify(edit(JSON.parse(readFileSync(path, "utf8")))));
    },
  };
}
const tool = (name, more = {}) => ({ tool: { name, inputSchema: { type: "object" }, ...more } });

/** A server of these tools in a file that the server reads when it starts, and what Lathe has said to it. */
function changing(tools) {
  const script = join(folder(), "script.json"), heard = recording();
  const set = (now) => writeFileSync(script, JSON.stringify(now));
  set(tools);
  return { entry: fake(`--script=${script}`, heard.option), set, starts: () => heard.of("initialize").length, calls: () => heard.of("tools/call").length };
}

describe("a server that was used before", () => {
  test("does not start for a program that does not call it", async () => {
    const at = home(), one = changing([tool("say")]), args = servers({ one: one.entry });
    assert.equal((await at.run("1+2", args)).result, 3);
    assert.equal(one.starts(), 1);
    assert.equal((await at.run("1+2", args)).result, 3);
    assert.equal((await at.run("typeof oneSay", args)).result, "function");
    assert.equal(one.starts(), 1);
  });
  test("starts when it is called, and only that one", async () => {
    const at = home(), one = changing([tool("say")]), two = changing([tool("say")]), args = servers({ one: one.entry, two: two.entry });
    await at.run("1", args);
    assert.deepEqual((await at.run("oneSay({ a: 1 })", args)).result, { a: 1 });
    assert.deepEqual([one.starts(), two.starts()], [2, 1]);
  });
  test("twenty calls at once start it once", async () => {
    const at = home(), one = changing([tool("say")]), args = servers({ one: one.entry });
    await at.run("1", args);
    const r = await at.run("(await Promise.all(Array.from({ length: 20 }, (_, i) => oneSay({ i })))).map((r) => r.i).join()", args);
    assert.equal(r.result, Array.from({ length: 20 }, (_, i) => i).join());
    assert.deepEqual([one.starts(), one.calls()], [2, 20]);
  });
  test("starts with every command where the configuration says so", async () => {
    const at = home(), one = changing([tool("say")]), args = servers({ one: { ...one.entry, start: "always" } });
    await at.run("1", args);
    await at.run("1", args);
    assert.equal(one.starts(), 2);
  });
  test("is stopped when it is not called for a while, and starts again at the next call", async () => {
    const one = { ...fake(), idleTimeoutMs: 300 };
    const r = await home().run("const first = onePid({}); let ms = 600; while (onePid({}) === first && ms < 10000) { sleep(ms); ms *= 2 } onePid({}) !== first", servers({ one }));
    assert.equal(r.result, true, r.stderr);
  });
  test("is not stopped while a call of it runs", async () => {
    const one = { ...fake(), idleTimeoutMs: 100 };
    const r = await home().run("const first = onePid({}); oneSlow({ ms: 1500 }); oneSlow({ ms: 1 }) && onePid({}) === first", servers({ one }));
    assert.equal(r.exit, 0, r.stderr);
  });
});

describe("a list of the last time", () => {
  test("is of that command with those arguments, variables and files only", async () => {
    const at = home(), copy = join(folder(), "server.mjs");
    const text = readFileSync(join(root, "tests/fakes/mcp_server.mjs"), "utf8");
    writeFileSync(copy, text);
    const entry = { command: process.execPath, args: [copy] };
    const count = async (one) => { await at.run("1", servers({ one })); return at.files().length; };
    assert.equal(await count(entry), 1);
    assert.equal(await count(entry), 1);
    assert.equal(await count({ ...entry, args: [copy, "--tools=3"] }), 2);
    assert.equal(await count({ ...entry, env: { TOKEN: "another" } }), 3);
    writeFileSync(copy, `${text}\n// edited`);
    assert.equal(await count(entry), 4);
  });
  test("is for its user's eyes only, and holds no secret", async () => {
    const at = home();
    const one = { ...fake("--tell-env=TOKEN"), env: { TOKEN: "sk-verysecretvalue-123" } };
    await at.run("1", servers({ one }));
    assert.equal(at.files().length, 1);
    assert.equal(statSync(at.files()[0]).mode & 0o777, 0o600);
    assert.equal(statSync(join(at.cache, "lathe/servers")).mode & 0o777, 0o700);
    const text = readFileSync(at.files()[0], "utf8");
    assert.doesNotMatch(text, /verysecretvalue/);
    assert.match(text, /\*\*\*/);
  });
  for (const [name, spoil] of [
    ["damaged", (path) => writeFileSync(path, '{"format":1,"tools":[')],
    ["empty", (path) => writeFileSync(path, "")],
    ["of another version", (path) => writeFileSync(path, readFileSync(path, "utf8").replace('"format":1', '"format":2'))],
    ["writable for others", (path) => chmodSync(path, 0o666)],
    ["a link", (path) => { renameSync(path, `${path}.there`); symlinkSync(`${path}.there`, path); }],
    ["a folder", (path) => { rmSync(path); mkdirSync(path); }],
    ["two days old", (path) => writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), listedMs: Date.now() - 48 * 3600_000 }))],
    ["of the future", (path) => writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), listedMs: Date.now() + 3600_000 }))],
  ]) {
    test(`counts for nothing: ${name}`, async () => {
      const at = home(), one = changing([tool("say")]), args = servers({ one: one.entry });
      await at.run("1", args);
      spoil(at.files()[0]);
      const r = await at.run("typeof oneSay", args);
      assert.deepEqual([r.result, r.stderr], ["function", ""]);
      assert.equal(one.starts(), 2);
    });
  }
  test("is removed when it is old, and nothing else is", async () => {
    const at = home();
    await at.run("1", servers({ one: fake() }));
    const [first] = at.files(), old = Date.now() / 1000 - 31 * 24 * 3600;
    utimesSync(first, old, old);
    writeFileSync(join(at.cache, "lathe/other.json"), "");
    utimesSync(join(at.cache, "lathe/other.json"), old, old);
    await at.run("1", servers({ one: fake("--tools=2") }));
    assert.equal(at.files().length, 1);
    assert.ok(!at.files().includes(first));
    assert.ok(statSync(join(at.cache, "lathe/other.json")));
  });
  test("cannot be kept: everything works", async () => {
    const at = home();
    writeFileSync(join(at.cache, "lathe"), "no folder");
    const one = changing([tool("say")]);
    for (let i = 0; i < 2; i++) assert.deepEqual((await at.run("oneSay({})", servers({ one: one.entry }))).result, {});
    assert.equal(one.starts(), 2);
  });
});

describe("a server that is another one today", () => {
  test("a tool that became destructive is judged as it is today", async () => {
    const at = home(), one = changing([tool("say", { annotations: { readOnlyHint: true } })]);
    const args = servers({ one: one.entry }, { ...bare, tools: { policy: [{ match: "*", when: "!annotations.readOnlyHint", action: "deny" }] } });
    assert.deepEqual((await at.run("oneSay({})", args)).result, {});
    one.set([tool("say", { annotations: { readOnlyHint: false, destructiveHint: true } })]);
    const end = await program("oneSay({})", args, at.options);
    assert.equal(end.code, 1, end.stdout);
    assert.match(end.stderr, /oneSay|one\.say/);
    assert.match(end.stderr, /annotations changed while the call waited/);
    assert.equal(one.calls(), 1);
  });
  test("a tool that is gone fails with the server's words; a new one is there the next time", async () => {
    const at = home(), one = changing([tool("old")]), args = servers({ one: one.entry });
    await at.run("1", args);
    one.set([tool("fresh")]);
    assert.notEqual((await program("oneOld({})", args, at.options)).code, 0);
    assert.equal((await at.run("typeof oneFresh", args)).result, "function");
  });
  test("a server that does not start any more harms only its own calls", async () => {
    const at = home(), path = join(folder(), "server.mjs");
    writeFileSync(path, readFileSync(join(root, "tests/fakes/mcp_server.mjs")));
    const gone = join(folder(), "flag");
    writeFileSync(gone, "");
    const one = { command: "sh", args: ["-c", `test -e '${gone}' && exec '${process.execPath}' '${path}'; echo the token has expired >&2; exit 3`] };
    const args = servers({ one, two: fake() });
    await at.run("1", args);
    rmSync(gone);
    assert.deepEqual((await at.run("twoAdd({ a: 1, b: 2 })", args)).result, "3");
    const end = await program("oneAdd({ a: 1, b: 2 })", args, at.options);
    assert.equal(end.code, 1);
    assert.match(end.stderr, /the token has expired/);
  });
});
