// Governed calls as programs see them, in every style; and what plugins bring into a run.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cc, config, describe, fake, folder, prints, program, report, root, run, servers, test, value } from "./harness.mjs";

const rules = (policy, budgets = []) => servers({ fake: fake() }, { tools: { policy, budgets } });
const SLOW = rules([{ match: "fake.slow", action: "deny", reason: "too slow" }]);
const DENIED = 'Tool "fake.slow" is not allowed: too slow';

describe("a denied call", () => {
  test("is an error that a program can catch", async () => {
    assert.deepEqual(await value("try { fakeSlow({ ms: 1 }) } catch (e) { [e instanceof Error, e.message, fakeAdd({ a: 1, b: 2 })] }", SLOW), [true, DENIED, "3"]);
  });
  test("that nobody catches ends it, with its line and what was called before", async () => {
    const end = await program("fakeAdd({ a: 1, b: 2 });\nfakeSlow({ ms: 1 })", SLOW);
    prints(end, { code: 1, stderr: `error: ${DENIED}\n  at 2:1: fakeSlow({ ms: 1 })\n  tools called before: fake.add, fake.slow (failed)\n` });
  });
  test("is a rejected promise", async () => {
    const code = "const [a, b] = await Promise.allSettled([fakeAdd({ a: 1, b: 2 }), fakeSlow({ ms: 1 })]); [a.value, b.status, b.reason.message]";
    assert.deepEqual(await value(code, SLOW), ["3", "rejected", DENIED]);
  });
  test("is a result without success in TypeScript", async () => {
    assert.deepEqual(await value("const r = await slow({ ms: 1 }); r", [...SLOW, "--lang", "ts"]), { success: false, error: DENIED });
  });
  test("is an error in its place in parallel()", async () => {
    const code = "parallel([{ tool: 'fake.add', input: { a: 1, b: 2 } }, { tool: 'fake.slow', input: { ms: 1 } }])";
    assert.deepEqual(await value(code, SLOW), ["3", { error: DENIED }]);
  });
  test("is never made", async () => {
    assert.equal(await value("try { fakeSlow({ ms: 1 }) } catch {}; fakeHeard({}).heard.filter((m) => m.params?.name === 'slow').length", SLOW), 0);
  });
  test("is denied by its id, and to programs of programs", async () => {
    assert.deepEqual(
      await value("['slow', 'interpreter'].map((how) => { try { return how === 'slow' ? tools['fake.slow']({}) : interpreterRunCode({ code: 'fakeSlow({})' }) } catch (e) { return e.message.includes('not allowed: too slow') } })", SLOW),
      [true, true],
    );
  });
});

describe("a budget", () => {
  test("counts for the run, its programs' programs included, and starts anew with the next", async () => {
    const args = rules([], [{ match: "fake.add", calls: 2 }]);
    const code = "const r = [fakeAdd({ a: 1, b: 1 }), interpreterRunCode({ code: 'fakeAdd({ a: 2, b: 2 })' })]; try { fakeAdd({}) } catch (e) { r.push(e.message) } r";
    for (let i = 0; i < 2; i++) {
      const [a, b, c] = await value(code, args);
      assert.deepEqual([a, b], ["2", "4"]);
      assert.match(c, /budget for "fake\.add" is used up/);
    }
  });
});

test("a mistake in a rule is one line with file and key, before anything is started", async () => {
  const mark = join(folder(), "started");
  const server = { command: "touch", args: [mark] };
  const path = config({ mcpServers: { s: server }, tools: { policy: [{ match: "a", action: "ask" }, { match: "b", action: "deny", when: "input.(" }] } });
  const end = await program("1", ["--config", path]);
  assert.equal(end.code, 3);
  assert.equal(end.stdout, "");
  assert.match(end.stderr, new RegExp(`^lathe: ${path}: tools\\.policy\\[1\\]\\.when: [^\\n]+\\n$`));
  assert.ok(!existsSync(mark));
});

describe("plugins in a run", () => {
  const so = join(folder(), "good.so");
  execFileSync(cc, ["-shared", "-fPIC", "-I", join(root, "include"), "-I", join(root, "tests/fakes"), "-o", so, join(root, "tests/fakes/plugin_good.c")]);

  test("their modules can be imported", async () => {
    assert.equal(await value("import { two } from 'sums'; export default two", ["--config", config({ plugins: [so] })]), 2);
  });
  test("the configuration's module of the same name wins, with a warning", async () => {
    const path = config({ plugins: [so], modules: [{ name: "sums", path: "sums.js" }] }, { "sums.js": "export const two = 'mine';" });
    const end = await program("import { two } from 'sums'; output(two)", ["--config", path]);
    prints(end, { stdout: "mine\n", stderr: 'plugin good: set up\nwarning: a plugin\'s module "sums" is not used: the configuration has one of that name\n' });
  });
  test("a path counts from the configuration's folder", async () => {
    const dir = folder();
    execFileSync("cp", [so, join(dir, "here.so")]);
    execFileSync("cp", [config({ plugins: ["here.so"] }), join(dir, "lathe.yaml")]);
    assert.match((await run(["tools", "--config", join(dir, "lathe.yaml")])).stdout, /^good\./m);
  });
  test("one that is disabled is not there, built in or not", async () => {
    const path = config({ plugins: [{ path: so, disabled: true }, { path: "/no/such.so", disabled: true }, { name: "interpreter", disabled: true }] });
    const end = await run(["tools", "--config", path]);
    assert.deepEqual([end.stderr, end.stdout.split("\n").filter((line) => !line.startsWith("artifact."))], ["", [""]]);
    assert.match((await report("interpreterRunCode({ code: '1' })", ["--config", path])).error, /interpreterRunCode is not defined/);
  });
  test("a secret of its configuration reaches it, and nobody reads it", async () => {
    const path = config({ plugins: [{ path: so, config: { path: "${PLUGIN_KEY}" } }] });
    const end = await program("const key = tools['good.add']({ a: 1 })[1].path; log(key); output(key.length)", ["--config", path], { env: { PLUGIN_KEY: "the-plugin-key" } });
    prints(end, { stdout: "14\n", stderr: "plugin good: set up\n[log] ***\n" });
  });
});

describe("what is built in", () => {
  test("artifacts are kept from run to run, in the configured file", async () => {
    const args = ["--config", config({ store: "sqlite:kept.db" })];
    const id = await value("storeArtifact({ n: 1 }, 'one')", args);
    assert.deepEqual(await value(`const a = getArtifact('${id}'); [a.data, a.description, listArtifacts().length]`, args), [{ n: 1 }, "one", 1]);
    assert.ok(existsSync(join(args[1], "../kept.db")));
  });
  test("rules for the artifact tools hold for the functions, too", async () => {
    const policy = [{ match: "artifact.store", action: "deny", reason: "no hoarding" }, { match: "artifact.list", action: "ask" }];
    const args = ["--config", config({ store: "sqlite::memory:", tools: { policy } })];
    const why = (code) => `(() => { try { return ${code} } catch (e) { return e.message } })()`;
    const said = await value(`[${["storeArtifact(1)", "listArtifacts()", "getArtifact('none') ?? 'undefined'"].map(why)}]`, args);
    assert.equal(said[0], 'Tool "artifact.store" is not allowed: no hoarding');
    assert.match(said[1], /^Tool "artifact.list" needs approval/);
    assert.equal(said[2], "undefined");
  });
  test("in memory they end with the run", async () => {
    const args = ["--config", config({ store: "sqlite::memory:" })];
    assert.equal(await value("storeArtifact(1); listArtifacts().length", args), 1);
    assert.equal(await value("listArtifacts().length", args), 0);
  });
  test("by default the store is in the state folder, and only when something is stored", async () => {
    const home = folder();
    const file = join(home, ".local/state/lathe/lathe.db");
    await value("1", [], { env: { HOME: home } });
    assert.ok(!existsSync(file));
    await value("storeArtifact(1)", [], { env: { HOME: home } });
    assert.ok(existsSync(file));
  });
  test("without a home nothing is kept, which only the journal minds", async () => {
    assert.equal(await value("storeArtifact(1); listArtifacts().length", [], { env: { HOME: undefined } }), 1);
    const end = await program("1", ["--journal"], { env: { HOME: undefined } });
    prints(end, { code: 3, stderr: "lathe run: there is no place for the journal: set $HOME, or say where in the configuration: store: sqlite:PATH\n" });
  });
  test("a store that cannot be opened: the calls fail with what is wrong, the rest works", async () => {
    const path = config({ store: "sqlite:/no/such/folder/lathe.db" });
    const r = await report("let said; try { storeArtifact(1) } catch (e) { said = e.message } [said, 1 + 1]", ["--config", path]);
    assert.equal(r.result[1], 2);
    assert.match(r.result[0], /\/no\/such\/folder\/lathe\.db/);
  });
});
