// What passes through the gateway beside its own tools: tools of servers that clients call without a program.
import assert from "node:assert/strict";
import { join } from "node:path";
import { bare, describe, folder, recording, root, scripted, servers, start, test, until } from "./harness.mjs";

const upstream = (...options) => ({ command: process.execPath, args: [join(root, "tests/fakes/conformance_upstream.mjs"), ...options] });
const fixture = upstream();

/** A client that speaks the wire itself. */
function client(mcpServers, rest = {}, more = {}) {
  const args = servers(mcpServers, { ...bare, ...rest }), env = { XDG_STATE_HOME: folder(), ...more };
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
    told: (method) => messages().filter((m) => m.method === method).map((m) => m.params),
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
    assert.equal(all.length, 27);
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

describe("resources and prompts of servers", { concurrency: 3 }, () => {
  test("listed, read, completed; an unknown one is an error that has its address", async () => {
    const c = client({ fixture });
    const { capabilities } = (await c.begins()).result;
    assert.deepEqual(Object.keys(capabilities).sort(), ["completions", "logging", "prompts", "resources", "tools"]);
    assert.deepEqual((await c.ask("resources/list")).result.resources.map((r) => r.uri), ["test://static-text", "test://static-binary", "test://watched-resource"]);
    assert.deepEqual((await c.ask("resources/templates/list")).result.resourceTemplates.map((r) => r.uriTemplate), ["test://template/{id}/data"]);
    const read = async (uri) => (await c.ask("resources/read", { uri })).result.contents[0];
    assert.equal((await read("test://static-text")).text, "This is the content of the static text resource.");
    assert.equal((await read("fixture+test://static-binary")).mimeType, "image/png");
    assert.match((await read("test://template/77/data")).text, /Data for ID: 77/);
    assert.deepEqual((await c.ask("resources/read", { uri: "test://none" })).error, { code: -32002, message: "Resource not found", data: { uri: "test://none" } });
    assert.deepEqual((await c.ask("prompts/list")).result.prompts.map((p) => p.name), ["test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_embedded_resource", "test_input_required_result_prompt", "test_prompt_with_image"]);
    for (const name of ["test_prompt_with_arguments", "fixture_test_prompt_with_arguments"]) {
      assert.equal((await c.ask("prompts/get", { name, arguments: { arg1: "A", arg2: "B" } })).result.messages[0].content.text, "Prompt with arguments: arg1='A', arg2='B'");
    }
    assert.equal((await c.ask("prompts/get", { name: "none" })).error.code, -32602);
    const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
    assert.deepEqual((await c.ask("completion/complete", { ref, argument: { name: "arg1", value: "pari" } })).result.completion.values, ["paris"]);
    await c.ends();
  });
  test("two servers with the same ones: the server's name tells them apart", async () => {
    const c = client({ one: upstream("1"), two: upstream("2") });
    await c.begins();
    const all = (await c.ask("resources/list")).result.resources.map((r) => r.uri);
    assert.deepEqual(all, ["one+test://static-text", "one+test://static-binary", "one+test://watched-resource", "two+test://static-text", "two+test://static-binary", "two+test://watched-resource"]);
    assert.equal((await c.ask("resources/read", { uri: all[3] })).result.contents[0].mimeType, "text/plain");
    assert.deepEqual((await c.ask("prompts/list")).result.prompts.map((p) => p.name).filter((n) => n.endsWith("simple_prompt")), ["one_test_simple_prompt", "two_test_simple_prompt"]);
    await c.ends();
  });
  test("a change of a resource is told to who subscribed, and to nobody after that", async () => {
    const c = client({ fixture });
    await c.begins();
    assert.deepEqual((await c.ask("resources/subscribe", { uri: "fixture+test://watched-resource" })).result, {});
    await until(() => c.told("notifications/resources/updated").length > 0, "the change is told");
    assert.deepEqual(c.told("notifications/resources/updated"), [{ uri: "fixture+test://watched-resource" }]);
    assert.deepEqual((await c.ask("resources/unsubscribe", { uri: "fixture+test://watched-resource" })).result, {});
    assert.equal((await c.ask("resources/subscribe", { uri: "test://none" })).error.code, -32002);
    await c.ends();
  });
  test("a second gateway lists them without starting the server", async () => {
    const wire = recording(), cache = { XDG_CACHE_HOME: folder() }, server = { fixture: upstream(wire.option) };
    const first = client(server, {}, cache);
    await first.begins();
    const all = (await first.ask("resources/list")).result, prompts = (await first.ask("prompts/list")).result;
    await first.ends();
    const before = wire.messages().length;
    assert.ok(before > 0);
    const second = client(server, {}, cache);
    await second.begins();
    assert.deepEqual([(await second.ask("resources/list")).result, (await second.ask("prompts/list")).result], [all, prompts]);
    assert.equal(wire.messages().length, before);
    await second.ends();
  });
  test("without servers there are none", async () => {
    const c = client({});
    assert.deepEqual((await c.begins()).result.capabilities, { tools: { listChanged: true } });
    assert.deepEqual((await c.ask("resources/list")).result, { resources: [] });
    assert.deepEqual((await c.ask("prompts/list")).result, { prompts: [] });
    await c.ends();
  });
});

describe("files of a program", { concurrency: 3 }, () => {
  test("images come as images, other files as a line that names them", async () => {
    const c = client({ fixture });
    await c.begins();
    const { content } = await c.call("execute_code", { code: "const i = fixtureTestImageContent({}); fixtureTestAudioContent({}); i.mimeType" });
    assert.deepEqual(content.map((b) => b.type), ["text", "image"]);
    assert.match(content[0].text, /^image\/png\n\[audio\/wav, \d+ bytes: getArtifact\("\w+"\) in a program/);
    assert.deepEqual([content[1].mimeType, Buffer.from(content[1].data, "base64").subarray(1, 4).toString()], ["image/png", "PNG"]);
    await c.ends();
  });
});

describe("progress and logging", { concurrency: 3 }, () => {
  test("a tool's own progress, when it is called directly", async () => {
    const c = client({ fixture }, expose(["*", "direct"]));
    await c.begins();
    await c.call("test_tool_with_progress", {}, { _meta: { progressToken: "t1" } });
    assert.deepEqual(c.told("notifications/progress"), [0, 50, 100].map((progress) => ({ progressToken: "t1", progress, total: 100, message: `${progress} of 100` })));
    await c.call("test_tool_with_progress", {});
    assert.equal(c.told("notifications/progress").length, 3);
    await c.ends();
  });
  test("each call inside a program, with its server's progress; the numbers only grow", async () => {
    const c = client({ fixture });
    await c.begins();
    await c.call("execute_code", { code: "fixtureTestSimpleText({}); fixtureTestToolWithProgress({}); 1" }, { _meta: { progressToken: 7 } });
    const told = c.told("notifications/progress");
    assert.deepEqual(told.map((p) => p.message), ["fixture.test_simple_text", "fixture.test_simple_text: done", "fixture.test_tool_with_progress", "fixture.test_tool_with_progress: 0 of 100 0 of 100", "fixture.test_tool_with_progress: 50 of 100 50 of 100", "fixture.test_tool_with_progress: 100 of 100 100 of 100", "fixture.test_tool_with_progress: done"]);
    assert.deepEqual(told.map((p) => [p.progressToken, p.progress]), told.map((_, i) => [7, i + 1]));
    await c.ends();
  });
  test("log messages come from the level that was set, with the server's name", async () => {
    const c = client({ fixture }, expose(["*", "direct"]));
    await c.begins();
    await c.call("test_tool_with_logging", {});
    assert.deepEqual(c.told("notifications/message"), []);
    assert.deepEqual((await c.ask("logging/setLevel", { level: "debug" })).result, {});
    await c.call("test_tool_with_logging", {});
    assert.deepEqual(c.told("notifications/message"), ["Tool execution started", "Tool processing data", "Tool execution completed"].map((data) => ({ level: "info", logger: "fixture/fixture", data })));
    assert.deepEqual((await c.ask("logging/setLevel", { level: "error" })).result, {});
    await c.call("test_tool_with_logging", {});
    assert.equal(c.told("notifications/message").length, 3);
    assert.equal((await c.ask("logging/setLevel", { level: "loud" })).error.code, -32602);
    await c.ends();
  });
  test("secrets are masked in what passes", async () => {
    const c = client({ fixture: { ...fixture, env: { FIXTURE_SAYS: "${FIXTURE_SAYS}" } } }, expose(["*", "direct"]), { FIXTURE_SAYS: "sesame-9137-open" });
    await c.begins();
    await c.ask("logging/setLevel", { level: "debug" });
    const answer = await c.call("test_tool_with_logging", {});
    assert.match(answer.content[0].text, /Tool with logging/);
    assert.equal((await c.ask("resources/read", { uri: "test://secret" })).result.contents[0].text, "***");
    assert.equal((await c.ask("prompts/get", { name: "test_simple_prompt" })).result.messages.length, 1);
    await until(() => c.told("notifications/message").length === 4, "the log is passed on");
    assert.doesNotMatch(c.out(), /sesame-9137-open/);
    await c.ends();
  });
});
