// What a person may answer to a question: for how long a yes holds, an edited input, a lasting rule.
import assert from "node:assert/strict";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, fake, folder, scripted, servers, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";

const ASK = /(?:Allow\?|Always:|Write it|Enter goes back)[^\n]*: $/;
const clean = (text) => text.replaceAll("\r\n", "\n");
const policy = [{ match: "fake.*", action: "ask" }];
const asking = (more = {}) => servers({ fake: fake() }, { tools: { policy }, ...more });
const count = (text) => text.split("wants to call").length - 1;

/** Types each answer when something is asked and nothing was since. */
async function talk(args, answers, options = {}) {
  const run = start(args, { terminal: true, window: [100, 200], ...options });
  let at = 0;
  for (const answer of answers) {
    await until(() => ASK.test(clean(run.text())) && run.text().length > at, `it asks for ${JSON.stringify(answer)}\n${run.text()}`);
    at = run.text().length + answer.length;
    run.type(answer);
  }
  const end = await run.ended;
  return { ...end, shown: clean(end.stdout) };
}
const run = (code, answers, options = {}) => talk(["run", "-e", code, ...(options.args ?? asking())], answers, options);

describe("how long a yes holds", () => {
  const TWICE = "output([fakeAdd({a:1,b:2}), fakeAdd({a:1,b:2}), fakeAdd({a:5,b:6})].join())";
  test("y: this call", async () => assert.equal(count((await run(TWICE, ["y\n", "y\n", "y\n"])).shown), 3));
  test("c: this tool with exactly this input", async () => {
    const end = await run(TWICE, ["c\n", "y\n"]);
    assert.equal(count(end.shown), 2);
    assert.match(end.shown, /\n3,3,11\n/);
  });
  test("t: this tool with any input; a asks which, and says how long each holds", async () => {
    assert.equal(count((await run(TWICE, ["t\n"])).shown), 1);
    const end = await run(TWICE, ["a\n", "t\n"]);
    assert.equal(count(end.shown), 1);
    assert.match(end.shown, /  c  this tool with exactly this input, until this run ends\n  t  this tool with any input, until this run ends\n  w  /);
  });
  test("none of the choices goes back to the question; u is none of a run's", async () => {
    const end = await run("fakeAdd({a:1,b:2})", ["a\n", "\n", "u\n", "n\n"]);
    assert.match(end.shown, /not approved/);
  });
  test("? explains every answer", async () => {
    const end = await run("fakeAdd({a:1,b:2})", ["?\n", "n\n"]);
    for (const letter of "ynsectwv") assert.match(end.shown, new RegExp(`\n  ${letter}  `));
  });
  test("c is not offered for an input with a masked secret: two of them look the same", async () => {
    const config = { fake: { ...fake(), env: { MY_API_KEY: "${KEY_FOR_TEST}" } } };
    const args = servers(config, { tools: { policy: [{ match: "fake.echo", action: "ask" }] } });
    const end = await run("const key = fakeEnv({ name: 'MY_API_KEY' }); fakeEcho({ text: key })", ["a\n", "c\n", "c\n", "n\n"], { args, env: { KEY_FOR_TEST: "s3cr3t-value" } });
    assert.match(end.shown, /Always: \[t\] \/ \[w\]/);
    assert.match(end.shown, /not approved/);
  });
  const call = { calls: [{ name: "fake_add", arguments: { a: 1, b: 2 } }] };
  const chat = async (lines) => {
    const env = { ...(await recorded(["one", "two", "three"].map((user) => ({ user, replies: [call, `done ${user}`] })))), XDG_STATE_HOME: folder(), TERM: "dumb" };
    const run = start(["chat", ...asking()], { terminal: true, env, window: [100, 200] });
    let at = 0;
    for (const [shown, typed] of lines) {
      await until(() => clean(run.text()).indexOf(shown, at) >= 0, `${shown} is shown`);
      at = clean(run.text()).indexOf(shown, at) + shown.length;
      run.type(typed);
    }
    return clean((await run.ended).stdout);
  };
  const YES = "ne[v]er: ";
  test("chat: t holds until the answer is complete", async () => {
    const shown = await chat([["> ", "one\n"], [YES, "t\n"], ["done one", ""], ["> ", "two\n"], [YES, "y\n"], ["done two", ""], ["> ", "\x04"]]);
    assert.equal(count(shown), 2);
  });
  test("chat: u holds over messages, until /new", async () => {
    const shown = await chat([["> ", "one\n"], [YES, "u\n"], ["done one", ""], ["> ", "two\n"], ["done two", ""], ["> ", "/new\n"], ["> ", "three\n"], [YES, "y\n"], ["done three", ""], ["> ", "\x04"]]);
    assert.equal(count(shown), 2);
  });
});

describe("e", () => {
  const editor = (script) => {
    const path = join(folder({ editor: `#!/bin/sh\n${script}\n` }), "editor");
    chmodSync(path, 0o755);
    return path;
  };
  const CODE = "output(fakeEcho({ text: 'rm -rf /' }).echoed.text)";
  test("the edited input is shown again, and is what the tool gets", async () => {
    const end = await run(CODE, ["e\n", "y\n"], { env: { EDITOR: editor("sed -i 's/rm -rf/ls -la/' \"$1\"") } });
    assert.match(end.shown, /with the input as you have edited it\n  input: \{"text":"ls -la \/"\}\n/);
    assert.match(end.shown, /\nls -la \/\n/);
  });
  test("$VISUAL comes first, with its options; the file is private and gone afterwards", async () => {
    const out = folder();
    const visual = `${editor(`stat -c %a "$2" > ${out}/mode; stat -c %a "$(dirname "$2")" > ${out}/folder; echo "$1" > ${out}/option; touch "$2~"`)} --wait`;
    const runtime = folder();
    const end = await run(CODE, ["e\n", "y\n"], { env: { VISUAL: visual, EDITOR: "/bin/false", XDG_RUNTIME_DIR: runtime } });
    assert.match(end.shown, /\nrm -rf \/\n/);
    assert.deepEqual(["mode", "folder", "option"].map((name) => readFileSync(join(out, name), "utf8").trim()), ["600", "700", "--wait"]);
    assert.deepEqual(readdirSync(runtime), []);
  });
  test("what is no JSON object changes nothing, nor does an editor that fails", async () => {
    for (const [script, why] of [["echo '[1]' > \"$1\"", "no JSON object"], ["echo '{' > \"$1\"", ""], [": > \"$1\"", "empty"], ["exit 3", "ended with 3"]]) {
      const end = await run(CODE, ["e\n", "y\n"], { env: { EDITOR: editor(script) } });
      assert.match(end.shown, new RegExp(`  Nothing was changed: .*${why}`));
      assert.match(end.shown, /\nrm -rf \/\n/);
    }
  });
  test("the edited input is checked as the first one was", async () => {
    const tool = { name: "add", inputSchema: { type: "object", properties: { a: { type: "number" } } } };
    const args = servers({ fake: scripted([{ tool }]) }, { tools: { policy } });
    const end = await run("output(fakeAdd({ a: 1 }))", ["e\n", "y\n", "n\n"], { args, env: { EDITOR: editor("echo '{\"a\": \"x\", \"b\": 2}' > \"$1\"") } });
    assert.match(end.shown, /asked again, as the last decision could not be carried out: .*input\.a/);
  });
  test("without an editor, a line with the input in it", async () => {
    const run = start(["run", "-e", CODE, ...asking()], { terminal: true, window: [40, 120], env: { EDITOR: "", VISUAL: "" } });
    await until(() => ASK.test(clean(run.text())), "it asks");
    run.type("e\n");
    await until(() => /: e\r\n[^]*input: \{"text":"rm -rf \/"\}$/.test(run.text()), "the line is there");
    run.type("\x7f\x7f\x7ftmp\"}\n");
    await until(() => run.text().includes("as you have edited it") && ASK.test(clean(run.text())), "it asks again");
    run.type("y\n");
    assert.match(clean((await run.ended).stdout), /\nrm -rf tmp\n/);
  });
});

describe("w: a rule in the user's own configuration", () => {
  const RULE = '- match: "fake.add" # written at a question\n';
  const write = async (text, answers = ["w\n", "y\n"]) => {
    const config = folder();
    const path = join(config, "lathe/lathe.yaml");
    if (text !== undefined) {
      mkdirSync(join(config, "lathe"));
      writeFileSync(path, text, { mode: 0o640 });
    }
    const end = await run("output(fakeAdd({a:1,b:2})); output(fakeAdd({a:3,b:4}))", answers, { env: { XDG_CONFIG_HOME: config } });
    return { ...end, config, path, text: existsSync(path) ? readFileSync(path, "utf8") : undefined };
  };
  test("the rule is shown before it is written, and holds from then on", async () => {
    const end = await write();
    assert.equal(end.text, `tools:\n  policy:\n    ${RULE}      action: allow\n`);
    assert.match(end.shown, new RegExp(`Write this rule to "${end.path}", before line 1\\?\n  \\+ tools:\n  \\+   policy:\n  \\+     - match: "fake\\.add"`));
    assert.equal(count(end.shown), 1);
    assert.match(end.shown, /\n3\n7\n/);
    assert.equal(statSync(end.path).mode & 0o777, 0o600);
    const later = await start(["run", "-e", "output(fakeAdd({a:1,b:2}))", ...servers({ fake: fake() })], { env: { XDG_CONFIG_HOME: end.config } }).ended;
    assert.equal(later.stdout, "3\n");
  });
  const shapes = {
    "a comment and other keys": ["# mine\nsandbox:\n  timeoutMs: 1000 # short\n", `# mine\nsandbox:\n  timeoutMs: 1000 # short\ntools:\n  policy:\n    ${RULE}      action: allow\n`],
    "no line break at its end": ["sandbox: {timeoutMs: 9000}", `sandbox: {timeoutMs: 9000}\ntools:\n  policy:\n    ${RULE}      action: allow\n`],
    "rules: before the first one, as that decides": ["tools: # rules\n    policy:\n\n    # all\n    - {match: \"*\", action: ask}\n    listingTokens: 900\nsandbox: {}\n",
      `tools: # rules\n    policy:\n\n    # all\n    ${RULE}      action: allow\n    - {match: "*", action: ask}\n    listingTokens: 900\nsandbox: {}\n`],
    "tools without rules": ["tools:\n   listingTokens: 900\n", `tools:\n   policy:\n     ${RULE}       action: allow\n   listingTokens: 900\n`],
  };
  for (const [name, [before, after]] of Object.entries(shapes)) {
    test(`a file with ${name}`, async () => {
      const end = await write(before);
      assert.equal(end.text, after);
      assert.equal(statSync(end.path).mode & 0o777, 0o640);
    });
  }
  for (const [name, text] of Object.entries({ "JSON": '{"sandbox": {}}\n', "rules in one line": "tools:\n  policy: [{match: x.y, action: ask}]\n", "tools in one line": "tools: {listingTokens: 900}\n" })) {
    test(`${name}: the lines to add are shown, nothing is written, the question comes again`, async () => {
      const end = await write(text, ["w\n", "\n", "n\n"]);
      assert.equal(end.text, text);
      assert.match(end.shown, /Lathe cannot write this rule to [^\n]*\n  \+ tools:\n[^]*Add these lines yourself/);
      assert.match(end.shown, /not approved/);
    });
  }
  test("a no writes nothing", async () => {
    const end = await write(undefined, ["a\n", "w\n", "n\n", "n\n"]);
    assert.equal(end.text, undefined);
    assert.match(end.shown, /No rule was written/);
  });
  test("a link stays a link", async () => {
    const config = folder(), real = join(folder({ "real.yaml": "# real\n" }), "real.yaml");
    mkdirSync(join(config, "lathe"));
    symlinkSync(real, join(config, "lathe/lathe.yaml"));
    await run("fakeAdd({a:1,b:2})", ["w\n", "y\n"], { env: { XDG_CONFIG_HOME: config } });
    assert.ok(lstatSync(join(config, "lathe/lathe.yaml")).isSymbolicLink());
    assert.match(readFileSync(real, "utf8"), /^# real\ntools:\n/);
  });
});
