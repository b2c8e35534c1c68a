// Plugins that cannot be loaded, that fail, that block: one clear line each, and everything else works.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { config, folder, patience, program, root, run, value } from "./harness.mjs";

const built = folder();

/** A shared object of this C file (in tests/fakes, or its text), with these macros. */
function plugin(name, source, ...options) {
  const file = source.includes("\n") ? join(folder({ [`${name}.c`]: source }), `${name}.c`) : join(root, "tests/fakes", source);
  const so = join(built, `${name}.so`);
  execFileSync("cc", ["-shared", "-fPIC", "-I", join(root, "include"), "-I", join(root, "tests/fakes"), "-o", so, ...options, file]);
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
