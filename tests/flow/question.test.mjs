// A question is modal: while one is open, nothing else is on that terminal, and what is read is what is decided.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, fake, folder, isChat, noWalls, patience, root, scripted, servers, sleep, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";

const LATHE = resolve(process.env.LATHE ?? join(root, "build/lathe"));
const ASKED = /Allow\?[^\n]*: $/;
const FORGED = "The program wants to call fake.add\\n  input: {\"a\":1}\\nAllow? ";
const asking = (rest = {}, options = []) => servers({ fake: fake(...options) }, { ...rest, tools: { policy: [{ match: "fake.echo", action: "ask" }] } });
const clean = (text) => text.replaceAll("\r\n", "\n");
const asked = (run) => until(() => ASKED.test(clean(run.text())), "it asks");

/** What is on the terminal at the question, a while later (the program spoke meanwhile), and at the end. */
async function meanwhile(run, hasSpoken = () => sleep(600), answer = "y\n") {
  await asked(run);
  const before = clean(run.text());
  await hasSpoken();
  const after = clean(run.text());
  run.type(answer);
  const end = await run.ended;
  return { ...end, before, after, shown: clean(end.stdout), rest: clean(end.stdout).slice(before.length) };
}
const at = (args, options) => start(args, { terminal: true, ...options });
/** A program that speaks while its call is asked about. */
const SPEAKS = `const p = fakeEcho({ text: 'rm -rf /' }).then(() => output('called'));
await sleep(200); output('\\n'.repeat(60) + ${JSON.stringify(JSON.parse(`"${FORGED.replaceAll('"', '\\"')}"`))}); log('one\\ntwo'); console.error('three\\nfour'); console.warn('five'); await p`;

describe("nothing else is written while a question is open", () => {
  test("lathe run: output, logs and console lines follow the answer, in their order", async () => {
    const end = await meanwhile(at(["run", "-e", SPEAKS, ...asking()]));
    assert.equal(end.after, end.before);
    assert.match(end.rest, /^y\n\n{60}The program wants to call fake\.add\n  input: \{"a":1\}\nAllow\? \n\[log\] one\n\[log\] two\n\[error\] three\n\[error\] four\n\[warn\] five\ncalled\n$/);
  });
  test("each line of a log has its prefix, also in a pipe", async () => {
    const end = await start(["run", "-e", "log('a\\n\\nAllow? ')"]).ended;
    assert.equal(end.stderr, "[log] a\n[log] \n[log] Allow? \n");
  });
  test("the prefixes stay when lines come as carriage returns or separators", async () => {
    const end = await at(["run", "-e", "log('a\\rb\\u2028c\\u0085d')"]).ended;
    assert.equal(clean(end.stdout), "[log] a\n[log] b\n[log] cd\n");
  });
  test("TypeScript", async () => {
    const code = `const p = echo({ text: "x" }); await new Promise((f) => setTimeout(f, 200)); console.log("\\n".repeat(60) + "forged"); console.error("e1\\ne2"); await p; console.log("after")`;
    const end = await meanwhile(at(["run", "--lang", "ts", "-e", code, ...asking()]));
    assert.equal(end.after, end.before);
    assert.match(end.rest, /^y\n\n{60}forged\n\[\w+\] e1\n\[\w+\] e2\nafter\n/);
  });
  test("Python, with its threads; its children do not have the terminal", { skip: noWalls() }, async () => {
    const code = `import threading, time, os
def speak():
    time.sleep(0.3)
    print("\\n" * 60 + "forged")
    try:
        open("/dev/tty", "w").write("from the child")
    except OSError as e:
        print("no terminal")
t = threading.Thread(target=speak); t.start()
call_tool("fake.echo", {"text": "x"})
t.join(); print("after")`;
    const end = await meanwhile(at(["run", "--lang", "python", "-e", code, ...asking()]), () => sleep(1200));
    assert.equal(end.after, end.before);
    assert.doesNotMatch(end.shown, /from the child/);
    assert.match(end.rest, /forged[^]*no terminal[^]*after/);
  });
  const bin = [join(root, "tests/node_modules/.bin"), join(root, "node_modules/.bin")].find((path) => existsSync(join(path, "deno")));
  test("Deno", { skip: (bin === undefined && "no deno from npm") || noWalls() }, async () => {
    const code = `const p = echo({ text: "x" }); await new Promise((f) => setTimeout(f, 300)); console.log("\\n".repeat(60) + "forged"); await p; console.log("after")`;
    const end = await meanwhile(at(["run", "--lang", "ts", "--runner", "deno", "-e", code, ...asking()], { env: { PATH: `${process.env.PATH}:${bin}` } }), () => sleep(1200));
    assert.equal(end.after, end.before);
    assert.match(end.rest, /^y\n\n{60}forged\nafter\n/);
  });
  test("a server cannot open the terminal, and what it says meanwhile follows the answer", async () => {
    const speaker = join(folder({ "speaker.sh": `#!/bin/sh\n(sleep 4; echo "said by a server" >&2; echo "on the terminal" > /dev/tty) &\nexec "$@"\n` }), "speaker.sh");
    const server = fake();
    const args = servers({ fake: { command: "/bin/sh", args: [speaker, server.command, ...server.args] } }, { tools: { policy: [{ match: "fake.echo", action: "ask" }] } });
    const end = await meanwhile(at(["run", "-e", "fakeEcho({ text: 'x' }); sleep(3000)", ...args]), () => sleep(4500));
    assert.equal(end.after, end.before);
    assert.doesNotMatch(end.shown, /on the terminal/);
  });
  test("standard output that is a pipe goes on; the messages do not", async () => {
    const out = join(folder(), "out");
    const run = at(["run", "-e", SPEAKS, ...asking()], { redirect: `>${out}` });
    const end = await meanwhile(run, () => until(() => existsSync(out) && readFileSync(out, "utf8").includes("fake.add"), "the file has it"));
    assert.equal(end.after, end.before);
    assert.match(end.rest, /^y\n\[log\] one\n/);
  });
  test("standard error that is a file goes on; the output does not", async () => {
    const err = join(folder(), "err");
    const end = await meanwhile(at(["run", "-e", SPEAKS, ...asking()], { redirect: `2>${err}` }), () => until(() => existsSync(err) && readFileSync(err, "utf8").includes("five"), "the file has it"));
    assert.equal(end.after, end.before);
    assert.match(end.rest, /^y\n\n{60}The program/);
  });
  test("a megabyte of output is held, none of it is lost", async () => {
    const code = `const p = fakeEcho({ text: 'x' }).then(() => 0); await sleep(200); for (let i = 0; i < 1000; i++) output(i + 'x'.repeat(1000)); await p; output('after')`;
    const end = await meanwhile(at(["run", "-e", code, ...asking({ sandbox: { maxOutputBytes: 4_000_000 } })]), () => sleep(1500));
    assert.equal(end.after, end.before);
    assert.deepEqual([...end.rest.matchAll(/^(\d+)x{1000}$/gm)].map((m) => Number(m[1])), Array.from({ length: 1000 }, (_, i) => i));
    assert.match(end.rest, /\nafter\n$/);
  });
  test("what was held is written when the run ends with the question open", async () => {
    const end = await at(["run", "-e", "const p = fakeEcho({ text: 'x' }).then(() => 0); await sleep(100); output('said'); for (;;);", "--timeout", 900, ...asking()]).ended;
    assert.equal(end.code, 124);
    assert.match(clean(end.stdout), /: \nsaid\n/);
  });
  test("between two questions what was held comes, and the second question is below it", async () => {
    const code = `const c = Promise.all([1, 2].map((n) => fakeEcho({ text: 'call ' + n }))); await sleep(200); output('held'); await c`;
    const run = at(["run", "-e", code, ...asking()]);
    await asked(run);
    await sleep(400);
    run.type("y\n");
    await until(() => /call 2[^]*Allow\?/.test(clean(run.text())), "it asks again");
    assert.match(clean(run.text()), /: y\nheld\n\nThe program wants to call fake\.echo\n  input: \{"text":"call 2"\}\nAllow\?[^\n]*: $/);
    run.type("y\n");
    assert.equal((await run.ended).code, 0);
  });
});

describe("in chat", () => {
  const speaks = "const p = fakeEcho({ text: 'x' }).then(() => output('called')); await sleep(300); output('\\n'.repeat(60) + 'forged'); await p; done()";
  const typed = "const p = echo({ text: 'x' }); await new Promise((f) => setTimeout(f, 300)); console.log('\\n'.repeat(60) + 'forged'); await p; console.log('called')";
  const turns = [
    { user: "code", replies: [speaks] },
    { user: "typescript", replies: [{ text: "Let me see.", calls: [{ name: "execute_typescript", arguments: { code: typed } }] }, "Done."] },
    { user: "classic", replies: [{ text: "First this.", calls: [{ name: "fake_echo", arguments: { text: "x" } }, { name: "fake_add", arguments: { a: 1, b: 2 } }] }, "Done."] },
  ];
  for (const mode of ["code", "typescript", "classic"]) {
    for (const json of mode === "code" ? [[], ["--json"]] : [[]]) {
      test(`${mode} ${json}`, async () => {
        const env = { ...(await recorded(turns)), XDG_STATE_HOME: folder() };
        const end = await meanwhile(at(["chat", "-m", mode, ...json, mode, ...asking()], { env }), () => sleep(1200));
        assert.equal(end.after, end.before);
        assert.equal(end.code, 0, end.shown);
        assert.match(end.before, /The model wants to call fake\.echo\n/);
        assert.match(end.rest, mode === "classic" ? /Done\./ : mode === "code" ? /forged[^]*called/ : /Done\./);
      });
    }
  }
});

describe("killed with a question open", () => {
  test("what was held was not shown: the next process shows it, once", async () => {
    const text = "const p = fakeEcho({ text: 'x' }).then(() => output('called')); await sleep(300); output('held text'); await p; done()";
    const env = { ...(await recorded([{ user: "go", replies: [text] }])), XDG_STATE_HOME: folder() };
    const args = asking();
    const first = at(["chat", "-m", "code", "go", ...args], { env });
    await asked(first);
    await sleep(1200);
    assert.doesNotMatch(first.text().replace(/^.*\| .*$/gm, ""), /held text/);
    const pid = first.pids().find(isChat);
    process.kill(Number(pid), "SIGKILL");
    await first.ended;
    const second = at(["chat", "-c", "last", ...args], { env });
    await asked(second);
    await sleep(800);
    second.type("y\n");
    const plain = (text) => clean(text).replace(/\x1b\[[?0-9]*[a-zA-Z]/g, "");
    await until(() => /\ncalled\n[^]*> $/.test(plain(second.text())), "the dialogue goes on");
    second.type("\x04");
    const shown = plain((await second.ended).stdout);
    assert.equal(shown.match(/^held text$/gm)?.length, 1, shown);
    assert.match(shown, /^called$/m);
  });
});

describe("a window that is too small", () => {
  const LINES = "fakeEcho({ list: Array.from({ length: 19 }, (_, i) => 'line number ' + i + ' of the input') })";
  const MORE = /-- (\d+) of (\d+) lines; space: more, q: the question --$/;
  const page = (run) => until(() => MORE.exec(clean(run.text())), "a page is full");
  const last = (run) => clean(run.text()).split(/\nThe program wants to call fake\.echo\n/).at(-1);
  test("the input is paged; each page has the header; the question is the last line", async () => {
    const run = at(["run", "-e", LINES, ...asking()], { window: [10, 60] });
    await page(run);
    assert.ok(last(run).split("\n").length <= 9, last(run));
    assert.doesNotMatch(run.text(), /Allow\?/);
    for (let n = 2; !ASKED.test(clean(run.text())); n++) {
      run.type(n % 2 ? " " : "\n");
      await until(() => run.text().split("wants to call").length > n, "the next page");
      await until(() => MORE.test(clean(run.text())) || ASKED.test(clean(run.text())), "all of it");
      assert.ok(last(run).split("\n").length <= 9, last(run));
    }
    for (let i = 0; i < 19; i++) assert.ok(run.text().includes(`line number ${i} of`));
    run.type("y\n");
    assert.equal((await run.ended).code, 0);
  });
  test("q goes to the question, which says how much was not shown", async () => {
    const run = at(["run", "-e", LINES, ...asking()], { window: [10, 60] });
    await page(run);
    run.type("q");
    await asked(run);
    assert.match(last(run), /^  \(\d+ of \d+ lines were not shown\)\nAllow\?/);
    run.type("n\n");
    assert.match((await run.ended).stdout, /not approved/);
  });
  test("other keys, arrows and an early y decide nothing", async () => {
    const run = at(["run", "-e", LINES, ...asking()], { window: [10, 60] });
    await page(run);
    const before = run.text();
    run.type("y");
    run.type("\x1b[B");
    await sleep(300);
    assert.equal(run.text(), before);
    run.type("q");
    await asked(run);
    run.type("n\n");
    assert.match((await run.ended).stdout, /not approved/);
  });
  test("another size shows the question again; half an answer is forgotten", async () => {
    const run = at(["run", "-e", LINES, ...asking()], { window: [50, 80] });
    await asked(run);
    assert.doesNotMatch(clean(run.text()), /more, q/);
    run.type("y");
    run.resize(10, 60);
    await page(run);
    run.type("q");
    await asked(run);
    run.type("\n"); // no "y" is left before it
    await until(() => run.text().split("Allow?").length > 3, "it asks again");
    run.type("n\n");
    assert.match((await run.ended).stdout, /not approved/);
  });
  test("Ctrl-C and Ctrl-D on a page, and the terminal is itself again", async () => {
    for (const [key, code] of [["\x03", 130], ["\x04", 1]]) {
      const run = at(["-c", `trap : INT; stty -a; "$0" "$@"; echo "code $?"; stty -a`, LATHE, "run", "-e", LINES, ...asking()], { program: "/bin/sh", window: [10, 60] });
      await page(run);
      run.type(key);
      const shown = clean((await run.ended).stdout);
      assert.match(shown, new RegExp(`code ${code}\n`));
      const [before, after] = shown.match(/^speed [^]*?-?extproc$/gm);
      assert.equal(after, before);
    }
  });
  test("a long line is broken by us, with a margin: nothing of it is at the left edge", async () => {
    const text = "x".repeat(40) + " ".repeat(24) + "The program wants to call fake.add" + " ".repeat(60) + "Allow? [y]es";
    const end = await meanwhile(at(["run", "-e", `fakeEcho(${JSON.stringify({ text })})`, ...asking()], { window: [40, 60] }), () => sleep(1), "n\n");
    assert.equal(end.before.match(/^Allow\?/gm).length, 1);
    assert.equal(end.before.match(/^The program/gm).length, 1);
    assert.ok(end.before.split("\n").slice(0, -1).every((line) => line.length <= 60), end.before);
  });
});

describe("what is approved is readable", () => {
  test("a text of several lines is shown as lines, behind a margin; nothing in it looks like a line of ours", async () => {
    const text = "one\nThe program wants to call fake.add\n  input: {}\nAllow? \x1b[2J\u200b\u3164 end\n\n\tlast";
    const end = await meanwhile(at(["run", "-e", `fakeEcho(${JSON.stringify({ text, after: true })})`, ...asking()], { window: [50, 100] }), () => sleep(1), "n\n");
    assert.ok(end.before.includes(`  input: {
    "text": (6 lines)
      | one
      | The program wants to call fake.add
      |   input: {}
      | Allow? <U+001B>[2J<U+200B><U+3164> end
      | 
      |   last
    "after": true
  }
Allow?`), end.before);
  });
  test("letters that look like others are pointed out", async () => {
    const input = { path: "/srv/me/\u0440\u0430ypal.com", url: "https://xn--80ak6aa92e.com/", plain: "\u043e\u0442\u0447\u0451\u0442.txt" };
    const end = await meanwhile(at(["run", "-e", `fakeEcho(${JSON.stringify(input)})`, ...asking()], { window: [50, 200] }), () => sleep(1), "n\n");
    assert.ok(end.before.includes(`  note: "\u0440\u0430ypal" mixes Cyrillic and Latin letters: <U+0440><U+0430>ypal\n  note: "xn--80ak6aa92e.com" is an encoded international name`), end.before);
    assert.equal(end.before.match(/ note: /g).length, 2);
  });
});

describe("a write to a file", () => {
  const schema = (...names) => ({ type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])), required: names });
  const write = { tool: { name: "write_file", inputSchema: schema("path", "content") } };
  const edit = { tool: { name: "edit_file", inputSchema: schema("path", "edits") } };
  const OLD = Array.from({ length: 20 }, (_, i) => `line ${i + 1}\n`).join("");
  const read = (rest = {}) => ({ tool: { name: "read_text_file", inputSchema: schema("path"), annotations: { readOnlyHint: true } }, result: { content: [{ type: "text", text: OLD }] }, ...rest });
  const CALL = `fsWriteFile({ path: "a.md", content: ${JSON.stringify(OLD.replace("line 10\n", "ten\n"))} })`;
  const policy = [{ match: "*.write_file", action: "ask" }, { match: "*.edit_file", action: "ask" }];
  const shown = async (tools, code = CALL, { rules = policy, more = {} } = {}) => {
    const end = await meanwhile(at(["run", "-e", code, ...servers({ fs: scripted(tools), ...more }, { tools: { policy: rules } })], { window: [60, 120] }), () => sleep(1), "n\n");
    return end.before;
  };
  const DIFF = `  changes "a.md", compared with what fs.read_text_file reads now:
    ... 6 lines stay as they are
    | line 7
    | line 8
    | line 9
    - line 10
    + ten
    | line 11
    | line 12
    | line 13
    ... 7 lines stay as they are
  Answer s to see the input as it is.
Allow?`;
  test("is shown as what it changes", async () => assert.ok((await shown([write, read()])).includes(DIFF)));
  test("an edit, too, when what it replaces is there exactly once", async () => {
    const code = (oldText) => `fsEditFile({ path: "a.md", edits: [{ oldText: "${oldText}", newText: "ten\\n" }] })`;
    assert.ok((await shown([edit, read()], code("line 10\\n"))).includes(DIFF));
    for (const unsure of ["line 1", "no such line"]) assert.match(await shown([edit, read()], code(unsure)), /  input: \{/);
  });
  test("s shows the input as it is", async () => {
    const run = at(["run", "-e", CALL, ...servers({ fs: scripted([write, read()]) }, { tools: { policy } })], { window: [60, 120] });
    await asked(run);
    run.type("s\n");
    await until(() => run.text().split("Allow?").length > 2, "it asks again");
    assert.match(clean(run.text()), /"content": \(20 lines\)\n      \| line 1\n/);
    run.type("n\n");
    await run.ended;
  });
  const NEW = /  input: \{\n    "path": "a\.md",\n    "content": \(20 lines\)\n      \| line 1\n/;
  const otherwise = {
    "no tool of this server reads": [[write]],
    "the tool that reads does not say that it only reads": [[write, read({ tool: { name: "read_text_file", inputSchema: schema("path") } })]],
    "it needs more than a path": [[write, read({ tool: { name: "read_text_file", inputSchema: schema("path", "key"), annotations: { readOnlyHint: true } } })]],
    "it fails, as the file is new": [[write, read({ result: { content: [{ type: "text", text: "ENOENT" }], isError: true } })]],
    "the policy denies it": [[write, read()], { rules: [{ match: "*.read_text_file", action: "deny" }, ...policy] }],
    "it would be asked about": [[write, read()], { rules: [{ match: "*.read_text_file", action: "ask" }, ...policy] }],
    "only another server has it": [[write], { more: { other: scripted([read()]) } }],
  };
  for (const [why, [tools, options]] of Object.entries(otherwise)) {
    test(`is shown as its new text where ${why}`, async () => assert.match(await shown(tools, CALL, options), NEW));
  }
  test("is shown as its new text where the old one takes too long", async () => {
    const began = Date.now();
    assert.match(await shown([write, { ...read(), delayMs: 20_000 }]), NEW);
    assert.ok(Date.now() - began < 10_000 * patience);
  });
  test("a path cannot begin a line", async () => {
    const text = await shown([write, read()], CALL.replace('"a.md"', '"a.md\\nAllow? "'));
    assert.match(text, /  changes "a\.md\\nAllow\? ", compared with/);
  });
  test("the old text has its secrets masked, and cannot steer the terminal", async () => {
    const text = OLD.replace("line 9\n", "key s3cr3t-value \x1b[2J\u202e\n");
    const server = { ...scripted([write, read({ result: { content: [{ type: "text", text }] } })]), env: { MY_API_KEY: "${KEY_FOR_TEST}" } };
    const end = await meanwhile(at(["run", "-e", CALL, ...servers({ fs: server }, { tools: { policy } })], { window: [60, 120], env: { KEY_FOR_TEST: "s3cr3t-value" } }), () => sleep(1), "n\n");
    assert.ok(end.before.includes("    - key *** <U+001B>[2J<U+202E>\n"), end.before);
  });
});
