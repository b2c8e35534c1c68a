// What the gateway stores of a run: nothing before its first effect or wait, and then all of it.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, folder, recording, scripted, servers, start, test, until } from "./harness.mjs";

const READ_ONLY = { annotations: { readOnlyHint: true } };

/** A gateway with a store of its own; "read" has no effect, "write" has one and answers late. */
function world({ waitMs = 60_000, writeMs = 0 } = {}) {
  const effects = recording(), state = folder();
  const tools = (readMs) => [
    { tool: { name: "read", inputSchema: { type: "object" }, ...READ_ONLY } },
    { tool: { name: "read-slowly", inputSchema: { type: "object" }, ...READ_ONLY }, delayMs: readMs },
    { tool: { name: "write", inputSchema: { type: "object" } }, delayMs: writeMs },
  ];
  const box = scripted(tools(60_000), effects.option), script = box.args.find((arg) => arg.startsWith("--script=")).slice("--script=".length);
  const args = servers({ box }, { mcp: { waitMs }, tools: { policy: [{ match: "box.write", action: "allow" }] } });
  return {
    connect: () => client(args, { env: { XDG_STATE_HOME: state } }),
    /** The next process of the server answers "read-slowly" at once. */
    hurries: () => writeFileSync(script, JSON.stringify(tools(0))),
    isStored: () => existsSync(join(state, "lathe/lathe.db")),
    made: (name) => effects.of("tools/call").filter((m) => m.params.name === name).length,
  };
}

function client(args, options) {
  const one = start(["mcp", ...args], { ...options, typed: true });
  const answers = () => one.out().split("\n").slice(0, -1).map((line) => JSON.parse(line));
  let last = 0;
  return {
    async call(name, input) {
      const id = ++last;
      one.type(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: input, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} } } })}\n`);
      await until(() => answers().some((a) => a.id === id), `the call is answered\n${one.text()}`);
      const { result, error } = answers().find((a) => a.id === id);
      assert.equal(error, undefined, JSON.stringify(error));
      return { text: result.content[0].text, isError: result.isError ?? false };
    },
    code(code) { return this.call("execute_code", { code }); },
    /** Begins a program, and waits until so many of its calls are done: the run's id. */
    async begins(code, done) {
      let { text } = await this.code(code);
      const run = NOT_DONE.exec(text)[1];
      while (NOT_DONE.exec(text)[2] !== String(done)) ({ text } = await this.call("continue_run", { run }));
      return run;
    },
    async continues(run) {
      let answer = { text: "is not done" };
      while (/is not done/.test(answer.text)) answer = await this.call("continue_run", { run });
      return answer;
    },
    async ends() { one.child.stdin.end(); assert.equal((await one.ended).code, 0); },
    kill: one.kill,
  };
}
const NOT_DONE = /^Run ([0-9a-f]{32}) is not done: (\d) of (\d) calls done\./;

describe("the store of the gateway", { concurrency: 3 }, () => {
  test("programs without an effect leave nothing, whatever they read, log and fail with", async () => {
    const w = world(), c = w.connect();
    assert.deepEqual(await c.code("1+2"), { text: "3", isError: false });
    assert.deepEqual(await c.code("console.log('seen'); boxRead({ n: 4 }).n"), { text: "seen\n4", isError: false });
    assert.match((await c.code("boxRead({ n: 4 });\nnope()")).text, /nope is not defined[^]*- box\.read \{"n":4\}: done/);
    await c.ends();
    assert.equal(w.made("read"), 2);
    assert.equal(w.isStored(), false);
  });
  test("an answer that is read in pieces is stored", async () => {
    const w = world(), c = w.connect();
    const { text } = await c.code("Array.from({ length: 4000 }, (_, i) => `line ${i}`).join('\\n')");
    const [, run, from] = /read on with read_output, run "([0-9a-f]+)", from (\d+)\]$/.exec(text);
    await c.kill();
    const next = w.connect();
    assert.match((await next.call("read_output", { run, from: Number(from) })).text, /^line \d+\n/);
    await next.ends();
  });
  test("what was read before an effect is on record before it: after kill -9 it is not read again, and nothing is done twice", async () => {
    const w = world({ waitMs: 300, writeMs: 60_000 }), c = w.connect();
    const run = await c.begins("const { n } = boxRead({ n: 4 }); let end; try { boxWrite({ n }); } catch (e) { end = e.message; } `${n}: ${end}`", 1);
    await until(() => w.made("write") === 1, "the write is under way");
    await c.kill();
    const next = w.connect();
    assert.match((await next.continues(run)).text, /^4: .*interrupted/);
    assert.deepEqual([w.made("read"), w.made("write")], [1, 1]);
    await next.ends();
  });
  test("a program that outlives its answer is stored, though it only reads", async () => {
    const w = world({ waitMs: 200 }), c = w.connect();
    const run = await c.begins("boxRead({ n: 1 }).n + boxReadSlowly({ n: 2 }).n", 1);
    assert.equal(w.isStored(), true);
    await c.kill();
    w.hurries();
    const next = w.connect();
    assert.deepEqual(await next.continues(run), { text: "3", isError: false });
    assert.equal(w.made("read"), 1);
    await next.ends();
  });
  test("many runs at once, some with effects: each is answered", async () => {
    const w = world(), c = w.connect();
    const answers = await Promise.all(Array.from({ length: 24 }, (_, i) => c.code(`const { n } = boxRead({ n: ${i} }); ${i % 3 === 0 ? "boxWrite({ n });" : ""} n * 2`)));
    assert.deepEqual(answers.map((a) => a.text), answers.map((_, i) => String(i * 2)));
    assert.deepEqual([w.made("read"), w.made("write")], [24, 8]);
    await c.ends();
  });
});
