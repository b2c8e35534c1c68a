// lathe servers: what a person and a script are told about the configured servers.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, fake, folder, recording, run, servers, test } from "./harness.mjs";

/** A home with its own lists of tools, so that nothing is known at first. */
function home() {
  const env = { XDG_CACHE_HOME: folder(), HOME: folder() };
  return {
    env,
    run: (args, more = {}) => run(["servers", ...args], { ...more, env }),
    async rows(args) {
      const end = await this.run(["--json", ...args]);
      assert.notEqual(end.stdout, "", end.stderr);
      return Object.fromEntries(JSON.parse(end.stdout).map((row) => [row.name, row]));
    },
  };
}

describe("lathe servers", () => {
  test("tells what runs and how, and why the rest does not", async () => {
    const at = home();
    const rows = await at.rows(servers({ good: fake("--tools=3"), bad: fake("--exit=3"), off: { ...fake(), disabled: true } }));
    const { good, bad, off, artifact } = rows;
    assert.equal(good.state, "running");
    assert.deepEqual([good.kind, good.transport, good.tools, good.protocolVersion], ["server", "stdio", 3, "2025-11-25"]);
    assert.match(good.version, /^\S+ \S+$/);
    assert.ok(good.startMs > 0 && good.latencyMs > 0 && good.listAgeMs >= 0, JSON.stringify(good));
    assert.ok(good.memoryBytes > 5e6, `node takes more than that: ${good.memoryBytes}`);
    assert.equal(bad.state, "failed");
    assert.match(bad.reason, /exited with code 3/);
    assert.equal("memoryBytes" in bad || "latencyMs" in bad || "tools" in bad, false, JSON.stringify(bad));
    assert.equal(off.state, "disabled");
    assert.deepEqual([artifact.kind, artifact.state], ["plugin", "running"]);
  });
  test("--known starts nothing, and tells what the last time has left", async () => {
    const at = home(), heard = recording(), args = servers({ one: { ...fake("--tools=3", heard.option), start: "always" }, two: fake(heard.option) });
    assert.deepEqual([(await at.rows(["--known", ...args])).one, heard.of("initialize").length], [{ name: "one", kind: "server", state: "not started", transport: "stdio" }, 0]);
    const { state, tools } = (await at.rows(["one", ...args])).one;
    assert.deepEqual([state, tools, heard.of("initialize").length], ["running", 3, 1]);
    const { one, two } = await at.rows(["--known", ...args]);
    assert.deepEqual([one.state, one.tools, one.startMs > 0, "memoryBytes" in one, two.tools, heard.of("initialize").length], ["not started", 3, true, false, undefined, 1]);
  });
  test("a named server starts alone, and its state is the exit code", async () => {
    const at = home(), heard = recording(), args = servers({ good: fake(), bad: fake("--exit=3", heard.option) });
    assert.deepEqual(Object.keys(await at.rows(["good", ...args])), ["good"]);
    assert.equal(heard.messages().length, 0);
    assert.equal((await at.run(["good", ...args])).code, 0);
    assert.equal((await at.run(["bad", ...args])).code, 1);
    assert.equal((await at.run(args)).code, 0, "the table is the answer");
    const end = await at.run(["godo", ...args]);
    assert.equal(end.code, 2);
    assert.match(end.stderr, /no server "godo" is configured \(did you mean "good"\?\)/);
  });
  test("a person gets a table, with the reason below the row, and no escapes of a server's", async () => {
    const end = await home().run(servers({ good: fake(), bad: fake("--exit=3", "--stderr=\\e[31mred"), web: { url: "http://127.0.0.1:9/mcp" } }));
    const lines = end.stdout.split("\n");
    assert.match(lines[0], /^NAME +KIND +STATE +VERSION +PROTOCOL +START +MEMORY +LATENCY +TOOLS +LIST$/);
    assert.match(end.stdout, /^good +stdio +running +\S.* 2025-11-25 +\d+ ms +\d+ MiB +[\d.]+ ms +\d+ +\d+ s$/m);
    assert.match(end.stdout, /^bad +stdio +failed .*\n {2}MCP server "bad": .*exited with code 3/m);
    assert.match(end.stdout, /^web +http +failed .*\n {2}MCP server "web": cannot reach/m);
    assert.equal(end.stdout.includes("\x1b"), false);
    assert.equal(lines.find((line) => line.startsWith("good")).indexOf("stdio"), lines[0].indexOf("KIND"));
  });
  test("one that has failed is told so, also where another one takes so long to start that it is tried again", async () => {
    const node = fake(), slow = { command: "sh", args: ["-c", 'sleep 1.5; exec "$0" "$@"', node.command, ...node.args] };
    const rows = await home().rows(servers({ slow, bad: fake("--exit=3") }));
    assert.deepEqual([rows.slow.state, rows.bad.state], ["running", "failed"]);
    assert.match(rows.bad.reason, /exited with code 3/);
  });
  test("a folder's own configuration starts nothing before it is trusted", async () => {
    const at = home(), heard = recording(), cwd = folder();
    writeFileSync(join(cwd, "lathe.yaml"), JSON.stringify({ mcpServers: { one: fake(heard.option) } }));
    const end = await at.run([], { cwd });
    assert.deepEqual([end.code, heard.messages().length], [3, 0]);
    assert.match(end.stderr, /lathe trust/);
  });
});
