// A question is modal: while one is open, nothing else is on that terminal, and what is read is what is decided.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, fake, folder, root, servers, sleep, start, test, until } from "./harness.mjs";
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
  test("Python, with its threads; its children do not have the terminal", async () => {
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
