// An execution mode from a plugin, as somebody meets it who chats in it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { config, fake, folder, root, run, servers } from "./harness.mjs";
import { recorded } from "./model.mjs";

const built = folder();
const compile = (name, ...flags) => {
  const so = join(built, `${name}.so`);
  execFileSync("cc", ["-shared", "-fPIC", "-I", join(root, "include"), ...flags, "-o", so, join(root, "tests/fakes/plugin_mode.c")]);
  return so;
};
const kinds = { "on its own thread": compile("mode"), "on the loop": compile("mode_on_loop", "-DFLAGS=LATHE_ON_LOOP") };
const turns = [
  { user: "call", replies: [{ text: "Let me see.", calls: [{ name: "fake_add", arguments: { a: 1, b: 2 } }] }, "It is 3."] },
];
let env;
before(async () => {
  env = { ...(await recorded(turns, { title: "Adding" })), XDG_STATE_HOME: folder() };
});
const chat = (args) => run(["chat", ...args], { env });

for (const [kind, so] of Object.entries(kinds)) {
  describe(`a plugin's mode ${kind}`, () => {
    const tools = servers({ fake: fake() }, { plugins: [so] });
    test("asks the model, calls tools and answers", async () => {
      const end = await chat(["-m", "relay", "call", ...tools]);
      assert.deepEqual({ stdout: end.stdout, code: end.code }, { stdout: "Let me see.\nIt is 3.\n", code: 0 }, end.stderr);
      assert.match(end.stderr, /\n  fake\.add \{"a":1,"b":2\}  \d+ ms\n/);
      assert.match(end.stderr, /\n  [1-9]\d* tokens in, [1-9]\d* out, \d+ ms\n$/);
    });
    test("is named where a mode is not known", async () => {
      const end = await chat(["-m", "relai", "call", ...tools]);
      assert.notEqual(end.code, 0);
      assert.match(end.stderr, /classic, code, relay, typescript/);
    });
    test("fails with its own words", async () => {
      const end = await chat(["-m", "relay", "fail", ...tools]);
      assert.notEqual(end.code, 0);
      assert.match(end.stderr, /it cannot be done with this/);
    });
  });
}

test("two plugins cannot have the same mode", async () => {
  const copy = join(built, "again.so");
  execFileSync("sh", ["-c", `sed 's/"relayer"/"another"/' "$1" | cc -shared -fPIC -x c -I "$2" -o "$3" -`, "sh", join(root, "tests/fakes/plugin_mode.c"), join(root, "include"), copy]);
  const end = await run(["tools", "--config", config({ plugins: [kinds["on the loop"], copy] })]);
  assert.match(end.stderr, /the mode "relay" is there already: choose another id/);
});
