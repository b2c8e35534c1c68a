// What passes through the gateway beside its own tools: tools of servers that clients call without a program.
import assert from "node:assert/strict";
import { join } from "node:path";
import { bare, describe, folder, root, scripted, servers, start, test, until } from "./harness.mjs";

const fixture = { command: process.execPath, args: [join(root, "tests/fakes/conformance_upstream.mjs")] };

/** A client that speaks the wire itself. */
export function client(mcpServers, rest = {}) {
  const args = servers(mcpServers, { ...bare, ...rest }), env = { XDG_STATE_HOME: folder() };
  const made = start(["mcp", ...args], { typed: true, env });
  const messages = () => made.out().split("\n").slice(0, -1).map((line) => JSON.parse(line));
  let last = 0;
  const ask = async (method, params) => {
    const id = ++last;
    made.type(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await until(() => messages().some((m) => m.id === id && m.method === undefined), `${method} is answered\n${made.text()}`);
    return messages().find((m) => m.id === id && m.method === undefined);
  };
  return {
    ...made, ask, messages,
    async approves(run, call) {
      const one = start(["approve", run, call, ...args], { env, terminal: true });
      await until(() => one.text().includes("Allow?"), "the question is asked");
      one.type("y\n");
      const end = await one.ended;
      assert.equal(end.code, 0, end.stdout + end.stderr);
    },
    begins: () => ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }),
    list: async () => (await ask("tools/list")).result.tools,
    call: async (name, args, more = {}) => (await ask("tools/call", { name, arguments: args, ...more })).result,
    async ends() { made.child.stdin.end(); const end = await made.ended; assert.equal(end.code, 0, end.stderr); return end; },
  };
}
const expose = (...rules) => ({ tools: { expose: rules.map(([match, as]) => ({ match, as })) } });
const ours = ["search_tools", "execute_code", "continue_run", "read_output"];

describe("tools.expose", { concurrency: 3 }, () => {
  test("direct: listed as its server describes it, and answered with all of its content", async () => {
    const c = client({ fixture }, expose(["*", "direct"]));
    await c.begins();
    const all = (await c.list()).slice(ours.length), one = all.find((t) => t.name === "all_at_once");
    assert.equal(all.length, 14);
    assert.deepEqual([one.title, one.annotations, one.outputSchema.required], ["Everything", { readOnlyHint: true, title: "Everything" }, ["sum"]]);
    assert.equal(all.find((t) => t.name === "json_schema_2020_12_tool").inputSchema.$defs.address.type, "object");
    const answer = await c.call("all_at_once", {});
    assert.deepEqual(answer.content.map((b) => b.type), ["text", "image", "resource_link"]);
    assert.deepEqual([answer.structuredContent, answer._meta], [{ sum: 3 }, { "example.com/kept": {} }]);
    assert.deepEqual((await c.call("fixture_test_audio_content", {})).content[0].type, "audio");
    assert.deepEqual(await c.call("test_error_handling", {}), { content: [{ type: "text", text: "This tool intentionally returns an error for testing" }], isError: true });
    const wrong = await c.call("test_sampling", {});
    assert.deepEqual([wrong.isError, wrong.content[0].text], [true, "input.prompt: is required"]);
    assert.match((await c.call("execute_code", { code: "tools['fixture.all_at_once']({})" })).content[0].text, /cannot be called from within a program/);
    await c.ends();
  });
  test("code, both and hidden; the words that say when to call which", async () => {
    const c = client({ fixture }, expose(["fixture.test_simple_text", "both"], ["fixture.test_image_content", "code"], ["*", "hidden"]));
    await c.begins();
    const all = await c.list(), words = all.find((t) => t.name === "execute_code").description;
    assert.deepEqual(all.map((t) => t.name), [...ours, "test_simple_text"]);
    assert.match(words, /fixture \(2 tools\)[^]*call it directly[^]*write a program/);
    assert.equal((await c.call("execute_code", { code: "fixtureTestSimpleText({})" })).content[0].text, "This is a simple text response for testing.");
    assert.match((await c.call("search_tools", { query: "audio" })).content[0].text, /No tool fits|test_simple_text/);
    assert.doesNotMatch((await c.call("search_tools", { query: "" })).content[0].text, /audio/);
    assert.match((await c.call("execute_code", { code: "tools['fixture.test_audio_content']({})" })).content[0].text, /audio_content/);
    assert.equal((await c.ask("tools/call", { name: "test_audio_content", arguments: {} })).error.code, -32602);
    await c.ends();
  });
  test("without it nothing is said of calling directly", async () => {
    const c = client({ fixture });
    await c.begins();
    const all = await c.list();
    assert.deepEqual(all.map((t) => t.name), ours);
    assert.doesNotMatch(JSON.stringify(all), /call it directly/);
    await c.ends();
  });
  test("names: a tool's own where it is the only one, else with its server, 64 characters at most; the same each time", async () => {
    const tool = (name) => ({ tool: { name, inputSchema: { type: "object" } }, result: { content: [{ type: "text", text: `this is ${name}` }] } });
    const long = `x${"y".repeat(80)}`;
    const made = () => ({ a: scripted([tool("find"), tool("execute_code"), tool("dots.and spaces")]), b: scripted([tool("find"), tool(long)]) });
    const seen = [];
    for (let i = 0; i < 2; i++) {
      const c = client(made(), expose(["*", "direct"]));
      await c.begins();
      const names = (await c.list()).map((t) => t.name).slice(ours.length);
      seen.push(JSON.stringify(names));
      assert.deepEqual(names.slice(0, 4), ["dots_and_spaces", "a_execute_code", "a_find", "b_find"]);
      assert.match(names[4], /^b_xy{52}_[0-9a-f]{8}$/);
      assert.equal(names[4].length, 64);
      assert.deepEqual((await c.call(names[4], {})).content[0].text, `this is ${long}`);
      assert.deepEqual((await c.call("a_dots_and_spaces", {})).content[0].text, "this is dots.and spaces");
      await c.ends();
    }
    assert.equal(seen[0], seen[1]);
  });
  test("a call that waits for an approval is a run, and its answer is whole", async () => {
    const c = client({ fixture }, { tools: { expose: [{ match: "*", as: "direct" }], policy: [{ match: "*.all_at_once", action: "ask" }] }, mcp: { waitMs: 300 } });
    await c.begins();
    let said = (await c.call("all_at_once", { a: 1 })).content[0].text;
    while (!said.includes("lathe approve")) said = (await c.call("continue_run", { run: /Run ([0-9a-f]{32})/.exec(said)[1] })).content[0].text;
    const [, id, call] = /`lathe approve ([0-9a-f]+) (\S+)`/.exec(said) ?? [];
    assert.ok(id, said);
    await c.approves(id, call);
    let answer;
    await until(async () => (answer = await c.call("continue_run", { run: id })).structuredContent !== undefined, "the call is carried out");
    assert.deepEqual([answer.structuredContent, answer._meta["example.com/kept"]], [{ sum: 3 }, { a: 1 }]);
    await c.ends();
  });
});
