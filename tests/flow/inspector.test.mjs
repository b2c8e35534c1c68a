// The inspector of the protocol's authors, as a client of `lathe mcp` and `lathe mcp --http`, in both eras.
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
