// The language as models write it: one case for each shape of a program, in each language and on each runner that has it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { config, describe, fake, folder, patience, root, run, scripted, servers, test } from "./harness.mjs";

const deno = join(root, "tests/node_modules/.bin/deno");
const DENO = existsSync(deno) ? [["TypeScript on Deno", ["--lang", "ts", "--runner", "deno", "--config", config({ deno: { path: deno } })]]] : [];
const TYPESCRIPT = [["TypeScript", ["--lang", "ts"]], ...DENO];
const JAVASCRIPT = [["JavaScript", []], ...TYPESCRIPT];

/** The report of a run, without what differs each time. */
async function reported(code, args) {
  const end = await run(["run", "--json", ...args, "-e", code]);
  return { ...JSON.parse(end.stdout), code: end.code };
}

/** Each case is [what, program, value]. */
function gives(runners, cases) {
  for (const [name, args] of runners) {
    describe(name, { concurrency: 3, timeout: 120_000 * patience }, () => {
      for (const [what, code, want] of cases) {
        test(what, async () => {
          const { result, error } = await reported(code, args);
          assert.deepEqual({ result, error }, { result: want, error: undefined });
        });
      }
    });
  }
}

gives(JAVASCRIPT, [
  ["module.exports is a value", "module.exports = { a: 1 }", { a: 1 }],
  ["module.exports is a function", "const x = 1\nmodule.exports = async () => { return 5 + x }", 6],
  ["module.exports is a function of the program", "async function main() { return 3 }\nmodule.exports = main", 3],
  ["module.exports has a main", "async function main() { return 3 }\nfunction other() {}\nmodule.exports = { main, other }", 3],
  ["exports.x are values", "exports.x = 3; exports.y = 4", { x: 3, y: 4 }],
  ["exports.run is the only function", "exports.run = () => 7", 7],
  ["an exported function that the program calls is not called again", "let n = 0\nfunction main() { n++ }\nmain()\nmodule.exports = { main }\nreturn n", 1],
  ["a return before module.exports", "module.exports = 1\nreturn 2", 2],
  ["a module of its own with that name", "const module = { exports: 5 }\nreturn module.exports", 5],
  ["export default of a function", "export default async function (input) { return 5 }", 5],
  ["export default of a value", "export default { a: 1 }", { a: 1 }],
  ["an exported main", "export async function main() { return 6 }", 6],
  ["main() that nothing calls", "async function main() { return 6 }", 6],
]);

gives([["JavaScript", []], ["TypeScript", ["--lang", "ts"]]], [
  ["the guard of a script of Node", "function main() { return 6 }\nif (require.main === module) { main() }", 6],
]);

gives([...TYPESCRIPT, ["JavaScript with types", []]], [
  ["enum", "enum A { X, Y = 5, Z }\nreturn [A.X, A.Z, A[5]]", [0, 6, "Y"]],
  ["const enum", "const enum A { X = 'x' }\nreturn A.X", "x"],
  ["namespace", "namespace N {\n  export const a = 1\n  export function f() { return a + 1 }\n}\nreturn N.f()", 2],
  ["namespaces in each other", "namespace A {\n  export namespace B { export const a = 1 }\n  export enum E { X = 4 }\n}\nreturn [A.B.a, A.E.X]", [1, 4]],
  ["namespace A.B", "namespace A.B { export class C { v = 2 } }\nreturn new A.B.C().v", 2],
  ["namespace of types", "namespace T { export interface X { a: number } }\nconst x: T.X = { a: 1 }\nreturn x.a", 1],
  ["a class with a namespace", "class C {}\nnamespace C { export const z = 5 }\nreturn C.z", 5],
  ["declare namespace", "declare namespace T { function f(): void }\nreturn 1", 1],
  ["parameter properties", "class A { constructor(private readonly a: number, public b = 2) {} get s() { return this.a + this.b } }\nreturn new A(1).s", 3],
  ["export = value", "const a = 1\nexport = a", 1],
  ["export = function", "export = async function () { return 4 }", 4],
  ["satisfies and as const", "const a = { x: 1 } satisfies Record<string, number>\nconst b = ['x', 'y'] as const\nreturn [a.x, b[1]]", [1, "y"]],
  ["overloads, generics, abstract classes", "function f(a: string): string\nfunction f(a: any) { return a }\nabstract class A<T> { abstract g(): T }\nclass B extends A<number> { override g() { return 1 } }\nreturn [f('a'), new B().g()]", ["a", 1]],
]);

gives([["TypeScript", ["--lang", "ts"]], ["JavaScript with types", []]], [
  ["import type", "import type { A } from 'x'\nimport { type B } from 'y'\nconst a: A = 1 as any\nreturn a", 1],
]);

describe("several code blocks of one reply are one program", { concurrency: 3, timeout: 60_000 * patience }, () => {
  const blocks = (...all) => all.map(([info, code]) => `Now:\n\`\`\`${info}\n${code}\n\`\`\`\n`).join("");
  const cases = [
    ["js and javascript", blocks(["js", "const a = 1"], ["javascript", "a + 1"]), [], 2],
    ["javascript and ts", blocks(["javascript", "const a = 1"], ["ts", "const b: number = a + 1\nb"]), [], 2],
    ["ts and typescript", blocks(["ts", "const a: number = 1"], ["typescript", "return a + 1"]), ["--lang", "ts"], 2],
    ["py, python and python3", blocks(["py", "a = 1"], ["python", "a += 1"], ["python3", "a + 1"]), ["--lang", "python"], 3],
    ["without a language", blocks(["", "const a = 1"], ["", "a + 1"]), [], 2],
    ["not its output", blocks(["js", "const a = 1"], ["", "nothing of this"], ["node", "a + 1"]), [], 2],
    ...DENO.map(([, args]) => ["ts and deno", blocks(["ts", "const a: number = 1"], ["deno", "return a + 1"]), args, 2]),
  ];
  for (const [what, code, args, want] of cases) {
    test(what, async () => assert.equal((await reported(code, args)).result, want));
  }
});

for (const [name, args] of [["JavaScript", []], ["TypeScript", ["--lang", "ts"]], ["TypeScript without a check", ["--lang", "ts", "--no-check"]], ...DENO.map(([what, all]) => [what, [...all, "--no-check"]])]) {
  describe(`JSX in ${name}`, { concurrency: 3, timeout: 60_000 * patience }, () => {
    for (const code of ["const a = <div>hi</div>", "const x = 1\nreturn <p>{x}</p>", "const a = <p className=\"x\">hi</p>", "const a = <br/>", ...(name.includes("Deno") ? [] : ["const f = () => {\n  return <><b>x</b></>\n}"])]) {
      test(code, async () => assert.match((await reported(code, args)).error, /^SyntaxError: .*: there is no JSX here: build the text with strings$/));
    }
    if (args.length > 0) test("another error beside a type in angle brackets", async () => {
      assert.doesNotMatch((await reported("const a = <any>1 +* 2", args)).error, /JSX/);
    });
  });
}

test("the place of JSX in TypeScript", async () => {
  const { line, column } = await reported("const x: number = 1\nreturn <p>{x}</p>", ["--lang", "ts"]);
  assert.deepEqual({ line, column }, { line: 2, column: 8 });
});

gives(JAVASCRIPT, [
  ["a function without a name", "async function () { return 5 }", 5],
  ["a function without a name, behind a comment", "// first\nfunction (input) { return 6 }", 6],
  ["one function that is not called", "async function main() { return 5 }", 5],
]);

gives([["JavaScript", []], ["TypeScript", ["--lang", "ts"]]], [["a function that calls itself", "(async () => { return 5 })()", 5]]);

gives(TYPESCRIPT, [["a function without a name, with types", "async function (input: unknown): Promise<number> {\n  const a: number = 5\n  return a\n}", 5]]);

test("an error in a function without a name has its place", async () => {
  const { line, column } = await reported("async function () { const a: number = 1; return nope }", ["--lang", "ts"]);
  assert.deepEqual({ line, column }, { line: 1, column: 49 });
});

test("an error in a namespace has its place", async () => {
  const { line, column } = await reported("namespace N {\n  export const a = 1\n  export const b = nope\n}\n", ["--lang", "ts"]);
  assert.deepEqual({ line, column }, { line: 3, column: 20 });
});

describe("print()", { timeout: 60_000 * patience }, () => {
  test("is a log line in JavaScript", async () => {
    const { logs, outputs } = await reported("print('a', { b: 1 })", []);
    assert.deepEqual([logs, outputs], [['a { b: 1 }'], []]);
  });
  for (const [name, args] of TYPESCRIPT) {
    test(`is output in ${name}, as console.log is`, async () => assert.deepEqual((await reported("print('a', 1)", args)).outputs, ["a 1\n"]));
  }
  test("may be the program's own", async () => assert.equal((await reported("function print(x) { return x + 1 }\nprint(1)", [])).result, 2));
});

gives([["Python", ["--lang", "python"]]], [
  ["main() in the guard of a script", "def main():\n    return 3\nif __name__ == '__main__':\n    main()", 3],
  ["asyncio.run(main()) in the guard", "import asyncio\nasync def main():\n    return 3\nif __name__ == '__main__':\n    asyncio.run(main())", 3],
  ["the guard with a try round main()", "def main():\n    return 3\nif __name__ == '__main__':\n    try:\n        main()\n    except Exception as e:\n        print(e)", 3],
]);

describe("an error is where the call begins", { concurrency: 3, timeout: 60_000 * patience }, () => {
  const FAKE = servers({ fake: fake() });
  const cases = [
    ["a tool's call over several lines", "const a = 1\nconst r = fakeFail({\n  ms: a\n})", 2, 11],
    ["a tool's call in a callback", "const items = [1]\nitems.map((i) => {\n  return fakeFail({\n    ms: i\n  })\n})", 3, 10],
    ["a tool's call with a method behind it", "Promise\nfakeFail(\n  { ms: 1 }\n).then(\n  (x) => x)", 2, 1],
    ["a built-in function's call", "const s = 'a'\nJSON.parse(\n  s\n)", 2, 1],
    ["a loop over what a call gave", "const g = () => null, b = 2\nfor (const x of g({\n  a: b\n})) {}", 2, 17],
    ["a property of what a call gave", "const g = () => null, b = 2\nconst x = g({\n  a: b\n}).foo", 2, 11],
    ["an error in an argument stays there", "const a = null\nfakeAdd({\n  a: a.b,\n  b: 1 })", 3, 6],
    ["a spread argument stays there", "const a = null\nMath.max(1,\n  ...a)", 3, 6],
    ["an error inside the function stays there", "const z = [1].map(\n  (x) => x.y.z\n)", 2, 10],
  ];
  for (const [what, code, line, column] of cases) {
    test(what, async () => {
      const got = await reported(code, FAKE);
      assert.deepEqual([got.line, got.column], [line, column]);
    });
  }
});

describe("arguments", { concurrency: 3, timeout: 60_000 * patience }, () => {
  const properties = { path: { type: "string" }, encoding: { type: "string" } };
  const S = servers({ s: scripted([{ tool: { name: "read", inputSchema: { type: "object", properties, required: ["path"] } } }]) });
  test("a misspelt one beside a missing one is named", async () => {
    const { error } = await reported("sRead({ pth: 'x' })", S);
    assert.match(error, /input\.path: is required \(there is "pth"\)$/);
  });
  const warned = 's.read does not declare the argument "encodng": did you mean "encoding"?';
  for (const [name, args, code] of [
    ["JavaScript", [], "for (let i = 0; i < 3; i++) sRead({ path: 'x', encodng: 'y' })"],
    ["Python", ["--lang", "python"], "for i in range(3):\n    s_read(path='x', encodng='y')"],
    ...(DENO.length ? [["TypeScript on Deno", ["--lang", "ts", "--runner", "deno"], "for (let i = 0; i < 3; i++) await read({ path: 'x', encodng: 'y' } as any)"]] : []),
  ]) {
    test(`one near a declared one is told once in ${name}`, async () => {
      const config = servers({ s: scripted([{ tool: { name: "read", inputSchema: { type: "object", properties, required: ["path"] } } }]) }, { deno: { path: deno } });
      assert.deepEqual((await reported(code, [...args, ...config])).logs, [warned]);
    });
  }
  test("one near nothing is let through", async () => assert.deepEqual((await reported("sRead({ path: 'x', zzz: 1 })", S)).logs, []));
  for (const key of ["input", "args", "arguments"]) {
    test(`parallel() takes ${key}`, async () => {
      assert.deepEqual((await reported(`parallel([{ tool: 's.read', ${key}: { path: 'x' } }])`, S)).result, [{ path: "x" }]);
    });
  }
});

test("calls of a failed program are counted", async () => {
  const args = servers({ fake: fake() });
  const end = await run(["run", ...args, "-e", "for (let i = 0; i < 3; i++) fakeAdd({ a: i, b: 1 }); fakeFail({})"]);
  assert.match(end.stderr, /tools called before: 3 × fake\.add, fake\.fail \(failed\)\n$/);
});

describe("a first line // @exec: {...}", { concurrency: 3, timeout: 60_000 * patience }, () => {
  test("sets the time and the output, and says what it does not know", async () => {
    const got = await reported('// @exec: {"timeout": 200, "max_output_tokens": 5, "foo": 1}\noutput("x".repeat(15)); output("y".repeat(15)); while (true);', []);
    assert.equal(got.error, "Execution timed out after 200ms");
    assert.deepEqual([got.outputs, got.logs], [["x".repeat(15)], ["@exec: foo: is not known; known are timeout (ms), memory (MiB) and max_output_tokens"]]);
  });
  test("is Python's comment, too, and may stand in a code block", async () => {
    const { error } = await reported('```python\n# @exec: {"timeout": 300}\nwhile True:\n    pass\n```', ["--lang", "python"]);
    assert.equal(error, "Execution timed out after 300ms");
  });
  test("takes no more than there is", async () => {
    const { logs, result } = await reported('// @exec: {"memory": 9000}\n1', []);
    assert.deepEqual([logs, result], [["@exec: memory: more memory takes sandbox.memoryMb"], 1]);
  });
  test("does not change a time that was given", async () => {
    const { logs } = await reported('// @exec: {"timeout": 5000}\n1', ["--timeout", "2000"]);
    assert.deepEqual(logs, ["@exec: timeout: the time is fixed by whoever runs the program"]);
  });
  test("that is no JSON is told", async () => assert.match((await reported("// @exec: fast\n1", [])).logs[0], /expected a JSON object/));
});

describe("memory that runs out while a program is read is no syntax error", { concurrency: 3, timeout: 60_000 * patience }, () => {
  const shapes = { "a list": `[${"{a: 1},".repeat(600_000)}]`, "a string": `'${"x".repeat(4_800_000)}'`, "a regular expression": `/${"a".repeat(4_800_000)}/` };
  for (const [what, code] of Object.entries(shapes)) {
    test(what, async () => {
      const end = await run(["run", "--json", "--memory", "12", join(folder({ "p.js": code }), "p.js")]);
      assert.match(JSON.parse(end.stdout).error, /^out of memory/);
    });
  }
});

describe("a name that is not there says what to use", { concurrency: 3, timeout: 60_000 * patience }, () => {
  const NET = servers({ web: scripted([{ tool: { name: "fetch_page", inputSchema: { type: "object" } } }]) });
  const PYTHON = ["--lang", "python"];
  const cases = [
    ["fetch, with a tool for it", "await fetch('x')", NET, "ReferenceError: fetch is not defined: there is no network in a program: call webFetchPage() instead"],
    ["fetch, without", "await fetch('x')", [], "ReferenceError: fetch is not defined: there is no network in a program, and no configured tool does this"],
    ["process", "process.exit(0)", [], "ReferenceError: process is not defined: there is no process or environment in a program: use `input` or call a tool; a program is done when it ends"],
    ["a word of Python", "None", [], "ReferenceError: None is not defined: JavaScript's word is null"],
    ["an npm package", "import _ from 'lodash'", [], "Module not found: lodash: use the methods of arrays, Object.groupBy() and Object.entries()"],
    ["a module of Node", "const fs = await import('node:fs/promises')", [], "Module not found: node:fs/promises: there are no files in a program, and no configured tool does this"],
    ["a module nobody knows", "import x from 'left-pad'", [], "Module not found: left-pad: only registered modules can be imported, and none of Node or npm: write it out, or call a tool"],
    ["a misspelt module", "import { v } from 'helprs'", ["--config", config({ modules: [{ name: "helpers", path: "m.mjs" }] }, { "m.mjs": "export const v = 7" })], "Module not found: helprs. Did you mean: helpers?"],
    ["a word of JavaScript in Python", "x = null", PYTHON, "NameError: name 'null' is not defined: Python's word is None"],
  ];
  for (const [what, code, args, want] of cases) {
    test(what, async () => assert.equal((await reported(code, args)).error, want));
  }
  test("a package of Python, with a tool for it", async () => {
    const { error } = await reported("import requests", [...PYTHON, ...NET]);
    assert.match(error, /^ModuleNotFoundError: No module named 'requests'.*: there is no network in a program: call web_fetch_page\(\) instead$/);
  });
  const DOES = servers({ web: scripted([{ tool: { name: "fetch_page", inputSchema: { type: "object" } } }]), files: scripted([{ tool: { name: "read_file", inputSchema: { type: "object" } } }, { tool: { name: "run_command", inputSchema: { type: "object" } } }]) });
  const refused = [
    ["a file", "open('/etc/passwd')", /^PermissionError: .*: a program has no files but those of its own folder: call files_read_file\(\) instead$/],
    ["a URL", "import urllib.request\nurllib.request.urlopen('http://example.com')", /^urllib.error.URLError: .*: there is no network in a program: call web_fetch_page\(\) instead$/],
    ["a connection", "import socket\nsocket.create_connection(('127.0.0.1', 80))", /^PermissionError: .*: there is no network in a program: call web_fetch_page\(\) instead$/],
    ["subprocess", "import subprocess\nsubprocess.run(['ls'])", /^subprocess.run\(\) is blocked: .*: call files_run_command\(\) instead$/],
    ["os.fork", "import os\nos.fork()", /^PermissionError: os.fork\(\) is blocked: .*: call files_run_command\(\) instead$/],
  ];
  for (const [what, code, want] of refused) {
    test(`${what} that Python may not have, with a tool for it`, async () => assert.match((await reported(code, [...PYTHON, ...DOES])).error, want));
  }
  test("a file that Python may not have, without a tool", async () => assert.match((await reported("open('/etc/passwd')", PYTHON)).error, /own folder, and no configured tool does this$/));
  test("a file that is not there is only that", async () => assert.equal((await reported("open('nothing.txt')", [...PYTHON, ...DOES])).error, "FileNotFoundError: [Errno 2] No such file or directory: 'nothing.txt'"));
  for (const [name, args] of DENO) {
    const web = config({ deno: { path: deno }, mcpServers: { web: scripted([{ tool: { name: "fetch_page", inputSchema: { type: "object" } } }]) } });
    test(`fetch in ${name}, with a tool for it`, async () => assert.match((await reported("await fetch('http://x.example')", [...args.slice(0, -1), web])).error, /^NotCapable: Requires net access to "x.example:80": there is no network in a program: call fetch_page\(\) instead$/));
  }
  test("a misspelt module of Python", async () => assert.match((await reported("import jsn", PYTHON)).error, /No module named 'jsn'\. Did you mean: json\?/));
});

describe("a character from a word processor is named", { concurrency: 3, timeout: 60_000 * patience }, () => {
  const cases = [
    ["a quote", "const a = “hello”", /typographic quote: write "/, [1, 11]],
    ["a dash", "const a = 5 – 3", /typographic dash: write -/, [1, 13]],
    ["a wide bracket", "const f = Math.max（1）", /wide bracket: write \(/, [1, 19]],
    ["no width", "const a\u200b = 1", /without a width \(U\+200B\): remove it/, [1, 8]],
  ];
  for (const [what, code, want, place] of cases) {
    test(`${what} in JavaScript`, async () => {
      const { error, line, column } = await reported(code, []);
      assert.match(error, want);
      assert.deepEqual([line, column], place);
    });
  }
  test("a quote in Python", async () => assert.match((await reported("a = “hello”", ["--lang", "python"])).error, /typographic quote: write "/));
  test("in strings and comments they are as they are", async () => {
    assert.equal((await reported("// “x” – y\n'“a” – b\u200b'.length", [])).result, 8);
  });
});
