/* Programs and what becomes of them: values, errors, top-level await, modules. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "fakes/engine_fix.h"

static void values_of_the_last_expression(void **state) {
  static const engine_case cases[] = {
      {"1 + 2", "3"},
      {"", "undefined"},
      {"// nothing", "undefined"},
      {"undefined", "undefined"},
      {"let x = 5", "undefined"},
      {"null", "null"},
      {"true", "true"},
      {"'text'", "'text'"},
      {"''", "''"},
      {"let x = 5; x * 2", "10"},
      {"if (true) { 'inner' }", "'inner'"},
      {"for (let i = 0; i < 3; i++) i", "2"},
      {"({ a: [1, { b: null }] })", "{\"a\":[1,{\"b\":null}]}"},
      {"[1, , 3]", "[1,null,3]"},
      {"this === globalThis", "true"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

static void numbers(void **state) {
  static const engine_case cases[] = {
      {"-0", "0"},
      {"0.1 + 0.2", "0.30000000000000004"},
      {"1e21", "1e+21"},
      {"1e-7", "1e-7"},
      {"2147483647", "2147483647"},
      {"2147483648", "2147483648"},
      {"-2147483648", "-2147483648"},
      {"2 ** 53", "9007199254740992"},
      {"Number.MAX_VALUE", "1.7976931348623157e+308"},
      {"NaN", "\"NaN\""},
      {"-Infinity", "\"-Infinity\""},
      {"[NaN, Infinity, -0]", "[null,null,0]"},
      {"123456789012345678901234567890n", "\"123456789012345678901234567890\""},
      {"({ n: -1n })", "{\"n\":\"-1\"}"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

/* At 2^52 doubles have no fraction any more; a zero keeps the sign of what was rounded. */
static void rounding(void **state) {
  static const engine_case cases[] = {
      {"[-1.5, -0.5, 0.5, 1.5, 4503599627370495.5, -4503599627370495.5].map(Math.floor)",
       "[-2,-1,0,1,4503599627370495,-4503599627370496]"},
      {"[-1.5, -0.5, 0.5, 1.5, 4503599627370495.5, -4503599627370495.5].map(Math.ceil)",
       "[-1,0,1,2,4503599627370496,-4503599627370495]"},
      {"[-1.5, -0.5, 0.5, 1.5, 4503599627370495.5, -4503599627370495.5].map(Math.trunc)",
       "[-1,0,0,1,4503599627370495,-4503599627370495]"},
      {"[-1.5, -0.5, 0.5, 1.5, 2.5, 0.49999999999999994, 4503599627370495.5].map(Math.round)",
       "[-1,0,1,2,3,0,4503599627370496]"},
      {"new Uint8ClampedArray([0.5, 1.5, 2.5, 254.5, 300, -1, NaN]).join()", "'0,2,2,254,255,0,0'"},
      {"['floor', 'ceil', 'trunc', 'round'].map((f) => [2 ** 53, -1e300, Infinity, NaN].map(Math[f]).join()).join(';')",
       "'9007199254740992,-1e+300,Infinity,NaN;9007199254740992,-1e+300,Infinity,NaN;"
       "9007199254740992,-1e+300,Infinity,NaN;9007199254740992,-1e+300,Infinity,NaN'"},
      {"['floor', 'ceil', 'trunc', 'round'].map((f) => [-0, -0.25, 0.25].map((n) => 1 / Math[f](n)).join()).join(';')",
       "'-Infinity,-1,Infinity;-Infinity,-Infinity,1;-Infinity,-Infinity,Infinity;-Infinity,-Infinity,Infinity'"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

/* Each comes back as something readable. */
static void values_json_has_no_word_for(void **state) {
  static const engine_case cases[] = {
      {"new Map([['a', 1], ['b', new Map()]])", "{\"a\":1,\"b\":{}}"},
      {"new Map([[1, 2]])", "[[1,2]]"},
      {"new Set([1, 'x'])", "[1,\"x\"]"},
      {"new Date(0)", "\"1970-01-01T00:00:00.000Z\""},
      {"new Date(NaN)", "null"},
      {"() => 1", "\"[Function: anonymous]\""},
      {"(function named() {})", "\"[Function: named]\""},
      {"class A {}; A", "\"[Class: A]\""},
      {"Symbol('s')", "\"Symbol(s)\""},
      {"/a+/g", "\"/a+/g\""},
      {"new Error('e')", "{\"name\":\"Error\",\"message\":\"e\"}"},
      {"new Uint8Array([1, 255])", "[1,255]"},
      {"new Float64Array([0.5])", "[0.5]"},
      {"new BigInt64Array([-1n])", "[\"-1\"]"},
      {"new ArrayBuffer(3)", "\"[ArrayBuffer: 3 bytes]\""},
      {"new DataView(new ArrayBuffer(3))", "\"[DataView: 3 bytes]\""},
      {"[new WeakMap(), new WeakSet(), new WeakRef({})]", "[\"[WeakMap]\",\"[WeakSet]\",\"[WeakRef]\"]"},
      {"new Map().values()", "\"[Map Iterator: not read; use [...it]]\""},
      {"(function* () { yield 1 })()", "\"[Generator: not read; use [...it]]\""},
      {"new Proxy({ a: 1 }, {})", "{\"a\":1}"},
      {"Object.create(null)", "{}"},
      {"[undefined, () => 1, Symbol()]", "[null,\"[Function: anonymous]\",null]"},
      {"({ a: undefined, [Symbol()]: 1 })", "{}"},
      {"class P { x = 1; #y = 2 }; new P()", "{\"x\":1}"},
      {"[new String('s'), new Number(1), new Boolean(false), Object(1n)]", "[\"s\",1,false,\"1\"]"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

static void cycles(void **state) {
  static const engine_case cases[] = {
      {"const a = {}; a.a = a; a", "{\"a\":\"[Circular]\"}"},
      {"const a = [1]; a.push(a); a", "[1,\"[Circular]\"]"},
      {"const m = new Map(); m.set('m', m); m", "{\"m\":\"[Circular]\"}"},
      {"const s = new Set(); s.add([s]); s", "[[\"[Circular]\"]]"},
      {"const a = { b: {} }; a.b.c = [a]; a", "{\"b\":{\"c\":[\"[Circular]\"]}}"},
      {"const shared = { x: 1 }; [shared, shared]", "[{\"x\":1},{\"x\":1}]"},
      {"const m = new Map([['a', 1]]); Array(300).fill(m)", "[{\"a\":1},{\"a\":1},{\"a\":1}*"},
      {"let o = { end: 1 }; for (let i = 0; i < 300; i++) o = { o }; o.o = o; o.n = 1; o",
       "{\"o\":\"[Circular]\",\"n\":1}"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

static void values_that_throw_when_they_are_looked_at(void **state) {
  static const engine_case cases[] = {
      {"({ ok: 1, get bad() { throw new Error('no') } })", "{\"ok\":1,\"bad\":\"[Error: no]\"}"},
      {"[1, { toJSON() { throw new Error('no') } }]", "[1,\"[Error: no]\"]"},
      {"({ toJSON() { return { x: 1 } } })", "{\"x\":1}"},
      {"new Proxy({}, { ownKeys() { throw new Error('no') } })", "\"[Error: no]\""},
      {"const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); [1, proxy]", "[1,\"[Error: *"},
      {"const d = new Date(0); d.toISOString = () => { throw 'no' }; [d]", "[\"[Error: no]\"]"},
      {"const m = new Map([['a', 1]]); m[Symbol.iterator] = () => { throw new Error('no') }; m", "\"[Error: no]\""},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

static void promises_as_values(void **state) {
  static const engine_case cases[] = {
      {"Promise.resolve(5)", "5"},
      {"Promise.resolve(Promise.resolve('deep'))", "'deep'"},
      {"({ then(done) { done('thenable') } })", "'thenable'"},
      {"(async () => ({ then(done) { done('nested') } }))()", "'nested'"},
      {"[Promise.resolve(1), { p: Promise.resolve([2]) }]", "[1,{\"p\":[2]}]"},
      {"({ p: new Promise(() => {}) })", "{\"p\":\"[Promise: not settled; await it]\"}"},
      {"const p = Promise.reject(new Error('no')); p.catch(() => {}); [p]", "[\"[Promise rejected: no]\"]"},
      {"Promise.all([1, Promise.resolve(2)])", "[1,2]"},
      {"new Promise(done => queueMicrotask(() => done(undefined)))", "undefined"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

static void top_level_await(void **state) {
  static const engine_case cases[] = {
      {"await 5", "5"},
      {"const x = await Promise.resolve({ a: 1 }); x.a", "1"},
      {"async function f() { return await g() } async function g() { return 3 } await f()", "3"},
      {"for await (const x of [Promise.resolve(1), 2]) x", "2"},
      {"await Promise.reject(new TypeError('no'))", "TypeError: no"},
      {"try { await Promise.reject(1) } catch (e) { e + 1 }", "2"},
      {"let n = 0; for (let i = 0; i < 1000; i++) n += await i; n", "499500"},
      {"const order = []; queueMicrotask(() => order.push(2)); order.push(1); await 0; order", "[1,2]"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

/* A whole program that is a function: whoever prepared the text has put it in parentheses. */
static void programs_that_are_functions(void **state) {
  static const engine_case cases[] = {
      {"(async () => 5)", "5"},
      {"(() => 'plain')", "'plain'"},
      {"(function main(input) { return input.n + 1 })", "42"},
      {"(async function () { await 0; return input })", "{\"n\":41}"},
      {"(() => undefined)", "undefined"},
      {"(() => { throw new RangeError('inside') })", "RangeError: inside"},
      {"(async () => { throw 'inside' })", "thrown: inside"},
      {"(class A {})", "\"[Class: A]\""},
      {"42", "42"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases, .call_result = true, .input = LT_STR("{\"n\":41}"));
  ENGINE_EXPECT("(() => 5)", "\"[Function: anonymous]\"");
}

static void modules(void **state) {
  static const fake_module sources[] = {
      {"m", "export const twice = x => 2 * x; export default 7;"},
      {"chain", "import { twice } from 'm'; export const eight = twice(4);"},
      {"bad", "export const ="},
      {"throws", "throw new Error('while loading')"},
      {"a", "import { b } from 'b'; export const a = () => b() + 1"},
      {"b", "import { a } from 'a'; export const b = () => typeof a"},
      {"slow", "export default await new Promise(done => queueMicrotask(() => done('late')))"},
      {NULL, NULL},
  };
  static const engine_case cases[] = {
      {"import { twice } from 'm'; export default twice(4)", "8"},
      {"import seven, { twice } from 'm'; export default twice(seven)", "14"},
      {"import * as m from 'm'; export default Object.keys(m)", "[\"default\",\"twice\"]"},
      {"import { eight } from 'chain'; export default eight", "8"},
      {"import { a } from 'a'; export default a()", "'function1'"},
      {"import late from 'slow'; export default late", "'late'"},
      {"const m = await import('m'); export default m.twice(2)", "4"},
      {"export default async () => 5", "5"},
      {"export default function () { return 6 }", "6"},
      {"export default (input) => input", "undefined"},
      {"export default class A {}", "\"[Class: A]\""},
      {"export default await Promise.resolve('x')", "'x'"},
      {"export default undefined", "undefined"},
      {"export const a = 1", "undefined"},
      {"import 'm'", "undefined"},
      {"import { nope } from 'm'; export default nope", "SyntaxError: Could not find export 'nope' in module 'm'"},
      {"import x from 'lodash'", "Error: Module not found: lodash"},
      {"import x from './m'", "Error: Module not found: ./m"},
      {"import 'bad'", "SyntaxError: *"},
      {"import 'throws'", "Error: while loading"},
      {"throw new Error('own')", "Error: own"},
      {"export default 1; export default 2", "SyntaxError: *"},
      {NULL, NULL},
  };
  (void)state;
  engine_host.modules = sources;
  ENGINE_EXPECT_ALL(cases, .module = true);
  ENGINE_EXPECT("const m = await import('m'); m.twice(3)", "6");
  ENGINE_EXPECT("try { await import('x') } catch (e) { [e instanceof Error, e.message] }",
                "[true,\"Module not found: x\"]");
  engine_host.modules = NULL;
  ENGINE_EXPECT("import 'm'", "Error: Module not found: m", .module = true);
}

static void thrown_values(void **state) {
  static const engine_case cases[] = {
      {"throw new Error('x')", "Error: x"},
      {"throw new Error", "Error: "},
      {"throw new (class Mine extends TypeError { name = 'Mine' })('x')", "Mine: x"},
      {"throw 's'", "thrown: s"},
      {"throw ''", "thrown: "},
      {"throw { a: 1 }", "thrown: {\"a\":1}"},
      {"throw { message: 'm' }", "Error: m"},
      {"throw { name: 'N', message: 'm' }", "N: m"},
      {"throw null", "thrown: null"},
      {"throw undefined", "thrown: undefined"},
      {"throw 5", "thrown: 5"},
      {"throw 5n", "thrown: 5"},
      {"throw Symbol('s')", "thrown: Symbol(s)"},
      {"throw () => 1", "thrown: [Function: anonymous]"},
      {"throw [1, new Map([['a', 1]])]", "thrown: [1,{\"a\":1}]"},
      {"throw new AggregateError([new Error('1')], 'many')", "AggregateError: many"},
      {"throw { get message() { throw 1 } }", "thrown: [object Object]"},
      {"throw new Proxy({}, { get() { throw 1 } })", "thrown: the program threw something that throws when *"},
      {"const e = new Error('x'); e.message = 5; throw e", "Error: 5"},
      {"const e = new Error('x'); Object.defineProperty(e, 'stack', { value: 5 }); throw e", "Error: x"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

static void errors_of_the_engine(void **state) {
  static const engine_case cases[] = {
      {"null.x", "TypeError: cannot read property 'x' of null"},
      {"nowhere", "ReferenceError: nowhere is not defined"},
      {"let a = ;", "SyntaxError: *"},
      {"const c = 1; c = 2", "TypeError: 'c' is read-only"},
      {"return 5", "SyntaxError: *"},
      {"x; let x", "ReferenceError: *"},
      {"new Array(-1)", "RangeError: invalid array length"},
      {"eval('}')", "SyntaxError: *"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

static void expect_stack(const char *code, const char *name, const char *place) {
  lt_program program = {.code = lt_str_of(code), .file = LT_STR("program.js")};
  engine_expect(&program, name);
  lt_str stack = lt_buf_view(&engine_result.stack);
  if (lt_str_find(stack, lt_str_of(place), 0) == SIZE_MAX) {
    fail_msg("%s\nhas the stack\n%.*s\nwithout %s", code, LT_STR_ARG(stack), place);
  }
}

static void stacks_say_line_and_column(void **state) {
  (void)state;
  expect_stack("1;\n  throw new Error('x')", "Error: x", "program.js:2:");
  expect_stack("function f() {\n  null.x;\n}\n\nf()", "TypeError: *", "f (program.js:2:3)");
  expect_stack("let a = 1;\nlet b = ;", "SyntaxError: *", "program.js:2:9");
  expect_stack("await 0;\nconst f = async () => {\n await 0; throw new Error('later') };\nawait f()", "Error: later",
               "program.js:3:");
  expect_stack("setTimeout(() => {\n throw new Error('t') }, 5)", "Error: t", "program.js:2:");
  expect_stack("\xc3\xa4; \"\xf0\x9f\x98\x80\"; nope", "ReferenceError: *", "program.js:1:");
}

static void unhandled_rejections_fail(void **state) {
  static const engine_case cases[] = {
      {"Promise.reject(new Error('dropped')); 1", "Error: dropped"},
      {"(async () => { await 0; throw 'dropped' })(); 1", "thrown: dropped"},
      {"queueMicrotask(() => { throw new Error('micro') }); 1", "Error: micro"},
      {"setTimeout(() => { throw new Error('timer') }, 10); 1", "Error: timer"},
      {"Promise.reject(1).then(() => 2); 3", "thrown: 1"},
      {"Promise.reject(null); 1", "thrown: null"},
      {"const p = Promise.reject(new Error('x')); await 0; await 0; p.catch(() => {}); 5", "5"},
      {"Promise.reject(1).catch(() => 2); 3", "3"},
      {"await Promise.allSettled([Promise.reject(1)]); 4", "4"},
      {"Promise.reject(1); throw new Error('first')", "Error: first"},
      {"const p = []; for (let i = 0; i < 40; i++) p.push(Promise.reject(i)); p.forEach(x => x.catch(() => {})); 7",
       "7"},
      {"const p = []; for (let i = 0; i < 40; i++) p.push(Promise.reject(i)); p.slice(9).forEach(x => x.catch(() => "
       "{}))",
       "thrown: 0"},
      {"const p = []; for (let i = 0; i < 40; i++) p.push(Promise.reject(i)); "
       "p.slice(0, 39).forEach(x => x.catch(() => {}))",
       "thrown: a promise was rejected and nobody handled it"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

/* What was rejected and handled is given back: a loop of them stays in its memory. */
static void handled_rejections_cost_nothing(void **state) {
  (void)state;
  uint32_t size = ENGINE_EXPECT(
      "for (let i = 0; i < 20000; i++) { try { await Promise.reject(new Error('x' + i)) } catch {} } 'ok'", "'ok'");
  assert_true(size < 2 * LT_MIB);
}

static void promises_that_nobody_settles(void **state) {
  static const engine_case cases[] = {
      {"await new Promise(() => {})", "Error: the program waits for a promise that nothing will ever settle"},
      {"new Promise(() => {})", "Error: the program waits for a promise that nothing will ever settle"},
      {"({ then() {} })", "Error: the program waits for a promise that nothing will ever settle"},
      {"new Promise(() => {}); 5", "5"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

static void what_is_not_there(void **state) {
  (void)state;
  ENGINE_EXPECT(
      "['process', 'require', 'fetch', 'XMLHttpRequest', 'Deno', 'Bun', 'std', 'os', 'scriptArgs', "
      "'Worker', 'importScripts', 'H', 'roots'].filter(name => name in globalThis)",
      "[]");
  ENGINE_EXPECT("Object.keys(globalThis)", "[]");
  ENGINE_EXPECT("new Date(0).getTimezoneOffset()", "0");
  ENGINE_EXPECT("performance.now() >= 0 && performance.now() < 60000", "true");
  ENGINE_EXPECT("Math.abs(Date.now() - performance.timeOrigin) < 60000", "true");
}

static void input_is_there(void **state) {
  (void)state;
  ENGINE_EXPECT("input.list[1].deep", "'v'", .input = LT_STR("{\"list\":[0,{\"deep\":\"v\"}]}"));
  ENGINE_EXPECT("input", "undefined");
  ENGINE_EXPECT("input", "null", .input = LT_STR("null"));
  ENGINE_EXPECT("const input = 3; input", "3", .input = LT_STR("1"));
}

static void strict_or_not_is_the_programs_choice(void **state) {
  (void)state;
  ENGINE_EXPECT("sloppy = 5; sloppy", "5");
  ENGINE_EXPECT("'use strict'; sloppy = 5", "ReferenceError: *");
  ENGINE_EXPECT("var o = Object.freeze({}); o.x = 1; o", "{}");
}

/* The same program and seed give the same random numbers; without a seed no two programs do. */
static void random_numbers(void **state) {
  lt_buf first;
  (void)state;
  lt_buf_init(&first, 1024);
  ENGINE_EXPECT("[Math.random(), Math.random()]", "[0.*", .seed = 42);
  lt_buf_add(&first, lt_buf_view(&engine_result.text));
  ENGINE_EXPECT("[Math.random(), Math.random()]", first.p, .seed = 42);
  lt_buf_release(&first);
  for (int i = 0; i < 5; i++) {
    ENGINE_EXPECT("Math.random()", "0.*");
    lt_str text = lt_buf_view(&engine_result.text);
    assert_false(first.n > 0 && lt_str_eq(text, lt_buf_view(&first)));
    lt_buf_clear(&first);
    lt_buf_add(&first, text);
  }
  lt_buf_release(&first);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_of_the_last_expression),
      cmocka_unit_test(numbers),
      cmocka_unit_test(rounding),
      cmocka_unit_test(values_json_has_no_word_for),
      cmocka_unit_test(cycles),
      cmocka_unit_test(values_that_throw_when_they_are_looked_at),
      cmocka_unit_test(promises_as_values),
      cmocka_unit_test(top_level_await),
      cmocka_unit_test(programs_that_are_functions),
      cmocka_unit_test(modules),
      cmocka_unit_test(thrown_values),
      cmocka_unit_test(errors_of_the_engine),
      cmocka_unit_test(stacks_say_line_and_column),
      cmocka_unit_test(unhandled_rejections_fail),
      cmocka_unit_test(handled_rejections_cost_nothing),
      cmocka_unit_test(promises_that_nobody_settles),
      cmocka_unit_test(what_is_not_there),
      cmocka_unit_test(input_is_there),
      cmocka_unit_test(strict_or_not_is_the_programs_choice),
      cmocka_unit_test(random_numbers),
  };
  return cmocka_run_group_tests(tests, engine_open, engine_close);
}
