// POST /check of lathe serve: what is wrong with a program, without running it.
import assert from "node:assert/strict";
import { describe, noTypes, noWalls, recording, scripted, start, test } from "./harness.mjs";
import { serve } from "./server.mjs";

const tool = { tool: { name: "get-weather", inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } };

/** A server, and check(language, code): its problems as "line:column-endLine:endColumn severity message". */
async function checker(configuration = {}) {
  const calls = recording();
  const s = await serve({ mcpServers: { weather: scripted([tool], calls.option) }, ...configuration });
  const check = async (language, code) => {
    const { status, json, text } = await s.post("/check", { language, code });
    assert.equal(status, 200, text);
    return json.problems.map((one) => `${one.line}:${one.column}${one.endLine ? `-${one.endLine}:${one.endColumn}` : ""} ${one.severity} ${one.message}`);
  };
  return { ...s, check, calls: () => calls.of("tools/call") };
}

describe("POST /check", { concurrency: 2 }, () => {
  test("JavaScript: syntax, modules, names of tools; nothing runs", { skip: noTypes() }, async () => {
    const s = await checker();
    assert.deepEqual(await s.check("javascript", "const a = weatherGetWeather({ city: 'x' }); output(a); return llm('x')"), []);
    assert.deepEqual(await s.check("javascript", "export default await Promise.all([weatherGetWeather({ city: 'x' })])"), []);
    assert.deepEqual(await s.check("javascript", "const n: number = 5; n"), []); // types are taken off, as in a run
    assert.deepEqual(await s.check("javascript", "while (true) weatherGetWeather({ city: 'x' })"), []);
    assert.deepEqual(await s.check("javascript", "1;\nconst é = ;"), ["2:11 error SyntaxError: unexpected token in expression: ';'"]);
    assert.match((await s.check("javascript", "import x from 'nope'"))[0], /^1:16 error Module not found: nope/);
    assert.deepEqual(await s.check("javascript", "/* é */ weatherGetWether({})"), ["1:9-1:25 warning Cannot find name 'weatherGetWether'. Did you mean: weatherGetWeather?"]);
    assert.deepEqual(s.calls(), []);
    assert.deepEqual((await s.get("/conversations")).json.conversations, []);
    await s.stop();
  });

  test("TypeScript: every fault, with its end", { skip: noTypes() }, async () => {
    const s = await checker();
    assert.deepEqual(await s.check("typescript", "const r = await get_weather({ city: 'x' });\nr"), []);
    assert.deepEqual(await s.check("typescript", "const r = await get_weather({ city: 5 });\nconst n: number = 'x';"), [
      "1:31-1:35 error Type 'number' is not assignable to type 'string'.",
      "2:7-2:8 error Type 'string' is not assignable to type 'number'.",
    ]);
    assert.match((await s.check("typescript", "await get_wether({})"))[0], /^1:7-1:17 error Cannot find name 'get_wether'\. Did you mean: get_weather/);
    assert.deepEqual((await s.check("typescript", "const n = ;")).map((one) => one.slice(0, 10)), ["1:11-1:12 "]);
    assert.equal((await s.check("typescript", "x;\n".repeat(5000))).length, 100);
    await s.stop();
  });

  test("without a compiler TypeScript's syntax is still checked", async () => {
    const s = await checker({ typescript: { check: false } });
    assert.deepEqual(await s.check("typescript", "const n: number = 'x'"), []);
    assert.match((await s.check("typescript", "1;\nconst n: = 5"))[0], /^2:10 error SyntaxError/);
    assert.deepEqual(await s.check("javascript", "nope()"), []);
    await s.stop();
  });

  test("Python: syntax, and names that are defined nowhere", { skip: noWalls() }, async () => {
    const s = await checker();
    const fine = "import os.path as p\nfrom json import loads\nasync def f(a, *b, **c):\n  global g\n  g = [x for x in b]\n  return a, c, p, loads, g, input_data\nmatch 5:\n  case [y, *z]: print(y, z)\ntry: f()\nexcept Exception as e: print(e, __name__)\nr = weather_get_weather(city='x')\nreturn (lambda q: q)(r)";
    assert.deepEqual(await s.check("python", fine), []);
    assert.deepEqual(await s.check("python", "while True: print(1)"), []);
    assert.deepEqual(await s.check("python", "1\ndef f(:\n  pass"), ["2:7 error SyntaxError: invalid syntax"]);
    assert.deepEqual(await s.check("python", "'é'; weather_get_wether(city=1)"), ["1:6-1:24 warning name 'weather_get_wether' is not defined. Did you mean: weather_get_weather?"]);
    assert.match((await s.check("python", "import subprocess\nsubprocess.run('x')"))[0], /^2:1 error .*cannot start processes/);
    assert.deepEqual(s.calls(), []);
    await s.stop();
  });

  test("what it refuses, and that it keeps nobody waiting", async () => {
    const s = await checker();
    assert.equal((await s.post("/check", { language: "cobol", code: "" })).status, 400);
    assert.equal((await s.post("/check", {})).status, 400);
    assert.equal((await s.post("/check", { code: "x".repeat(9 * 1024 * 1024) }).catch(() => ({ status: 413 }))).status, 413);
    const long = s.check("javascript", `[${"[1,2,3],".repeat(200_000)}]`);
    const began = performance.now();
    assert.equal((await s.get("/healthz")).status, 200);
    assert.ok(performance.now() - began < 1000);
    assert.deepEqual(await long, []);
    assert.deepEqual(await Promise.all(Array.from({ length: 20 }, (_, n) => s.check("typescript", `${n}`))), Array.from({ length: 20 }, () => []));
    await s.stop();
  });
});
