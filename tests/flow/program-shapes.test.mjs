// Programs in the shapes in which models write them: a top-level `return`, `main()` that nothing calls, several code blocks.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { config, describe, patience, root, run, test } from "./harness.mjs";

const deno = join(root, "tests/node_modules/.bin/deno");

/** What a program in a language gives back, or the place of its error. */
async function outcome(code, args) {
  const end = await run(["run", "--json", ...args, "-e", code]);
  const { result, error, line, column } = JSON.parse(end.stdout);
  return error === undefined ? { code: end.code, result } : { code: end.code, error, line, column };
}

const SCRIPTS = [
  ["at the end", "const a = [1, 2, 3].map((x) => { return x * 2 });\nreturn a", [2, 4, 6]],
  ["in a condition", "const n = 5\nif (n > 3) return 'large'; else return 'small'", "large"],
  ["in a loop", "for (const x of [1, 2, 3]) {\n  if (x === 2) {\n    return { found: x }\n  }\n}\nreturn null", { found: 2 }],
  ["in a switch", "switch (Math.max(1, 2)) { case 1: return 'a'\n case 2: return 'b' }", "b"],
  ["over several lines", "return {\n  a: [1,\n    2],\n  b: `x${1 + 1}`\n};", { a: [1, 2], b: "x2" }],
  ["in try, past finally", "let n = 0\ntry { return 'kept' } catch (e) { return 'caught' } finally { n = 1 }", "kept"],
  ["in catch", "try { JSON.parse('{') } catch (e) { return 'caught' }", "caught"],
  ["without a value", "if (true) return\nthrow new Error('reached')", undefined],
  ["of a promise", "return Promise.all([1, 2].map(async (x) => x + 1))", [2, 3]],
  ["of a function called before its declaration", "return twice(4)\nfunction twice(n) { return n * 2 }", 8],
  ["after functions, methods and classes", "const o = { m() { return 1 }, get g() { return 2 } }\nclass A { m() { return 3 } }\nreturn o.m() + o.g + new A().m()", 6],
  ["main() that nothing calls", "const a = 2\nasync function main() {\n  return a + 1\n}", 3],
  ["main that is a variable", "const a = 2\nconst main = async () => a + 2", 4],
  ["main that is called", "let n = 0\nfunction main() { n++ }\nmain()\nreturn n === 1", true],
  ["with await", "const a = await (async () => { return 4 })()\nreturn a + 1", 5],
];

const runners = [
  ["JavaScript", []],
  ["TypeScript", ["--lang", "ts"]],
  ...(existsSync(deno) ? [["TypeScript on Deno", ["--lang", "ts", "--runner", "deno", "--config", config({ deno: { path: deno } })]]] : []),
];

for (const [name, args] of runners) {
  describe(`return at the top level: ${name}`, { timeout: 120_000 * patience }, () => {
    for (const [what, code, result] of SCRIPTS) {
      test(what, async () => assert.deepEqual(await outcome(code, args), { code: 0, result }));
    }
    test("an error in the returned expression is at its place", async () => {
      const { code, line, column } = await outcome("const a = null\nreturn 1 + a.b", args);
      assert.deepEqual({ code, line, column: column >= 12 && column <= 14 }, { code: 1, line: 2, column: true });
    });
  });
}

describe("return at the top level", () => {
  test("an error in main() keeps its place", async () => {
    const { line, column } = await outcome("const a = 1\nfunction main() {\n  return nothing\n}", []);
    assert.deepEqual({ line, column }, { line: 3, column: 10 });
  });
  test("what is not returned has its usual value", async () => {
    assert.deepEqual(await outcome("if (false) { return 1 }\n'the last expression'", []), { code: 0, result: "the last expression" });
  });
  test("a module may have one, too", async () => {
    const file = config({ modules: [{ name: "m", path: "m.mjs" }] }, { "m.mjs": "export const v = 7" });
    assert.deepEqual(await outcome("import { v } from 'm'\nif (v > 5) return v * 2", ["--config", file]), { code: 0, result: 14 });
  });
  test("types with braces do not hide it", async () => {
    const code = "type T = { a: number };\nfunction f(n: number): { v: T } { return { v: { a: n } } }\nconst g = (n: number): Promise<{ a: T }> => Promise.resolve({ a: { a: n } });\nif ((await g(1)).a.a === 1) { return f(3).v }";
    for (const [, args] of runners.slice(1)) {
      assert.deepEqual(await outcome(code, args), { code: 0, result: { a: 3 } });
    }
  });
  test("the word elsewhere is not one", async () => {
    assert.deepEqual(await outcome("const o = { return: 1 }; o.return /* return 2 */", []), { code: 0, result: 1 });
  });
});

const PYTHON = [
  ["the last expression", "a = 2\na + 1", 3],
  ["a call that prints, and no value", "print('x')", undefined],
  ["return at the end", "a = [n * n for n in range(3)]\nreturn a", [0, 1, 4]],
  ["return in a loop", "for i in range(5):\n    if i == 3:\n        return {'i': i}\n'none'", { i: 3 }],
  ["return past except and finally", "try:\n    return 'kept'\nexcept:\n    print('caught')\nfinally:\n    print('finally')", "kept"],
  ["return without a value", "if True:\n    return\nraise ValueError('reached')", undefined],
  ["return of a with block is its plain end", "import sqlite3\nc = sqlite3.connect('a.db')\nc.execute('create table t(a)')\ndef fill():\n    pass\nif True:\n    with c:\n        c.execute('insert into t values (7)')\n        return [r[0] for r in c.execute('select a from t')]", [7]],
  ["await at the top level", "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 5\nreturn await f()", 5],
  ["main() that nobody awaits", "async def main():\n    return 'done'\nmain()", "done"],
  ["main() that nothing calls", "a = 3\ndef main():\n    return a\n", 3],
  ["main() that only a comment names", "# main: the answer\ndef main():\n    return 'main'\n", "main"],
  ["asyncio.run(main())", "import asyncio\nasync def main():\n    return 'ran'\nasyncio.run(main())", "ran"],
  ["set_result comes first", "set_result(1)\nreturn 2", 1],
  ["set_result before a last expression", "set_result(1)\n2", 1],
  ["return in match", "match [1, 2]:\n    case [a, b]:\n        return a + b", 3],
];

describe("a reply with several code blocks is one program", { timeout: 60_000 * patience }, () => {
  const reply = (language, ...blocks) => "Here it is.\n\n" + blocks.map((block) => `\`\`\`${language}\n${block}\n\`\`\``).join("\n\nThen:\n\n") + "\nDone.";
  for (const [name, args] of runners) {
    test(name, async () => {
      assert.deepEqual(await outcome(reply(args.length ? "ts" : "js", "const a = 2", "return a + 1"), args), { code: 0, result: 3 });
    });
  }
  test("Python", async () => {
    assert.deepEqual(await outcome(reply("python", "a = 2", "a + 1"), ["--lang", "python"]), { code: 0, result: 3 });
  });
  test("lines are those of the reply", async () => {
    const { line } = await outcome(reply("js", "const a = 2", "nope"), []);
    assert.equal(line, 10);
  });
});

describe("A Python program's value", { timeout: 120_000 * patience }, () => {
  for (const [what, code, result] of PYTHON) {
    test(what, async () => assert.deepEqual(await outcome(code, ["--lang", "python"]), { code: 0, result }));
  }
  test("a transaction is committed when its block returns", async () => {
    const code = `
import sqlite3
def count():
    return sqlite3.connect("a.db").execute("select count(*) from t").fetchone()[0]
import atexit
c = sqlite3.connect("a.db")
c.execute("create table t(a)")
atexit.register(lambda: print("rows", count()))
with c:
    c.execute("insert into t values (1)")
    return "left"`;
    const end = await run(["run", "--lang", "python", "-e", code]);
    assert.deepEqual([end.code, end.stdout, end.stderr], [0, "left\n", "[log] rows 1\n"]);
  });
  test("an error keeps its place", async () => {
    const { line, column } = await outcome("a = None\nreturn 1 + a.b", ["--lang", "python"]);
    assert.deepEqual({ line, column }, { line: 2, column: 12 });
  });
  test("return in a class is still an error", async () => {
    const { error, line } = await outcome("class A:\n    return 1", ["--lang", "python"]);
    assert.match(error, /'return' outside function/);
    assert.equal(line, 2);
  });
});
