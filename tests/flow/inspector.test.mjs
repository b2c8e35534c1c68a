// The inspector and the SDK (version 2) of the protocol's authors, as clients of `lathe mcp` and `lathe mcp --http`, in
// both eras.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { node } from "./conformance.mjs";
import { bare, config, describe, fake, folder, patience, root, start, test, until } from "./harness.mjs";
import { installed } from "./npm-servers.mjs";

const inspector = installed("@modelcontextprotocol/inspector");
const program = inspector && join(inspector, Object.values(JSON.parse(readFileSync(join(inspector, "package.json"), "utf8")).bin)[0]);
const lathe = resolve(process.env.LATHE ?? join(root, "build/lathe"));
const skip = (!inspector && "not installed") || (!node && "needs Node.js 22");

/** Runs the inspector; its exit code, and what it printed as JSON. */
async function inspect(era, args, server) {
  const child = spawn(node, [program, "--cli", "--format", "json", "--protocol-era", era, ...args, ...server], { env: { ...process.env, HOME: folder() } });
  let out = "", said = "";
  child.stdout.on("data", (piece) => (out += piece));
  child.stderr.on("data", (piece) => (said += piece));
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000 * patience);
  const code = await new Promise((done) => child.on("close", done));
  clearTimeout(timer);
  return { code, said, result: out ? JSON.parse(out).result : undefined };
}

const call = (code) => ["--method", "tools/call", "--tool-name", "execute_code", "--tool-args-json", JSON.stringify({ code })];
const file = () => config({ ...bare, mcpServers: { fake: fake() } });

for (const era of ["legacy", "modern", "auto"]) describe(`the inspector, protocol era ${era}`, { concurrency: 2, skip }, () => {
  test("over stdio: lists the tools, runs a program that calls a server, and sees its failure", async () => {
    const server = ["--", lathe, "mcp", "--config", file()];
    const listed = await inspect(era, ["--method", "tools/list"], server);
    assert.deepEqual(listed.result?.tools.map((tool) => tool.name), ["search_tools", "execute_code", "continue_run", "read_output"], listed.said);
    const sum = await inspect(era, call("fakeAdd({ a: 1, b: 2 })"), server);
    assert.deepEqual([sum.code, sum.result?.content], [0, [{ type: "text", text: "3" }]], sum.said);
    const failed = await inspect(era, call("throw new Error('no')"), server);
    assert.equal(failed.code, 5, failed.said); // the tool's answer is an error
  });
  test("over HTTP", async () => {
    const one = start(["mcp", "--http", "127.0.0.1:0", "--config", file()], { env: { XDG_STATE_HOME: folder() } });
    const [url] = await until(() => /http:\/\/\S+\/mcp/.exec(one.text()), "it says where it listens");
    const sum = await inspect(era, call("fakeAdd({ a: 1, b: 2 })"), ["--transport", "http", "--server-url", url]);
    assert.deepEqual([sum.code, sum.result?.content], [0, [{ type: "text", text: "3" }]], sum.said);
    one.child.kill("SIGTERM");
    await one.ended;
  });
});

const sdk = installed("@modelcontextprotocol/client");
/** What tests/fakes/sdk_client.mjs saw of that server. */
async function connect(mode, server) {
  const programs = ["1+2", "fakeAdd({ a: 1, b: 2 })", "throw new Error('no')"];
  const child = start([join(root, "tests/fakes/sdk_client.mjs"), JSON.stringify({ mode, programs, ...server })], { program: node });
  const end = await child.ended;
  assert.equal(end.code, 0, end.stderr);
  return JSON.parse(end.stdout);
}

describe("a client with the SDK, version 2", { concurrency: 2, skip: (!sdk && "not installed") || (!node && "needs Node.js 22") }, () => {
  const asking = () => config({ ...bare, mcpServers: { fake: fake() }, tools: { policy: [{ match: "fake.add", action: "ask", reason: "sums" }] } });
  const check = (seen, era, version) => {
    assert.deepEqual([seen.era, seen.version], [era, version]);
    assert.deepEqual(seen.tools, ["search_tools", "execute_code", "continue_run", "read_output"]);
    const [sum, asked, failed] = seen.answers;
    assert.deepEqual([sum.content, asked.content], [[{ type: "text", text: "3" }], [{ type: "text", text: "3" }]]);
    assert.deepEqual([failed.isError, failed.content[0].text], [true, "error: no (line 1, column 11: throw new Error('no'))"]);
    assert.equal(seen.asked.length, 1);
    assert.match(seen.asked[0], /^The program wants to call fake\.add\nwhy it is asked: sums\n/);
  };
  for (const [mode, era, version] of [["auto", "modern", "2026-07-28"], [{ pin: "2026-07-28" }, "modern", "2026-07-28"], ["legacy", "legacy", "2025-11-25"]]) {
    test(`${JSON.stringify(mode)} over stdio: lists, runs programs, and approves a call that it is asked about`, async () => {
      const env = { ...process.env, HOME: folder(), XDG_STATE_HOME: folder() };
      check(await connect(mode, { command: lathe, args: ["mcp", "--config", asking()], env }), era, version);
    });
    test(`${JSON.stringify(mode)} over HTTP`, async () => {
      const one = start(["mcp", "--http", "127.0.0.1:0", "--config", asking()], { env: { XDG_STATE_HOME: folder() } });
      const [url] = await until(() => /http:\/\/\S+\/mcp/.exec(one.text()), "it says where it listens");
      check(await connect(mode, { url }), era, version);
      one.child.kill("SIGTERM");
      await one.ended;
    });
  }
});
