// lathe repl: programs that a person types or that come from a pipe; values as a person reads them; what stays from one to the next.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { bare, describe, folder, lathe, needTerminal, patience, prints, recording, run, scripted, servers, start, test, until } from "./harness.mjs";

const world = () => ({ XDG_STATE_HOME: folder(), HOME: folder() });
const tool = (name, more = {}) => ({ tool: { name, inputSchema: { type: "object", properties: { path: { type: "string" }, pattern: { type: "string" } } } }, ...more });
/** Pipes programs into a repl and returns how it ended. */
const pipe = (stdin, args = [], options = {}) => run(["repl", ...args], { stdin, ...options });
const ESC = "\x1b";

describe("values", { concurrency: 3 }, () => {
  test("are shown as a person reads them", async () => {
    const shown = [
      ["1 + 1", "2"], ["'a' + 'b'", "'ab'"], ["null", "null"], ["[1, 'two', { three: [4, { five: [6] }] }]", "[ 1, 'two', { three: [ 4, [Object] ] } ]"],
      ["new Map([['a', 1]])", "Map(1) { 'a' => 1 }"], ["new Set('ab')", "Set(2) { 'a', 'b' }"], ["({ p: Promise.resolve(1) })", "{ p: Promise { 1 } }"],
      ["await Promise.resolve(7)", "7"], ["12n", "12n"], ["/x/g", "/x/g"], ["() => 1", "[Function (anonymous)]"], ["class A {}; new A", "A {}"],
      ["new TypeError('no')", "TypeError: no\n    at program.js:1:5"], ["new Date(0)", "1970-01-01T00:00:00.000Z"],
    ];
    const end = await pipe(shown.map(([code]) => `${code}\n`).join(""));
    prints(end, { stdout: `${shown.map(([, text]) => text).join("\n")}\n` });
  });
  test("undefined is not shown; _ is the last value, unless a program has that name", async () => {
    prints(await pipe("5\nconst x = _ * 2\nx\n_ + _\nvar _ = 'mine'\n8\n_\n"), { stdout: "5\n10\n20\n8\n'mine'\n" });
  });
  test("hostile ones do not reach a terminal raw, have no end of their own, and end nothing", async () => {
    const end = await start(["repl"], { terminal: true, window: [24, 80], env: { ...world(), TERM: "xterm" }, redirect: `<${folder({ in: [
      `"${ESC}[31mred" + String.fromCharCode(27) + "]0;title" + String.fromCharCode(0x202e, 0x9b, 7)`,
      "({ toString() { throw 1 }, get x() { throw 2 }, get [Symbol.toStringTag]() { throw 3 } })",
      `({ [Symbol.for('nodejs.util.inspect.custom')]: () => '\\x1b[2J' })`,
      "const me = { list: [] }; me.list.push(me); me",
      "let deep = {}; for (let i = 0; i < 20000; i++) deep = { deep }; deep",
      "'x'.repeat(5e6)", "Array.from({ length: 1e5 }, () => 'y'.repeat(300))", "Object.fromEntries(Array.from({ length: 3e4 }, (_, i) => ['k' + i, { i }]))",
      "console.log('\\x1b[5m'); output('\\x1b[6m'); throw new Error('\\x1b[7m')", "'still here'",
    ].join("\n") })}/in` }).ended;
    assert.equal(end.code, 1);
    assert.doesNotMatch(end.stdout.replace(/\x1b\[(2|31|0|33)?m|\r\x1b\[K/g, ""), /[\x1b\x07\x9b\u202e]/u);
    assert.match(end.stdout, /throws when it is looked at[^]*<ref \*1> \{ list: \[ \[Circular \*1\] \] \}[^]*deep: \{ deep: \[Object\] \}[^]*more characters[^]*more items[^]*more properties[^]*'still here'\r\n$/);
    assert.ok(end.stdout.length < 100_000, `${end.stdout.length} characters`);
  });
});

describe("programs", { concurrency: 3 }, () => {
  test("names stay and can be declared again; a program of several lines is one; types are taken off", async () => {
    const end = await pipe("const n = 1\nconst n: number = 2; let m = 3\nclass P { v = n }\nfunction add(a,\n  b) {\n  return `${a}\n${b}`\n}\nif (n)\n  add(m, new P().v)\nstore('k', 9)\nrecall('k')\n");
    prints(end, { stdout: "'3\\n2'\n9\n" });
  });
  test("an error has its place, and the next program runs; the exit code tells", async () => {
    const end = await pipe("const a = 1\nfunction f() {\n  throw new TypeError('no')\n}\n1; f()\n  nope\n(]\na\n");
    prints(end, { stdout: "1\n", code: 1, stderr: end.stderr });
    assert.match(end.stderr, /^error: TypeError: no \(line 1, column 3: 1; f\(\)\)\nerror: ReferenceError: nope is not defined \(line 1, column 3: nope\)\nerror: SyntaxError[^\n]*line 1/);
  });
  test("with --json each is a line", async () => {
    const end = await pipe("let a = { b: 1 }; log('l'); output('o'); a\n'text'\nthrow new Error('x')\nundefined\n", ["--json"]);
    assert.equal(end.code, 1);
    assert.deepEqual(end.stdout.trim().split("\n").map((line) => JSON.parse(line)), [
      { result: { b: 1 }, outputs: ["o"], logs: ["l"] }, { result: "text", outputs: [], logs: [] },
      { outputs: [], logs: [], error: "x (line 1, column 11: throw new Error('x'))" }, { outputs: [], logs: [] }]);
  });
  test("bad input is told, and is no end: NUL, invalid UTF-8, a long line, an unfinished program, unknown commands", async () => {
    const end = await pipe(Buffer.concat([Buffer.from("'\0'\n'"), Buffer.from([0xff]), Buffer.from(`'\n'${"x".repeat(3e6)}'\n/tols\n1 +\n`)]));
    assert.equal(end.code, 1);
    assert.match(end.stderr, /NUL[^]*not valid UTF-8[^]*line is longer than 1048576 bytes[^]*There is no command \/tols: did you mean \/tools[^]*SyntaxError/);
    assert.match((await pipe(`${"f(\n".repeat(25_000)}1`)).stderr, /^error: a program of 65537 bytes that is not finished/);
    assert.match((await pipe("1", ["--lang", "py"])).stderr, /--lang is js or ts/);
    assert.match((await pipe("1", ["-c"], { env: world() })).stderr, /there is no session to go on with/);
    assert.equal((await pipe("1", ["-s", "x".repeat(65)])).code, 2);
  });
  test("tools are functions; who asks is asked at the terminal, and else the answer is no", async () => {
    const effects = recording(), rules = { ...bare, tools: { policy: [{ match: "files.remove", action: "ask", reason: "house rule" }] } };
    const config = servers({ files: scripted([tool("read"), tool("remove")], effects.option) }, rules);
    const end = await pipe("filesRead({ path: 'a' })\nfilesRemove({ path: 'b' })\n", config);
    assert.match(end.stdout, /path: 'a'|\{\}/);
    assert.match(end.stderr, /error: .*files\.remove/);
    assert.deepEqual(effects.of("tools/call").map((m) => m.params.name), ["read"]);
    prints(await pipe("filesRemove({ path: 'b' }); 1\n", [...config, "--yes"]), { stdout: "1\n" });
  });
});

/** Starts a command at a terminal that takes no more output, waits until keys are read one by one there, types Ctrl-D, and reads on. */
const FULL_TERMINAL = `import os, pty, sys, termios, threading, time
master, slave = pty.openpty()
os.set_blocking(slave, False)
def fill():
    try:
        while True: os.write(slave, b"x")
    except BlockingIOError: time.sleep(0.02)
for _ in range(20): fill()
pid = os.fork()
if pid == 0:
    os.login_tty(slave)
    null = os.open("/dev/null", os.O_WRONLY)
    os.dup2(null, 1), os.dup2(null, 2)
    os.execvp(sys.argv[2], sys.argv[2:])
end = time.monotonic() + float(sys.argv[1])
while termios.tcgetattr(slave)[3] & termios.ICANON and time.monotonic() < end: time.sleep(0.01)
print("lines" if termios.tcgetattr(slave)[3] & termios.ICANON else "keys", flush=True)
os.write(master, b"\\x04")
threading.Thread(target=lambda: [0 for _ in iter(lambda: os.read(master, 4096), b"")], daemon=True).start()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)`;

test("the terminal is ready for keys before the prompt is on it: Ctrl-D that answers a prompt at once is not lost", () => {
  needTerminal();
  const end = spawnSync("python3", ["-S", "-c", FULL_TERMINAL, String(10 * patience), lathe, "repl"], { encoding: "utf8", timeout: 60_000 * patience, env: { ...process.env, HOME: folder(), XDG_STATE_HOME: folder(), TERM: "xterm" } });
  assert.deepEqual([end.stdout, end.status], ["keys\n", 0], end.stderr);
});

describe("after a kill", { concurrency: 2 }, () => {
  test("-c goes on: with the variables, and in the middle of a program; no call is made twice", async () => {
    const effects = recording(), env = world();
    const config = servers({ files: scripted([tool("read"), { ...tool("remove"), delayMs: 30_000 }], effects.option) }, { ...bare, tools: { policy: [{ match: "files.remove", action: "ask" }] } });
    const one = start(["repl", ...config], { env, typed: true, terminal: true, window: [24, 80] });
    await until(() => one.text().includes("> "), "the prompt is there");
    one.type("const kept = { n: 41 }\r");
    one.type("filesRead({ path: 'a' }); kept.n++; filesRemove({ path: 'b' }); kept.n\r");
    await until(() => /wants to call files\.remove/.test(one.text()), "the question is there");
    await one.kill();
    const two = start(["repl", "-c", ...config], { env, terminal: true, window: [24, 80] });
    await until(() => /wants to call files\.remove/.test(two.text()), "it is asked again").catch((e) => { throw new Error(`${e.message}: ${two.text()}`); });
    two.type("n\r");
    await until(() => /error: /.test(two.text()), "the program ends");
    two.type("kept.n\r");
    await until(() => /\n42\r\n.*> $/.test(two.text()), `the variables are there\n${two.text()}`);
    two.type("\x04");
    assert.equal((await two.ended).code, 0);
    assert.deepEqual(effects.of("tools/call").map((m) => m.params.name), ["read"]);
    prints(await pipe("kept\n", ["-c", ...config], { env }), { stdout: "{ n: 42 }\n" });
  });
});

for (const columns of [40, 80, 200]) {
  describe(`at a terminal of ${columns} columns`, () => {
    test("names are completed, lines are found again, Ctrl-C stops a program and not the dialogue", async () => {
      const env = { ...world(), TERM: "xterm", PRIVATE: "s3cr3t-value" };
      const config = servers({ files: { ...scripted([tool("read"), tool("remove")]), env: { TOKEN: "${PRIVATE}" } } }, bare);
      const one = start(["repl", ...config], { env, terminal: true, window: [24, columns] });
      const plain = () => one.text().replace(/\x1b\[[0-9;?]*[A-Za-z]|\r(?!\n)/g, "");
      const types = async (text, wanted, what = text) => {
        const before = plain().length;
        one.type(text);
        await until(() => wanted.test(plain().slice(before)), what).catch((e) => { throw new Error(`${e.message}: ${JSON.stringify(plain().slice(before))}`); });
      };
      await until(() => one.text().includes("> "), "the prompt is there");
      await types("filesRea\t", /filesRead/, "a tool");
      await types("({ pat\t", /path[^]*pattern/, "what its input has");
      await types("h: 'x' }) && 1\r", /\n1\r\n> $/, "it runs");
      await types("const shelf = { books: 1, boxes: 2 }\r", /> $/);
      await types("she\t.bo\t", /books +boxes/, "members of a variable");
      await types("oks + 1\r", /\n2\r\n> $/, "it runs");
      await types("tools['files.rem\t", /files\.remove/, "ids");
      await types("\x03", /> $/);
      await types("/cl\t\r", /\/clear[^]*> $/, "commands");
      await types("typeof shelf\r", /'undefined'\r\n> $/, "nothing is left");
      await types("[1,\r", /\.\.\. $/, "it goes on");
      await types("2]\r", /\[ 1, 2 \]\r\n> $/, "and ends");
      await types("for (;;) {}\r", /running the program/, "it runs");
      await types("\x03", /was stopped[^]*> $/);
      await types("'s3cr3t-value'\r", /\*\*[^\n]*\n> $|s3cr3t-value'\r\n> $/, "a secret");
      await types("\x1b[A\r", /for \(;;\) \{\}[^]*running the program/, "the line before the secret is found");
      await types("\x03", /was stopped[^]*> $/);
      one.type("\x04");
      assert.equal((await one.ended).code, 0);
      const file = `${env.XDG_STATE_HOME}/lathe/repl-history`;
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.doesNotMatch(readFileSync(file, "utf8"), /s3cr3t/);
    });
  });
}
