// Servers that were down in a process that lives long: tried again when they are needed, not more often than that.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bare, describe, fake, folder, recording, servers, sleep, start, test, until } from "./harness.mjs";

/** A gateway, and what a program is answered. */
async function gateway(args, env) {
  const one = start(["mcp", ...args], { env, typed: true });
  const answers = () => one.out().split("\n").slice(0, -1).map((line) => JSON.parse(line));
  let last = 0;
  const ask = async (method, params) => {
    const id = ++last;
    one.type(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await until(() => answers().some((a) => a.id === id), `request ${id} is answered\n${one.text()}`);
    return answers().find((a) => a.id === id).result;
  };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } });
  return {
    code: async (code) => (await ask("tools/call", { name: "execute_code", arguments: { code } })).content[0].text,
    async ends() { one.child.stdin.end(); assert.equal((await one.ended).code, 0); },
  };
}
/** All answers up to the first that is right. */
async function answersUntil(wanted, call) {
  const all = [];
  while (all.at(-1) !== wanted && all.length < 200) {
    all.push(await call());
    await sleep(20);
  }
  assert.equal(all.at(-1), wanted, all.slice(-3).join("\n"));
  return all;
}

describe("a server that is down", { concurrency: 2 }, () => {
  test("and works the second time: a call after the back-off starts it, and calls before that fail with its reason", async () => {
    const env = { XDG_CACHE_HOME: folder(), XDG_STATE_HOME: folder(), HOME: folder() }, once = join(folder(), "once"), heard = recording();
    const args = servers({ frail: fake(`--exit-once=${once}`, heard.option) }, bare);
    writeFileSync(once, "");
    const known = await gateway(args, env); // its tools are known from now on
    assert.equal(await known.code("frailAdd({ a: 1, b: 2 })"), "3");
    await known.ends();
    rmSync(once);
    const before = heard.of("initialize").length, c = await gateway(args, env);
    const all = await answersUntil("5", () => c.code("frailAdd({ a: 2, b: 3 })"));
    assert.ok(all.length > 1);
    for (const text of all.slice(0, -1)) assert.match(text, /exited with code 7/);
    assert.equal(heard.of("initialize").length - before, 2, "no call starts it before its time");
    await c.ends();
  });
  test("and was never listed: its tools are there for a later program", async () => {
    const env = { XDG_CACHE_HOME: folder(), XDG_STATE_HOME: folder(), HOME: folder() }, once = join(folder(), "once"), heard = recording();
    const c = await gateway(servers({ frail: fake(`--exit-once=${once}`, heard.option) }, bare), env);
    const all = await answersUntil("5", () => c.code("frailAdd({ a: 2, b: 3 })"));
    assert.match(all[0], /frailAdd is not defined/);
    assert.equal(heard.of("initialize").length, 2);
    await c.ends();
  });
});
