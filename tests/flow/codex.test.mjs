// Mode codex: the model's two tools, exec and wait, on a wire with tools that take a text and on one without; cells that
// go on in the background, what is kept between programs, and a process that is killed in the middle.
import assert from "node:assert/strict";
import { bare, describe, run, scripted, servers, start, test, until } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const WEATHER = { tool: { name: "get-city", description: "The weather of a city", inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } }, result: { content: [{ type: "text", text: "sun" }], structuredContent: { sky: "clear" } } };
const BROKEN = { tool: { name: "broken", inputSchema: { type: "object" } }, result: { isError: true, content: [{ type: "text", text: "no luck" }] } };
const PICTURE = { tool: { name: "picture", inputSchema: { type: "object" } }, result: { content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }] } };
const config = () => servers({ weather: scripted([WEATHER, BROKEN, PICTURE]) }, bare);
const exec = (input, id = "e1") => ({ calls: [{ id, name: "exec", input }] });
const wait = (cell_id, rest = {}, id = "w1") => ({ calls: [{ id, name: "wait", arguments: { cell_id, ...rest } }] });

/** A model in mode codex: {say(message, ...args), answers(): what it was told by its tools, asked()}. */
async function codex(replies, { api = "chat", args = config() } = {}) {
  const model = await scriptedModel(replies);
  const env = { ...model.env, OPENAI_BASE_URL: model.env.OPENAI_BASE_URL + (api === "responses" ? "/responses" : "") };
  const say = (message, ...more) => run(["chat", message, "-m", "codex", ...args, ...more], { env });
  const answers = () => {
    const { messages, input } = model.asked().at(-1);
    return messages ? messages.filter((m) => m.role === "tool").map((m) => m.content) : input.filter((i) => /_output$/.test(i.type)).map((i) => i.output);
  };
  return { ...model, env, say, answers };
}
const untimed = (text) => text.replace(/^Wall time \d+\.\d seconds$/m, "Wall time T seconds");

describe("exec and wait", { concurrency: 4 }, () => {
  for (const api of ["responses", "chat"]) {
    test(`by ${api}: tools, whole results, ALL_TOOLS, and a second message`, async () => {
      const program = `const [a, b] = await Promise.all([tools.mcp__weather__get_city({ city: "Rome" }), tools.mcp__weather__broken({})]);
text(a); text(b.isError + " " + b.content[0].text); text(ALL_TOOLS.map((t) => t.name)); text(typeof console + typeof output); ("a\\n\\"wörld\\"");`;
      const { say, answers, asked } = await codex([exec(program), "Sunny.", "Again."], { api });
      const end = await say("Rome?", "--json");
      assert.equal(end.code, 0, end.stderr);
      const [answer] = answers();
      assert.equal(untimed(answer), `Script completed
Wall time T seconds
Output:
{"content":[{"type":"text","text":"sun"}],"structuredContent":{"sky":"clear"}}
true no luck
["mcp__weather__broken","mcp__weather__get_city","mcp__weather__picture"]
undefinedundefined
`);
      await say("And now?", "-c", "last");
      const [first, second, third] = asked();
      const [tool, waits] = first.tools;
      if (api === "responses") {
        assert.equal(tool.type, "custom");
        assert.match(tool.format.definition, /@exec:/);
        assert.match(tool.description, /declare const tools: \{ mcp__weather__get_city\(args: GetCityInput\): Promise<CallToolResult<GetCityOutput>>; \};/);
        assert.equal(waits.type, "function");
        assert.equal(second.input.find((i) => i.type === "custom_tool_call").input, program);
        assert.deepEqual(third.input.map((i) => i.type ?? i.role), ["user", "custom_tool_call", "custom_tool_call_output", "assistant", "user"]);
      } else {
        assert.deepEqual(first.tools.map((t) => t.function.name), ["exec", "wait"]);
        assert.deepEqual(third.messages.map((m) => m.role), ["system", "user", "assistant", "tool", "assistant", "user"]);
        assert.equal(JSON.parse(third.messages[2].tool_calls[0].function.arguments).code, program);
      }
    });
  }

  test("a server that knows no tools that take a text gets a function", async () => {
    const refusal = { status: 400, text: "Invalid value: 'custom'. Supported values are: 'function'." };
    const { say, asked, answers } = await codex([refusal, { calls: [{ id: "e1", name: "exec", arguments: { code: "text(1)" } }] }, "Done."], { api: "responses" });
    const end = await say("go");
    assert.equal(end.stdout, "Done.\n", end.stderr);
    assert.deepEqual(asked().map((body) => body.tools[0].type), ["custom", "function", "function"]);
    assert.equal(untimed(answers()[0]), "Script completed\nWall time T seconds\nOutput:\n1\n");
  });

  test("a cell goes on in the background; wait returns when there is something to say", async () => {
    const told = `text("begun"); yield_control(); await new Promise((done) => setTimeout(done, 100)); notify("half"); text("more");
await new Promise((done) => setTimeout(done, 300)); text("end");`;
    const quiet = `// @exec: {"yield_time_ms": 20}\nawait new Promise((done) => setTimeout(done, 400)); text("quiet");`;
    const { say, answers } = await codex([exec(told), wait("1"), wait("1", {}, "w2"), wait("1", {}, "w3"), exec(quiet, "e2"), wait("2", { yield_time_ms: 0 }, "w4"), "Done."]);
    const end = await say("go");
    assert.equal(end.stdout, "Done.\n", end.stderr);
    const [first, second, third, gone, running, whole] = answers().map(untimed);
    assert.equal(first, "Script running with cell ID 1\nWall time T seconds\nOutput:\nbegun\n");
    assert.match(second, /^Script running with cell ID 1\nWall time T seconds\nOutput:\nhalf\n/);
    assert.match(third, /^Script completed\nWall time T seconds\nOutput:\n.*end\n$/s);
    assert.equal((second + third).match(/more/g).length, 1);
    assert.match(gone, /there is no cell "1": none is running/);
    assert.equal(running, "Script running with cell ID 2\nWall time T seconds\nOutput:\n");
    assert.equal(whole, "Script completed\nWall time T seconds\nOutput:\nquiet\n");
  });

  test("yield_control, terminate, and what still runs at the last answer", async () => {
    const endless = `text("one"); yield_control(); await new Promise(() => setTimeout(() => text("never"), 60000)); text("never");`;
    const { say, answers } = await codex([exec(endless), wait("1", { terminate: true }), exec(endless, "e2"), "Done."]);
    const end = await say("go");
    assert.equal(end.stdout, "Done.\n", end.stderr);
    assert.deepEqual(answers().map(untimed), [
      "Script running with cell ID 1\nWall time T seconds\nOutput:\none\n",
      "Script terminated\nWall time T seconds\nOutput:\n",
      "Script running with cell ID 2\nWall time T seconds\nOutput:\none\n",
    ]);
  });

  test("failures, exit, dropped promises, bad pragmas and bad calls", async () => {
    const calls = [
      `text("so far");\nconst x = null;\nx.y;`,
      `try { text(1); exit(); } catch { text("caught"); } finally { text("finally"); }`,
      `(async () => { await 0; await new Promise((done) => setTimeout(done, 30)); text("late"); })(); text("first");`,
      `// @exec: {"timeout": 5}\ntext(1)`,
      `// @exec: {"yield_time_ms": \ntext(1)`,
      `// @exec: {"yield_time_ms": "x"}\ntext(1)`,
      `await tools.mcp__weather__get_city({});`,
      `await tools.nope({});`,
    ];
    const { say, answers } = await codex([
      { calls: [...calls.map((input, i) => ({ id: `c${i}`, name: "exec", input })), { id: "r", name: "weather_get-city", arguments: {} }, { id: "s", name: "wait", arguments: { cell_id: 7 } }, { id: "t", name: "exec", arguments: "{" }] },
      "Done.",
    ]);
    const end = await say("go");
    assert.equal(end.stdout, "Done.\n", end.stderr);
    const told = answers().map(untimed);
    assert.match(told[0], /^Script failed\nWall time T seconds\nOutput:\nso far\nScript error:\nTypeError: cannot read property 'y' of null \(line 3, column 1: x\.y;\)\n$/);
    assert.equal(told[1], "Script completed\nWall time T seconds\nOutput:\n1\n");
    assert.equal(told[2], "Script completed\nWall time T seconds\nOutput:\nfirst\n");
    assert.match(told[3], /^\/\/ @exec: unknown key "timeout": yield_time_ms and max_output_tokens are known$/);
    assert.match(told[4], /^\/\/ @exec: expected a JSON object/);
    assert.match(told[5], /^\/\/ @exec: yield_time_ms: expected a whole number/);
    assert.match(told[6], /Script error:\nTool "weather\.get-city" failed: .*city/);
    assert.match(told[7], /Script error:\nReferenceError: Tool "nope" not found/);
    assert.match(told[8], /not found\. Available tools: exec, wait\. Call it in the program of exec: await tools\.mcp__weather__get_city\(\{\.\.\.\}\)$/);
    assert.match(told[9], /there is no cell "7": none is running/);
    assert.match(told[10], /Invalid JSON in arguments for tool "exec"/);
  });

  test("store and load: from program to program, and in later messages", async () => {
    const { say, answers } = await codex([
      exec(`text(load("n")); store("n", { a: [1] }); text(load("n"));`), exec(`store("m", load("n").a); text(typeof n)`, "e2"), "Kept.",
      exec(`text(load("n")); text(load("m")); text(load("x") === undefined)`), "There.",
    ]);
    assert.equal((await say("keep")).code, 0);
    assert.deepEqual(answers().map((text) => text.split("Output:\n")[1]), ['undefined\n{"a":[1]}\n', "undefined\n"]);
    const end = await say("look", "-c", "last");
    assert.equal(end.code, 0, end.stderr);
    assert.equal(answers().at(-1).split("Output:\n")[1], '{"a":[1]}\n[1]\ntrue\n');
  });

  test("images: of a result, of a URL, and what is none", async () => {
    const { say, answers } = await codex([exec(`const r = await tools.mcp__weather__picture({}); image(r.content[0]); forward_output(r); text("seen"); try { image("cat.png"); } catch (e) { text(e.message); }`), "Done."]);
    const end = await say("go", "--json");
    assert.equal(end.code, 0, end.stderr);
    const files = end.stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter((e) => e.event === "prompt.output" && e.data.output?.type === "file");
    assert.ok(files.length >= 1, end.stdout);
    assert.match(JSON.stringify(answers()[0]), /image\/png.*seen.*image\(\) expects a data: or https: URL/);
  });
});

test("a process that is killed while a cell runs: the next one gives the same answers and goes on", async () => {
  const slow = { tool: { name: "slow", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }, result: { content: [{ type: "text", text: "slow" }] }, delayMs: 3000 };
  const args = servers({ weather: scripted([WEATHER, slow]) }, bare);
  const program = `text("before"); await tools.mcp__weather__get_city({ city: "Rome" }); yield_control(); await tools.mcp__weather__slow({}); text("after"); store("k", 1);`;
  const { env, asked, answers } = await codex([{ rounds: [exec(program), wait("1"), exec(`text(load("k"))`, "e2"), "Done."] }], { args });
  const talk = start(["chat", "go", "-m", "codex", ...args], { env });
  await until(() => asked().length === 2, "the second request");
  talk.child.kill("SIGKILL");
  await talk.ended;
  const end = await run(["chat", "-c", "last", ...args], { env, input: "" });
  assert.equal(end.stdout, "Done.\n", end.stderr);
  const told = answers().map(untimed);
  assert.equal(told[0], "Script running with cell ID 1\nWall time T seconds\nOutput:\nbefore\n");
  assert.equal(told[1], "Script completed\nWall time T seconds\nOutput:\nafter\n");
  assert.equal(told[2], "Script completed\nWall time T seconds\nOutput:\n1\n");
  const replayed = await run(["replay", "last", ...args], { env });
  assert.match(replayed.stdout, /the same again/, replayed.stdout + replayed.stderr);
});

test("in other programs the names are there where nothing else has them", async () => {
  const named = scripted([{ ...WEATHER, tool: { ...WEATHER.tool, name: "text" } }]);
  const said = async (code, args = config()) => { const end = await run(["run", "-e", code, ...args]); return `${end.stdout}${end.stderr}`; };
  assert.equal(await said(`text({ a: 1 }); store("k", 2); text(load("k")); notify("n"); yield_control(); exit(); text("no")`), '{"a":1}\n2\n[log] n\n');
  assert.equal(await said(`text(ALL_TOOLS[0].name); text(tools.mcp__weather__get_city({ city: "Rome" }))`), 'weatherBroken\n{"sky":"clear"}\n');
  assert.equal(await said(`const text = 1, image = 2, exit = 3; [text, image, exit]`), "[1,2,3]\n");
  assert.equal(await said(`text({ city: "Rome" })`, servers({ weather: named }, bare)), '{"sky":"clear"}\n');
});
