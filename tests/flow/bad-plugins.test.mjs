// Plugins that cannot be loaded, that fail, that block: one clear line each, and everything else works.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cc, config, describe, folder, patience, program, root, run, test, value } from "./harness.mjs";

const built = folder();

/** A shared object of this C file (in tests/fakes, or its text), with these macros. */
function plugin(name, source, ...options) {
  const file = source.includes("\n") ? join(folder({ [`${name}.c`]: source }), `${name}.c`) : join(root, "tests/fakes", source);
  const so = join(built, `${name}.so`);
  execFileSync(cc, ["-shared", "-fPIC", "-I", join(root, "include"), "-I", join(root, "tests/fakes"), "-o", so, ...options, file]);
  return so;
}
const bad = (what) => plugin(what.toLowerCase(), "plugin_bad.c", `-DBAD=${what}`);
const good = plugin("good", "plugin_good.c");
const use = (...paths) => ["--config", config({ plugins: paths.map((path) => (typeof path === "string" ? { path } : path)) })];

const slow = plugin("slow", `
#include "lathe_plugin.h"
#include <unistd.h>
static void block(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  for (;;) { sleep(1000); }
}
static void talk(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  host->log(call, LATHE_LOG_INFO, "the key is %s,\\n\\x1b[31mred", host->characters(call, host->member(call, host->config(call), "key")).p);
  host->answer(call, LATHE_TEXT("1"));
}
static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  const lathe_tool block_tool = {.size = sizeof block_tool, .name = "block", .invoke = block};
  const lathe_tool talk_tool = {.size = sizeof talk_tool, .name = "talk", .invoke = talk};
  if (host->add_tool(call, &block_tool) || host->add_tool(call, &talk_tool)) { host->fail(call, "%s", host->error(call).p); }
}
const lathe_plugin *lathe_plugin_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "slow", .setup = setup};
  return &plugin;
}
`);

describe("a plugin that cannot be used is one line, and the rest works:", () => {
  const cases = {
    "no entry": [bad("NO_ENTRY"), /no_entry\.so: it is no Lathe plugin: it exports no function lathe_plugin_entry/],
    "an entry that says no": [bad("NULL_ENTRY"), /null_entry\.so: it says that it cannot work here/],
    "too small a size": [bad("SMALL"), /small\.so: its lathe_plugin says a size that makes no sense: \.size has to be sizeof\(lathe_plugin\)/],
    "no id": [bad("NO_ID"), /no_id\.so: its id "" cannot be used/],
    "a tool that it has already": [bad("TOOL_TWICE"), /tool_twice\.so: the tool "t" is there already/],
    "a broken input_schema": [bad("TOOL_SCHEMA"), /tool_schema\.so: the input_schema of the tool "u" cannot be used: #\/type: /],
    "a broken config_schema": [bad("BAD_SCHEMA"), /bad_schema\.so: its config_schema cannot be used: #\/type: /],
    "a folder": [root, /: it cannot be loaded/],
    "an empty file": [join(folder({ "empty.so": "" }), "empty.so"), /empty\.so: it cannot be loaded/],
    "half a shared object": [join(folder({ "half.so": readFileSync(good).subarray(0, 2000) }), "half.so"), /half\.so: it cannot be loaded: the file is cut off/],
    "a wrong size": [bad("HUGE_SIZE"), /huge_size\.so: its lathe_plugin says a size that makes no sense/],
    "things of a newer Lathe": [bad("FLAGS"), /flags\.so: .* needs a newer one/],
    "a bad id": [bad("BAD_ID"), /bad_id\.so: its id "Bad Id" cannot be used/],
    "a failing setup": [bad("SETUP_FAILS"), /setup_fails\.so: the moon is in the wrong house/],
    "a failing ready": [bad("READY_FAILS"), /plugin bad: .*the moon is in the wrong house/],
    "a missing function": [bad("UNRESOLVED"), /unresolved\.so: it cannot be loaded: .*nobody_has_this_function/],
    "no such file": ["/nowhere/x.so", /plugin \/nowhere\/x\.so: there is no such file/],
    "no shared object": [join(root, "README.md"), /README\.md: it cannot be loaded/],
    "a config that does not fit": [{ path: plugin("strict", "plugin_good.c"), config: { path: 7 } }, /strict\.so: config\.path: expected string, got number/],
  };
  for (const [what, [path, says]] of Object.entries(cases)) {
    test(what, async () => {
      const other = plugin("other", "plugin_new.c");
      const end = await program("tools['new.has']({}).runs", use(path, other));
      assert.equal(end.stdout, "1\n");
      assert.equal(end.code, 0);
      assert.match(end.stderr, says);
      assert.equal(end.stderr.trim().split("\n").length, 1, end.stderr);
    });
  }
  test("its tools say why they are not there", async () => {
    const end = await program("tools['bad.t']({})", use(bad("SETUP_FAILS"), good));
    assert.equal(end.code, 1);
    assert.match(end.stderr, /plugin "bad" is not available: the moon is in the wrong house/);
  });
});

const hanging = bad("SETUP_HANGS"); // takes as long as a setup may take: it runs while the tests below do
const hung = program("[tools['good.add']({ a: 1 })[0], (() => { try { tools['bad.t']({}) } catch (e) { return e.message } })()]", use(hanging, good), { limitMs: 40_000 });
hung.catch(() => {});

test("lathe tools lists the others, too", async () => {
  const end = await run(["tools", ...use(bad("NO_ENTRY"), bad("SETUP_FAILS"), good)]);
  assert.equal(end.code, 0);
  assert.match(end.stdout, /^good\.add  goodAdd  Adds\n/m);
  assert.doesNotMatch(end.stdout, /^bad\./m);
  assert.equal(end.stderr.split("\n").filter((line) => line.startsWith("warning: ")).length, 2, end.stderr);
});

test("two of the same id: the first one is there", async () => {
  const end = await program("tools['good.add']({ a: 1 })[0]", use(good, plugin("good2", "plugin_good.c")));
  assert.deepEqual([end.code, end.stdout], [0, "1\n"]);
  assert.match(end.stderr, /^warning: .*good2\.so: there is a plugin "good" already: name each only once$/m);
});

describe("answers of a plugin that are none", () => {
  const odd = plugin("odd", String.raw`
#include "lathe_plugin.h"
#define TOOL(name, body) static void name(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) { body; }
TOOL(text, host->answer(call, LATHE_TEXT("{nope")))
TOOL(empty, host->answer(call, LATHE_TEXT("")))
TOOL(two, host->answer(call, LATHE_TEXT("1 2")))
TOOL(bytes, host->answer(call, LATHE_TEXT("\"\xff\xfe\"")))
TOOL(deep, char *p = host->memory(call, 4001); for (int i = 0; i < 4000; i++) { p[i] = '['; } host->answer(call, (lathe_text){p, 4000}))
TOOL(none, (void)0)
TOOL(both, host->answer(call, LATHE_TEXT("1")); host->fail(call, "it failed"))
TOOL(lie, host->answer(call, LATHE_TEXT("{\"n\":\"text\"}")))
static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
#define ADD(f) { lathe_tool tool = {.size = sizeof tool, .name = #f, .invoke = f, .output_schema = "{\"properties\":{\"n\":{\"type\":\"number\"}}}"}; if (host->add_tool(call, &tool)) { host->fail(call, "%s", host->error(call).p); } }
  ADD(text) ADD(empty) ADD(two) ADD(bytes) ADD(deep) ADD(none) ADD(both) ADD(lie)
}
const lathe_plugin *lathe_plugin_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "odd", .setup = setup};
  return &plugin;
}
`);
  const call = (name) => program(`try { output(tools["odd.${name}"]({})) } catch (e) { output(e.message) } goodAdd({ a: 1 })[0]`, use(odd, good));
  for (const name of ["text", "empty", "two", "bytes", "deep"]) {
    test(name, async () => {
      const end = await call(name);
      assert.match(end.stdout, new RegExp(`^Tool "odd\\.${name}" failed: plugin "odd" answered something that is not JSON: .*\n1\n$`));
      assert.deepEqual([end.code, end.stderr], [0, "plugin good: set up\n"]);
    });
  }
  test("nothing is null; a failure counts whatever was answered", async () => {
    assert.equal((await call("none")).stdout, "null\n1\n");
    assert.equal((await call("both")).stdout, 'Tool "odd.both" failed: it failed\n1\n');
  });
  test("what its output schema does not say is used, and told", async () => {
    const end = await call("lie");
    assert.equal(end.stdout, '{"n":"text"}\n1\n');
    assert.match(end.stderr, /^warning: Tool "odd\.lie" does not answer what its output schema says .*: output\.n: expected number, got string$/m);
  });
});

test("a plugin built against an older header works", async () => {
  const old = plugin("old", "plugin_old.c");
  const args = ["--config", config({ plugins: [{ path: old }], store: "sqlite::memory:" })];
  assert.deepEqual(await value("oldNote()", args), { rows: [{ text: "n" }], state: { n: 1 }, arg: 7 });
});

test("a plugin that blocks costs the program its time, and nobody else", async () => {
  const code = "const open = slowBlock({}).catch(() => 0); output(goodAdd({a: 1})); Promise.resolve(open)";
  const end = await run(["run", "--timeout", "700", "-e", code, ...use(slow, good)]);
  assert.equal(end.stdout, "[1,{}]\n");
  assert.equal(end.code, 124);
  assert.ok(end.ms < (700 + 2000 + 1500) * patience, `${end.ms} ms`);
});

test("what a plugin logs is one clean line without secrets", async () => {
  const args = use({ path: slow, config: { key: "${THE_KEY}" } });
  const end = await program("slowTalk()", args, { env: { THE_KEY: "hunter2-hunter2" } });
  assert.equal(end.stderr, "plugin slow: the key is ***, red\n");
  assert.equal(end.stdout, "1\n");
});

test("a setup that hangs is given up after ten seconds; the others work, and the end does not wait for it", async () => {
  const end = await hung;
  assert.equal(end.code, 0);
  assert.match(end.stderr, /^warning: [^\n]*setup_hangs\.so: plugin "bad" has not come back from "setup" within 10000 ms$/m);
  assert.equal(end.stderr.split("\n").filter((line) => line.startsWith("warning: ")).length, 1, end.stderr);
  const [sum, said] = JSON.parse(end.stdout);
  assert.equal(sum, 1);
  assert.match(said, /plugin "bad" is not available: .*has not come back from "setup"/);
  assert.ok(end.ms < (10_000 + 2000 + 2000) * patience, `${end.ms} ms`);
});
