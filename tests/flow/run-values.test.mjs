// lathe run without tools: what a program may write, and what comes out of it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { config, describe, failure, fake, folder, prints, program, report, run, servers, test, value } from "./harness.mjs";

const ts = (code, args = []) => program(code, ["--lang", "ts", ...args]);

describe("stdout, stderr and exit code", () => {
  const cases = [
    ["a number", "1+2", "3\n"],
    ["a string, as it is", "'a b\\n'", "a b\n"],
    ["a string without a newline at its end", "'a\\nb'", "a\nb\n"],
    ["an object", "({a: 1, b: [true, null]})", '{"a":1,"b":[true,null]}\n'],
    ["null", "null", "null\n"],
    ["undefined", "undefined", ""],
    ["nothing", "", ""],
    ["only a comment", "// nothing", ""],
    ["a declaration", "const a = 1", ""],
    ["the last expression", "1; 2; const x = 5; x * 2", "10\n"],
    ["an empty string", "''", "\n"],
    ["not ASCII", "'\u00e9\u{1f600}'", "\u00e9\u{1f600}\n"],
    ["a number JSON has not", "0/0", "\"NaN\"\n"],
    ["false", "false", "false\n"],
  ];
  for (const [what, code, stdout] of cases) {
    test(`${what} is printed`, async () => prints(await program(code), { stdout }));
  }

  test("outputs come before the result, logs go to stderr", async () => {
    const code = `output("first"); output({ a: 1 }); output("with newline\\n"); output("");
      log("l", 1, { b: [2] }); console.log("c"); console.info("i"); console.warn("w"); console.error("e"); "last"`;
    prints(await program(code), {
      stdout: 'first\n{"a":1}\nwith newline\n\nlast\n',
      stderr: '[log] l 1 {"b":[2]}\n[log] c\n[log] i\n[warn] w\n[error] e\n',
    });
  });

  test("output() of what JSON has no word for", async () => {
    prints(await program("output(undefined); output(null); output(12n); output(() => 1); output([new Map([['a', 1]])])"), {
      stdout: 'undefined\nnull\n12\n[Function: anonymous]\n[{"a":1}]\n',
    });
  });

  test("done() does not stop the program", async () => {
    prints(await program("done(); output('after'); 1"), { stdout: "after\n1\n" });
  });

  test("complete() outputs response and followUp and stores the data", async () => {
    const end = await program("complete({ response: 'all good', followUp: 'Anything else?', data: { n: 1 } }); output(recall('_lastData'))");
    assert.equal(end.code, 0);
    assert.match(end.stdout, /^all good\n\n\nAnything else\?\n\{"n":1\}\n/);
  });

  test("complete() with something else says what it wants", async () => {
    assert.match((await failure("complete('text')")).error, /complete\(\) expects \{response/);
  });

  test("a failure goes to stderr with its place; what was output before stays", async () => {
    prints(await program("output('kept');\nlog('kept too');\n  nope()"), {
      stdout: "kept\n",
      stderr: "[log] kept too\nerror: ReferenceError: nope is not defined\n  at 3:3: nope()\n",
      code: 1,
    });
  });

  test("a thrown value that is no error", async () => {
    prints(await program("throw { code: 7 }"), { stderr: 'error: {"code":7}\n', code: 1 });
    prints(await program("throw 'text'"), { stderr: "error: text\n", code: 1 });
    prints(await program("throw undefined"), { stderr: "error: undefined\n", code: 1 });
  });

  test("an error without a message", async () => {
    const end = await program("throw new Error('')");
    assert.equal(end.code, 1);
    assert.match(end.stderr, /^error: the program threw an error without a message\n  at 1:/);
  });

  test("an error of the program's own class is named", async () => {
    assert.match((await failure("class MyError extends Error { name = 'MyError' }\nthrow new MyError('mine')")).error, /^MyError: mine$/);
  });
});

describe("standard files that are not what they should be", () => {
  test("a full disk is a failure", async () => {
    for (const args of [["run", "-e", "'x'"], ["run", "--json", "-e", "1"], ["run", "-e", "output('x')"], ["tools", "--json"], ["--help"]]) {
      const end = await run(args, { redirect: ">/dev/full" });
      assert.equal(end.code, 1, args.join(" "));
      assert.match(end.stderr, /standard output could not be written/);
    }
    assert.equal((await run(["run", "-e", "nope()"], { redirect: "2>/dev/full" })).code, 1);
  });
  for (const redirect of ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]) {
    test(`closed: ${redirect}`, async () => {
      const end = await run(["run", "-e", "log('l'); fakeAdd({ a: 1, b: 1 })", ...servers({ fake: fake() })], { redirect });
      assert.deepEqual([end.code, end.stdout], [0, redirect.includes(">&-") && redirect !== "2>&-" ? "" : "2\n"]);
    });
  }
  test("a reader that goes away ends it by SIGPIPE or an error, nothing else", async () => {
    const end = await run(["run", "-e", "for (let i = 0; i < 500; i++) output('x'.repeat(100))"], { redirect: "| head -n 1" });
    assert.equal(end.stdout, "x".repeat(100) + "\n");
  });
});

describe("--json", () => {
  test("has exactly the promised fields when all is well", async () => {
    const r = await run(["run", "--json", "-e", "output('o'); output({ a: 1 }); log('l'); ({ r: [1] })"]);
    const json = JSON.parse(r.stdout);
    assert.equal(r.code, 0);
    assert.equal(r.stderr, "");
    assert.equal(r.stdout.trim().split("\n").length, 1, "one line");
    assert.equal(typeof json.durationMs, "number");
    delete json.durationMs;
    assert.deepEqual(json, { result: { r: [1] }, outputs: ["o", '{"a":1}'], logs: ["l"], calls: [] });
  });

  test("has no result when there is none, and null when it is null", async () => {
    assert.ok(!("result" in (await report("undefined"))));
    assert.equal((await report("null")).result, null);
  });

  test("has error, line, column, context", async () => {
    const { stderr, exit, text, ms, durationMs, stack, ...rest } = await failure("const a = 1;\n\n   a.b.c");
    assert.equal(stderr, "");
    assert.deepEqual(rest, {
      outputs: [], logs: [], calls: [],
      error: "TypeError: cannot read property 'c' of undefined", line: 3, column: 4, context: "a.b.c",
    });
  });

  test("has timeout, and keeps what came before", async () => {
    const r = await report("output('before'); log('logged'); for (;;) {}", ["--timeout", 200]);
    assert.equal(r.exit, 124);
    assert.equal(r.timeout, true);
    assert.match(r.error, /timed out after 200ms/);
    assert.deepEqual([r.outputs, r.logs], [["before"], ["logged"]]);
    assert.ok(r.durationMs >= 200);
  });

  test("has memory", async () => {
    const r = await failure("output('before'); const a = []; for (;;) a.push(new Array(1000).fill(a.length))");
    assert.equal(r.memory, true);
    assert.match(r.error, /out of memory.*64 MiB.*--memory/);
    assert.deepEqual(r.outputs, ["before"]);
  });

  test("prints strings as JSON strings", async () => {
    assert.equal(await value("'a\"b\\u0000\\n\\u2028'"), 'a"b\u0000\n\u2028');
  });
});

describe("where the program comes from", () => {
  const files = folder({ "a.js": "input ?? 'js'", "b.ts": "const x: string = 'ts'; x", "c.mts": "const x: number = 1; x", "d.mjs": "export default 'mjs'", "e.txt": "'text'", "bad.js": "1;\n2 +;" });
  const file = (name, ...args) => run(["run", join(files, name), ...args]);

  test("a file", async () => prints(await file("a.js"), { stdout: "js\n" }));
  test("a TypeScript file by its extension", async () => {
    prints(await file("b.ts"), { stdout: "ts\n" });
    prints(await file("c.mts"), { stdout: "1\n" });
  });
  test("a module file", async () => prints(await file("d.mjs"), { stdout: "mjs\n" }));
  test("--lang makes a file with another extension JavaScript", async () => prints(await file("e.txt", "--lang", "js"), { stdout: "text\n" }));
  test("--lang wins over the extension", async () => assert.equal((await file("b.ts", "--lang", "python")).code, 1));
  test("a relative path counts from the working directory", async () => {
    prints(await run(["run", "a.js"], { cwd: files }), { stdout: "js\n" });
  });
  test("standard input, with and without -", async () => {
    prints(await run(["run"], { stdin: "1+1" }), { stdout: "2\n" });
    prints(await run(["run", "-"], { stdin: "1+2" }), { stdout: "3\n" });
    prints(await run(["run", "--lang", "ts", "-"], { stdin: "const n: number = 4; n" }), { stdout: "4\n" });
  });
  test("empty standard input is an empty program", async () => prints(await run(["run"], { stdin: "" }), {}));
  test("a file that is not there", async () => {
    const end = await file("nope.js");
    assert.equal(end.code, 2);
    assert.match(end.stderr, /^lathe run: cannot open .*nope\.js: No such file or directory\n$/);
  });
  test("a folder", async () => {
    const end = await run(["run", files]);
    assert.equal(end.code, 2);
    assert.match(end.stderr, /^lathe run: .*directory.*\n$/);
  });
  test("an error in a file has the file's line", async () => {
    const end = await file("bad.js");
    assert.equal(end.code, 1);
    assert.match(end.stderr, /^error: SyntaxError: .*\n  at 2:4: 2 \+;\n$/);
  });
  test("a file with a byte order mark, CR LF and a shebang", async () => {
    const f = folder({ "x.js": "#!/usr/bin/env lathe\r\n'x'\r\n", "bom.js": "\ufeff'bom'" });
    prints(await run(["run", join(f, "x.js")]), { stdout: "x\n" });
    prints(await run(["run", join(f, "bom.js")]), { stdout: "bom\n" });
  });
});

describe("usage", () => {
  const cases = [
    [["run", "--bogus"], /^lathe run: unknown option --bogus; see lathe run --help\n$/],
    [["run", "--jsn", "-e", "1"], /^lathe run: unknown option --jsn \(did you mean --json\?\)/],
    [["run", "-e"], /^lathe run: --eval needs a value/],
    [["run", "-e", "1", "file.js"], /one program at a time/],
    [["run", "a.js", "b.js"], /one program at a time/],
    [["run", "--timeout", "0", "-e", "1"], /--timeout expects a whole number from 1 to 600000, not "0"/],
    [["run", "--timeout", "1s", "-e", "1"], /--timeout expects a whole number/],
    [["run", "--timeout", "600001", "-e", "1"], /--timeout expects a whole number/],
    [["run", "--memory", "1", "-e", "1"], /--memory expects a whole number from 2 to 2048/],
    [["run", "--memory", "99999", "-e", "1"], /--memory expects a whole number from 2 to 2048/],
    [["run", "--lang", "ruby", "-e", "1"], /--lang is js, ts or python, not "ruby"/],
    [["run", "--json=yes", "-e", "1"], /--json takes no value/],
    [["run", "--input", "{a:1}", "-e", "1"], /--input is not JSON: .*line 1, column 2/],
    [["rum"], /^lathe: unknown command "rum" \(did you mean "run"\?\)/],
    [["frobnicate"], /^lathe: unknown command "frobnicate"; see lathe --help\n$/],
    [[], /lathe run/],
  ];
  for (const [args, stderr] of cases) {
    test(`lathe ${args.join(" ")}`, async () => {
      const end = await run(args);
      assert.equal(end.code, 2);
      assert.equal(end.stdout, "");
      assert.match(end.stderr, stderr);
    });
  }
  for (const args of [["--help"], ["run", "--help"], ["run", "-h"], ["tools", "--help"], ["--version"]]) {
    test(`lathe ${args.join(" ")} is an answer`, async () => {
      const end = await run(args);
      assert.equal(end.code, 0);
      assert.equal(end.stderr, "");
      assert.match(end.stdout, /lathe/);
    });
  }
  test("--name=VALUE, and -- before the file", async () => {
    prints(await run(["run", "--eval=input.a", '--input={"a":"="}']), { stdout: "=\n" });
    prints(await run(["run", "--", "-odd.js"], { cwd: folder({ "-odd.js": "'odd'" }) }), { stdout: "odd\n" });
  });
});

describe("input", () => {
  test("is what --input says", async () => {
    assert.deepEqual(await value("input", ["--input", '{"a":[1,"\\ud800",null],"b":1e3}']), { a: [1, "\ud800", null], b: 1000 });
    assert.equal(await value("input", ["--input", '"text"']), "text");
    assert.equal(await value("input === null", ["--input", "null"]), true);
  });
  test("is undefined otherwise", async () => assert.equal(await value("typeof input"), "undefined"));
  test("is there in TypeScript", async () => prints(await ts("input.n + 1", ["--input", '{"n":1}']), { stdout: "2\n" }));
  test("is handed to a program that is a function", async () => {
    assert.equal(await value("async (x) => x.n * 2", ["--input", '{"n":21}']), 42);
  });
});

describe("shapes of programs", () => {
  const cases = [
    ["top-level await", "const x = await Promise.resolve(20); x + 1", 21],
    ["an await at the end", "await Promise.resolve('v')", "v"],
    ["a promise as result", "Promise.resolve({ a: 1 })", { a: 1 }],
    ["a promise of a promise", "Promise.resolve(1).then(() => Promise.resolve(2))", 2],
    ["an async call as result", "async function f() { return 'f' }\nf()", "f"],
    ["an arrow function", "() => 5", 5],
    ["an async arrow function", "async () => { return 6; };", 6],
    ["a function in parentheses", "(function () { return 7 })", 7],
    ["an async function declaration", "async function main() { return 8 }", 8],
    ["a function declaration with comments round it", "// go\nfunction main() { return 9 }\n// end", 9],
    ["a function that is called by the program itself", "(() => 10)()", 10],
    ["export default of a value", "export default { a: 11 }", { a: 11 }],
    ["export default of a function", "export default async () => 12", 12],
    ["export default function", "export default function run() { return 13 }", 13],
    ["export default async function without a name", "const x = 13;\nexport default async function () { return x + 1 }", 14],
    ["export default as", "const x = 15; export { x as default }", 15],
    ["a module with top-level await", "const x = await Promise.resolve(16);\nexport default x", 16],
    ["a module without a default", "export const a = 1", undefined],
    ["the word import in a string and a comment", "// import x from 'y'\nconst s = 'import x from y; export default 1'; s.length", 33],
    ["strict mode is not forced on scripts", "x = 5; x", 5],
    ["a block at the end", "if (true) { 'yes' } else { 'no' }", "yes"],
    ["fences", "```js\n1 + 1\n```", 2],
    ["fences without a language", "```\n'f'\n```\n", "f"],
    ["tildes", "~~~javascript\n'f'\n~~~", "f"],
    ["fences that are not closed", "```js\n'f'", "f"],
    ["prose round one block", "Here is the program:\n\n```js\n'p'\n```\nIt prints p.", "p"],
    ["a template literal with fences inside", "const s = `\n\\`\\`\\`js\nx\n\\`\\`\\``; s.length", 12],
    ["setTimeout with a promise", "await new Promise((r) => setTimeout(r, 5)); 'slept'", "slept"],
    ["sleep", "sleep(5); 'slept'", "slept"],
    ["await sleep", "await sleep(5); 'slept'", "slept"],
    ["generators, classes, destructuring, regular expressions", "class A { #x = 1; static *g() { yield* [1, 2] } get x() { return this.#x } }\nconst [a, ...b] = A.g(); [a, b, new A().x, 'x1'.replace(/(?<n>\\d)/, '<$<n>>')]", [1, [2], 1, "x<1>"]],
    ["store and recall", "store('k', { a: [1] }); const v = recall('k'); v.a.push(2); [recall('k'), v, recall('none') === undefined]", [{ a: [1] }, { a: [1, 2] }, true]],
    ["store of undefined removes", "store('k', 1); store('k', undefined); recall('k') === undefined", true],
    ["JSON both ways", "JSON.parse(JSON.stringify({ a: [1, 'x', null, { b: 1.5 }] }))", { a: [1, "x", null, { b: 1.5 }] }],
    ["a dynamic import of nothing", "let m; try { await import('x') } catch (e) { m = String(e.message ?? e) } m", "Module not found: x"],
  ];
  for (const [what, code, expected] of cases) {
    test(what, async () => assert.deepEqual(await value(code), expected));
  }

  test("timers that are still open are waited for", async () => {
    prints(await program("setTimeout(() => output('later'), 20); 'result'"), { stdout: "later\nresult\n" });
  });
  test("a cleared timer never comes", async () => {
    prints(await program("const t = setTimeout(() => output('never'), 5); clearTimeout(t); await sleep(20); 'end'"), { stdout: "end\n" });
  });
  test("the loser of a race is not waited for", async () => {
    const race = "Promise.race([Promise.resolve(7), new Promise((_, no) => setTimeout(() => no(new Error('slow')), 60000))])";
    for (const code of [`return await ${race}`, `const r = await ${race}; r`, `async () => ${race}`]) assert.equal(await value(code, ["--timeout", "20000"]), 7);
    prints(await program("await null; setTimeout(() => output('later'), 1100)"), { stdout: "later\n1\n" });
    prints(await program("setTimeout(() => output('later'), 1100); 'started'"), { stdout: "later\nstarted\n" });
  });
  test("an error in a timer is a failure", async () => {
    assert.match((await failure("setTimeout(() => { throw new Error('in timer') }, 1); 1")).error, /in timer/);
  });
  test("an unhandled rejection is a failure", async () => {
    const r = await failure("output('o'); Promise.reject(new Error('nobody looked')); 1");
    assert.match(r.error, /nobody looked/);
    assert.deepEqual(r.outputs, ["o"]);
  });
  test("a handled rejection is none", async () => {
    assert.equal(await value("Promise.reject(new Error('x')).catch(() => 0); 1"), 1);
  });
  test("a promise that never settles says so", async () => {
    const end = await program("await new Promise(() => {})", ["--timeout", 5000]);
    assert.notEqual(end.code, 0);
    assert.match(end.stderr, /never|settle|nothing/i);
  });
});

describe("what is not there", () => {
  for (const name of ["fetch", "require", "process", "XMLHttpRequest", "Deno", "Buffer", "window"]) {
    test(`${name} is explained`, async () => {
      const r = await failure(`\n${name}('x')`.replace("process('x')", "process.env"));
      assert.match(r.error, new RegExp(`^ReferenceError: '?${name}'? is not defined: .+`));
      assert.equal(r.line, 2);
    });
  }
  test("the engine's own ways out are closed", async () => {
    const code = "['std', 'os', 'bjson', 'scriptArgs', 'gc', 'navigator', 'H', 'roots', '__sucrase'].filter((n) => typeof globalThis[n] !== 'undefined')";
    assert.deepEqual(await value(code), []);
  });
  test("programs see nothing of each other", async () => {
    await value("globalThis.leak = 1; Array.prototype.leak = 2; store('leak', 3)");
    assert.deepEqual(await value("[typeof leak, [].leak, recall('leak')].map(String)"), ["undefined", "undefined", "undefined"]);
  });
  test("each run has its own randomness", async () => {
    assert.notEqual(await value("Math.random()"), await value("Math.random()"));
  });
  test("the clock is right", async () => {
    assert.ok(Math.abs((await value("Date.now()")) - Date.now()) < 60_000);
    assert.equal(await value("const a = performance.now(); sleep(30); const b = performance.now(); a >= 0 && b - a >= 25 && b < 60000"), true);
  });
});

describe("values that JSON cannot hold", () => {
  const cases = [
    ["a Map", "new Map([['a', 1], ['b', new Map()]])", { a: 1, b: {} }],
    ["a Map with odd keys", "new Map([[1, 2]])", [[1, 2]]],
    ["a Set", "new Set([1, 'x'])", [1, "x"]],
    ["a Date", "new Date(0)", "1970-01-01T00:00:00.000Z"],
    ["an invalid Date", "[new Date(NaN)]", [null]],
    ["a BigInt", "({ n: 2n ** 70n })", { n: "1180591620717411303424" }],
    ["a BigInt alone", "123456789012345678901234567890n", "123456789012345678901234567890"],
    ["a named function", "[function f() {}]", ["[Function: f]"]],
    ["a class", "[class C {}]", ["[Class: C]"]],
    ["an error inside", "({ e: new TypeError('t') })", { e: { name: "TypeError", message: "t" } }],
    ["a regular expression", "[/a+/g]", ["/a+/g"]],
    ["bytes", "new Uint8Array([1, 255])", [1, 255]],
    ["a promise inside", "({ p: Promise.resolve(1) })", { p: 1 }],
    ["a cycle", "const a = { n: 1 }; a.self = a; a.list = [a]; a", { n: 1, self: "[Circular]", list: ["[Circular]"] }],
    ["a getter that throws", "({ ok: 1, get bad() { throw new Error('no') } })", { ok: 1, bad: "[Error: no]" }],
    ["a toJSON that throws", "[{ toJSON() { throw new Error('no') } }]", ["[Error: no]"]],
    ["infinity", "[Infinity, -0, NaN]", [null, 0, null]],
    ["no prototype", "Object.assign(Object.create(null), { a: 1 })", { a: 1 }],
    ["a proxy", "new Proxy({ a: 1 }, {})", { a: 1 }],
    ["a revoked proxy", "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); [1, proxy].length", 2],
    ["a symbol", "Symbol('s')", "Symbol(s)"],
    ["holes", "[1, , 3]", [1, null, 3]],
    ["a string object", "[new String('s')]", ["s"]],
  ];
  for (const [what, code, expected] of cases) {
    test(what, async () => assert.deepEqual(await value(code), expected));
  }
  test("a revoked proxy as result is no crash", async () => {
    const r = await report("const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); ({ proxy })");
    assert.ok(r.exit === 0 || r.exit === 1);
  });
  test("nested deeper than JSON text may be", async () => {
    // To the end of the engine's stack, which looks for cycles at every step: five seconds of work, and more beside others.
    const code = "let a = []; for (let i = 0; i < 100000; i++) a = [a]; a";
    const r = await report(code, ["--timeout", "120000"], { limitMs: 150_000 });
    assert.ok(r.exit === 0 || /deep|stack/i.test(r.error), r.error);
  });
});

describe("modules from the configuration", () => {
  const dir = folder({
    "lathe.yaml": "modules:\n  - name: greet\n    path: greet.js\n  - name: '@acme/math'\n    path: ./math.js\n  - {name: broken, path: broken.js}\n  - {name: thrower, path: thrower.js}\n",
    "greet.js": "import { twice } from '@acme/math';\nexport default (name) => `hello ${name} ${twice(2)}`;\nexport const version = '1';\n",
    "math.js": "export const twice = (n) => n * 2;\n",
    "broken.js": "export const a = ;\n",
    "thrower.js": "export const a = 1;\nthrow new Error('while loading');\n",
  });
  const args = ["--config", join(dir, "lathe.yaml")];

  test("default and named imports, and a module that imports another", async () => {
    assert.equal(await value("import greet, { version } from 'greet';\nexport default greet('x') + version", args), "hello x 41");
  });
  test("import without export gives the value of nothing", async () => {
    prints(await program("import greet from 'greet';\noutput(greet('y'))", args), { stdout: "hello y 4\n" });
  });
  test("dynamic import in a script", async () => {
    assert.equal(await value("const { twice } = await import('@acme/math'); twice(4)", args), 8);
  });
  test("import * and side effects", async () => {
    assert.deepEqual(await value("import * as m from '@acme/math';\nimport 'greet';\nexport default Object.keys(m)", args), ["twice"]);
  });
  test("TypeScript imports them, too", async () => {
    prints(await ts("import { twice } from '@acme/math';\nimport type { X } from 'nowhere';\nconst n: number = twice(4);\nexport default n", args), { stdout: "8\n" });
  });
  test("another one is not found, with line", async () => {
    const r = await failure("\nimport x from 'lodash';\nexport default x", args);
    assert.match(r.error, /^Module not found: lodash: use the methods of arrays/);
    assert.equal(r.line, 2);
    assert.match(r.context, /import x from 'lodash'/);
  });
  test("neither is a path", async () => {
    for (const path of ["./math.js", "/etc/passwd", "../x", "file:///etc/passwd", "https://example.com/x.js", "node:fs"]) {
      assert.ok((await failure(`import '${path}'`, args)).error.startsWith(`Module not found: ${path}`));
    }
  });
  test("a name that is not exported", async () => {
    const r = await failure("import { thrice } from '@acme/math';\nexport default 1", args);
    assert.match(r.error, /thrice/);
  });
  test("a module with a syntax error is named", async () => {
    assert.match((await failure("import 'broken';\nexport default 1", args)).error, /SyntaxError.*|broken/);
  });
  test("a module that throws while it loads", async () => {
    assert.match((await failure("import 'thrower';\nexport default 1", args)).error, /while loading/);
  });
  test("a module file that is missing is a configuration error", async () => {
    const end = await program("1", ["--config", config({ modules: [{ name: "m", path: "gone.js" }] })]);
    assert.equal(end.code, 3);
    assert.match(end.stderr, /module "m".*gone\.js/);
  });
});

describe("TypeScript", () => {
  test("types are taken off", async () => {
    const code = `interface P { x: number; y?: string }
type Pair<A, B = A> = [A, B];
enum Color { Red, Green = 5, Blue }
const p: P = { x: 1 } satisfies P;
const f = <T,>(a: T, b?: number): Pair<T, number> => [a, b!] as const as any;
abstract class Base<T> { constructor(protected readonly v: T, public n = 1) {} abstract go(): void }
class D extends Base<string> { declare z: number; override go(): void {} get(): string { return this.v } }
function over(a: string): void;
function over(a: any) { return a }
let u: unknown = p; const n = (u as P).x;
[f("a", 2), Color.Blue, Color[5], new D("v").get(), n, over("o"), <any>3]`;
    assert.deepEqual(await value(code, ["--lang", "ts"]), [["a", 2], 6, "Green", "v", 1, "o", 3]);
  });
  test("console.log is output, console.error is the log", async () => {
    const end = await ts("const s: string = 'x'; console.log(s, { a: 1 }); console.error('e'); log('l'); output('o')");
    assert.deepEqual([end.code, end.stderr], [0, "[error] e\n[log] l\n"]);
    assert.deepEqual(end.stdout.split("\n").filter(Boolean), ["x { a: 1 }", "o"]);
  });
  test("top-level await, async functions, modules, functions", async () => {
    assert.equal(await value("const n: number = await Promise.resolve(1); n", ["--lang", "ts"]), 1);
    assert.equal(await value("async (): Promise<number> => 2", ["--lang", "ts"]), 2);
    assert.equal(await value("const x: number = 3;\nexport default x", ["--lang", "ts"]), 3);
    assert.equal(await value("```ts\nconst x: number = 4;\nx\n```", ["--lang", "ts"]), 4);
  });
  test("an error when it runs has the written line", async () => {
    const r = await failure("interface A {\n  b: string;\n}\n\ntype B = {\n  c: number\n};\nconst a = null as any as A;\na.b.length", ["--lang", "ts"]);
    assert.equal(r.line, 9);
    assert.equal(r.context, "a.b.length");
    assert.match(r.error, /^TypeError: /);
  });
  test("a syntax error has line, column and context", async () => {
    const r = await failure("const a: number = 1;\nconst b: = 2;", ["--lang", "ts", "--no-check"]);
    assert.match(r.error, /^SyntaxError: /);
    assert.deepEqual([r.line, r.context], [2, "const b: = 2;"]);
    assert.ok(r.column >= 8 && r.column <= 11, `column ${r.column}`);
  });
  test("an error when it runs has the written column, whatever was taken off before it", async () => {
    const r = await failure("type X = any;\n  const f = (x: X): number => { return (x as X).b.c };\nf({} as X)", ["--lang", "ts"]);
    assert.deepEqual([r.line, r.column], [2, 41]);
    assert.match(r.stack, /at f \(2:41\)\nat <program> \(3:1\)/);
  });
  test("a syntax error the type stripper does not see has its line as well", async () => {
    const r = await failure("const a: number = 1;\nconst a: string = '2';", ["--lang", "ts", "--no-check"]);
    assert.match(r.error, /SyntaxError/);
    assert.equal(r.line, 2);
  });
  test("inside fences the lines of the whole text count", async () => {
    const r = await failure("Some prose.\n\n```ts\nconst a: any = null;\na.b;\n```\n", ["--lang", "ts"]);
    assert.deepEqual([r.line, r.context], [5, "a.b;"]);
  });
  test("JavaScript is TypeScript", async () => {
    assert.equal(await value("const a = [1, 2, 3]; a.map((x) => x < 2 ? 1 : x > 1).length", ["--lang", "ts"]), 3);
  });
});

describe("places of errors", () => {
  const cases = [
    ["in the first line", "nope", 1, 1, "nope"],
    ["after blank lines", "\n\n  nope", 3, 3, "nope"],
    ["in fences", "```js\nconst a = 1;\nnope\n```", 3, 1, "nope"],
    ["in fences after prose", "Sure! Here it is:\n\n```js\nnope\n```", 4, 1, "nope"],
    ["in a function program", "async () => {\n  const a = 1;\n  nope;\n}", 3, 3, "nope;"],
    ["in the first line of a function declaration", "async function main() { nope }", 1, 25, "async function main() { nope }"],
    ["in a module", "export const a = 1;\nnope", 2, 1, "nope"],
    ["in a module with await", "const a = await 1;\nexport default a;\nnope", 3, 1, "nope"],
    ["after an await", "await Promise.resolve(1);\nawait Promise.resolve(2); nope", 2, 27, "await Promise.resolve(2); nope"],
    ["a syntax error", "const a = 1;\nconst b = ;", 2, 11, "const b = ;"],
    ["a syntax error at the end", "function f() {\n", 2, 1, undefined],
    ["in JSON.parse, where it was called", "const t = '{';\nJSON.parse(t)", 2, undefined, "JSON.parse(t)"],
    ["after characters that take several bytes", "'\u{1f600}\u00e9'; nope", 1, 7, "'\u{1f600}\u00e9'; nope"],
    ["with CR LF", "1;\r\n2;\r\nnope;\r\n", 3, 1, "nope;"],
    ["in a callback of a built-in", "[1].map(() => {\n  throw new Error('x');\n})", 2, undefined, "throw new Error('x');"],
    ["where the error was made", "const e = new Error('made here');\nfunction f() {\n  throw e;\n}\nf()", 1, undefined, "const e = new Error('made here');"],
  ];
  for (const [what, code, line, column, context] of cases) {
    test(what, async () => {
      const r = await failure(code);
      assert.equal(r.line, line, JSON.stringify(r));
      if (column !== undefined) assert.equal(r.column, column, JSON.stringify(r));
      assert.equal(r.context, context);
    });
  }
  test("the stack names the program's functions", async () => {
    const r = await failure("function a() { b() }\nfunction b() { throw new Error('deep') }\na()");
    assert.match(r.stack, /at b \(2:\d+\)\nat a \(1:\d+\)\nat <program> \(3:\d+\)/);
  });
  test("of a very long line, what stands around", async () => {
    const r = await failure(`const s = "${"\u00e9".repeat(200_000)}"; nope; // ${"y".repeat(1000)}`);
    assert.deepEqual([r.line, r.column], [1, 200_015]);
    assert.match(r.context, /^\u2026\u00e9+"; nope; \/\/ y+\u2026$/);
    assert.ok(r.context.length < 250);
  });
});

describe("limits from the configuration", () => {
  test("sandbox.timeoutMs and --timeout", async () => {
    const args = ["--config", config({ sandbox: { timeoutMs: 150 } })];
    const end = await program("for (;;) {}", args);
    assert.deepEqual([end.code, end.stderr], [124, "error: Execution timed out after 150ms\n"]);
    prints(await program("const t = Date.now(); while (Date.now() - t < 300); 'done'", [...args, "--timeout", 20_000]), { stdout: "done\n" });
  });
  test("sandbox.memoryMb and --memory", async () => {
    const code = "const a = []; for (let i = 0; i < 20; i++) a.push(new Uint8Array(1 << 20)); a.length";
    assert.equal(await value(code), 20);
    const args = ["--config", config({ sandbox: { memoryMb: 8 } })];
    assert.match((await failure(code, args)).error, /out of memory.* 8 MiB/);
    assert.equal(await value(code, [...args, "--memory", 64]), 20);
    assert.match((await failure(code, ["--memory", 4])).error, /out of memory.* 4 MiB/);
  });
  test("sandbox.maxOutputBytes", async () => {
    const end = await program("output('12345678'); output('abc'); output('never')", ["--config", config({ sandbox: { maxOutputBytes: 10 } })]);
    assert.equal(end.code, 1);
    assert.equal(end.stdout, "12345678\n");
    assert.match(end.stderr, /^warning: .*output.*limit.*dropped/);
  });
});
