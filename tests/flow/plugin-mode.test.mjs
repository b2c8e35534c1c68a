// An execution mode from a plugin, as somebody meets it who chats in it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { before } from "node:test";
import { cc, config, describe, fake, folder, root, run, servers, start, test, until } from "./harness.mjs";
import { recorded, scriptedModel } from "./model.mjs";

const built = folder();
const compile = (name, ...flags) => {
  const so = join(built, `${name}.so`);
  execFileSync(cc, ["-shared", "-fPIC", "-I", join(root, "include"), ...flags, "-o", so, join(root, "tests/fakes/plugin_mode.c")]);
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
      assert.match(end.stderr, /\n  fake\.add \{"a":1,"b":2\}  [\d.]+ m?s\n/);
      assert.match(end.stderr, /\n  [1-9]\d* tokens in, [1-9]\d* out, [\d.]+ m?s\n$/);
    });
    test("is handed the files of a message, and the summary of a long conversation", async () => {
      const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");
      const model = await scriptedModel(["A dot.", "Red was said.", "Yes."]);
      const args = ["-m", "relay", ...servers({}, { plugins: [so], models: [{ ref: "normal", contextTokens: 1024 }] })];
      const say = (...more) => run(["chat", ...more, ...args], { env: model.env });
      const end = await say(`red ${"word ".repeat(600)}`, "--attach", join(folder({ "dot.png": png }), "dot.png"));
      assert.equal(end.stdout, "A dot.\n", end.stderr);
      const [{ text }, image] = model.asked()[0].messages[0].content;
      assert.deepEqual([text, image.image_url.url], ["[Attached: dot.png]", `data:image/png;base64,${png.toString("base64")}`]);
      assert.equal((await say("And now?", "-c", "last")).stdout, "Yes.\n");
      assert.deepEqual(model.asked()[2].messages.map((m) => m.content), ["Red was said.", "And now?"]);
    });
    test("is completed behind /mode, and behind /model the providers that Lathe knows", async () => {
      const one = start(["chat", ...tools], { env, terminal: true, window: [24, 100] });
      let from = 0;
      for (const [shown, typed] of [["> ", "/mode rel\t\n"], ["mode: relay", ""], ["> ", "/model anthr\t\t\n"], ["anthropic/claude-", ""], ["> ", "/quit\n"]]) {
        await until(() => one.text().indexOf(shown, from) >= 0, `${shown} is shown`);
        from = one.text().indexOf(shown, from) + shown.length;
        one.type(typed);
      }
      assert.equal((await one.ended).code, 0);
    });
    test("is named where a mode is not known", async () => {
      const end = await chat(["-m", "relai", "call", ...tools]);
      assert.equal(end.code, 2);
      assert.match(end.stderr, /^lathe: there is no mode "relai"; there is: classic, code, .*relay, typescript\n$/);
    });
    test("an unknown one is told of though a server does not come up", async () => {
      const silent = servers({ silent: { command: "sleep", args: ["60"] } }, { plugins: [so] });
      const end = await chat(["-m", "relai", "call", ...silent]);
      assert.equal(end.code, 2);
      assert.match(end.stderr, /^lathe: there is no mode "relai"; there is: classic, code, .*relay, typescript\n$/);
      const wanted = await chat(["call", ...servers({ silent: { command: "sleep", args: ["60"] } }, { plugins: [so], defaults: { mode: "relai" } })]);
      assert.equal(wanted.code, 3);
      assert.match(wanted.stderr, /lathe\.yaml: defaults\.mode: there is no mode "relai"/);
    });
    test("its rounds are configured as those of other modes", async () => {
      const rounds = (maxRounds) => servers({ fake: fake() }, { plugins: [so], defaults: { maxRounds } });
      const end = await chat(["-m", "relay", "call", ...rounds({ relay: 1 })]);
      assert.equal(end.code, 1);
      assert.match(end.stderr, /the model has been asked 1 times for this prompt/);
      const typo = await chat(["-m", "relay", "call", ...rounds({ relai: 1, relay: 2 })]);
      assert.equal(typo.code, 0, typo.stderr);
      assert.match(typo.stderr, /^warning: defaults\.maxRounds: there is no mode "relai"; there is: classic, code, .*relay, typescript\n/);
    });
    test("is compared with others", async () => {
      const tasks = config({ tasks: [{ name: "add", prompt: "call", check: { contains: "3" } }] });
      const end = await run(["eval", tasks, "-m", "relay, classic", ...tools], { env });
      assert.equal(end.code, 0, end.stderr);
      assert.match(end.stdout, /^mode .*\nrelay +1\/1 +2\.0 .*\nclassic +1\/1 +2\.0 .*\n$/);
    });
    test("fails with its own words", async () => {
      const end = await chat(["-m", "relay", "fail", ...tools]);
      assert.notEqual(end.code, 0);
      assert.match(end.stderr, /it cannot be done with this/);
    });
  });
}

test("a conversation held in a mode that is not there any more goes on in the default one, which is said", async () => {
  const own = { env: { ...env, XDG_STATE_HOME: folder() } };
  const tools = (plugins) => servers({ fake: fake() }, { plugins });
  await run(["chat", "-m", "relay", "call", ...tools([kinds["on the loop"]])], own);
  const there = await run(["chat", "-c", "last", "--json", "call", ...tools([kinds["on the loop"]])], own);
  assert.match(there.stdout, /"mode":"relay"/);
  const gone = await run(["chat", "-c", "last", "call", ...tools([])], own);
  assert.deepEqual({ code: gone.code, stdout: gone.stdout }, { code: 0, stdout: "Let me see.\nIt is 3.\n" }, gone.stderr);
  assert.match(gone.stderr, /^warning: going on with the default mode, as the conversation's cannot be had any more: there is no mode "relay"; there is: classic, code, .*typescript\n/);
});

test("two plugins cannot have the same mode", async () => {
  const copy = join(built, "again.so");
  execFileSync("sh", ["-c", `sed 's/"relayer"/"another"/' "$1" | "$4" -shared -fPIC -x c -I "$2" -o "$3" -`, "sh", join(root, "tests/fakes/plugin_mode.c"), join(root, "include"), copy, cc]);
  const end = await run(["tools", "--config", config({ plugins: [kinds["on the loop"], copy] })]);
  assert.match(end.stderr, /the mode "relay" is there already: choose another id/);
});
