// Languages and what runs them: --lang, --runner, extensions, the configuration, and execute_code as a model meets it.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { config, describe, fake, folder, noWalls, prints, report, root, run, servers, start, test, until } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const tools = (rest = {}, ...options) => servers({ fake: fake(...options) }, rest);
const python = (code, args = [], options) => run(["run", "--lang", "python", "-e", code, ...args], options);
const QUESTION = "ne[v]er: ";

describe("which language, which runner", () => {
  const file = (name, text) => join(folder({ [name]: text }), name);
  test("by the file's extension", async () => {
    prints(await run(["run", file("a.py", "set_result(sum(range(4)))")]), { stdout: "6\n" });
    prints(await run(["run", file("a.ts", "const n: number = 6; console.log(n)")]), { stdout: "6\n" });
    prints(await run(["run", file("a.mjs", "export default 6")]), { stdout: "6\n" });
    prints(await run(["run", file("a", "6")]), { stdout: "6\n" });
  });
  test("as said, whatever the extension", async () => {
    prints(await run(["run", "--lang", "python", file("a.js", "set_result(6)")]), { stdout: "6\n" });
    prints(await run(["run", "--lang", "python"], { stdin: "set_result('from stdin')" }), { stdout: "from stdin\n" });
  });
  test("a runner that speaks one language decides it", async () => {
    prints(await run(["run", "--runner", "python", "-e", "set_result(6)"]), { stdout: "6\n" });
    prints(await run(["run", "--runner", "quickjs", "-e", "6"]), { stdout: "6\n" });
  });
  test("what does not go together is said, with what does", async () => {
    const wrong = async (args, stderr) => prints(await run(["run", "-e", "1", ...args]), { stderr: `lathe run: ${stderr}\n`, code: 2 });
    await wrong(["--lang", "python", "--runner", "quickjs"], "the quickjs runner runs js and ts programs, not python: use --runner python, or another --lang");
    await wrong(["--lang", "python", "--runner", "deno"], "the deno runner runs ts and js programs, not python: use --runner python, or another --lang");
    await wrong(["--lang", "ts", "--runner", "python"], "the python runner runs python programs, not ts: use --runner quickjs, or another --lang");
    await wrong(["--runner", "node"], 'there is no runner "node": it is quickjs, deno or python');
    await wrong(["--lang", "ruby"], '--lang is js, ts or python, not "ruby"');
  });
});

describe("lathe run: Python", () => {
  test("the result on stdout, what it prints on stderr, tools through the same door", async () => {
    const end = await python("print('adding')\nset_result({'sum': fake_add(a=1, b=2), 'same': call_tool('fake.add', {'a': 1, 'b': 2})})", tools());
    prints(end, { stdout: '{"sum":"3","same":"3"}\n', stderr: "[log] adding\n" });
  });
  test("--json has what it has for the others", async () => {
    const { durationMs, exit, stderr, ms, text, ...rest } = await report("print('x')\nset_result(fake_add(a=1, b=2))", ["--lang", "python", ...tools()]);
    assert.equal(exit, 0, stderr);
    assert.equal(typeof durationMs, "number");
    assert.deepEqual(rest, { result: "3", outputs: [], logs: ["x"], calls: [{ tool: "fake.add", input: { a: 1, b: 2 }, result: "3" }] });
  });
  test("a failure: where it is in what was written, what was called, the result set before", async () => {
    const end = await python("from __future__ import annotations\nset_result('before')\nfake_add(a=1, b=2)\n\n1 / 0", tools());
    prints(end, { stdout: "before\n", stderr: "error: ZeroDivisionError: division by zero\n  at 5:1: 1 / 0\n  tools called before: fake.add\n", code: 1 });
  });
  test("--input and --timeout", async () => {
    prints(await python("set_result(input_data['n'] + 1)", ["--input", '{"n": 41}']), { stdout: "42\n" });
    prints(await python("while True: pass", ["--timeout", "400"]), { stderr: "error: Execution timed out after 400ms\n", code: 124 });
  });
  test("rules hold", async () => {
    const denied = await python("fake_add(a=1, b=2)", tools({ tools: { policy: [{ match: "fake.*", action: "deny", reason: "no sums" }] } }));
    assert.equal(denied.code, 1);
    assert.match(denied.stderr, /Tool "fake\.add" is not allowed: no sums/);
  });
  test("a program waits in the middle for somebody's approval, its clock stands, and it goes on", { skip: noWalls() }, async () => {
    const code = "n = 1\nfor i in range(2):\n  try: n += int(fake_add(a=i, b=i + 1))\n  except ToolError as e: print('no:', e)\nset_result(n)";
    const asking = { tools: { policy: [{ match: "fake.add", action: "ask", reason: "it adds" }] } };
    const talk = start(["run", "--lang", "python", "--timeout", "2000", "-e", code, ...tools(asking)], { terminal: true });
    await until(() => talk.text().includes(QUESTION), "the first question");
    await new Promise((done) => setTimeout(done, 2500)); // longer than the program's time
    talk.type("y\n");
    await until(() => /input: \{"a":1,"b":2\}[^]*ne\[v\]er: $/.test(talk.text()), `the second question\n${talk.text()}`);
    talk.type("n not now\n");
    const end = await talk.ended;
    assert.equal(end.code, 0, end.stdout);
    assert.match(end.stdout, /no: Tool "fake\.add" was not approved: not now/);
    assert.match(end.stdout, /\r\n2\r\n$/);
  });
});

describe("configuration", () => {
  const use = (value) => ["--config", config(value)];
  test("python.env, python.envPassthrough and python.workspace", async () => {
    const work = folder();
    chmodSync(work, 0o777); // started by root, programs run as nobody
    const code = "import os\nopen('out.txt', 'w').write('written')\nset_result([os.environ.get(k) for k in ('A', 'PASSED', 'NOT_PASSED')] + [os.getcwd()])";
    const end = await python(code, use({ python: { env: { A: "b c" }, envPassthrough: ["PASSED"], workspace: work } }), { env: { PASSED: "p", NOT_PASSED: "n" } });
    prints(end, { stdout: JSON.stringify(["b c", "p", null, work]) + "\n" });
    assert.equal(readFileSync(join(work, "out.txt"), "utf8"), "written");
    const all = await python("import os\nset_result(os.environ.get('NOT_PASSED'))", use({ python: { envPassthrough: true } }), { env: { NOT_PASSED: "n" } });
    prints(all, { stdout: "n\n" });
  });
  test("relative paths count from the file's folder", async () => {
    const where = folder({ "lathe.yaml": "python: {workspace: work}\n" });
    mkdirSync(join(where, "work"));
    [where, join(where, "work")].forEach((path) => chmodSync(path, 0o777));
    prints(await python("import os\nset_result(os.path.basename(os.getcwd()))", ["--config", join(where, "lathe.yaml")]), { stdout: "work\n" });
  });
  test("an interpreter, a workspace that is not there", async () => {
    const none = await python("1", use({ python: { path: "/no/python3" } }));
    prints(none, { stderr: none.stderr, code: 1 });
    assert.match(none.stderr, /^lathe run: .*"\/no\/python3" .*python\.path.*\n$/);
    const nowhere = await python("1", use({ python: { workspace: "/no/such/folder" } }));
    assert.equal(nowhere.code, 3);
    assert.match(nowhere.stderr, /^lathe run: python\.workspace: \/no\/such\/folder: No such file or directory/);
  });
  test("secrets in its environment are masked in logs", async () => {
    const end = await python("import os\nprint('the token is ' + os.environ['API_TOKEN'])", use({ python: { env: { API_TOKEN: "${TOKEN_FOR_TEST}" } } }), { env: { TOKEN_FOR_TEST: "s3cr3t-value" } });
    prints(end, { stderr: "[log] the token is ***\n" });
  });
  test("a server's and the models' keys are not in a program's environment", async () => {
    prints(await python("import os\nset_result([k for k in os.environ if 'KEY' in k])", [], { env: { OPENAI_API_KEY: "sk-1234567890", MY_KEY: "secret-key" } }), { stdout: "[]\n" });
  });
});

/** Has a model call a tool, then say "done": what it was answered, and what the prompt put out. */
async function answered(input, args = tools({ python: {} }), name = "execute_code", mode = "classic", env = {}) {
  const model = await scriptedModel([{ calls: [{ id: "c1", name, arguments: input }] }, "done"]);
  const end = await run(["chat", "-m", mode, "--json", "go", ...args], { env: { ...model.env, ...env } });
  assert.equal(end.code, 0, end.stderr);
  const events = end.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  return { text: model.asked()[1].messages.at(-1).content, asked: model.asked(), outputs: events.at(-1).data.output };
}
const code = async (text, ...rest) => (await answered({ code: text }, ...rest)).text;

describe("execute_code", () => {
  const NOTHING = "(no result set — use set_result(data) to return structured output)";
  test("is offered in classic mode where there is a python section, and only there", async () => {
    const { asked } = await answered({ code: "1" });
    const tool = asked[0].tools.find((one) => one.function.name === "execute_code").function;
    assert.match(tool.description, /set_result/);
    assert.deepEqual(Object.keys(tool.parameters.properties), ["code", "timeout"]);
    const without = await answered({ code: "1" }, tools());
    assert.ok(!JSON.stringify(without.asked[0].tools).includes("execute_code"));
    assert.match(without.text, /Tool "execute_code" not found/);
    const off = await answered({ code: "1" }, tools({ python: {}, plugins: [{ name: "python", disabled: true }] }));
    assert.match(off.text, /Tool "execute_code" not found/);
    const named = await answered({ code: "set_result(1)" }, tools({ plugins: [{ name: "python" }] }));
    assert.equal(named.text, "1");
  });
  test("the result; nothing set; logs with it", async () => {
    assert.equal(await code("set_result({'n': [1, 2.50]})"), '{"n":[1,2.5]}');
    assert.equal(await code("set_result('text')"), "text");
    assert.equal(await code("x = 1"), NOTHING);
    assert.equal(await code("print('a')\nprint('b')"), `${NOTHING}\n\nlogs:\na\nb`);
    assert.equal(await code("print('a')\nset_result([1])"), "[1]\n\nlogs:\na");
    assert.equal(await code("set_result('')"), "(completed, no output)");
  });
  test("no code", async () => {
    for (const empty of ["", "  \n"]) assert.equal(await code(empty), 'Error in tool "execute_code": execute_code requires non-empty code');
    assert.match((await answered({})).text, /input\.code: is required/);
  });
  test("a failure says where, what it had logged, set and called", async () => {
    const text = await code("print('before')\nset_result([1])\ncall_tool('fake_add', {'a': 1, 'b': 2})\ndef f():\n  return nope\nf()");
    assert.match(text, /^Error in tool "execute_code": NameError: name 'nope' is not defined \(line 5: return nope\)\n/);
    assert.match(text, /\n\nresult set before it failed:\n\[1\]\n/);
    assert.match(text, /\n\ntool calls it had made: fake\.add\n/);
    assert.match(text, /\n\nlogs:\nbefore$/);
    assert.match(await code("raise ValueError()"), /^Error in tool "execute_code": ValueError \(line 1: raise ValueError\(\)\)/);
    assert.match(await code("import sys\nsys.exit(3)"), /^Error in tool "execute_code": ./);
  });
  test("of many logs the model gets the end", async () => {
    const short = await code("for i in range(5000): print('line', i)\nset_result('short')");
    assert.match(short, /^short\n\nlogs:\n\.\.\. \(the beginning is left out\)\nline \d+\n[^]*\nline 4999$/);
    assert.match(await code("for i in range(50000): print('line', i)"), /\n[line 0-9]+\n\.\.\. \(truncated\)$/);
    const text = await code("for i in range(5000): print('line', i)\nraise ValueError('x')");
    assert.match(text, /\.\.\. \(the beginning is left out\)\n/);
    assert.ok(text.length < 40_000);
  });
  test("its own timeout", async () => {
    assert.match((await answered({ code: "while True: pass", timeout: 400 })).text, /^Error in tool "execute_code": Execution timed out after 400ms/);
  });
  test("calls are outputs under it, by whatever name the model knows a tool", async () => {
    const { text, outputs } = await answered({ code: "a = call_tools_parallel([('fake_add', {'a': 1, 'b': 2}), ('fake.add', {'a': 3, 'b': 4}), ('fake_odd-error', {})], return_exceptions=True)\nset_result([str(x) for x in a[:2]])" });
    assert.equal(text, '["3","7"]');
    const [whole, ...parts] = outputs.filter((one) => one.type === "tool");
    assert.equal(whole.function, "execute_code");
    assert.deepEqual(parts.map((one) => `${one.function} ${one.parent}`).sort(), ["fake.add c1", "fake.add c1", "fake.odd-error c1"]);
  });
  test("no program in a program", async () => {
    for (const name of ["execute_code", "execute_plan"]) {
      const text = await code(`call_tool('${name}', {'code': '1', 'steps': []})`, tools({ python: {}, plan: {} }));
      assert.match(text, new RegExp(`${name}.* cannot be called from within`));
    }
    assert.equal(await code("set_result([k for k in globals() if k.startswith('execute')] + [hasattr(__builtins__, 'execute_code')])", tools({ python: {}, plan: {} })), "[false]");
    const inner = await answered({ code: "set_result(call_tool('interpreter.run-code', {'code': 'typeof execute_code'}))" }, tools({ python: {} }));
    assert.equal(inner.text, "undefined");
  });
  test("programs as steps of a plan", async () => {
    const steps = [1, 2].map((n) => ({ tool: "execute_code", args: { code: `set_result(${n})` } }));
    const { text } = await answered({ steps }, tools({ python: {}, plan: {} }), "execute_plan");
    assert.deepEqual(JSON.parse(text).map((one) => one.result), [1, 2]);
  });
  test("what cannot be run is an answer to the model", async () => {
    assert.match(await code("1", tools({ python: { path: "/no/python3" } })), /^Error in tool "execute_code": code execution failed: .*python\.path/);
  });
  test("a call inside it waits for approval, and it goes on with the answer", { skip: noWalls() }, async () => {
    const model = await scriptedModel([{ calls: [{ id: "c1", name: "execute_code", arguments: { code: "set_result(int(fake_add(a=1, b=2)) + 1)" } }] }, "done"]);
    const asking = { python: {}, tools: { policy: [{ match: "fake.add", action: "ask", reason: "it adds" }] } };
    const chat = start(["chat", "-m", "classic", "go", ...tools(asking)], { terminal: true, env: model.env });
    await until(() => chat.text().includes(QUESTION), `it is asked\n${chat.text()}`);
    assert.match(chat.text(), /wants to call fake\.add\r\n  why it is asked: it adds/);
    assert.match(chat.text(), /\n[^\n]*  \| set_result\(int\(fake_add\(a=1, b=2\)\) \+ 1\)/); // the program is shown as one
    chat.type("y\n");
    assert.equal((await chat.ended).code, 0);
    assert.equal(model.asked()[1].messages.at(-1).content, "4");
  });
});

// Deno comes from npm and may not be here.
const bin = [join(root, "tests/node_modules/.bin"), join(root, "node_modules/.bin")].find((path) => existsSync(join(path, "deno")));
const withDeno = { env: { PATH: `${process.env.PATH}:${bin}` } };

describe("Deno", { skip: bin === undefined && "no deno from npm" }, () => {
  const deno = (text, args = [], options = {}) => run(["run", "--lang", "ts", "--runner", "deno", "-e", text, ...args], { ...withDeno, ...options });
  test("the same program on both engines", async () => {
    const text = "const r = await echo({ text: 'x' });\nif (r.success) console.log('got', JSON.stringify(r.value)); else console.log(r.error);\nconst bad = await fail({});\nconsole.log(bad.success);";
    for (const runner of ["quickjs", "deno"]) {
      prints(await run(["run", "--lang", "ts", "--runner", runner, "-e", text, ...tools()], withDeno), { stdout: 'got {"echoed":{"text":"x"}}\nfalse\n' });
    }
  });
  test("types are checked before anything runs; typescript.check: false turns that off", async () => {
    const wrong = "console.log('ran');\nconst n: number = 'x';";
    const end = await deno(wrong);
    assert.equal(end.code, 1);
    assert.equal(end.stdout, "");
    assert.match(end.stderr, /^error: TS2322: .*\n  at 2:7: const n: number = 'x';\n/);
    prints(await deno(wrong, ["--config", config({ typescript: { check: false } })]), { stdout: "ran\n" });
  });
  test("typescript.runner chooses it for .ts files and --lang ts, not for JavaScript", async () => {
    const use = ["--config", config({ typescript: { runner: "deno" } })];
    const path = join(folder({ "a.ts": "console.log(typeof Deno)" }), "a.ts");
    prints(await run(["run", path, ...use], withDeno), { stdout: "object\n" });
    prints(await run(["run", path, "--runner", "quickjs", ...use], withDeno), { stdout: "undefined\n" });
    prints(await run(["run", "-e", "typeof Deno", ...use], withDeno), { stdout: "undefined\n" });
  });
  test("execute_typescript runs on it; a failure has standard error, then what was printed", async () => {
    const use = tools({ typescript: { runner: "deno" } });
    const ask = async (text) => (await answered({ code: text }, use, "execute_typescript", "typescript", withDeno.env)).text;
    assert.equal(await ask("const r = await echo({ text: 'x' });\nconsole.log(typeof Deno, r.success && JSON.stringify(r.value))"), 'object {"echoed":{"text":"x"}}\n');
    assert.match(await ask("console.log('before');\nthrow new Error('no luck')"), /no luck[^]*\n\nSTDOUT:\nbefore\n$/);
    assert.match(await ask("const n: string = 1"), /TS2322[^]*line 1/);
  });
  test("a call waits for approval, and the program goes on", { skip: noWalls() }, async () => {
    const use = tools({ tools: { policy: [{ match: "fake.echo", action: "ask" }] } });
    const talk = start(["run", "--lang", "ts", "--runner", "deno", "-e", "const r = await echo({ text: 'x' });\nconsole.log('got', r.success)", ...use], { terminal: true, ...withDeno });
    await until(() => talk.text().includes(QUESTION), "the question");
    talk.type("y\n");
    const end = await talk.ended;
    assert.equal(end.code, 0, end.stdout);
    assert.match(end.stdout, /got true/);
  });
  test("tools that are not for programs are not there", async () => {
    const end = await deno("console.log(typeof (globalThis as any).execute_code, (await discoverTools('execute code plan')).filter((t) => t.id.startsWith('execute')).length)", tools({ python: {}, plan: {} }));
    assert.equal(end.stdout, "undefined 0\n", end.stderr);
  });
});

test("without Deno a run names the engine that needs nothing", async () => {
  const end = await run(["run", "--runner", "deno", "--lang", "ts", "-e", "1", "--config", config({ deno: { path: "/no/deno" } })]);
  assert.equal(end.code, 1);
  assert.match(end.stderr, /\/no\/deno.*--runner quickjs/);
});
