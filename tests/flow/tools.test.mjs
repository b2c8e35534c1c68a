// lathe tools: what a program can call, for people, for programs and for models.
import assert from "node:assert/strict";
import { bare, config, describe, fake, run, scripted, servers, test } from "./harness.mjs";

const weather = {
  tool: {
    name: "get-weather",
    description: "The weather somewhere.\nSecond line with \x1b[31mcolour\x1b[0m and \"quotes\" */ end",
    inputSchema: {
      type: "object",
      properties: { latitude: { type: "number", description: "North is positive" }, unit: { type: "string", enum: ["c", "f"] }, tags: { type: "array", items: { type: "string" } } },
      required: ["latitude"],
    },
    outputSchema: { type: "object", properties: { temperature: { type: "number" } }, required: ["temperature"] },
  },
};
const plain = { tool: { name: "ping", description: "Answers." } };
const args = servers({ weather: scripted([weather, plain]), zebra: scripted([{ tool: { name: "stripes" } }]) }, bare);
const tools = (...more) => run(["tools", ...args, ...more]);
async function listing(...more) {
  const end = await tools(...more);
  assert.deepEqual([end.code, end.stderr], [0, ""]);
  return end.stdout;
}

describe("listing", () => {
  test("for people: a line per tool, sorted, without a stranger's control characters", async () => {
    const lines = (await listing()).trimEnd().split("\n");
    assert.deepEqual(lines.map((l) => l.split("  ").slice(0, 2)), [["weather.get-weather", "weatherGetWeather"], ["weather.ping", "weatherPing"], ["zebra.stripes", "zebraStripes"]]);
    assert.match(lines[0], /  The weather somewhere\.$/);
    assert.ok(!/[\x00-\x09\x0b-\x1f]/.test(lines.join("\n")));
  });
  test("QUERY: what matches, best first", async () => {
    assert.match(await listing("stripes"), /^zebra\.stripes  /);
    assert.match(await listing("weather somewhere"), /^weather\.get-weather  /);
    assert.ok(!(await listing("stripes")).includes("weather.ping"));
    const none = await tools("qqqqqq");
    assert.deepEqual([none.code, none.stdout], [0, ""]);
  });
  test("--types json and --json are the same, and whole", async () => {
    const json = await listing("--types", "json");
    assert.equal(await listing("--json"), json);
    const list = JSON.parse(json);
    const [first] = Array.isArray(list) ? list : list.tools;
    assert.equal(first.id, "weather.get-weather");
    assert.equal(first.description, weather.tool.description);
    assert.deepEqual(first.inputSchema, weather.tool.inputSchema);
    assert.deepEqual(first.outputSchema, weather.tool.outputSchema);
  });
  test("--types ts: declarations with types and comments", async () => {
    const ts = await listing("--types", "ts");
    assert.match(ts, /GetWeatherInput\b[\s\S]*latitude: number/);
    assert.match(ts, /unit\?: "c" \| "f"/);
    assert.match(ts, /tags\?: (string\[\]|Array<string>)/);
    assert.match(ts, /get_weather\b.*GetWeatherInput.*Promise<Result<GetWeatherOutput>>/);
    assert.match(ts, /North is positive/);
    assert.ok(!ts.includes('quotes" */ end'), "a comment cannot be closed from inside");
    assert.ok(!ts.includes("\x1b"));
  });
  test("--types python: stubs", async () => {
    const py = await listing("--types", "python");
    assert.match(py, /def weather_get_weather\(/);
    assert.match(py, /latitude: float/);
    assert.ok(!py.includes("\x1b"));
  });
  test("--types prompt: the compact listing", async () => {
    assert.equal(
      await listing("--types", "prompt"),
      "**weather**: weatherGetWeather (ID: weather.get-weather) - The weather somewhere | weatherPing (ID: weather.ping) - Answers\n**zebra**: zebraStripes (ID: zebra.stripes)\n",
    );
  });
  test("a query and types together", async () => {
    const list = JSON.parse(await listing("stripes", "--json"));
    assert.deepEqual((Array.isArray(list) ? list : list.tools).map((t) => t.id), ["zebra.stripes"]);
  });
});

describe("byte-stable", () => {
  for (const types of [[], ["--types", "ts"], ["--types", "python"], ["--types", "json"], ["--types", "prompt"]]) {
    test(types.join(" ") || "for people", async () => {
      const [a, b] = await Promise.all([tools(...types), tools(...types)]);
      assert.ok(a.bytes.length > 0);
      assert.ok(a.bytes.equals(b.bytes));
    });
  }
  test("the order of servers, tools and pages does not matter", async () => {
    const one = servers({ a: scripted([weather, plain]), b: scripted([plain]) });
    const two = servers({ b: scripted([plain]), a: scripted([plain, weather], "--page=1") });
    for (const types of ["ts", "python", "json", "prompt"]) {
      const [x, y] = await Promise.all([run(["tools", ...one, "--types", types]), run(["tools", ...two, "--types", types])]);
      assert.equal(x.stdout, y.stdout);
    }
  });
});

describe("names", () => {
  test("collisions and renames are warned of, nothing is lost", async () => {
    const names = ["get-it", "get_it", "getIt", "1st", "delete"];
    const end = await run(["tools", "--json", ...servers({ s: scripted(names.map((name) => ({ tool: { name } }))) }, bare)]);
    assert.equal(end.code, 0);
    const list = JSON.parse(end.stdout);
    assert.deepEqual((Array.isArray(list) ? list : list.tools).map((t) => t.id).sort(), names.map((n) => `s.${n}`).sort());
    assert.ok(end.stderr.split("\n").filter((l) => l.startsWith("warning: ")).length >= 2, end.stderr);
    assert.match(end.stderr, /getIt|get-it/);
  });
  test("lathe tools shows - where only the id reaches a tool", async () => {
    const end = await run(["tools", ...servers({ s: scripted(["get-it", "get_it"].map((name) => ({ tool: { name } }))) })]);
    assert.match(end.stdout, /^s\.get-it  sGetIt  /m);
    assert.match(end.stdout, /^s\.get_it  -  /m);
  });
});

describe("edges", () => {
  test("without servers: what is built in, and what to do", async () => {
    const end = await run(["tools"]);
    assert.match(end.stdout, /^artifact\.get  artifactGet  .*\n(artifact\..*\n)+interpreter\.run-code  interpreterRunCode  .*\n$/);
    assert.match(end.stderr, /^lathe tools: only what is built in: .*mcp-config[^\n]*\n$/);
  });
  test("without those: nothing, and what to do", async () => {
    const end = await run(["tools", "--config", config(bare)]);
    assert.deepEqual([end.code, end.stdout], [0, ""]);
    assert.match(end.stderr, /mcp-config|lathe\.yaml/);
    const json = await run(["tools", "--json"]);
    assert.equal(json.code, 0);
    JSON.parse(json.stdout);
  });
  test("with a server that is down: a warning, the others are listed", async () => {
    const end = await run(["tools", ...servers({ good: scripted([plain]), bad: { command: "no-such-command-here" } }, bare)]);
    assert.equal(end.code, 0);
    assert.match(end.stdout, /^good\.ping  goodPing  Answers\.\n$/);
    assert.match(end.stderr, /^warning: .*bad.*no-such-command-here/);
  });
  test("5,000 tools", async () => {
    const end = await run(["tools", "--types", "ts", ...servers({ many: fake("--tools=5000", "--page=500") })]);
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /\bt4999\b/);
  });
  test("usage", async () => {
    for (const [more, stderr] of [[["a", "b"], /one QUERY/], [["--types", "xml"], /--types is ts, python, json or prompt/], [["--type", "ts"], /did you mean --types/]]) {
      const end = await run(["tools", ...more]);
      assert.equal(end.code, 2);
      assert.match(end.stderr, stderr);
    }
  });
});
