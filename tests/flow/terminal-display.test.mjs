// What a terminal shows while something runs: lines that are gone afterwards. Elsewhere nothing of it is written.
import assert from "node:assert/strict";
import { describe, fake, prints, program, recording, scripted, servers, start, test, until } from "./harness.mjs";
import { screen as screenOf } from "./screen.mjs";

/** What is left on an 80 columns wide terminal. */
const screen = (bytes) => screenOf(bytes, 80).join("\n").replace(/\n+$/, "\n");
const at = (args, options = {}) => start(args, { terminal: true, window: [24, 80], ...options, env: { TERM: "xterm", ...options.env } });
/** Everything that was ever on the screen, without colours. */
const seen = (bytes) => bytes.replace(/\x1b\[[0-9;]*m/g, "");

const slowTool = (delayMs) => ({ slow: scripted(["wait", "asked"].map((name) => ({ tool: { name, inputSchema: { type: "object" } }, delayMs, result: { content: [{ type: "text", text: "waited" }] } }))) });

describe("at a terminal", { concurrency: 2 }, () => {
  test("a slow server is shown while it starts, and nothing is left of it", async () => {
    const server = fake();
    const slow = { command: "sh", args: ["-c", 'sleep 2; exec "$0" "$@"', server.command, ...server.args] };
    const end = await at(["run", "-e", "slowAdd({a: 1, b: 2})", ...servers({ slow })]).ended;
    assert.match(seen(end.stdout), /[|\/\\-] starting slow/);
    assert.equal(screen(end.stdout), "3\n");
  });

  test("a call is shown with its seconds; output comes in its place", async () => {
    const end = await at(["run", "-e", "output('first'); output(slowWait({})); 'last'", ...servers(slowTool(1500))]).ended;
    assert.match(seen(end.stdout), /[|\/\\-] slow\.wait [01]\.\d s/);
    assert.equal(screen(end.stdout), "first\nwaited\nlast\n");
  });

  test("several calls have a line each", async () => {
    const end = await at(["run", "-e", "parallel([1, 2, 3].map(() => ({tool: 'slow.wait', args: {}}))).length", ...servers(slowTool(1500))]).ended;
    assert.match(seen(end.stdout), /([|\/\\-] slow\.wait [01]\.\d s\r?\n\r\x1b\[K){2}[|\/\\-] slow\.wait [01]\.\d s/);
    assert.equal(screen(end.stdout), "3\n");
  });

  test("what the server says of its progress is shown, and escape sequences in it are not", async () => {
    const end = await at(["call", "s.progress", JSON.stringify({ steps: 2, ms: 1500, text: "copying\x1b[2J\x07\n" }), ...servers({ s: fake() })]).ended;
    assert.match(seen(end.stdout), /[|\/\\-] s\.progress \d\.\d s: copying 2 \(100 %\)/);
    assert.match(screen(end.stdout), /^token \d+\n$/);
  });

  test("a program that computes is shown; a failure leaves its lines only", async () => {
    const end = await at(["run", "-e", "const end = Date.now() + 1500; while (Date.now() < end); nope()"]).ended;
    assert.match(seen(end.stdout), /running the program [01]\.\d s/);
    assert.equal(screen(end.stdout), "error: ReferenceError: nope is not defined\n  at 1:58: ... while (Date.now() < end); nope()\n".replace("... ", "const end = Date.now() + 1500; "));
  });

  test("Ctrl-C leaves nothing of it", async () => {
    const going = at(["run", "-e", "slowWait({})", ...servers(slowTool(60_000))]);
    await until(() => /slow\.wait/.test(going.text()), "the call is shown");
    going.type("\x03");
    const end = await going.ended;
    assert.equal(end.code, 130);
    assert.doesNotMatch(screen(end.stdout), /slow\.wait \d|running/);
  });

  test("no line is wider than the window", async () => {
    const ends = [16, 40, 80, 200].map(async (columns) => [columns, await at(["run", "-e", "slowWait({})", ...servers(slowTool(1200))], { window: [24, columns] }).ended]);
    for (const [columns, end] of await Promise.all(ends)) {
      for (const [, line] of seen(end.stdout).matchAll(/\r\x1b\[K([^\r\n]*)/g)) assert.ok(line.length <= columns, line);
      assert.equal(screenOf(end.stdout, columns).join("\n").trim(), "waited");
    }
  });
});

describe("while a question is open", () => {
  test("nothing is written, although another call runs", async () => {
    const rules = { tools: { policy: [{ match: "slow.asked", action: "ask", reason: "house rule" }] } };
    const going = at(["run", "-e", "parallel([{tool: 'slow.wait', args: {}}, {tool: 'slow.asked', args: {}}]).length", ...servers(slowTool(3000), rules)]);
    await until(() => /house rule/.test(going.text()), "the question is there");
    const shown = await until(async () => { const before = going.text(); await new Promise((yes) => setTimeout(yes, 300)); return going.text() === before && before; }, "it is all there");
    await new Promise((yes) => setTimeout(yes, 1500));
    assert.equal(going.text(), shown);
    going.type("y\r");
    const end = await going.ended;
    assert.equal(end.code, 0, end.stdout);
    assert.match(screen(end.stdout), /\n2\n$/);
  });
});

describe("colours", () => {
  const code = "log('l'); console.warn('w'); console.error('e'); nope()";
  const plain = "[log] l\n[warn] w\n[error] e\nerror: ReferenceError: nope is not defined\n  at 1:50: log('l'); console.warn('w'); console.error('e'); nope()\n";

  test("a terminal has them", async () => {
    const end = await at(["run", "-e", code]).ended;
    for (const part of ["\x1b[2m[log] \x1b[0ml", "\x1b[33m[warn] \x1b[0mw", "\x1b[31m[error] \x1b[0me", "\x1b[31merror: \x1b[0mReferenceError"]) assert.ok(end.stdout.includes(part), JSON.stringify(end.stdout));
    assert.equal(screen(end.stdout), plain);
  });

  test("not with NO_COLOR, TERM=dumb or without a terminal", async () => {
    assert.doesNotMatch((await at(["run", "-e", code], { env: { NO_COLOR: "1" } }).ended).stdout, /\x1b\[[0-9]+m/);
    const dumb = await at(["run", "-e", code], { env: { TERM: "dumb" } }).ended;
    assert.equal(dumb.stdout.replaceAll("\r\n", "\n"), plain);
    prints(await program(code, [], { env: { TERM: "xterm" } }), { stderr: plain, code: 1 });
  });
});

describe("without a terminal", () => {
  test("no line is drawn, and no progress is asked for", async () => {
    const wire = recording();
    const end = await program("slowWait({})", servers({ slow: scripted([{ tool: { name: "wait", inputSchema: { type: "object" } }, delayMs: 900 }], wire.option) }), { env: { TERM: "xterm" } });
    prints(end, { stdout: "{}\n" });
    assert.equal(wire.of("tools/call")[0].params._meta, undefined);
  });
});
