/* Programs that want too much: endless recursion of every shape, memory, tampering with built-ins. Each must end as a
 * JavaScript error or a value: never a trap, never a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "fakes/engine_fix.h"

#define TOO_DEEP "RangeError: Maximum call stack size exceeded"

static const fake_tool tools[] = {
    {.id = "bad", .text = "Tool \"bad\" failed: no", .fails = true},
    {.id = NULL},
};
#define BINDINGS .bindings = LT_STR("{\"echo\":\"echo\",\"bad\":\"bad\"}")

/* With LT_TEST_TIMES set in the environment, how long each shape takes. */
static void expect_timed(const engine_case *cases) {
  bool told = getenv("LT_TEST_TIMES") != NULL;
  for (const engine_case *c = cases; c->code != NULL; c++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    uint32_t size = ENGINE_EXPECT(c->code, c->want, BINDINGS);
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (told) {
      printf("%9.1f ms %6u KiB  %.80s\n", (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6,
             size / 1024, c->code);
    }
  }
}

static void recursion_of_functions(void **state) {
  static const engine_case cases[] = {
      {"function f() { return f() + 1 } f()", TOO_DEEP},
      {"function f(n) { return n ? f(n - 1) + 1 : 0 } f(2000)", "2000"},
      {"const f = (...a) => f(...a.slice(1), 1); f(1, 2, 3)", TOO_DEEP},
      {"function f(...a) { return f(...a, ...a) } f(1)", "RangeError: too many arguments *"},
      {"function f(a = f()) { return a } f()", TOO_DEEP},
      {"function f({ a = f({}) } = {}) { return a } f()", TOO_DEEP},
      {"const f = ([a = f([])] = []) => a; f()", TOO_DEEP},
      {"class A { constructor() { new A() } } new A()", TOO_DEEP},
      {"class A { static x = new A(); y = new A() } new A()", TOO_DEEP},
      {"class A { constructor() { Reflect.construct(A, []) } } new A()", TOO_DEEP},
      {"function F() { return Reflect.construct(F, [], F) } new F()", TOO_DEEP},
      {"class A { static [Symbol.hasInstance](x) { return x instanceof A } } 1 instanceof A", TOO_DEEP},
      {"function* g() { yield* g() } [...g()]", TOO_DEEP},
      {"function* g() { for (const x of g()) yield x } [...g()]", TOO_DEEP},
      {"async function f() { return await f() } await f()", TOO_DEEP},
      {"async function* g() { yield* g() } for await (const x of g());", TOO_DEEP},
      {"function t() { return `${t()}` } t()", TOO_DEEP},
      {"function tag() { return tag`x` } tag()", TOO_DEEP},
      {"(function f() { eval('f()') })()", TOO_DEEP},
      {"(function f() { new Function('f', 'f()')(f) })()", TOO_DEEP},
      {"(function f() { try { f() } finally { f } })()", TOO_DEEP},
      {"(function f() { try { return f() } catch (e) { return e.message } })()", "'Maximum call stack size exceeded'"},
      {"function f() { return Reflect.apply(f, null, []) } f()", TOO_DEEP},
      {"function f() { return f.call(f.bind(f)) } f()", TOO_DEEP},
      {NULL, NULL},
  };
  (void)state;
  expect_timed(cases);
}

static void recursion_through_built_ins(void **state) {
  static const engine_case cases[] = {
      {"const o = { get a() { return this.a } }; o.a", TOO_DEEP},
      {"const o = { set a(v) { this.a = v } }; o.a = 1", TOO_DEEP},
      {"const o = { toString() { return '' + this } }; '' + o", TOO_DEEP},
      {"const o = { valueOf() { return +this } }; +o", TOO_DEEP},
      {"const o = { [Symbol.toPrimitive]() { return `${this}` } }; `${o}`", TOO_DEEP},
      {"const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x", TOO_DEEP},
      {"const o = {}; Object.setPrototypeOf(o, new Proxy({}, { has: (t, k) => k in o })); 'x' in o", TOO_DEEP},
      {"function c() { return [2, 1].sort(c) } [2, 1].sort(c)", TOO_DEEP},
      {"[1].map(function r() { return [1].map(r) })", TOO_DEEP},
      {"[1, 2].reduce(function r() { return [1, 2].reduce(r) })", TOO_DEEP},
      {"Array.from([1], function r() { return Array.from([1], r) })", TOO_DEEP},
      {"new Map([[1, 1]]).forEach(function r() { new Map([[1, 1]]).forEach(r) })", TOO_DEEP},
      {"'aa'.replace(/a/g, function r() { return 'a'.replace(/a/g, r) })", TOO_DEEP},
      {"JSON.parse('[1]', function r() { return JSON.parse('[1]', r) })", TOO_DEEP},
      {"JSON.parse('[0,0]', function () { this[1] = [0, 0]; return 1 })", "*"},
      {"JSON.stringify({ a: 1 }, function r() { return JSON.stringify({ a: 1 }, r) })", TOO_DEEP},
      {"const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)", TOO_DEEP},
      {"const d = new Date(0); d.toISOString = () => JSON.stringify(d); JSON.stringify(d)", TOO_DEEP},
      {"const s = new Set(); s[Symbol.iterator] = () => s[Symbol.iterator](); [...s]", TOO_DEEP},
      {"Function.prototype.toString = function () { return '' + this }; '' + (() => 1)", TOO_DEEP},
      {"Object.defineProperty(globalThis, 'zz', { get() { return zz } }); zz", TOO_DEEP},
      {"const o = { get then() { return this.then } }; await o", TOO_DEEP},
      {"const o = { get then() { return this.then } }; o", TOO_DEEP},
      {"[].concat.call({ get [Symbol.isConcatSpreadable]() { return [].concat(this) } })", TOO_DEEP},
      {"const a = []; a[0] = a; a.flat(Infinity)", TOO_DEEP},
      {"const a = []; a[0] = a; [a.toLocaleString(), String(a)]", "*"},
      {"const e = new Error('x'); Object.defineProperty(e, 'message', { get() { return this.message } }); throw e",
       "thrown: *"},
      {"throw { get message() { return this.message } }", "thrown: [object Object]"},
      {NULL, NULL},
  };
  (void)state;
  expect_timed(cases);
}

#define NEST(what, times) "let x = " what "; for (let i = 0; i < " times "; i++) "

/* Not the calls are deep but the data. */
static void deep_data(void **state) {
  static const engine_case cases[] = {
      {"JSON.parse('['.repeat(100000) + ']'.repeat(100000))", TOO_DEEP},
      {"JSON.parse('['.repeat(100000))", TOO_DEEP},
      {"JSON.parse('{\"a\":'.repeat(100000))", TOO_DEEP},
      {"JSON.parse('['.repeat(1000) + ']'.repeat(1000)).length", "1"},
      {NEST("{}", "5000") "x = { x }; JSON.stringify(x).length", "30002"},
      {NEST("{}", "5000") "x = { x }; x", "{\"x\":{\"x\":*"},
      {NEST("[]", "5000") "x = [x]; log(x); store('k', x); x", "[[[[*"},
      {NEST("[]", "100000") "x = [x]; x.flat(Infinity)", TOO_DEEP},
      {NEST("[]", "100000") "x = [x]; String(x)", TOO_DEEP},
      {NEST("[]", "5000") "x = [x]; echo(x)", "{\"tool\":\"echo\",\"input\":[[*"},
      {NEST("{}", "100000") "x = new Proxy(x, {}); x.y", TOO_DEEP},
      {NEST("() => 1", "100000") "x = new Proxy(x, {}); x()", TOO_DEEP},
      {NEST("[]", "100000") "x = new Proxy(x, {}); Array.isArray(x)", "true"},
      {NEST("{}", "100000") "x = Object.create(x); x.y", "undefined"},
      {NEST("() => 1", "2000") "x = x.bind(null); x()", "*"},
      {NEST("function () { }", "2000") "x = x.bind(null); ({}) instanceof x", "*"},
      {NEST("Promise.resolve(1)", "20000") "x = x.then(v => v); await x", "1"},
      {"let done; " NEST("new Promise(d => done = d)",
                         "20000") "{ const p = x; x = new Promise(d => d(p)) } done(5); x",
       "5"},
      {NEST("'x'", "5000") "x = i % 2 ? 'y' + x : x + 'y'; x.length", "5001"},
      {NEST("new Error('inner')", "20000") "x = new Error('outer', { cause: x }); throw x", "Error: outer"},
      /* Freeing what is deep is no recursion either. */
      {NEST("{}", "300000") "x = { x }; x = null; 1", "1"},
      {NEST("null", "100000") "{ const y = x; x = () => y } x = null; 1", "1"},
      {NEST("null", "50000") "x = new Map([[x, x]]); x = null; 1", "1"},
      {NEST("null", "50000") "x = (function* (y) { yield y })(x); x = null; 1", "1"},
      {"const w = new WeakMap(); let k = {}; for (let i = 0; i < 50000; i++) { const n = {}; w.set(k, n); k = n } 1",
       "1"},
      {NULL, NULL},
  };
  (void)state;
  expect_timed(cases);
}

/* The parser, the compiler and the regular expressions. */
static void deep_source(void **state) {
  static const engine_case cases[] = {
      {"eval('['.repeat(100000))", TOO_DEEP},
      {"eval('('.repeat(100000) + '1' + ')'.repeat(100000))", TOO_DEEP},
      {"eval('('.repeat(100) + '1' + ')'.repeat(100))", "1"},
      {"eval('{'.repeat(100000) + '}'.repeat(100000))", TOO_DEEP},
      {"eval('a=>'.repeat(100000) + '1')", TOO_DEEP},
      {"eval('!'.repeat(100000) + '1')", TOO_DEEP},
      {"eval('typeof '.repeat(100000) + '1')", TOO_DEEP},
      {"eval('new '.repeat(100000) + 'Date')", TOO_DEEP},
      {"eval('x='.repeat(100000) + '1')", TOO_DEEP},
      {"eval('1' + '**1'.repeat(100000))", TOO_DEEP},
      {"eval('a?'.repeat(100000) + '1' + ':1'.repeat(100000))", TOO_DEEP},
      {"eval('if(1)'.repeat(100000) + '1')", TOO_DEEP},
      {"eval('`${'.repeat(10000) + '1' + '}`'.repeat(10000))", TOO_DEEP},
      {"eval('['.repeat(10000) + 'a' + ']'.repeat(10000) + '=[]')", TOO_DEEP},
      {"eval('class A extends '.repeat(10000) + 'null' + '{}'.repeat(10000))", TOO_DEEP},
      {"eval('function f(){'.repeat(10000) + '}'.repeat(10000))", "*"},
      {"eval('1' + '+1'.repeat(100000))", "100001"},
      {"eval('a' + '.a'.repeat(100000))", "ReferenceError: a is not defined"},
      {"eval('l:'.repeat(100000) + '1')", "SyntaxError: *"},
      {"new RegExp('('.repeat(100000))", "SyntaxError: *"},
      {"new RegExp('(?:'.repeat(100000) + ')'.repeat(100000))", "SyntaxError: *"},
      {"new RegExp('(?=')", "SyntaxError: *"},
      {"new RegExp('(?='.repeat(10000) + ')'.repeat(10000))", "SyntaxError: *"},
      {"new RegExp('(?<='.repeat(10000) + ')'.repeat(10000))", "SyntaxError: *"},
      {"new RegExp('['.repeat(100000), 'v')", "SyntaxError: *"},
      {"new RegExp('(?:a|'.repeat(5000) + ')'.repeat(5000)).test('aaa')", "true"},
      {"/^(?:.|\\n)*$/.test('x'.repeat(3000000))", "memory"},
      {"'a'.repeat(100000).match(/(?:(?:a*)*)*$/)[0].length", "100000"},
      {"/(?:a|b)*?c/.test('ab'.repeat(50000) + 'c')", "true"},
      {NULL, NULL},
  };
  (void)state;
  expect_timed(cases);
}

static void deep_json_from_outside(void **state) {
  (void)state;
  lt_buf deep;
  lt_buf_init(&deep, LT_MIB);
  for (int i = 0; i < 100000; i++) {
    lt_buf_byte(&deep, '[');
  }
  ENGINE_EXPECT("1", TOO_DEEP, .input = lt_buf_view(&deep));
  fake_tool deep_tool[] = {{.id = "echo", .bytes = lt_buf_view(&deep)}, {.id = NULL}};
  engine_host.tools = deep_tool;
  ENGINE_EXPECT("try { echo(); 'no' } catch (e) { e instanceof Error }", "true", BINDINGS);
  engine_host.tools = tools;
  lt_buf_release(&deep);
}

static void out_of_memory(void **state) {
  static const engine_case cases[] = {
      {"const a = []; for (;;) a.push({})", "memory"},
      {"const a = []; for (;;) a.push(a.slice())", "memory"},
      {"const a = []; for (;;) a.push('x'.repeat(100000) + a.length)", "memory"},
      {"const a = []; for (;;) a.push(new Error('x'))", "memory"},
      {"const o = {}; for (let i = 0;; i++) o['k' + i] = i", "memory"},
      {"const m = new Map(); for (let i = 0;; i++) m.set(i, {})", "memory"},
      {"async function f() { await 0; return await f() } await f()", "memory"},
      {"let f = () => 1; for (;;) { const g = f; f = () => g() }", "memory"},
      {"'x'.repeat(500000000)", "memory"},
      {"new ArrayBuffer(500000000)", "memory"},
      {"new Array(4294967295).fill(0)", "memory"},
      {"Array.from({ length: 50000000 }, () => 1)", "memory"},
      {"'x'.padStart(200000000).length", "memory"},
      {"new Uint8Array(2 ** 31)", "RangeError: *"},
      {"let s = 'x'; for (;;) s += s + 'y'", "*"},
      {"2n ** (2n ** 40n)", "RangeError: *"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
  ENGINE_EXPECT_ALL(cases, .memory_bytes = 8 * LT_MIB);
  ENGINE_EXPECT_ALL(cases, .memory_bytes = LT_RUN_MEMORY_MIN_BYTES);
}

/* It can be caught, what it says is true, and the program goes on. */
static void out_of_memory_is_an_error(void **state) {
  static const engine_case cases[] = {
      {"let a = []; try { for (;;) a.push({}) } catch (e) { a = null; `${e.name}: ${e.message}` }",
       "'InternalError: out of memory'"},
      {"let a = []; try { for (;;) a.push({}) } catch (e) { a = null } echo({ a: 1 }).input", "{\"a\":1}"},
      {"let a = []; try { for (;;) a.push({}) } catch { a = null } throw new TypeError('mine')", "TypeError: mine"},
      {"let a = []; try { for (;;) a.push({}) } catch { a = null } throw null", "*"},
      {"try { 'x'.repeat(500000000) } catch (e) { e.message }", "'out of memory'"},
      {"throw null", "thrown: null"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases, BINDINGS);
  ENGINE_EXPECT_ALL(cases, BINDINGS, .memory_bytes = 4 * LT_MIB);
}

static void memory_limits_are_kept(void **state) {
  (void)state;
  const char *fill = "const a = []; for (;;) a.push(new Array(100).fill(a.length))";
  static const uint64_t limits[] = {LT_RUN_MEMORY_MIN_BYTES, 3 * LT_MIB + 1, 16 * LT_MIB, LT_RUN_MEMORY_BYTES};
  for (unsigned i = 0; i < 4; i++) {
    uint32_t size = ENGINE_EXPECT(fill, "memory", .memory_bytes = limits[i]);
    assert_true(size <= limits[i] + LT_BOX_SPARE_BYTES);
    assert_true(size >= limits[i] - LT_MIB);
  }
  ENGINE_EXPECT("new ArrayBuffer(60000000).byteLength", "60000000");
  ENGINE_EXPECT("new ArrayBuffer(100000000).byteLength", "100000000", .memory_bytes = 128 * LT_MIB);
  ENGINE_EXPECT("new ArrayBuffer(100000000).byteLength", "memory");
  ENGINE_EXPECT("1 + 1", "2", .memory_bytes = 1); /* less than the image needs is as much as it needs */
  ENGINE_EXPECT("1 + 1", "2", .memory_bytes = UINT64_MAX);
}

static void large_results(void **state) {
  (void)state;
  ENGINE_EXPECT("'x'.repeat(10000000)", "'xxx*");
  assert_int_equal(engine_result.text.n, 10000000);
  ENGINE_EXPECT("Array(200000).fill('abcdefghij')", "[\"abcdefghij\",*");
  assert_int_equal(engine_result.text.n, 200000 * 13 + 1);
  ENGINE_EXPECT("'\\u00e9'.repeat(5000000)", "'\xc3\xa9\xc3\xa9*");
  assert_int_equal(engine_result.text.n, 10000000);
  ENGINE_EXPECT("'x'.repeat(40000000).length", "40000000");
  ENGINE_EXPECT("'x'.repeat(70000000)", "thrown: the result is larger than 64 MiB*", .memory_bytes = 256 * LT_MIB);
  ENGINE_EXPECT("throw new Error('x'.repeat(20000000))", "Error: xxx*");
  ENGINE_EXPECT("output('x'.repeat(10000000)); log('y'.repeat(10000000)); 1", "1");
  assert_int_equal(engine_host.outputs.n, 10000001);
}

static void answers_that_do_not_fit(void **state) {
  (void)state;
  lt_buf big;
  lt_buf_init(&big, 64 * LT_MIB);
  lt_buf_byte(&big, '"');
  char *room = lt_buf_reserve(&big, 50000000);
  assert_non_null(room);
  memset(room, 'x', 50000000);
  lt_buf_commit(&big, 50000000);
  lt_buf_byte(&big, '"');
  fake_tool big_tool[] = {{.id = "echo", .bytes = lt_buf_view(&big)}, {.id = NULL}};
  engine_host.tools = big_tool;
  const char *why = "Error: the answer (50000002 bytes) does not fit into the program's memory*";
  ENGINE_EXPECT("echo().length", why, BINDINGS);
  ENGINE_EXPECT("(await echo()).length", why, BINDINGS, .calls = LT_CALLS_PROMISE);
  ENGINE_EXPECT("(await echo()).error", "'the answer (50000002 bytes) does*", BINDINGS, .calls = LT_CALLS_RESULT);
  ENGINE_EXPECT("parallel([{ tool: 'echo' }])[0].error", "'the answer (50000002 bytes) does*", BINDINGS);
  ENGINE_EXPECT("try { echo() } catch { 'went on' }", "'went on'", BINDINGS);
  ENGINE_EXPECT("echo().length", "50000000", BINDINGS, .memory_bytes = 256 * LT_MIB);
  ENGINE_EXPECT("input.length", "memory", .input = lt_buf_view(&big));
  engine_host.tools = tools;
  lt_buf_release(&big);
}

/* --- The engine's collector waits while an answer is read --------------------------------------------------------- */
static uint32_t expect_with_answer(const char *code, const char *want, const lt_buf *answer) {
  fake_tool answering[] = {{.id = "echo", .bytes = lt_buf_view(answer)}, {.id = NULL}};
  engine_host.tools = answering;
  uint32_t size = ENGINE_EXPECT(code, want, BINDINGS);
  engine_host.tools = tools;
  return size;
}

static void cycles_of_answers_are_freed(void **state) {
  (void)state;
  lt_buf rows;
  lt_buf_init(&rows, LT_MIB);
  lt_buf_byte(&rows, '[');
  for (int i = 0; i < 10000; i++) {
    lt_buf_printf(&rows, "%s{\"id\":%d,\"tags\":[1,2]}", i == 0 ? "" : ",", i);
  }
  lt_buf_byte(&rows, ']');
  uint32_t size = expect_with_answer(
      "for (let i = 0; i < 100; i++) { const all = echo(); for (const row of all) row.all = all } 'well'", "'well'",
      &rows);
  assert_in_range(size, LT_MIB, 20 * LT_MIB); /* all of them would take 200 MiB */
  lt_buf_release(&rows);
}

/* A text of 40 MB, its values of 22 MB, and the dead cycles that the collector has left so far: not all of it fits. */
static void a_long_text_leaves_less_for_cycles(void **state) {
  (void)state;
  lt_buf text;
  lt_buf_init(&text, 64 * LT_MIB);
  for (int i = 0; i < 3000; i++) {
    lt_buf_addc(&text, i == 0 ? "[[\"" : "\"],[\"");
    for (int j = 0; j < 1200; j++) {
      lt_buf_addc(&text, "\\u0061bcdef");
    }
  }
  lt_buf_addc(&text, "\"]]");
  (void)expect_with_answer("for (let i = 0; i < 60000; i++) { const a = [i]; a.push(a) } echo().length", "3000", &text);
  lt_buf_release(&text);
}

/* A program that changes the built-ins confuses itself, not what it was given. */
static void tampering(void **state) {
  static const engine_case works[] = {
      {"JSON.stringify = () => 'x'; JSON.parse = null; echo({ a: 1 }).input", "{\"a\":1}"},
      {"JSON = null; echo({ a: 1 }).input", "{\"a\":1}"},
      {"JSON.stringify = null; ({ a: new Map([['b', 1]]) })", "{\"a\":{\"b\":1}}"},
      {"Array.prototype.map = Array.prototype.push = Array.prototype.join = null; parallel([{ tool: 'x' }]).length",
       "1"},
      {"Array.prototype.map = null; Array.prototype.join = null; log('a', { b: 1 }); 1", "1"},
      {"Map.prototype.get = Map.prototype.set = Map.prototype.delete = null; sleep(1); parallel([{ tool: 'x' "
       "}]).length",
       "1"},
      {"Map = Set = Promise = Error = TypeError = String = Symbol = Object = Proxy = Array = null; echo(1).input", "1"},
      {"Function.prototype.apply = Function.prototype.call = Reflect.apply = null; sleep(1); echo(1).input", "1"},
      {"Object.keys = Object.defineProperty = Object.setPrototypeOf = null; tools['a.b'](1).input", "1"},
      {"Number.isFinite = isFinite = null; NaN", "\"NaN\""},
      {"Object.prototype.toString = null; ({ a: 1 })", "{\"a\":1}"},
      {"Object.prototype.value = 7; Object.prototype.default = 7; undefined", "undefined"},
      {"Object.defineProperty(Object.prototype, '0', { set() { throw 1 } }); parallel([{ tool: 'x' }]).length", "1"},
      {"Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(globalThis); echo(1).input",
       "1"},
      {"globalThis.echo = null; tools.echo(1).input", "1"},
      {"const e = echo; for (const k of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[k] } catch "
       "{} "
       "} e({ a: 1 }).input",
       "{\"a\":1}"},
      {"for (const k of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[k] } catch {} } [new (class "
       "{})]",
       "[{}]"},
      {"Object.setPrototypeOf(globalThis, new Proxy({}, { get() { throw 1 }, has() { throw 1 } })); echo(1).input",
       "1"},
      {"Object.setPrototypeOf(Array.prototype, null); parallel([{ tool: 'x' }]).length", "1"},
      {"Map.prototype.toJSON = () => 'own'; new Map()", "\"own\""},
      {"Error.prepareStackTrace = () => { throw 1 }; 5", "5"},
      {NULL, NULL},
  };
  static const engine_case fails_clearly[] = {
      {"Error = TypeError = null; bad()", "Error: Tool \"bad\" failed: no"},
      {"Error = function () { throw 1 }; bad()", "Error: Tool \"bad\" failed: no"},
      {"ReferenceError = null; tools.nope", "ReferenceError: Tool \"nope\" not found. *"},
      {"TypeError = null; complete(1)", "TypeError: complete() expects *"},
      {"Object.prototype.toJSON = () => { throw new Error('mine') }; ({ a: 1 })", "\"[Error: mine]\""},
      {"Object.prototype.toJSON = () => { throw new Error('mine') }; echo({ a: 1 })", "Error: mine"},
      {"Object.prototype.toJSON = () => 'mine'; echo({ a: 1 }).input", "*"},
      {"delete Array.prototype[Symbol.iterator]; new Map([])", "TypeError: *"},
      {"delete Array.prototype[Symbol.iterator]; const m = new Map(); m.set('a', 1); m", "*"},
      {"delete Map.prototype[Symbol.iterator]; const m = new Map(); m.set('a', 1); m", "\"[Error: *"},
      {"Object.defineProperty(Object.prototype, 'value', { get() { throw new Error('mine') } }); 1", "*"},
      {"Object.defineProperty(Object.prototype, 'message', { get() { throw new Error('mine') } }); throw {}",
       "thrown: *"},
      {"Error.prototype.toString = null; throw new Error('x')", "Error: x"},
      {"Error.prototype.name = { toString() { throw 1 } }; throw new Error('x')", "*"},
      {"Error.prepareStackTrace = () => { throw 1 }; throw new Error('x')", "*"},
      {"Function.prototype.toString = null; () => 1", "*"},
      {"RegExp.prototype.test = RegExp.prototype.exec = null; () => 1", "*"},
      {"Object.prototype.then = function (done) { done(5) }; 1", "*"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(works, BINDINGS);
  ENGINE_EXPECT_ALL(fails_clearly, BINDINGS);
  ENGINE_EXPECT("Promise = class {}; Proxy = null; (await echo(1)).input + echo(2).input", "3", BINDINGS,
                .calls = LT_CALLS_PROMISE);
  ENGINE_EXPECT("Promise.prototype.then = () => { throw new Error('mine') }; echo(1).input", "*", BINDINGS,
                .calls = LT_CALLS_PROMISE);
  ENGINE_EXPECT("Promise = null; (await echo(1)).success", "true", BINDINGS, .calls = LT_CALLS_RESULT);
}

/* What one program changed is as it was for the next: the box is the same one. */
static void the_next_program_sees_nothing_of_it(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    ENGINE_EXPECT(
        "globalThis.left = 'over'; Array.prototype.map = null; Object.prototype.x = 1; store('k', 1);"
        "JSON.stringify = null; 1",
        "1");
    ENGINE_EXPECT("[typeof left, typeof [].map, typeof ({}).x, typeof JSON.stringify, recall('k')]",
                  "[\"undefined\",\"function\",\"undefined\",\"function\",null]");
  }
}

static int open_with_tools(void **state) {
  int failed = engine_open(state);
  engine_host.tools = tools;
  return failed;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recursion_of_functions),
      cmocka_unit_test(recursion_through_built_ins),
      cmocka_unit_test(deep_data),
      cmocka_unit_test(deep_source),
      cmocka_unit_test(deep_json_from_outside),
      cmocka_unit_test(out_of_memory),
      cmocka_unit_test(out_of_memory_is_an_error),
      cmocka_unit_test(memory_limits_are_kept),
      cmocka_unit_test(large_results),
      cmocka_unit_test(answers_that_do_not_fit),
      cmocka_unit_test(cycles_of_answers_are_freed),
      cmocka_unit_test(a_long_text_leaves_less_for_cycles),
      cmocka_unit_test(tampering),
      cmocka_unit_test(the_next_program_sees_nothing_of_it),
  };
  return cmocka_run_group_tests(tests, open_with_tools, engine_close);
}
