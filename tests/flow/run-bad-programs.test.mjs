// Programs that go wrong, by mistake or on purpose: one clear error, the right exit code, what was output before, and
// nothing else.
import assert from "node:assert/strict";
import { join } from "node:path";
import { config, describe, failure, fake, folder, patience, program, report, run, servers, test, value } from "./harness.mjs";

const one = servers({ fake: fake() });
/** A program's limit of time, which counts from its start: under emulation that alone takes a second. */
const limit = (ms) => ["--timeout", patience > 6 ? ms * patience : ms];
/** stderr is one error, with or without place and calls. */
const isOneError = (stderr) => assert.match(stderr, /^error: [^\n]+\n(?:  at \d+:\d+(?:: [^\n]*)?\n)?(?:  tools called before: [^\n]*\n)?$/);

describe("syntax errors", () => {
  const cases = ["const = 3", "}", "(", "'open", "`open ${", "/* open", "/[/", "function (", "await await", "class { constructor() {} constructor() {} }", "let a; let a;",
    "break", "x => {", "\\", "#", "@", "1 = 2", "import x from 'y", "export { nope }", "async () => { await", "({ a: 1, })) ", "\u200b\u2060", "0x", "1n.5", "'\\u{110000}'", "<div/>"];
  for (const code of cases) {
    test(JSON.stringify(code), async () => {
      const end = await program(code);
      assert.equal(end.code, 1, end.stdout);
      assert.equal(end.stdout, "");
      isOneError(end.stderr);
      assert.match(end.stderr, /SyntaxError|not defined|Module not found/);
      assert.match(end.stderr, /\n  at 1:\d+/);
    });
  }
  for (const code of ["const x: = 1", "interface {", "type X", "enum { A }", "let x: Array<", "function f(a: number { }", "abstract", "'open", "`${", "x as", "<T"]) {
    test(`TypeScript ${JSON.stringify(code)}`, async () => {
      const end = await program(code, ["--lang", "ts", "--no-check"]);
      assert.equal(end.code, 1, end.stdout);
      isOneError(end.stderr);
      assert.match((await program(code, ["--lang", "ts"])).stderr, /^error: (TS1\d{3}|TS2304): /);
    });
  }
});

describe("programs that do not end", () => {
  const endings = {
    "an empty loop": "for (;;) {}",
    "promise jobs without end": "(function again() { Promise.resolve().then(again) })(); await new Promise(() => {})",
    "timers without end": "(function again() { setTimeout(again, 0) })()",
    "a loop that swallows errors": "for (;;) { try { for (;;) {} } catch {} finally { continue } }",
    "a sort that never polls": "const a = Array.from({ length: 3e6 }, (_, i) => (i * 7919) % 1000003); for (;;) a.sort()",
    "a regular expression that backtracks": "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    "a huge power": "for (;;) 3n ** 500000n",
    "a string that is searched": "const s = 'a'.repeat(2e6); for (;;) s.indexOf('a'.repeat(1e6) + 'b')",
    "a stringify": "const a = Array(2e5).fill({ a: [1, 2, 3] }); for (;;) JSON.stringify(a)",
    "a module": "export default 1; for (;;) {}",
    "a sleep": "sleep(1e9)",
    "an awaited sleep": "await sleep(1e9)",
    "a getter while the result is made": "({ get a() { for (;;) {} } })",
    "a toString of a thrown value": "throw { get message() { for (;;) {} } }",
    "a proxy as a result": "new Proxy({}, { ownKeys() { for (;;) {} } })",
    "a generator": "function* g() { for (;;) yield 1 } [...g()].length; for (const x of g()) ;",
    "a call that hangs": "fakeHang({})",
    "calls that hang side by side": "await Promise.all([fakeHang({}), fakeHang({})])",
    "calls in a loop": "for (;;) fakeAdd({ a: 1, b: 1 })",
  };
  for (const [what, code] of Object.entries(endings)) {
    test(what, async () => {
      const [option, ms] = limit(250);
      const r = await report(`output('before');\n${code}`, [...(code.includes("fake") ? one : []), option, ms, "--memory", 256]);
      assert.equal(r.exit, 124, r.error);
      assert.equal(r.timeout, true);
      assert.equal(r.error, `Execution timed out after ${ms}ms`);
      assert.deepEqual(r.outputs, ["before"]);
      assert.ok(r.durationMs < ms + 1500 * patience, `stopped after ${r.durationMs} ms`);
    });
  }
  test("a function program", async () => {
    const r = await report("async () => { output('before'); while (true) await null }", ["--timeout", 300]);
    assert.deepEqual([r.exit, r.outputs], [124, ["before"]]);
  });
  test("TypeScript that takes the type stripper forever is stopped as well", async () => {
    const r = await report("let x = " + "(".repeat(3000) + "1" + ")".repeat(3000), ["--lang", "ts", "--timeout", 2000]);
    assert.ok([0, 1, 124].includes(r.exit));
  });
  test("without --timeout it is 30 seconds; --json says how long it took", async () => {
    const r = await report("for (let i = 0; i < 1e5; i++); 1");
    assert.ok(r.durationMs > 0 && r.durationMs < 30_000);
  });
});

describe("endless recursion is a JavaScript error", () => {
  const shapes = {
    "a function": "function f() { f() } f()",
    "two functions": "function a() { b() } function b() { a() } a()",
    "an arrow with arguments": "const f = (...x) => f(...x, 1); f()",
    "a getter": "const o = { get a() { return this.a } }; o.a",
    "a proxy": "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
    "toString": "const o = { toString() { return '' + this } }; '' + o",
    "valueOf": "const o = { valueOf() { return +this } }; +o",
    "toJSON": "const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)",
    "a replacer": "JSON.stringify({}, function r() { return JSON.stringify({}, r) })",
    "a reviver": "JSON.parse('[1]', function r() { return JSON.parse('[1]', r) })",
    "a callback of sort": "function s() { return [2, 1].sort(s) } s()",
    "a callback of map": "const m = () => [1].map(m); m()",
    "a callback of replace": "const r = () => 'x'.replace(/x/, r); r()",
    "apply and bind": "function f() { return f.apply(this, arguments) } f(1)",
    "a chain of binds": "let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(null); f()",
    "a constructor": "class A { constructor() { new A() } } new A()",
    "a generator": "function* g() { yield* g() } [...g()]",
    "an async function": "async function f() { await f() } await f()",
    "eval": "function e() { eval('e()') } e()",
    "Function": "globalThis.g = () => new Function('g()')(); g()",
    "a tagged template": "const t = () => t`x`; t()",
    "Symbol.toPrimitive": "const o = { [Symbol.toPrimitive]() { return `${o}` } }; `${o}`",
    "an iterator": "const o = { [Symbol.iterator]() { return [...o] } }; [...o]",
    "instanceof": "const o = { [Symbol.hasInstance]: () => 1 instanceof o }; 1 instanceof o",
    "Reflect.construct": "function F() { Reflect.construct(F, []) } new F()",
    "a prototype chain of proxies": "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x",
    "flat": "const a = []; a[0] = a; a.flat(Infinity)",
    "join": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.join()",
    "a regular expression": "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))",
    "parallel": "const calls = [{ get tool() { return parallel(calls) } }]; parallel(calls)",
    "a log of itself": "const o = { toJSON() { log(o); return 1 } }; log(o)",
  };
  for (const [what, code] of Object.entries(shapes)) {
    test(what, async () => {
      const r = await report(`output('before'); let caught;\ntry { ${code} } catch (e) { caught = e instanceof Error ? e.name : String(e) }\nlet after = 1; [caught, after + 1]`);
      assert.deepEqual(r.outputs, ["before"]);
      // Some end as one error of many, some run out of memory first: never a crash, never a wrong success.
      if (r.exit === 0) {
        assert.match(String(r.result[0] ?? "undefined"), /^(RangeError|InternalError|SyntaxError|TypeError|undefined)$/);
        assert.equal(r.result[1], 2, "the program goes on");
      } else {
        assert.equal(r.exit, 1);
        assert.ok(r.memory, r.error);
      }
    });
  }
  test("not caught it has a place", async () => {
    const r = await failure("function f(n) {\n  return f(n + 1) + 1;\n}\nf(0)");
    assert.match(r.error, /^(RangeError|InternalError): .*stack/);
    assert.ok(r.line === 2 || r.line === 1, `line ${r.line}`);
    assert.ok(r.stack.length < 64 * 1024);
  });
  test("a few thousand frames are fine", async () => {
    assert.equal(await value("const f = (n) => (n === 0 ? 0 : 1 + f(n - 1)); f(2000)"), 2000);
  });
});

describe("memory bombs", () => {
  const bombs = {
    "an array of arrays": "const a = []; for (;;) a.push(new Array(1e4).fill(a.length))",
    "a string": "let s = 'x'; for (;;) s += s + Math.random()",
    "one allocation": "new Uint8Array(2 ** 31)",
    "padding": "'x'.padEnd(2 ** 30 - 30).length; const a = []; for (;;) a.push('x'.repeat(2 ** 29))",
    "objects": "let o = null; for (;;) o = { o, p: [1, 2, 3] }",
    "closures": "const f = []; for (;;) f.push(() => f)",
    "a Map": "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
    "a BigInt": "let n = 2n; for (;;) n = n * n",
    "bytes that are kept": "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))",
    "promises": "const a = []; for (;;) a.push(new Promise(() => {}))",
    "a loop that swallows the error": "const a = []; for (;;) { try { for (;;) a.push(new Array(1e4).fill(1)) } catch {} }",
  };
  for (const [what, code] of Object.entries(bombs)) {
    test(what, async () => {
      const r = await report(`output('before');\n${code}`, ["--timeout", what.includes("swallows") ? 2_000 : 20_000]);
      assert.deepEqual(r.outputs, ["before"]);
      assert.notEqual(r.exit, 0, JSON.stringify(r.result)?.slice(0, 100));
      assert.ok(r.exit === 1 || r.exit === 124, `exit ${r.exit}`);
      if (r.exit === 1) assert.match(r.error, /memory|RangeError|invalid|too (long|big|large)/i);
    });
  }
  test("a program that frees what it takes is fine", async () => {
    assert.equal(await value("let n = 0; for (let i = 0; i < 50; i++) { const a = new Uint8Array(8 << 20); n += a.length } n"), 50 * (8 << 20));
  });
  test("the process itself stays small", async () => {
    const end = await program("const a = []; for (;;) a.push(new Array(1e4).fill(a.length))", ["--memory", 16]);
    isOneError(end.stderr);
    assert.match(end.stderr, /16 MiB/);
  });
});

describe("much output", () => {
  test("a file or a pipe gets all of it, up to 64 MiB", async () => {
    const end = await program("output('first'); output('x'.repeat(60e6)); output('last'); 'result'", ["--memory", 512]);
    assert.equal(end.code, 0, end.stderr);
    assert.equal(end.bytes.length, "first\n".length + 60e6 + "\nlast\nresult\n".length);
    assert.equal(end.stderr, "");
  });
  test("100 MB in one piece: what does not fit is left out as a whole, with what follows, and the exit code says so", async () => {
    const end = await program("output('first'); output('x'.repeat(100e6)); output('last'); 'result'", ["--memory", 512]);
    assert.equal(end.code, 1);
    assert.equal(end.stdout, "first\nresult\n");
    assert.match(end.stderr, /^warning: the program output more than its limit: the rest was dropped .*maxOutputBytes[^\n]*\n$/);
  });
  test("100 MB in a million pieces", async () => {
    const r = await report("const s = 'y'.repeat(99); for (let i = 0; i < 1e6; i++) output(s); 'result'", limit(30_000));
    assert.equal(r.exit, 1, r.error);
    assert.equal(r.outputsCut, true);
    assert.equal(r.result, "result");
    assert.ok(r.outputs.every((text) => text.length === 99));
    assert.equal(r.outputs.length, Math.floor(64 * 1024 * 1024 / 99));
  });
  test("a limit that is set counts, also where it is the default", async () => {
    const r = await report("output('a'.repeat(65536)); output('b')", ["--config", config({ sandbox: { maxOutputBytes: 65536 } })]);
    assert.deepEqual([r.exit, r.outputsCut, r.outputs], [1, true, ["a".repeat(65536)]]);
  });
  test("a terminal gets 64 KiB", async () => {
    const end = await run(["run", "-e", "output('a'.repeat(65536)); output('b')"], { terminal: true });
    assert.equal(end.code, 1);
    assert.match(end.stdout, /^a{65536}\r\nwarning: the program output more than its limit: [^\n]*a file or a pipe gets up to 64 MiB\)\r\n$/);
    const redirected = await run(["run", "-e", "output('a'.repeat(65536)); output('b')"], { terminal: true, redirect: ">/dev/null" });
    assert.deepEqual([redirected.code, redirected.stdout], [0, ""]);
  });
  test("what Python prints is not cut either", async () => {
    const end = await program("for i in range(2000): print('z' * 99)\nset_result('result')", ["--lang", "python"]);
    assert.deepEqual([end.code, end.stdout, end.stderr.split("\n").length], [0, "result\n", 2001]);
  });
  test("100 MB of log lines", async () => {
    const end = await program("for (let i = 0; i < 1e6; i++) log('z'.repeat(99)); for (let i = 0; i < 1e6; i++) console.error(''); 'result'", limit(30_000));
    assert.deepEqual([end.code, end.stdout], [0, "result\n"]);
    assert.ok(end.stderr.length < 80e6);
    assert.match(end.stderr, /warning: the program logged more than 65536 KiB: the rest was dropped\n$/);
  });
  test("output before a failure stays, however much", async () => {
    const r = await failure("for (let i = 0; i < 1e6; i++) output('o'.repeat(100)); throw new Error('after it')");
    assert.equal(r.error, "after it");
    assert.equal(r.outputsCut, true);
  });
});

describe("large results", () => {
  test("10 MB of text", async () => {
    const end = await program("'r'.repeat(10e6)");
    assert.deepEqual([end.code, end.bytes.length, end.stderr], [0, 10e6 + 1, ""]);
    assert.ok(end.bytes.subarray(0, 10e6).every((b) => b === 0x72));
  });
  test("10 MB of JSON, both ways out", async () => {
    const code = "Array.from({ length: 500000 }, (_, i) => ({ id: i, s: 'abc' }))";
    const end = await program(code, ["--memory", 512]);
    assert.equal(end.code, 0, end.stderr);
    assert.equal(JSON.parse(end.stdout).length, 500000);
    assert.equal((await value(code, ["--memory", 512])).length, 500000);
  });
  test("more than a result may have says so", async () => {
    const r = await failure("'r'.repeat(70 * 1024 * 1024)", ["--memory", 1024]);
    assert.match(r.error, /result/i);
    assert.match(r.error, /64 MiB/);
  });
  test("an error message of 10 MB is cut", async () => {
    const r = await failure("throw new Error('m'.repeat(10e6))");
    assert.ok(r.error.startsWith("mmmm"));
    assert.ok(r.error.length <= 128 * 1024, `${r.error.length}`);
    const end = await program("throw 'm'.repeat(10e6)");
    assert.equal(end.code, 1);
    assert.ok(end.stderr.length <= 128 * 1024);
  });
  test("an error message that is larger than any message", async () => {
    assert.match((await failure("throw new Error('m'.repeat(100e6))", ["--memory", 512])).error, /too long/);
  });
  test("a cyclic result of some size", async () => {
    const r = await value("const a = Array.from({ length: 1000 }, (_, i) => ({ i })); a.forEach((x, i) => { x.next = a[(i + 1) % 3] }); a[0].all = a; a.slice(0, 3)");
    assert.equal(r.length, 3);
  });
});

describe("bytes that are no program", () => {
  const cases = [
    ["NUL", Buffer.from("1 + 1\n'a\0b'"), /contains a NUL byte \(line 2, column 3\)/],
    ["NUL at the end", Buffer.from("1 + 1\0"), /contains a NUL byte \(line 1, column 6\)/],
    ["only NUL", Buffer.alloc(1000), /contains a NUL byte \(line 1, column 1\)/],
    ["a stray byte", Buffer.from([0x31, 0x3b, 0x0a, 0x27, 0xff, 0x27]), /not valid UTF-8 \(line 2, column 2\)/],
    ["a cut character", Buffer.from([0x27, 0xe2, 0x82]), /not valid UTF-8 \(line 1, column 2\)/],
    ["an overlong slash", Buffer.from([0xc0, 0xaf]), /not valid UTF-8/],
    ["a surrogate in UTF-8", Buffer.from([0x27, 0xed, 0xa0, 0x80, 0x27]), /not valid UTF-8/],
    ["beyond Unicode", Buffer.from([0x27, 0xf4, 0x90, 0x80, 0x80, 0x27]), /not valid UTF-8/],
    ["UTF-16", Buffer.from("\ufeff1+1", "utf16le"), /not valid UTF-8|NUL/],
    ["Latin-1", Buffer.from("'caf\u00e9'", "latin1"), /not valid UTF-8 \(line 1, column 5\)/],
  ];
  for (const [what, bytes, error] of cases) {
    test(what, async () => {
      const r = await failure(bytes);
      assert.match(r.error, error);
      assert.match(r.error, /UTF-8 text/);
      const end = await run(["run", join(folder({ "p.ts": bytes }), "p.ts")]);
      assert.equal(end.code, 1);
      assert.match(end.stderr, error);
    });
  }
  test("an invalid byte on the command line", async () => {
    const r = await failure("1", ["--input", '"\ufffd"']).catch((e) => e);
    assert.ok(r); // \ufffd itself is fine
  });
  test("a binary file", async () => {
    const end = await run(["run", process.execPath], { limitMs: 60_000 });
    assert.ok(end.code === 1 || end.code === 2);
    assert.match(end.stderr, /UTF-8|NUL|more than \d+ MiB/);
    assert.ok(end.stderr.length < 1000);
  });
});

describe("lone surrogates", () => {
  const odd = "a\\ud800b\\udc00\\ud800\\ud800\\udfff";
  const is = JSON.parse(`"${odd}"`);
  test("through a real tool and back", async () => {
    const code = `const s = "${odd}"; const back = fakeEcho({ text: s, [s]: [s] }).echoed; [back.text === s, back[s][0] === s, back.text]`;
    assert.deepEqual(await value(code, one), [true, true, is]);
  });
  test("from --input to the result", async () => {
    assert.equal(await value("input", ["--input", `"${odd}"`]), is);
  });
  test("in outputs, logs, stores and errors", async () => {
    const r = await failure(`const s = "${odd}"; output(s); log(s); store(s, s); if (recall(s) !== s) throw 1; throw new Error(s)`);
    assert.deepEqual([r.outputs, r.logs, r.error], [[is], [is], is]);
  });
  test("on stdout as text they are U+FFFD: the bytes are UTF-8", async () => {
    const end = await program(`"x\\ud800y"`);
    assert.deepEqual([...end.bytes], [...Buffer.from("x\ufffdy\n")]);
    const out = await program(`output("x\\ud800y")`);
    assert.deepEqual([...out.bytes], [...Buffer.from("x\ufffdy\n")]);
  });
  test("in --json they are escapes: the bytes are UTF-8", async () => {
    const r = await report(`output("\\ud800"); ({ "\\udc00": "\\ud800" })`);
    assert.match(r.text, /"\\ud800"/);
    assert.match(r.text, /"\\udc00"/);
  });
});

describe("large and deep source", () => {
  test("a program of 1 MB", async () => {
    const code = `const data = ${JSON.stringify(Array.from({ length: 30000 }, (_, i) => ({ id: i, name: `the name of ${i}` })))};\ndata.length`;
    assert.ok(code.length > 1e6);
    assert.equal(await value(code, ["--memory", 256]), 30000);
  });
  test("a program of 1 MB in many lines, with an error at its end", async () => {
    const code = "const a = 'some text';\n".replace("a", "a0") + Array.from({ length: 40000 }, (_, i) => `let v${i} = ${i} + 1;`).join("\n") + "\nnope";
    const r = await report(code, ["--memory", 512, ...limit(30_000)]);
    assert.equal(r.exit, 1);
    assert.ok(r.line === 40002 || /SyntaxError|InternalError|memory/.test(r.error), `${r.error} at ${r.line}`);
  });
  test("TypeScript of 300 KB", async () => {
    const code = Array.from({ length: 6000 }, (_, i) => `interface I${i} { a: number; b?: string }\nconst v${i}: I${i} = { a: ${i} };`).join("\n") + "\nv5999.a";
    const r = await report(code, ["--lang", "ts", "--memory", 512, "--timeout", 60_000], { limitMs: 90_000 });
    assert.ok(r.result === 5999 || r.memory || r.timeout, r.error);
  });
  test("a program that is too large", async () => {
    const r = await failure(" ".repeat(9 * 1024 * 1024));
    assert.match(r.error, /9437184 bytes; at most 8 MiB/);
  });
  test("more than that, from a pipe", async () => {
    const end = await run(["run"], { stdin: Buffer.alloc(40 * 1024 * 1024, 0x20) });
    assert.ok(end.code === 1 || end.code === 2);
    assert.match(end.stderr, /MiB|bytes|large/);
  });
  const deep = {
    parentheses: (n) => "(".repeat(n) + "1" + ")".repeat(n),
    arrays: (n) => "[".repeat(n) + "]".repeat(n),
    objects: (n) => "(" + "{a:".repeat(n) + "1" + "}".repeat(n) + ")",
    blocks: (n) => "{".repeat(n) + "}".repeat(n),
    arrows: (n) => "x=>".repeat(n) + "1",
    unary: (n) => "!".repeat(n) + "1",
    ternaries: (n) => "1?".repeat(n) + "1" + ":1".repeat(n),
    templates: (n) => "`${".repeat(n) + "1" + "}`".repeat(n),
    functions: (n) => "function f(){".repeat(n) + "}".repeat(n),
    sums: (n) => "1+".repeat(n) + "1",
    members: (n) => "a" + ".b".repeat(n),
    calls: (n) => "f" + "()".repeat(n),
    awaits: (n) => "await ".repeat(n) + "1",
    ifs: (n) => "if(1)".repeat(n) + "1",
    news: (n) => "new ".repeat(n) + "A",
    "open brackets": (n) => "[".repeat(n),
    "open templates": (n) => "`${".repeat(n),
  };
  for (const [what, make] of Object.entries(deep)) {
    test(`nested ${what}`, async () => {
      for (const n of [500, 100_000]) {
        const r = await report(make(n), limit(20_000));
        assert.ok(r.exit === 0 || r.exit === 1, `${n}: exit ${r.exit}: ${r.error}`);
        if (r.exit === 1) assert.match(r.error, /SyntaxError|RangeError|InternalError|ReferenceError|TypeError|memory|deep/);
      }
    });
  }
  for (const what of ["parentheses", "arrays", "blocks", "templates", "open brackets"]) {
    test(`nested ${what} in TypeScript`, async () => {
      const r = await report(deep[what](100_000), ["--lang", "ts", "--timeout", 20_000]);
      assert.ok([0, 1, 124].includes(r.exit), `exit ${r.exit}: ${r.error}`);
    });
  }
  test("deep JSON as input, and a deep result", async () => {
    const json = "[".repeat(400) + "]".repeat(400);
    assert.equal(JSON.stringify(await value("input", ["--input", json])), json);
    const end = await program("1", ["--input", "[".repeat(50_000) + "]".repeat(50_000)]);
    assert.equal(end.code, 2);
    assert.match(end.stderr, /^lathe run: --input is not JSON: .*deep[^\n]*\n$/);
  });
  test("code fences without end", async () => {
    const r = await report("```js\n".repeat(50_000));
    assert.ok(r.exit === 0 || r.exit === 1);
  });
  test("a million words", async () => {
    assert.equal(await value("a".repeat(3) + " = 1;" + "/* fakeAdd " + "fakeAdd ".repeat(100_000) + "*/ aaa", one), 1);
  });
});

describe("programs that meddle", () => {
  test("with the built-ins: the report is right all the same", async () => {
    const code = `JSON.stringify = () => 'broken'; JSON.parse = null; Array.prototype.map = null; Object.keys = null; Promise.prototype.then = null;
      String.prototype.split = null; Map.prototype.get = null; Object.defineProperty = null; globalThis.Error = null; Reflect.apply = null; Array.isArray = null; Symbol.iterator = null;
      output({ a: 1 }); log([1]); store('a', { b: 1 }); [recall('a').b, fakeAdd({ a: 1, b: 2 }), typeof discoverTools('echo')]`;
    assert.deepEqual(await value(code, one), [1, "3", "object"]);
  });
  test("with every global deleted", async () => {
    const r = await report("for (const k of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[k] } catch {} } 5");
    assert.deepEqual([r.exit, r.result], [0, 5]);
  });
  test("with getters on Object.prototype", async () => {
    const code = "for (const k of ['get', 'set', 'value', 'then', 'toJSON', 'message', 'stack', 'configurable']) Object.defineProperty(Object.prototype, k, { get() { throw new Error('trap ' + k) }, configurable: true }); 5";
    const r = await report(code);
    assert.ok(r.exit === 0 || r.exit === 1);
  });
  test("with frozen prototypes", async () => {
    assert.deepEqual(await value("[Map, Set, Error, Function, Promise, RegExp, Object, Array].forEach((C) => Object.freeze(C.prototype)); ({ m: new Map([['a', 1]]).size })"), { m: 1 });
  });
  test("with thrown oddities", async () => {
    for (const code of ["throw null", "throw Symbol('s')", "throw () => 1", "throw new Proxy({}, { get() { throw 1 } })", "throw { get message() { throw 1 } }",
      "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e", "const e = new Error('x'); e.stack = 'at program.js:99999999:1'; throw e",
      "const e = new Error('x'); e.name = { toString() { throw 1 } }; throw e", "throw Object.create(null)", "const e = new Error(); e.message = 5n; throw e"]) {
      const end = await program(`output('before'); ${code}`);
      assert.equal(end.code, 1, code);
      assert.equal(end.stdout, "before\n");
      assert.match(end.stderr, /^error: .+/, code);
    }
  });
  test("with a thenable that never answers, and one that lies", async () => {
    const r = await report("({ then() {} })", ["--timeout", 2000]);
    assert.notEqual(r.exit, 0);
    assert.equal(await value("({ then(yes) { yes(1); yes(2); throw 3 } })"), 1);
  });
});
