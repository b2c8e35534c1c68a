// lathe chat as a person and a script meet it: what is on which output, what is asked, what ends it, and how.
import assert from "node:assert/strict";
import { chmodSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { before } from "node:test";
import { config, describe, fake, folder, isChat, patience, recording, root, run, servers, sleep, start, test, until } from "./harness.mjs";
import { faked, recorded } from "./model.mjs";

const PROGRAM = "const r = fakeAdd({ a: 1, b: 2 });\noutput('1 + 2 = ' + r);\ndone();";
const turns = [
  { user: "hello", replies: ["Hello, wörld.\nHow are you?"] },
  { user: "again", replies: ["Again it is."] },
  { user: "paint", replies: ["\x1b[31mred\x1b[0m \u202egnp.exe\u009b2J end"] },
  { user: "add", replies: [PROGRAM] },
  { user: "call", replies: [{ text: "Let me see.", calls: [{ name: "fake_add", arguments: { a: 1, b: 2 } }] }, "It is 3."] },
  { user: "type", replies: [{ calls: [{ name: "execute_typescript", arguments: { code: "console.log(await add({ a: 1, b: 2 }))" } }] }, "Three."] },
  { user: "try", replies: ["try { output('got ' + fakeAdd({ a: 1, b: 2 })) } catch (e) { output('no: ' + e.message) }\ndone()"] },
  { user: "both", replies: ["for (const b of [1, 2]) { try { output('got ' + fakeAdd({ a: 1, b })) } catch (e) { output('no') } }\ndone()"] },
  { user: "side by side", replies: ["const r = await Promise.allSettled([1, 2].map((b) => fakeAdd({ a: 1, b })));\noutput(r.map((one) => one.value ?? 'no').join());\ndone()"] },
  { user: "wait", replies: [{ text: "too late", waitMs: 60_000 }] },
  { user: "Count:\n\n1\n2", replies: ["Two."] },
  { user: "first:\n\tindented\n\nlast line", replies: ["All of it came."] },
  { user: "/etc/hosts is what?", replies: ["A file."] },
  { user: "long", replies: ["output('begun'); sleep(20000); output('ended')"] },
];
const LATHE = resolve(process.env.LATHE ?? join(root, "build/lathe"));
const asking = { tools: { policy: [{ match: "fake.*", action: "ask", reason: "it adds" }] } };
const QUESTION = "ne[v]er: ";
const answers = (end, text) => assert.deepEqual({ stdout: end.stdout, code: end.code }, { stdout: text, code: 0 }, end.stderr);

let env, model, state;
before(async () => {
  state = folder();
  env = { ...(await recorded(turns, { title: "Adding two numbers" })), XDG_STATE_HOME: state };
  model = await faked();
});
const chat = (args, options = {}) => run(["chat", ...args], { ...options, env: { ...env, ...options.env } });
const idOf = (end) => /conversation ([0-9a-f]{32})/.exec(end.stderr ?? end)[1];
const fresh = () => ({ XDG_STATE_HOME: folder() });
const tools = (rest) => servers({ fake: fake() }, rest);

describe("one message", () => {
  test("the answer is on stdout, and nothing else", async () => {
    const end = await chat(["hello"]);
    answers(end, "Hello, wörld.\nHow are you?\n");
    assert.match(end.stderr, /^conversation [0-9a-f]{32}\n  \d+ tokens in, \d+ out, [\d.]+ m?s\n$/);
  });
  test("code: the program and its calls are shown on stderr", async () => {
    const end = await chat(["-m", "code", "add", ...tools()]);
    answers(end, "1 + 2 = 3\n");
    assert.match(end.stderr, /\n  \| const r = fakeAdd\(\{ a: 1, b: 2 \}\);\n  \| output\('1 \+ 2 = ' \+ r\);\n  \| done\(\);\n/);
    assert.match(end.stderr, /\n  fake\.add \{.*\}  [\d.]+ m?s\n  the program ended after [\d.]+ m?s\n/);
  });
  test("classic: text between calls is part of the answer", async () => {
    const end = await chat(["--mode=classic", "call", ...tools()]);
    answers(end, "Let me see.\nIt is 3.\n");
    assert.match(end.stderr, /\n  fake\.add \{"a":1,"b":2\}  [\d.]+ m?s\n/);
  });
  test("typescript", async () => {
    const end = await chat(["-m", "typescript", "type", ...tools()]);
    answers(end, "Three.\n");
    assert.match(end.stderr, /\n  \| console\.log\(await add/);
  });
  test("from standard input, where that is no terminal", async () => {
    answers(await chat([], { stdin: "hello\n" }), "Hello, wörld.\nHow are you?\n");
    answers(await chat(["-"], { stdin: "hello" }), "Hello, wörld.\nHow are you?\n");
  });
  test("a pipe or a file on standard input goes behind the message; one without anything in it does not", async () => {
    const files = folder({ numbers: "1\n2\n", nothing: " \n" });
    for (const redirect of [`<${files}/numbers`, `<<'END'\n1\n2\nEND`]) answers(await chat(["Count:"], { redirect }), "Two.\n");
    answers(await chat(["hello"], { redirect: `<${files}/nothing` }), "Hello, wörld.\nHow are you?\n");
    const piped = await run(["-c", 'printf "1\\n2\\n" | "$@"', "sh", LATHE, "chat", "Count:"], { program: "/bin/sh", env });
    answers(piped, "Two.\n");
  });
  test("a reader that has had enough is no error", async () => {
    const own = fresh();
    for (let i = 0; i < 3; i++) await chat(["hello"], { env: own });
    for (const args of [["--list"], ["--json", "hello"], ["hello"]]) {
      const end = await run(["-c", '{ "$@"; echo "code $?" >&2; } | true', "sh", LATHE, "chat", ...args], { program: "/bin/bash", env: { ...env, ...own } });
      assert.match(end.stderr, /code 0\n$/);
      assert.doesNotMatch(end.stderr, /written/);
    }
  });
  test("codeMode in the defaults is typescript; a model's own word wins, and -m over both", async () => {
    const defaults = { codeMode: true };
    answers(await chat(["type", ...tools({ defaults })]), "Three.\n");
    const models = [{ ref: "normal", codeMode: false }, { ref: "coder", codeMode: true }];
    answers(await chat(["call", ...tools({ defaults, models })]), "Let me see.\nIt is 3.\n");
    answers(await chat(["--model", "coder", "type", ...tools({ models })]), "Three.\n");
    answers(await chat(["--model", "coder", "-m", "classic", "call", ...tools({ models })]), "Let me see.\nIt is 3.\n");
  });
  test("--json: events, one a line, nothing else", async () => {
    const end = await chat(["--json", "-m", "code", "add", ...tools()]);
    const events = end.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.equal(end.code, 0);
    assert.equal(events[0].event, "prompt.created");
    assert.equal(events.at(-1).event, "prompt.completed");
    assert.equal(events[0].data.conversationId, idOf(end));
    assert.equal(events.filter((e) => e.event === "prompt.stream").map((e) => e.data.delta).join(""), "1 + 2 = 3", "no pieces of the program");
    assert.ok(events.some((e) => e.event === "prompt.output" && e.data.output.function === "fake.add" && e.data.output.result.output == 3));
  });
});

describe("going on", () => {
  test("-c with an id, its beginning, or last; --list tells of it", async () => {
    const own = fresh();
    const id = idOf(await chat(["hello"], { env: own }));
    for (const name of [id, id.slice(0, 8), "last"]) {
      const end = await chat(["-c", name, "again"], { env: own });
      answers(end, "Again it is.\n");
      assert.equal(idOf(end), id);
    }
    const list = await chat(["--list"], { env: own });
    assert.match(list.stdout, new RegExp(`^${id}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d     4  hello\\n$`));
    assert.equal(JSON.parse((await chat(["--list", "--json"], { env: own })).stdout)[0].id, id);
  });
  describe("in the mode and with the model of its last message", () => {
    const three = ["normal", "other", "gone"].map((ref) => ({ ref }));
    /** What a message is carried out with, and what was said about that. */
    const held = async (own, models, ...args) => {
      const end = await chat(["--json", ...args, "hello", "--config", config({ models })], { env: own });
      assert.match(end.stdout, /^\{"event":"prompt\.created"/, end.stderr);
      const { mode, model } = JSON.parse(end.stdout.split("\n")[0]).data;
      return { with: `${mode} ${model}`, warning: end.stderr.split("\n").find((one) => one.startsWith("warning: ")) };
    };
    test("unless -m or --model says otherwise, which holds from then on", async () => {
      const own = fresh();
      assert.equal((await held(own, three, "-m", "code", "--model", "other")).with, "code other");
      assert.deepEqual(await held(own, three, "-c", "last"), { with: "code other", warning: undefined });
      assert.equal((await held(own, three, "-c", "last", "-m", "typescript")).with, "typescript other");
      assert.equal((await held(own, three, "-c", "last", "--model", "gone")).with, "typescript gone");
      assert.equal((await held(own, three, "-c", "last")).with, "typescript gone");
      assert.equal((await held(own, three)).with, "classic normal");
    });
    test("a model with a key, where the default one has none", async () => {
      const models = [{ ref: "normal", apiKeyEnv: "NO_KEY_HERE" }, { ref: "other" }, { ref: "keyed", apiKeyEnv: "A_KEY_HERE" }];
      const own = fresh();
      assert.equal((await held(own, models, "--model", "other")).with, "classic other");
      assert.deepEqual(await held(own, models, "-c", "last"), { with: "classic other", warning: undefined });
      assert.equal((await held({ ...own, A_KEY_HERE: "k" }, models, "-c", "last", "--model", "keyed")).with, "classic keyed");
      const end = await chat(["-c", "last", "hello", "--config", config({ models })], { env: own });
      assert.deepEqual([end.code, end.stdout], [3, ""]);
      assert.match(end.stderr, /^warning: going on with the default model, .*A_KEY_HERE.*\nlathe chat: the model "normal" needs a key: .*NO_KEY_HERE/);
    });
    test("a model that is not configured any more is said not to be", async () => {
      const own = fresh();
      assert.equal((await held(own, three, "-m", "code", "--model", "gone")).with, "code gone");
      const later = await held(own, three.slice(0, 2), "-c", "last");
      assert.equal(later.with, "code normal");
      assert.match(later.warning, /going on with the default model, as the conversation's cannot be had any more: there is no model "gone"; there is: normal, other$/);
    });
  });
  test("a conversation that is not there, or is not the only one", async () => {
    const own = fresh();
    const none = await chat(["-c", "last", "hello"], { env: own });
    assert.deepEqual([none.code, none.stderr], [2, "lathe chat: there is no conversation yet: begin one without -c\n"]);
    const wrong = await chat(["-c", "zzz", "hello"], { env: own });
    assert.deepEqual([wrong.code, wrong.stderr], [2, 'lathe chat: no conversation begins with "zzz"; see lathe chat --list\n']);
    await Promise.all(Array.from({ length: 17 }, () => chat(["hello"], { env: own }))); // two of them begin alike
    const list = JSON.parse((await chat(["--list", "--json"], { env: own })).stdout).map((one) => one.id[0]);
    const twice = list.find((first, i) => list.indexOf(first) !== i);
    const several = await chat(["-c", twice, "hello"], { env: own });
    assert.equal(several.code, 2);
    assert.match(several.stderr, /^lathe chat: \d+ conversations begin with "."/);
  });
  test("a conversation that another process is busy with", async () => {
    const own = fresh();
    const id = idOf(await chat(["hello"], { env: own }));
    const first = start(["chat", "-c", id, "wait"], { env: { ...env, ...own } });
    await until(() => first.text().includes(id), "it has begun");
    const second = await chat(["-c", id, "again"], { env: own });
    assert.equal(second.code, 1);
    assert.match(second.stderr, /lathe chat: .*(busy|not ended|another process|running)/i);
    first.child.kill("SIGINT");
    assert.equal((await first.ended).code, 130);
    answers(await chat(["-c", id, "again"], { env: own }), "Again it is.\n");
  });
});

describe("what is wrong is said in one line", () => {
  const line = async (args, options, code, pattern) => {
    const end = await chat(args, options);
    assert.equal(end.code, code, end.stderr);
    assert.match(end.stderr.split("\n").filter((l) => !l.startsWith("conversation ")).join("\n"), pattern);
    assert.equal(end.stdout, "");
  };
  test("no key and no other address", () => line(["hello"], { env: { OPENAI_BASE_URL: "", OPENAI_API_KEY: "" } }, 3, /^lathe: no model can be asked without a key: set OPENAI_API_KEY or ANTHROPIC_API_KEY; .*OPENAI_BASE_URL.*\n$/));
  test("a model's own key that is not set", () => line(["hello", "--config", config({ models: [{ ref: "normal", apiKeyEnv: "NOT_SET_HERE" }] })], {}, 3, /^lathe: .*"normal" needs a key: set the environment variable NOT_SET_HERE/));
  test("an unknown model, mode, option", async () => {
    await line(["--model", "nope", "hello"], {}, 2, /^lathe: there is no model "nope"; there is: normal\n$/);
    await line(["-m", "nope", "hello"], {}, 2, /^lathe: there is no mode "nope"; there is: classic, code, .*typescript\n$/);
    await line(["--modle", "x"], {}, 2, /--modle/);
    await line(["a", "b"], {}, 2, /one message at a time/);
    await line([], { stdin: "  \n" }, 2, /the message is empty/);
  });
  test("a mode that there is not is told of before anything is started", async () => {
    const wire = recording();
    const own = servers({ fake: fake(wire.option) }, { plugins: [{ name: "interpreter", disabled: true }] });
    await line(["-m", "nope", "hello", ...own], {}, 2, /^lathe: there is no mode "nope"/);
    await line(["hello", ...servers({ fake: fake(wire.option) }, { defaults: { mode: "nope" } })], {}, 3, /defaults\.mode: there is no mode "nope"/);
    assert.deepEqual(wire.messages(), []);
    await chat(["-m", "classic", "hello", ...own]);
    assert.notDeepEqual(wire.messages(), []);
  });
  test("settings that make no sense", async () => {
    const wrong = (value, pattern) => line(["hello", "--config", config(value)], {}, 3, pattern);
    await wrong({ defaults: { mode: "fast" } }, /^lathe: .*lathe\.yaml: defaults\.mode: there is no mode "fast"/);
    await wrong({ defaults: { model: "fast" } }, /lathe\.yaml: defaults\.model: there is no model "fast"/);
    await wrong({ defaults: { maxRounds: { fast: 1 } } }, /unknown mode "fast" in defaults\.maxRounds/);
    await wrong({ defaults: { maxRounds: { code: 100000 } } }, /defaults\.maxRounds\.code must be from 1 to 1000, not "100000"/);
    await wrong({ models: [{ ref: "a" }, { ref: "a" }] }, /models\[1\] has the same ref as models\[0\]/);
    await wrong({ models: [{ ref: "a", baseUrl: "localhost:1" }] }, /models\[0\]\.baseUrl is not an address/);
    await wrong({ models: [{ ref: "a", apiKeyEnv: "sk-live-1234" }] }, /^(?!.*sk-live).*apiKeyEnv is the name of an environment variable/);
  });
  test("a wrong key is said to be that, and never shown", async () => {
    const own = { ...fresh(), ...model("401"), OPENAI_API_KEY: "sk-very-secret-1234" };
    for (const args of [["hello"], ["--json", "hello"]]) {
      const end = await chat(args, { env: own });
      assert.equal(end.code, 1);
      assert.ok(!(end.stdout + end.stderr).includes("very-secret"), end.stdout + end.stderr);
      assert.match(end.stdout + end.stderr, /key/i);
    }
    const stored = readdirSync(join(own.XDG_STATE_HOME, "lathe")).map((name) => readFileSync(join(own.XDG_STATE_HOME, "lathe", name), "latin1"));
    assert.ok(stored.length > 0 && !stored.join().includes("very-secret"));
  });
  test("nobody listens there", () => line(["hello"], { env: { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" } }, 1, /^(  no connection, trying again in .*\n){2}lathe chat: .*127\.0\.0\.1/));
  test("a stream that breaks: what came is shown, and that it broke", async () => {
    const end = await chat(["hello"], { env: model("cut") });
    assert.equal(end.code, 1);
    assert.equal(end.stdout, "Hello, wörld\n");
    assert.match(end.stderr, /\nlathe chat: /);
  });
});

describe("at a terminal", () => {
  const talk = (args, options = {}) => start(["chat", ...args], { terminal: true, ...options, env: { ...env, TERM: "xterm", ...options.env } });
  const plain = (text) => text.replaceAll("\r\n", "\n");
  /** Does the steps [what is waited for, what is typed then] one after the other; what was shown. */
  async function follow(run, steps) {
    let from = 0;
    for (const [shown, typed] of steps) {
      await until(() => run.text().indexOf(shown, from) >= 0, `${JSON.stringify(shown)} is shown\n${run.text()}`);
      from = run.text().indexOf(shown, from) + shown.length;
      if (typed !== undefined) run.type(typed);
    }
    const end = await run.ended;
    return { ...end, shown: plain(end.stdout) };
  }

  test("what is not the answer is dimmed; NO_COLOR is heeded", async () => {
    const colored = await follow(talk(["-m", "code", "add", ...tools()]), []);
    assert.match(colored.shown, /\x1b\[2m  \| \x1b\[0mdone\(\);\n/);
    assert.match(colored.shown, /(\n|\x1b\[K|\x1b\[0m)1 \+ 2 = 3\n/);
    const bare = await follow(talk(["-m", "code", "add", ...tools()], { env: { NO_COLOR: "1" } }), []);
    assert.match(bare.shown, /\n  \| done\(\);\n/);
    assert.doesNotMatch(bare.shown, /\x1b\[\d*m/);
  });
  test("the answer in a pipe has nothing in it but itself", async () => {
    const file = join(folder(), "answer");
    const end = await follow(talk(["-m", "code", "add", ...tools()], { redirect: `>'${file}'` }), []);
    assert.equal(readFileSync(file, "utf8"), "1 + 2 = 3\n");
    assert.ok(!end.shown.includes("1 + 2 = 3\n"));
  });
  test("nothing that a model says steers the terminal", async () => {
    const end = await follow(talk(["paint"], { env: { NO_COLOR: "1" } }), []);
    const answer = end.shown.split("\n").find((one) => one.includes("gnp.exe"));
    assert.match(answer, /red gnp\.exe(2J)? end$/);
    assert.doesNotMatch(answer.replace(/^[^]*\x1b\[K/, ""), /[\x00-\x1f\x7f-\x9f\u202e]/);
  });
  for (const [mode, words] of [["code", "try"], ["classic", "call"], ["typescript", "type"]]) {
    test(`${mode}: a call that is asked about, with its input; yes`, async () => {
      const end = await follow(talk(["-m", mode, words, ...tools(asking)]), [[QUESTION, "y\n"]]);
      assert.match(end.shown, /\nThe model wants to call fake\.add\n  why it is asked: it adds\n  input: \{"a":1,"b":2\}\n/);
      assert.match(end.shown, { code: /got 3\n/, classic: /It is 3\.\n/, typescript: /Three\.\n/ }[mode]);
      assert.equal(end.code, 0);
    });
  }
  test("no, with a reason that the program hears", async () => {
    const end = await follow(talk(["-m", "code", "try", ...tools(asking)]), [[QUESTION, "n not today\n"]]);
    assert.match(end.shown, /no: .*not today\n/);
    assert.equal(end.code, 0);
  });
  test("always holds for the next one, too; --yes asks nothing", async () => {
    const end = await follow(talk(["-m", "code", "both", ...tools(asking)]), [[QUESTION, "t\n"]]);
    assert.match(end.shown, /got 2\n[^]*got 3\n/);
    assert.equal(end.shown.split(QUESTION).length, 2);
    answers(await chat(["--yes", "-m", "code", "both", ...tools(asking)]), "got 2\ngot 3\n");
  });
  test("several that wait at once are asked about one after the other", async () => {
    const end = await follow(talk(["-m", "code", "side by side", ...tools(asking)]), [[QUESTION, "y\n"], [QUESTION, "no\n"]]);
    assert.match(end.shown, /(2,no|no,3)\n/);
    assert.equal(end.shown.split("wants to call").length, 3);
  });
  test("without a terminal nobody is asked, which the program hears", async () => {
    const end = await chat(["-m", "code", "try", ...tools(asking)], { limitMs: 20_000 });
    assert.equal(end.code, 0);
    assert.match(end.stdout, /^no: .*fake\.add/);
  });
  test("Ctrl-C ends an answer, and a question", async () => {
    const waiting = await follow(talk(["wait"]), [["waiting for the model", "\x03"]]);
    assert.equal(waiting.code, 130);
    assert.match(waiting.shown, /  cancelled/);
    const asked = await follow(talk(["-m", "code", "try", ...tools(asking)]), [[QUESTION, "\x03"]]);
    assert.equal(asked.code, 130);
    const computing = await follow(talk(["-m", "code", "long"]), [["begun", "\x03"]]);
    assert.equal(computing.code, 130);
    assert.ok(!computing.shown.includes("ended\n") && computing.ms < 15_000 * patience);
  });

  describe("the dialogue", () => {
    test("messages, commands, history; the conversation gets a title", async () => {
      const own = fresh();
      const end = await follow(talk(tools(), { env: own }), [
        ["> ", "hello\n"], ["How are you?", undefined], ["> ", "/mode code\n"], ["mode: code", undefined], ["> ", "add\n"],
        ["1 + 2 = 3", undefined], ["> ", "/mode nope\n"], ["there is no mode", undefined], ["> ", "/tools add\n"], ["fakeAdd", undefined],
        ["> ", "/model\n"], ["recorded", undefined], ["> ", "/qiut\n"], ["did you mean /quit", undefined],
        ["> ", "\x1b[A\x15/new\n"], ["new conversation", undefined], ["> ", "/quit\n"]]);
      assert.equal(end.code, 0);
      assert.match(end.shown, /^Lathe with recorded, mode classic, \d+ tools \(about \d+ tokens in each request\)\.\r?\n\/mode, \/model and \/tools/);
      assert.equal(end.shown.split(/conversation [0-9a-f]{32}/).length, 2, "one conversation, told once");
      assert.match((await chat(["--list"], { env: own })).stdout, /     2  Adding two numbers\n$/);
      const history = join(own.XDG_STATE_HOME, "lathe/history");
      assert.equal(readFileSync(history, "utf8"), "hello\n/mode code\nadd\n/mode nope\n/tools add\n/model\n/qiut\n/new\n/quit\n");
      assert.equal(statSync(history).mode & 0o777, 0o600);
      const later = await follow(talk([], { env: own }), [["> ", "\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A"], ["hello", "\n"], ["How are you?", undefined], ["> ", "\x04"]]);
      assert.equal(later.code, 0);
    });
    test("-c goes on with a conversation; lines are edited, also with letters beyond ASCII", async () => {
      const own = fresh();
      const id = idOf(await chat(["hello"], { env: own }));
      const end = await follow(talk(["-c", "last"], { env: own }), [["> ", "ägain\x01\x04a\x05\n"], ["Again it is.", undefined], ["> ", "\x04"]]);
      assert.ok(end.shown.includes(`conversation ${id}`));
      assert.equal(end.code, 0);
    });
    test("-c goes on in the conversation's mode; /new goes back to the default, but for what was chosen", async () => {
      const own = fresh();
      const models = ["normal", "other"].map((ref) => ({ ref }));
      await chat(["-m", "code", "--model", "other", "hello", "--config", config({ models })], { env: own });
      const end = await follow(talk(["-c", "last", "--config", config({ models })], { env: own }), [
        ["> ", "/mode\n"], ["mode: code", "/model\n"], ["model: other", undefined], ["> ", "/new\n"], ["new conversation", "/mode\n"],
        ["mode: the model's own, else classic", "/model\n"], ["model: normal", "/mode typescript\n"], ["mode: typescript", "/new\n"], ["new conversation", "/mode\n"], ["mode: typescript", "/quit\n"]]);
      assert.equal(end.code, 0);
    });
    test("pasted lines are one message, with their tabs; what steers the terminal is left out", async () => {
      const end = await follow(talk([], { env: fresh() }), [
        ["> ", "\x1b[200~first:\r\tinden\x07ted\r\r\x1b[201~"], ["indented", "last line\n"], ["All of it came.", undefined],
        ["> ", "\x1b[200~hello\x1b[201~\n"], ["How are you?", undefined], ["> ", "again\n"], ["Again it is.", undefined], ["> ", "\x04"]]);
      assert.equal(end.code, 0);
      assert.ok(end.shown.includes("\x1b[?2004h") && /\x1b\[\?2004l[^h]*$/.test(end.shown), "the terminal is itself again");
    });
    test("a paste that is broken off by Ctrl-C leaves nothing behind", async () => {
      const end = await follow(talk([], { env: fresh() }), [["> ", "\x1b[200~never ended"], ["", "\x03"], ["> ", "hello\n"], ["How are you?", undefined], ["> ", "\x04"]]);
      assert.equal(end.code, 0);
    });
    test("a path at a line's beginning is no command", async () => {
      const end = await follow(talk([], { env: fresh() }), [["> ", "/etc/hosts is what?\n"], ["A file.", undefined], ["> ", "/etc\n"], ["There is no command /etc", undefined], ["> ", "\x04"]]);
      assert.equal(end.code, 0);
    });
    test("the spinner is no wider than the window", async () => {
      const narrow = join(folder({ narrow: `#!/bin/sh\nstty cols 14\nexec '${LATHE}' "$@"\n` }), "narrow");
      chmodSync(narrow, 0o755);
      const end = await follow(talk(["wait"], { program: narrow, env: { NO_COLOR: "1" } }), [["| waiting for", "\x03"]]);
      const drawn = [...end.shown.matchAll(/\r\x1b\[K([-|/\\] [^\r\n\x1b^]*)/g)].map((one) => one[1]);
      assert.ok(drawn.length > 0 && drawn.every((one) => one.length < 14), drawn.join("\n"));
    });
    test("Ctrl-C ends the answer, not the program; twice at an empty prompt leaves", async () => {
      const end = await follow(talk([], { env: fresh() }), [
        ["> ", "wait\n"], ["waiting for the model", "\x03"], ["cancelled", undefined], ["> ", "hello\n"], ["How are you?", undefined],
        ["> ", "\x03"], ["once more", undefined], ["> ", "\x03"]]);
      assert.equal(end.code, 0);
    });
    test("SIGTERM leaves, also in the middle of an answer", async () => {
      for (const [line, shown] of [["hello\n", "How are you?"], ["wait\n", "waiting for the model"]]) {
        const run = talk([], { env: fresh() });
        await until(() => run.text().includes("> "), "the prompt is shown");
        run.type(line);
        await until(() => run.text().includes(shown), `${shown} is shown`);
        const pid = run.pids().find(isChat);
        process.kill(Number(pid), "SIGTERM");
        assert.equal((await run.ended).code, 130);
      }
    });
    test("SIGHUP and SIGTERM at the prompt leave the terminal as it was", async () => {
      const shell = join(folder({ shell: `#!/bin/sh\nstty -a\n'${LATHE}' "$@"\necho "code $?"\nstty -a\n` }), "shell");
      chmodSync(shell, 0o755);
      for (const signal of ["SIGHUP", "SIGTERM"]) {
        const run = talk([], { program: shell, env: fresh() });
        await until(() => run.text().includes("> "), "the prompt is shown");
        const pid = run.pids().find(isChat);
        process.kill(Number(pid), signal);
        const shown = plain((await run.ended).stdout);
        assert.match(shown, /code 130\n/);
        const [before, after] = shown.match(/^speed [^]*?-?extproc$/gm);
        assert.equal(after, before);
      }
    });
    test("/approve and /reject answer a question", async () => {
      const end = await follow(talk(["-m", "code", ...tools(asking)], { env: fresh() }), [
        ["> ", "try\n"], [QUESTION, "/approve\n"], ["got 3", undefined], ["> ", "try\n"], [QUESTION, "/reject too late\n"],
        ["too late", undefined], ["> ", "/approve\n"], ["Nothing waits", undefined], ["> ", "/quit\n"]]);
      assert.match(end.shown, /no: .*too late\n/);
      assert.equal(end.code, 0);
    });
    test("a prompt that fails is told of, and the dialogue goes on", async () => {
      const end = await follow(talk([], { env: fresh() }), [["> ", "never recorded\n"], ["nothing was for this", undefined], ["> ", "hello\n"], ["How are you?", undefined], ["> ", "\x04"]]);
      assert.equal(end.code, 0);
    });
  });
});
