// Which process has a prompt: several at once, in containers, killed and stopped.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, openSync } from "node:fs";
import { join, resolve } from "node:path";
import { before } from "node:test";
import { describe, folder, isChat, patience, recording, root, run, scripted, servers, sleep, sql, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";

const PAY = "let r = 'none';\ntry { r = cashPay({ n: 1 }).n } catch (e) { r = e.message }\noutput('paid ' + r); done()";
const turns = [{ user: "pay", replies: [PAY] }, { user: "again", replies: ["Again it is."] }];
const BEAT_MS = 3000, GONE_MS = 15000; // base/limits.h

let env;
before(async () => {
  env = await recorded(turns);
});

// A pid namespace of its own is what a container has.
const unshare = ["-pf", "--kill-child", "--mount-proc"];
const noContainers = spawnSync("unshare", [...unshare, "true"]).status !== 0 && "no pid namespace can be made here (unshare)";
const lathe = resolve(process.env.LATHE ?? join(root, "build/lathe"));
function container() {
  const path = join(folder({ lathe: `#!/bin/sh\nexec unshare ${unshare.join(" ")} "${lathe}" "$@"\n` }), "lathe");
  chmodSync(path, 0o755);
  return path;
}

// The kernel gives a namespace's number to the next one, and a prompt of the same number and another process is free at once.
const holdNamespaces = (pids) => pids.map((pid) => openSync(`/proc/${pid}/ns/pid`));

/** One store for processes here and in containers; a call of "pay" is asked about. */
function world({ delayMs = 1 } = {}) {
  const effects = recording(), state = folder();
  const args = servers({ cash: scripted([{ tool: { name: "pay", inputSchema: { type: "object" } }, delayMs }], effects.option) }, { tools: { policy: [{ match: "cash.pay", action: "ask" }] } });
  const options = { env: { ...env, XDG_STATE_HOME: state }, limitMs: 60_000 };
  const begin = (where, ...more) => start(["chat", ...more, ...args], { ...options, ...where });
  return {
    calls: () => effects.of("tools/call").length,
    begin,
    chat: (where, ...more) => run(["chat", ...more, ...args], { ...options, ...where }),
    /** At a terminal, until the call is asked about. */
    async waits(where, ...more) {
      const one = begin({ ...where, terminal: true }, ...(more.length ? more : ["-m", "code", "pay"]));
      await until(() => one.text().includes("ne[v]er: "), `it is asked\n${one.text()}`);
      const signal = (name) => one.pids().filter(isChat).forEach((pid) => process.kill(Number(pid), name));
      return { ...one, signal };
    },
    goOn: (where, ...more) => run(["chat", "-c", "last", "-m", "classic", "-y", "again", ...more, ...args], { ...options, ...where }),
    /** When the owners of prompts showed themselves last, as if they had. */
    lastSign: (ms) => sql(state, `UPDATE owner_beats SET beat_ms = ${ms}`),
    sql: (text) => sql(state, text),
  };
}
const ELSEWHERE = /^lathe chat: the prompt [0-9a-f]{32} runs in another process, \d+ on [\w.-]+ \(last sign of life \d+ s ago\): wait for it, or lathe cancel [0-9a-f]{32}$/m;

describe("containers", { concurrency: 4, skip: noContainers }, () => {
  test("a prompt that waits in one is not taken by another, nor by the host", async () => {
    const w = world(), one = await w.waits({ program: container() });
    await sleep(2 * BEAT_MS);
    for (const where of [{ program: container() }, {}]) {
      const end = await w.goOn(where);
      assert.deepEqual([end.code, end.stdout], [1, ""], end.stderr);
      assert.match(end.stderr, ELSEWHERE);
    }
    one.type("y\n");
    assert.equal((await one.ended).code, 0);
    assert.equal(w.calls(), 1);
    assert.equal((await w.goOn({ program: container() })).stdout, "Again it is.\n");
  });
  test("a prompt of the host's is not taken by a container", async () => {
    const w = world(), one = await w.waits({});
    const end = await w.goOn({ program: container() });
    assert.equal(end.code, 1);
    assert.match(end.stderr, ELSEWHERE);
    one.type("y\n");
    assert.equal((await one.ended).code, 0);
    assert.equal(w.calls(), 1);
  });
  test("a container that was killed: its prompt goes on elsewhere when there was no sign of life for long", async () => {
    const w = world(), one = await w.waits({ program: container() });
    const held = holdNamespaces(one.pids());
    await one.kill();
    w.lastSign(Date.now());
    const early = await w.goOn({ program: container() });
    held.forEach(closeSync);
    assert.match(early.stderr, ELSEWHERE);
    assert.equal(w.calls(), 0);
    w.lastSign(Date.now() - GONE_MS);
    const end = await w.goOn({ program: container() });
    assert.deepEqual([end.code, end.stdout], [0, "paid 1\nAgain it is.\n"], end.stderr);
    assert.equal(w.calls(), 1);
  });
  test("a container that ended in order leaves its prompt at once", async () => {
    const w = world(), one = await w.waits({ program: container() });
    one.signal("SIGTERM");
    await one.ended;
    const end = await w.goOn({});
    assert.deepEqual([end.code, end.stdout], [0, "paid 1\nAgain it is.\n"], end.stderr);
  });
  test("a clock that was set does not take a prompt from a living process", async () => {
    const w = world(), one = await w.waits({ program: container() });
    for (const beat of [1, 4102444800000]) { // long ago, and far ahead
      w.lastSign(beat);
      const end = await w.goOn({ program: container() });
      assert.deepEqual([end.code, end.stdout], [1, ""], end.stderr);
      assert.match(end.stderr, ELSEWHERE);
    }
    one.type("y\n");
    assert.equal((await one.ended).code, 0);
    assert.equal(w.calls(), 1);
  });
  test("a process that was stopped for long has lost its prompt: it makes no call and changes nothing", async () => {
    const w = world(), one = await w.waits({ program: container() });
    one.signal("SIGSTOP");
    await sleep(GONE_MS + BEAT_MS);
    const end = await w.goOn({});
    assert.deepEqual([end.code, end.stdout], [0, "paid 1\nAgain it is.\n"], end.stderr);
    const stored = () => JSON.stringify(["prompts", "prompt_outputs", "notes", "calls"].map((table) => w.sql(`SELECT * FROM ${table}`)));
    const before = stored();
    one.signal("SIGCONT");
    one.type("y\n");
    const late = await one.ended;
    assert.notEqual(late.code, 0);
    assert.match(late.stdout, /another process has taken the prompt [0-9a-f]{32} over/);
    assert.equal(w.calls(), 1);
    assert.equal(stored(), before);
  });
});

describe("several at once", { concurrency: 2 }, () => {
  test("of many that go on with a prompt at the same moment, one has it", async () => {
    const w = world({ delayMs: 50 });
    await (await w.waits({})).kill();
    const ends = await Promise.all(Array.from({ length: 5 }, () => w.goOn({})));
    assert.equal(w.calls(), 1);
    assert.equal(ends.filter((end) => end.stdout.startsWith("paid 1\n")).length, 1);
    for (const end of ends) assert.ok(end.code === 0 || /runs in another process|is busy/.test(end.stderr), end.stderr);
    assert.equal(w.sql("SELECT count(*) FROM prompts WHERE state = 'completed' AND mode = 'code'")[0][0], 1);
  });
  test("killed at any moment of going on, with others at it: the call is made once at most", async () => {
    const other = ["--config", join(folder({ "lathe.yaml": "{}" }), "lathe.yaml")];
    for (let round = 0; round < 8; round++) {
      const w = world({ delayMs: 30 });
      await (await w.waits({})).kill();
      for (let again = 0; again < 3; again++) {
        const all = [0, 1].map(() => w.begin({}, "-c", "last", "-m", "classic", "-y", "again"));
        const stranger = w.begin({}, "-c", "last", "-y", "again", ...other);
        await sleep((30 + 37 * ((round * 3 + again) % 9)) * patience);
        all.forEach((one) => one.pids().filter(isChat).forEach((pid) => { try { process.kill(Number(pid), "SIGKILL"); } catch { /* gone */ } }));
        await Promise.all([...all, stranger].map((one) => one.ended));
      }
      const end = await w.goOn({});
      assert.equal(end.code, 0, end.stderr);
      assert.ok(w.calls() <= 1, `made ${w.calls()} times`);
      const states = w.sql("SELECT state, count(*) FROM prompts WHERE input = 'pay' GROUP BY state");
      assert.deepEqual(states, [["completed", 1]]);
      const made = w.sql("SELECT count(*) FROM calls WHERE tool = 'cash.pay'")[0][0];
      assert.equal(made, 1);
    }
  });
});
