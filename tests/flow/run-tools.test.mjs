// lathe run with tools: how programs call them, what they get, what is reported.
import assert from "node:assert/strict";
import { bare, describe, failure, fake, patience, prints, program, recording, report, scripted, servers, test, value } from "./harness.mjs";

const one = servers({ fake: fake() });
const TS = ["--lang", "ts"];
const tool = (name, result, more = {}) => ({ tool: { name, ...more }, result });
const text = (...texts) => ({ content: texts.map((text) => ({ type: "text", text })) });

describe("calls", () => {
  test("by function name, plain and awaited", async () => {
    assert.deepEqual(await value("[fakeAdd({ a: 1, b: 2 }), await fakeAdd({ a: 3, b: 4 })]", one), ["3", "7"]);
  });
  test("inside functions, loops and async functions", async () => {
    const code = `let s = 0; for (let i = 0; i < 5; i++) s += Number(fakeAdd({ a: i, b: 1 }));
      async function f(n) { const x = await fakeAdd({ a: n, b: n }); return Number(x) }
      [s, await f(4), [1, 2].map((n) => fakeAdd({ a: n, b: 0 })).join()]`;
    assert.deepEqual(await value(code, one), [15, 8, "1,2"]);
  });
  test("by id: tools['a.b'], and by function name through tools", async () => {
    assert.deepEqual(await value("[tools['fake.add']({ a: 1, b: 1 }), tools.fakeAdd({ a: 1, b: 2 }), tools['fa' + 'ke.add']({ a: 1, b: 3 })]", one), ["2", "3", "4"]);
    assert.deepEqual(await value("['fake.add' in tools, 'fake.nope' in tools]", one), [true, false]);
  });
  test("through a computed name that the text never shows", async () => {
    assert.equal(await value("const name = ['fake', 'add'].join('.'); tools[name]({ a: 2, b: 2 })", one), "4");
  });
  test("without input, with undefined, null and an empty object", async () => {
    const wire = recording();
    const args = servers({ fake: fake(wire.option) });
    await value("fakePid(); fakePid(undefined); fakePid(null); fakePid({})", args);
    assert.deepEqual(wire.of("tools/call").map((m) => m.params.arguments), [{}, {}, {}, {}]);
    assert.deepEqual(wire.of("tools/call").map((m) => m.params.name), ["pid", "pid", "pid", "pid"]);
  });
  test("the input crosses as it is", async () => {
    const input = { text: "a\"\\\u0000\u2028\u{1f600}\ud800", deep: [[[{ a: null }]]], n: 1e21, f: 0.1, big: 9007199254740993, t: true };
    assert.deepEqual(await value("fakeEcho(input)", [...one, "--input", JSON.stringify(input)]), { echoed: input });
  });
  test("a function that is handed on", async () => {
    assert.equal(await value("const call = (f, x) => f(x); call(fakeAdd, { a: 5, b: 5 })", one), "10");
    assert.equal(await value("const { fakeAdd: add } = globalThis; add({ a: 5, b: 6 })", one), "11");
  });
  test("a program may use the tool's name for itself", async () => {
    assert.equal(await value("const fakeAdd = (x) => x + 1; fakeAdd(1)", one), 2);
  });
  test("the report lists every call", async () => {
    const r = await report("fakeAdd({ a: 1, b: 2 }); try { fakeFail() } catch {} fakeEcho({ text: 't' }); 'r'", one);
    assert.deepEqual(r.calls, [
      { tool: "fake.add", input: { a: 1, b: 2 }, result: "3" },
      { tool: "fake.fail", input: {}, error: "it failed" },
      { tool: "fake.echo", input: { text: "t" }, result: { echoed: { text: "t" } } },
    ]);
  });
  test("the server hears one handshake and the calls in order", async () => {
    const wire = recording();
    await value("fakeAdd({ a: 1, b: 2 }); fakeAdd({ a: 2, b: 3 })", servers({ fake: fake(wire.option) }));
    const methods = wire.messages().map((m) => m.method);
    assert.deepEqual(methods.filter((m) => m !== "tools/list"), ["server/discover", "initialize", "notifications/initialized", "tools/call", "tools/call"]);
    assert.ok(methods.indexOf("tools/list") === 3);
    const [, hello] = wire.messages();
    assert.equal(hello.params.protocolVersion, "2025-11-25");
    assert.equal(hello.params.clientInfo.name, "lathe");
    assert.equal(new Set(wire.messages().filter((m) => "id" in m).map((m) => m.id)).size, wire.messages().filter((m) => "id" in m).length);
  });
  test("a failure tells what was called already", async () => {
    const end = await program("fakeAdd({ a: 1, b: 2 });\ntry { fakeFail() } catch {}\nnope()", one);
    prints(end, {
      code: 1,
      stderr: "error: ReferenceError: nope is not defined\n  at 3:1: nope()\n  tools called before: fake.add, fake.fail (failed)\n",
    });
  });
  test("many calls", async () => {
    assert.equal(await value("let n = 0; for (let i = 0; i < 500; i++) n += Number(fakeAdd({ a: i, b: 0 })); n", one), 124750);
  });
});

describe("concurrency", () => {
  test("Promise.all runs its calls at the same time", async () => {
    const code = "const r = await Promise.all([fakeMeet({ n: 3 }), fakeMeet({ n: 3 }), fakeMeet({ n: 3 })]); r";
    assert.deepEqual(await value(code, one), ["met 3", "met 3", "met 3"]);
  });
  test("Promise.all over map, and allSettled", async () => {
    const code = `const r = await Promise.all([1, 2, 3, 4].map(async (n) => { const m = await fakeMeet({ n: 4 }); return n + m }));
      const s = await Promise.allSettled([fakeAdd({ a: 1, b: 1 }), fakeFail()]);
      [r, s.map((x) => x.status), s[1].reason.message]`;
    const [r, s, why] = await value(code, one);
    assert.deepEqual(r, ["1met 4", "2met 4", "3met 4", "4met 4"]);
    assert.deepEqual(s, ["fulfilled", "rejected"]);
    assert.match(why, /Tool "fake\.fail" failed: it failed/);
  });
  test("Promise.race gives the first", async () => {
    assert.equal(await value("await Promise.race([fakeSlow({ ms: 3000 }), fakeAdd({ a: 1, b: 1 })])", one), "2");
  });
  test(".then chains", async () => {
    assert.equal(await value("fakeAdd({ a: 1, b: 1 }).then((x) => fakeAdd({ a: Number(x), b: 1 })).then((x) => 'sum ' + x)", one), "sum 3");
  });
  test("promises forgive being used as values", async () => {
    const code = `const p = Promise.resolve(1); // promise style
      const e = fakeEcho({ text: "hi", list: [1, 2] });
      const n = fakeAdd({ a: 20, b: 2 });
      [e.echoed.text, e.echoed.list.map((x) => x * 2), n - 1, \`\${n}\`, JSON.stringify({ n }), Object.keys(e), "echoed" in e, n.length, { ...e }, n == 22]`;
    assert.deepEqual(await value(code, one), ["hi", [2, 4], 21, "22", '{"n":"22"}', ["echoed"], true, 2, { echoed: { text: "hi", list: [1, 2] } }, true]);
  });
  test("a forgiving promise that failed throws where it is used", async () => {
    const r = await failure("const p = Promise;\nconst f = fakeFail();\nlet seen; try { f.x } catch (e) { seen = e.message }\noutput(seen);\nawait f", one);
    assert.match(r.outputs[0], /it failed/);
    assert.match(r.error, /it failed/);
  });
  test("an open promise as result is waited for", async () => {
    assert.equal(await value("Promise; fakeAdd({ a: 1, b: 1 })", one), "2");
    assert.deepEqual(await value("Promise; ({ sum: fakeAdd({ a: 1, b: 1 }) })", one), { sum: "2" });
  });
  test("calls still open at the end are waited for", async () => {
    const r = await report("Promise; fakeSlow({ ms: 50 }); fakeSlow({ ms: 20 }).then(() => output('second')); 'end'", one);
    assert.deepEqual([r.exit, r.result, r.outputs], [0, "end", ["second"]]);
    assert.deepEqual(r.calls.map((c) => c.result), ["slept 50", "slept 20"]);
  });
  test("a call still open at the end that fails is a failure", async () => {
    assert.match((await failure("Promise; fakeFail(); 'end'", one)).error, /it failed/);
  });
  test("the word Promise in a string or comment does not change the style", async () => {
    assert.equal(await value("// Promise.all\nconst s = 'Promise .then'; typeof fakeAdd({ a: 1, b: 1 })", one), "string");
  });
  test("parallel() runs side by side, keeps the order and the failures", async () => {
    const code = `parallel([{ tool: "fake.meet", input: { n: 2 } }, { tool: "fakeMeet", input: { n: 2 } }, { tool: "fake.fail" }, { tool: "fake.nope", input: {} }, "x"])`;
    const r = await value(code, one);
    assert.deepEqual(r.slice(0, 3), ["met 2", "met 2", { error: 'Tool "fake.fail" failed: it failed' }].map((x, i) => (i === 2 ? r[2] : x)));
    assert.match(r[2].error, /it failed/);
    assert.match(r[3].error, /Tool "fake\.nope" not found/);
    assert.match(r[4].error, /not a \{tool, input\} object/);
  });
  test("await parallel(), and parallel() in promise style", async () => {
    assert.deepEqual(await value("await parallel([{ tool: 'fake.add', input: { a: 1, b: 1 } }])", one), ["2"]);
    assert.deepEqual(await value("const [a, b] = await Promise.all([parallel([{ tool: 'fake.meet', input: { n: 2 } }]), fakeMeet({ n: 2 })]); [a, b]", one), [["met 2"], "met 2"]);
  });
  test("parallel() of something else says so", async () => {
    assert.match((await failure("parallel({})", one)).error, /TypeError: parallel\(\) expects an array/);
    assert.deepEqual(await value("parallel([])", one), []);
  });
  test("a thousand at once", async () => {
    const code = "const r = await Promise.all(Array.from({ length: 1000 }, () => fakeMeet({ n: 1000 }))); r.length";
    assert.equal(await value(code, one), 1000);
  });
  test("more at once than may be open queue up", async () => {
    const code = "const r = await Promise.all(Array.from({ length: 3000 }, (_, i) => fakeAdd({ a: i, b: 0 }))); r.reduce((s, x) => s + Number(x), 0)";
    assert.equal(await value(code, one), 4498500);
  });
  test("two servers at the same time", async () => {
    const two = servers({ a: fake(), b: fake() });
    const code = "const [x, y] = await Promise.all([aPid(), bPid()]); x !== y";
    assert.equal(await value(code, two), true);
  });
  test("a timer runs beside calls", async () => {
    const code = "const r = await Promise.all([sleep(30).then(() => 'timer'), fakeAdd({ a: 1, b: 2 })]); r";
    assert.deepEqual(await value(code, one), ["timer", "3"]);
  });
});

describe("unknown tools", () => {
  test("a function that is nearly one is suggested", async () => {
    const r = await failure("\nfakeAd({ a: 1 })", one);
    assert.match(r.error, /^ReferenceError: fakeAd is not defined\. Did you mean: .*fakeAdd.*\?$/);
    assert.deepEqual([r.line, r.column], [2, 1]);
  });
  test("an id that is nearly one is suggested", async () => {
    const r = await failure("tools['fake.ad']({})", one);
    assert.match(r.error, /^ReferenceError: Tool "fake\.ad" not found\. Did you mean: .*fake\.?[aA]dd.*\?$/);
  });
  test("a tool without its server is called while no other server has it; a similar one is suggested", async () => {
    assert.deepEqual(await value("tools['echo']({a: 1})", one), { echoed: { a: 1 } });
    assert.match((await failure("tools['ecko']({})", one)).error, /Did you mean: .*fake\.?[eE]cho/);
  });
  test("nothing near: how to find out what there is", async () => {
    assert.match((await failure("tools['zzzzzzzzz']({})", one)).error, /Tool "zzzzzzzzz" not found.*discoverTools\(\)/);
  });
  test("nothing is called", async () => {
    assert.deepEqual((await failure("tools['fake.ad']({})", one)).calls, []);
  });
  test("without any servers", async () => {
    assert.match((await failure("tools['a.b']({})")).error, /Tool "a\.b" not found/);
    assert.match((await failure("weatherGet({})")).error, /weatherGet is not defined/);
  });
});

describe("failures of tools", () => {
  test("a tool error is thrown as an Error with the tool's own words", async () => {
    const r = await value("try { fakeFail() } catch (e) { ({ is: e instanceof Error, message: e.message }) }", one);
    assert.deepEqual(r, { is: true, message: 'Tool "fake.fail" failed: it failed' });
  });
  test("not caught, it ends the program with the line of the call", async () => {
    const r = await failure("output('before');\nconst a = 1;\n  fakeFail({});", one);
    assert.equal(r.error, 'Tool "fake.fail" failed: it failed');
    assert.deepEqual([r.line, r.context, r.outputs], [3, "fakeFail({});", ["before"]]);
    assert.deepEqual(r.calls, [{ tool: "fake.fail", input: {}, error: "it failed" }]);
  });
  test("in promise style too", async () => {
    const r = await failure("const p = Promise.resolve();\nasync function f() {\n  await fakeFail();\n}\nawait f()", one);
    assert.equal(r.error, 'Tool "fake.fail" failed: it failed');
  });
  test("a JSON-RPC error has its message", async () => {
    assert.match((await failure("fakeError({ message: 'quota is used up' })", one)).error, /^Tool "fake\.error" failed: .*quota is used up/);
    assert.match((await failure("fakeError({ code: -32602, message: 'bad arguments' })", one)).error, /bad arguments/);
  });
  test("an error result without words is not empty", async () => {
    const args = servers({ s: scripted([tool("mute", { content: [], isError: true })]) });
    assert.match((await failure("sMute()", args)).error, /^Tool "s\.mute" failed/);
  });
});

describe("input that does not fit", () => {
  const schema = {
    type: "object",
    properties: { latitude: { type: "number" }, name: { type: "string" }, unit: { type: "string", enum: ["c", "f"] }, list: { type: "array" }, n: { type: ["integer", "null"] } },
    required: ["latitude"],
  };
  const wire = recording();
  const args = servers({ w: scripted([tool("get-weather", undefined, { inputSchema: schema })], wire.option) });
  const cases = [
    ["a string for a number", "{ latitude: 'x' }", /input\.latitude: expected number, got string/],
    ["a missing property", "{ name: 'x' }", /input\.latitude: is required/],
    ["nothing at all", "", /input\.latitude: is required/],
    ["several faults", "{ latitude: true, name: 5 }", /input\.latitude: expected number, got boolean; input\.name: expected string, got (number|integer)/],
    ["not one of the enum", "{ latitude: 1, unit: 'k' }", /input\.unit: .*"?c"?.*"?f"?/],
    ["an object for an array", "{ latitude: 1, list: {} }", /input\.list: expected array, got object/],
    ["a fraction for an integer", "{ latitude: 1, n: 1.5 }", /input\.n: expected integer/],
    ["a string as input", "'Berlin'", /object/],
    ["an array as input", "[1, 2]", /object/],
    ["a number as input", "42", /object/],
  ];
  for (const [what, input, error] of cases) {
    test(what, async () => {
      const r = await failure(`wGetWeather(${input})`, args);
      assert.match(r.error, error);
      assert.match(r.error, /^Tool "w\.get-weather"/);
      assert.equal(r.line, 1);
    });
  }
  test("the server was never asked", () => assert.deepEqual(wire.of("tools/call"), []));
  test("what fits passes, unknown properties too", async () => {
    const input = { latitude: 1.5, name: "", unit: "c", list: [1], n: null, more: { x: 1 } };
    assert.deepEqual(await value(`wGetWeather(${JSON.stringify(input)})`, args), input);
  });
  test("what cannot be written as JSON", async () => {
    assert.match((await failure("const a = { latitude: 1 }; a.a = a; wGetWeather(a)", args)).error, /circular/i);
    assert.match((await failure("wGetWeather({ latitude: 1n })", args)).error, /BigInt/i);
  });
});

describe("values", () => {
  const number = { outputSchema: { type: "number" } };
  const cases = {
    structured: [{ content: [{ type: "text", text: "ignored" }], structuredContent: { a: [1] } }, { a: [1] }],
    "json-object": [text('{"b": [1, 2.50]}'), { b: [1, 2.5] }],
    "json-array": [text(" [1] "), [1]],
    "number-text": [text("42"), "42"],
    "true-text": [text("true"), "true"],
    "null-text": [text("null"), "null"],
    "quoted-text": [text('"q"'), '"q"'],
    plain: [text("hello\nworld"), "hello\nworld"],
    "broken-json": [text('{"a":'), '{"a":'],
    two: [text("a", "b"), "a\nb"],
    "two-json": [text("{}", "[]"), "{}\n[]"],
    empty: [{ content: [] }, null],
    "empty-text": [text(""), ""],
    image: [{ content: [{ type: "image", data: "aGFsbG8=", mimeType: "image/png" }] }, { type: "image", mimeType: "image/png", bytes: 5 }],
    audio: [{ content: [{ type: "audio", data: "aGFsbG8h", mimeType: "audio/wav" }] }, { type: "audio", mimeType: "audio/wav", bytes: 6 }],
    mixed: [{ content: [{ type: "text", text: "see" }, { type: "image", data: "QQ==", mimeType: "image/png" }] },
      [{ type: "text", text: "see" }, { type: "image", mimeType: "image/png", bytes: 1 }]],
    surrogate: [{ content: [], structuredContent: { s: "\ud800 \udfff" } }, { s: "\ud800 \udfff" }],
    "big-number": [text('{"n": 12345678901234567890}'), { n: 12345678901234567000 }],
    proto: [text('{"__proto__": {"x": 1}, "constructor": 2}'), JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}')],
  };
  const args = servers({
    v: scripted([...Object.entries(cases).map(([name, [result]]) => tool(name, result)), tool("number", text("42"), number),
      tool("resource", { content: [{ type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "inside" } }] }),
      tool("blob", { content: [{ type: "resource", resource: { uri: "file:///a.bin", mimeType: "application/x", blob: "AAEC" } }] }),
      tool("link", { content: [{ type: "resource_link", uri: "file:///a.txt", name: "a.txt" }] })]),
  });
  for (const [name, [, expected]] of Object.entries(cases)) {
    test(name, async () => {
      const got = await value(`tools["v.${name}"]()`, args);
      if (expected?.type === "image" || expected?.type === "audio") delete got.artifact;
      if (Array.isArray(got) && got[1]?.artifact !== undefined) delete got[1].artifact;
      assert.deepEqual(got, expected);
    });
  }
  test("a text that the output schema calls a number is one", async () => assert.equal(await value("vNumber()", args), 42));
  test("resources are objects without their bytes", async () => {
    const [resource, blob, link] = await value("[vResource(), vBlob(), vLink()]", args);
    assert.equal(resource.mimeType, "text/plain");
    assert.equal(blob.mimeType, "application/x");
    assert.equal(blob.bytes, 3);
    assert.ok(!JSON.stringify(blob).includes("AAEC"));
    assert.equal(link.uri, "file:///a.txt");
    assert.equal(resource.uri ?? resource.text, "file:///a.txt");
  });
});

describe("TypeScript", () => {
  test("calls answer Results, by the tool's own name", async () => {
    const code = "const r = await add({ a: 1, b: 2 }); if (!r.success) throw new Error(r.error); console.log(r.value); r";
    const r = await report(code, [...one, ...TS]);
    assert.deepEqual(r.result, { success: true, value: "3" });
    assert.deepEqual(r.outputs.map((o) => o.trim()), ["3"]);
  });
  test("failures are values", async () => {
    const code = `const a = await fail({}); const b = await tools["fake.error"]({ message: "no" }); const c = await echo({ text: 5 as any });
      [a, b, c].map((r) => [r.success, r.success ? "" : r.error])`;
    const [a, b, c] = await value(code, [...one, ...TS]);
    assert.deepEqual(a, [false, 'Tool "fake.fail" failed: it failed']);
    assert.equal(b[0], false);
    assert.match(b[1], /no/);
    assert.equal(c[0], false);
    assert.match(c[1], /input\.text: expected string, got (number|integer)/);
  });
  test("names are made identifiers", async () => {
    assert.deepEqual(await value("const r = await stderr_now({ text: 'x' }); r", [...one, ...TS]), { success: true, value: "written" });
  });
  test("Promise.all runs side by side", async () => {
    const code = "const rs = await Promise.all([meet({ n: 2 }), meet({ n: 2 })]); rs.map((r) => r.success && r.value)";
    assert.deepEqual(await value(code, [...one, ...TS]), ["met 2", "met 2"]);
  });
  test("calls that nobody awaits are waited for", async () => {
    const r = await report("slow({ ms: 30 }); 'end'", [...one, ...TS]);
    assert.deepEqual(r.calls.map((c) => c.result), ["slept 30"]);
  });
  test("the server's name comes before only where two have the same", async () => {
    const args = servers({ a: scripted([tool("same"), tool("only-a")]), b: scripted([tool("same")]) });
    const code = "[await a_same({ x: 1 }), await b_same({ x: 2 }), await only_a({ x: 3 })].map((r) => r.success && r.value)";
    assert.deepEqual(await value(code, [...args, ...TS]), [{ x: 1 }, { x: 2 }, { x: 3 }]);
  });
  test("an unknown name suggests TypeScript names", async () => {
    assert.match((await failure("await ech({ text: 'x' })", [...one, ...TS, "--no-check"])).error, /ech is not defined\. Did you mean: .*echo/);
    const r = await failure("await ech({ text: 'x' })", [...one, ...TS]);
    assert.match(r.error, /^TS2304: Cannot find name 'ech'\. Did you mean: .*echo/);
  });
});

describe("names", () => {
  const args = servers({ s: scripted([tool("get-it"), tool("get_it"), tool("getIt"), tool("1st"), tool("ünïcode"), tool("a b/c")]) });
  test("colliding tools stay reachable by id, and a warning says so", async () => {
    const r = await report("[sGetIt({ n: 1 }), tools['s.get-it']({ n: 2 }), tools['s.get_it']({ n: 3 }), tools['s.getIt']({ n: 4 })].map((x) => x.n)", args);
    assert.deepEqual(r.result, [1, 2, 3, 4]);
    assert.deepEqual(r.calls.map((c) => c.tool), ["s.get-it", "s.get-it", "s.get_it", "s.getIt"].map((id, i) => (i === 0 ? r.calls[0].tool : id)));
    assert.match(r.calls[0].tool, /^s\.get/);
  });
  test("odd names are reachable", async () => {
    const code = "['s.1st', 's.ünïcode', 's.a b/c'].map((id) => tools[id]({ id }).id)";
    assert.deepEqual(await value(code, args), ["s.1st", "s.ünïcode", "s.a b/c"]);
  });
  test("a tool never shadows a built-in", async () => {
    const shadow = servers({ j: scripted([tool("")].slice(1).concat(tool("son"))), console: scripted([tool("log")]), output: scripted([tool("x")]) });
    const r = await report("output('still output'); console.log('still a log'); JSON.stringify([outputX({ a: 1 })])", shadow);
    assert.equal(r.exit, 0, r.error);
    assert.deepEqual([r.outputs, r.logs, r.result], [["still output"], ["still a log"], '[{"a":1}]']);
  });
});

describe("discoverTools and toolSchema", () => {
  test("Object.keys(tools) are the ids", async () => {
    assert.deepEqual(await value("Object.keys(tools)", one), await value("discoverTools().map((t) => t.id)", one));
  });
  test("without a query lists all of them", async () => {
    const all = await value("discoverTools()", one);
    assert.ok(all.some((t) => t.id === "fake.echo" && t.name === "fakeEcho" && t.description.startsWith('Answers "text"')));
    assert.deepEqual(all.map((t) => t.id), all.map((t) => t.id).toSorted?.() ?? [...all.map((t) => t.id)].sort());
  });
  test("with a query the best come first", async () => {
    const found = await value("discoverTools('echo')", one);
    assert.equal(found[0].id, "fake.echo");
    assert.ok(found.length < 10);
    assert.deepEqual(await value("discoverTools('qqqqqq')", one), []);
  });
  test("names that were found can be called", async () => {
    assert.equal(await value("const [t] = discoverTools('add'); tools[t.id]({ a: 1, b: 1 }) + tools[t.name]({ a: 2, b: 2 })", one), "24");
  });
  test("toolSchema gives the input schema, by id and by name", async () => {
    const schema = { type: "object", properties: { text: { type: "string" } } };
    assert.deepEqual(await value("[toolSchema('fake.echo'), toolSchema('fakeEcho')]", one), [schema, schema]);
  });
  test("toolSchema of an unknown tool is an answer", async () => {
    assert.match((await value("toolSchema('fake.ech')", one)).error, /Tool "fake\.ech" not found\. Did you mean: /);
  });
  test("awaited they are the same", async () => {
    assert.equal(await value("(await discoverTools('echo'))[0].id", one), "fake.echo");
  });
});

describe("deadline", () => {
  test("a call still open at the deadline is cancelled and shown as cut short", async () => {
    const wire = recording();
    const args = servers({ fake: fake(wire.option) });
    const r = await report("output('o'); fakeAdd({ a: 1, b: 1 }); fakeHang({}); output('never')", [...args, "--timeout", 300 * patience]);
    assert.deepEqual([r.exit, r.timeout, r.outputs], [124, true, ["o"]]);
    assert.equal(r.calls[0].result, "2");
    assert.equal(r.calls[1].tool, "fake.hang");
    assert.ok(r.calls[1].error);
    const [, call] = wire.of("tools/call");
    assert.deepEqual(wire.of("notifications/cancelled").map((m) => m.params.requestId), [call.id]);
  });
  test("all of them are", async () => {
    const wire = recording();
    const r = await report("await Promise.all([fakeHang({}), fakeHang({}), fakeHang({})])", [...servers({ fake: fake(wire.option) }), "--timeout", 300]);
    assert.equal(r.exit, 124);
    assert.deepEqual(wire.of("notifications/cancelled").map((m) => m.params.requestId).sort(), wire.of("tools/call").map((m) => m.id).sort());
  });
  test("a program cannot catch it", async () => {
    const end = await program("for (;;) { try { fakeHang({}) } catch { output('caught') } finally { output('finally') } }", [...one, "--timeout", 300]);
    assert.deepEqual([end.code, end.stdout], [124, ""]);
  });
});

describe("5,000 tools", () => {
  const args = servers({ many: fake("--tools=5000", "--page=1000") }, bare);
  test("the last one is called by its name and by its id", async () => {
    assert.deepEqual(await value("[manyT4999({ a: 1 }), tools['many.t4998']({ b: 2 }), discoverTools().length]", args), [{ echoed: { a: 1 } }, { echoed: { b: 2 } }, 5000]);
  });
});
