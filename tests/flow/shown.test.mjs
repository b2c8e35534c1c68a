// A text is never lost: what one process has stored and not shown is shown by the next one.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { describe, folder, patience, run, scripted, servers, sleep, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";

const COUNT = 30;
const KILLS = 20; // in each mode
const texts = Array.from({ length: COUNT }, (_, i) => `L${i};`);
const CODE = `for (let i = 0; i < ${COUNT}; i++) { try { diskAppend({ i }) } catch (e) {} output("L" + i + ";") }\ndone()`;
// More than a pipe holds; then it waits, so that the prompt does not end.
const LONG = `for (let i = 0; i < ${COUNT}; i++) output("L" + i + ";" + "x".repeat(2000));\ndiskWait({}); done()`;
// Ten texts in each transaction.
const BURST = `for (let i = 0; i < ${COUNT}; i++) { if (i % 10 === 0) try { diskAppend({ i }) } catch (e) {} output("L" + i + ";") }\ndone()`;
const rounds = (call) => [...texts.slice(0, 20).map((text, i) => ({ text, calls: [call(i)] })), "END"];
const turns = [
  { user: "write", replies: [CODE] },
  { user: "typed", replies: rounds((i) => ({ name: "execute_typescript", arguments: { code: `await append({ i: ${i} })` } })) },
  { user: "classic", replies: rounds((i) => ({ name: "disk_append", arguments: { i } })) },
  { user: "burst", replies: [BURST] },
  { user: "long", replies: [LONG] },
  { user: "again", replies: ["Again it is."] },
];

let env;
before(async () => {
  env = await recorded(turns, {}, "--pace=1");
});

function world() {
  const append = { tool: { name: "append", inputSchema: { type: "object" }, annotations: { idempotentHint: true } } };
  const wait = { tool: { ...append.tool, name: "wait" }, delayMs: 2000 * patience };
  const args = servers({ disk: scripted([append, wait]) });
  const options = { env: { ...env, XDG_STATE_HOME: folder() } };
  return { args, options, chat: (...more) => run(["chat", ...more, ...args], options), start: (...more) => start(["chat", ...more, ...args], options) };
}

/** The complete lines of what was printed, as events. */
const eventsOf = (stdout) => stdout.split("\n").slice(0, -1).map((line) => JSON.parse(line));
const textsOf = (stdout) => eventsOf(stdout).filter((e) => e.event === "prompt.output" && e.data.output.type === "text").map((e) => e.data.output);
/** How many outputs are texts in the database. */
function stored({ options }) {
  const file = join(options.env.XDG_STATE_HOME, "lathe/lathe.db");
  const count = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(\"SELECT count(*) FROM prompt_outputs WHERE json LIKE '{_type_:_text_%'\").fetchone()[0])";
  return existsSync(file) ? Number(spawnSync("python3", ["-S", "-c", count, file]).stdout) : 0;
}
/** What lies in a pipe. */
function drained(fd) {
  const parts = [];
  for (let n = 1; n > 0; ) {
    const part = Buffer.alloc(65536);
    n = readSync(fd, part);
    parts.push(part.subarray(0, n));
  }
  return Buffer.concat(parts).toString();
}
const begun = (text) => /prompt\.created/.test(text);

/** Kills a prompt `ms` after its first output, lets the next process go on, and says which texts were printed and how often. */
async function killed(mode, message, ms) {
  const w = world();
  const first = w.start("--json", "-m", mode, message);
  await until(() => begun(first.text()), "it has begun");
  await sleep(ms);
  first.child.kill("SIGKILL");
  const one = textsOf((await first.ended).stdout);
  const two = textsOf((await w.chat("--json", "-c", "last")).stdout);
  return { all: [...one, ...two] };
}

/** How often each text was shown. */
const counts = (all) => texts.map((text) => all.filter((o) => o.content.startsWith(text)).length);

describe("killed at any moment, every text is shown, and at most one twice", { concurrency: 2 }, () => {
  for (const [mode, message, expected] of [["code", "write", texts], ["code", "burst", texts], ["typescript", "typed", texts.slice(0, 20)], ["classic", "classic", texts.slice(0, 20)]]) {
    test(`${mode}, ${message}: ${KILLS} kills`, { timeout: 300_000 * patience }, async () => {
      const lost = [], doubled = [];
      for (let kill = 0; kill < KILLS; kill++) {
        const ms = Math.random() * (message === "burst" ? 30 : 120) * patience;
        const { all } = await killed(mode, message, ms);
        const missing = expected.filter((text) => !all.some((o) => o.content === text));
        const twice = expected.filter((text) => all.filter((o) => o.content === text).length > 1);
        if (missing.length > 0) lost.push(missing.join());
        if (twice.length > 1) doubled.push(twice);
        for (const text of twice) assert.equal(new Set(all.filter((o) => o.content === text).map((o) => o.id)).size, 1, `${text} has two ids`);
        assert.ok(all.every((o) => all.filter((p) => p.id === o.id && p.content !== o.content).length === 0), "one id, one text");
      }
      assert.deepEqual({ lost, doubled }, { lost: [], doubled: [] });
    });
  }
});

describe("what counts as shown", () => {
  test("a reader that does not read: what the pipe did not take is shown by the next process", async () => {
    const w = world();
    const file = join(folder(), "pipe");
    assert.equal(spawnSync("mkfifo", [file]).status, 0);
    const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const first = start(["chat", "--json", "-m", "code", "long", ...w.args], { ...w.options, redirect: `>${file}` });
    /* A full pipe holds up the writer, and so may some of the texts: what is stored stands still. */
    let before = 0, still = 0;
    await until(() => {
      const now = stored(w);
      still = now > 0 && now === before ? still + 1 : 0;
      before = now;
      return now >= COUNT || still > 20 * patience;
    }, "what is stored stands still");
    await sleep(100);
    first.child.kill("SIGKILL");
    await first.ended;
    const one = textsOf(drained(reader));
    const next = await w.chat("--json", "-c", "last");
    const two = textsOf(next.stdout);
    assert.ok(one.length > 0 && one.length < COUNT, `${one.length} fitted into the pipe`);
    assert.deepEqual(counts([...one, ...two]).filter((n) => n === 0), []);
    for (const o of one) assert.ok(two.every((p) => p.content !== o.content || p.id === o.id), "the same id");
  });
  test("a reader that has left: nothing more counts as shown, and the next process shows it", async () => {
    const w = world();
    const first = start(["chat", "--json", "-m", "code", "long", ...w.args], { ...w.options, redirect: "| head -n 1" });
    await until(() => stored(w) >= COUNT, "all is stored");
    await sleep(100);
    assert.match((await first.kill()).stdout, /prompt\.created/);
    assert.deepEqual(counts(textsOf((await w.chat("--json", "-c", "last")).stdout)), texts.map(() => 1));
  });
  test("what was shown and acknowledged is not shown again, and new texts follow", async () => {
    const w = world();
    const first = w.start("--json", "-m", "code", "long");
    await until(() => first.text().split('"event":"prompt.output"').length > COUNT + 1, "all is shown");
    await sleep(200 * patience);
    first.child.kill("SIGKILL");
    await first.ended;
    const next = await w.chat("--json", "-c", "last", "-m", "classic", "again");
    assert.deepEqual(textsOf(next.stdout).map((o) => o.content), ["Again it is."]);
  });
  test("standard output that is closed takes everything: nothing is kept for later", async () => {
    const w = world();
    const first = start(["chat", "-m", "code", "long", ...w.args], { ...w.options, redirect: ">&-" });
    await until(() => stored(w) >= COUNT, "all is stored");
    await sleep(200 * patience);
    first.child.kill("SIGKILL");
    await first.ended;
    assert.equal((await w.chat("-c", "last", "-m", "classic", "again")).stdout, "Again it is.\n");
  });
  test("texts come back in their order, before anything new", async () => {
    const w = world();
    const file = join(folder(), "pipe");
    spawnSync("mkfifo", [file]);
    const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const first = start(["chat", "--json", "-m", "code", "long", ...w.args], { ...w.options, redirect: `>${file}` });
    let all = 0; // how many are stored: no more are once the pipe is full
    await until(async () => {
      const before = all;
      await sleep(300 * patience);
      return (all = stored(w)) > 0 && all === before;
    }, "the pipe is full");
    first.child.kill("SIGKILL");
    await first.ended;
    all = stored(w);
    const one = textsOf(drained(reader)).length;
    closeSync(reader);
    const two = (await w.chat("-c", "last", "-m", "classic", "again")).stdout.match(/L\d+;|Again it is\./g);
    const from = texts.indexOf(two[0]), end = from + two.length - 1; // a program that was slow, and not at its end, goes on
    assert.ok(one > 0 && (from === one || from === one - 1) && end >= all, `${all}: ${one} and ${two}`);
    assert.deepEqual(two, [...texts.slice(from, end), "Again it is."]);
    assert.deepEqual((await w.chat("-c", "last", "-m", "classic", "again")).stdout, "Again it is.\n");
  });
});
