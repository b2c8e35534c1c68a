#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "js/jsscan.h"
#include "js/top_return.h"

/* One letter per finding: a wait, i mport, e xport, r eturn, p romises, f unction, d eclaration, u nterminated. */
static const char *findings(lt_jsscan s, char out[9]) {
  char *p = out;
  const struct {
    bool on;
    char letter;
  } all[] = {{s.has_await, 'a'},     {s.has_import, 'i'},  {s.has_export, 'e'},     {s.has_return, 'r'},
             {s.uses_promises, 'p'}, {s.is_function, 'f'}, {s.is_declaration, 'd'}, {s.unterminated, 'u'}};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    if (all[i].on) {
      *p++ = all[i].letter;
    }
  }
  *p = '\0';
  return out;
}

typedef struct scan_case {
  const char *source;
  const char *want;
} scan_case;

static void check_cases(const scan_case *cases, size_t count) {
  size_t failed = 0;
  for (size_t i = 0; i < count; i++) {
    char got[9];
    findings(lt_jsscan_program(lt_str_of(cases[i].source)), got);
    if (strcmp(got, cases[i].want) != 0) {
      print_error("case %zu: want \"%s\", got \"%s\" for:\n%s\n", i, cases[i].want, got, cases[i].source);
      failed++;
    }
  }
  assert_int_equal(failed, 0);
}

#define CHECK_CASES(cases) check_cases((cases), sizeof(cases) / sizeof((cases)[0]))

static void test_words_that_count(void **state) {
  (void)state;
  static const scan_case cases[] = {
      {"", ""},
      {"1 + 2", ""},
      {"// only a comment", ""},
      {"await f()", "a"},
      {"const x = await f();", "a"},
      {"for await (const x of y) {}", "a"},
      {"// await f()\n42", ""},
      {"/* await */ 42", ""},
      {"'await'", ""},
      {"\"await\"", ""},
      {"`await`", ""},
      {"`${await f()}`", "a"},
      {"`a ${`b ${await f()} c`} d`", "a"},
      {"`a ${ {x: '}'} } await`", ""},
      {"/await/.test(s)", ""},
      {"x.await", ""},
      {"awaiting()", ""},
      {"$await", ""},
      {"Promise.all([])", "p"},
      {"new Promise(r => r(1))", "p"},
      {"f().then(x => x)", "p"},
      {"f()?.then(x => x)", "p"},
      {"f()\n  .then(x => x)", "p"},
      {"f(). /* */ then (x)", "p"},
      {"const then = 1; then", ""},
      {"x = {then: 1}", ""},
      {"[...then]", ""},
      {"// Promise\n'Promise'; `Promise .then(`", ""},
      {"MyPromise.all()", ""},
      {"c ? .5 : then", ""},
  };
  CHECK_CASES(cases);
}

static void test_import_and_export(void **state) {
  (void)state;
  static const scan_case cases[] = {
      {"import x from 'm'", "i"},
      {"import { d } from 'm'; d(21)", "i"},
      {"import{d}from'm'", "i"},
      {"import * as m from 'm'", "i"},
      {"import 'm'", "i"},
      {"import\"m\"", "i"},
      {"import type { T } from 'm'", "i"},
      {"import x, { y } from 'm'\nexport const z = 1", "ie"},
      {"const a = 1\nimport x from 'm'", "i"},
      {"const a = 1; import x from 'm'", "i"},
      {"function f() {} import x from 'm'", "i"},
      {"function f() {}\nimport x from 'm'", "i"},
      {"/* c */ import /* c */ x from 'm'", "i"},
      {"#!/usr/bin/env node\nimport x from 'm'", "i"},
      {"\xEF\xBB\xBFimport x from 'm'", "i"},
      {"export default 5", "e"},
      {"export default async () => { await f() }", "ae"},
      {"export { a }", "e"},
      {"export * from 'm'", "e"},
      {"const a = 1;\nexport { a as default };", "e"},
      {"export function main() {}", "e"},
      {"// import this\n42", ""},
      {"/*\nimport x from 'm'\n*/42", ""},
      {"const s = \"import x from 'm'\"", ""},
      {"const s = `\nimport x from 'm'\nexport default 1\n`", ""},
      {"import('m')", ""},
      {"const m = await import('m')", "a"},
      {"x =\nimport('m')", ""},
      {"import.meta.url", ""},
      {"x =\nimport.meta", ""},
      {"x.import", ""},
      {"x.\nimport\ny", ""},
      {"x?.export", ""},
      {"({import: 1, export: 2})", ""},
      {"x = {\n  import: 1,\n  export: 2\n}", ""},
      {"f(\nimport\n)", ""},
      {"tool({ export: true })", ""},
      {"const exports = {}; exports.x = 1; module.exports = exports", ""},
      {"importX(1); exported", ""},
      {"if (x) {\n import y from 'm' }", ""},
      {"`${`\n`}`\nimport x from 'm'", "i"},
      {"a / b / c\nimport x from 'm'", "i"},
      {"x = /[/'\"`]/\nimport x from 'm'", "i"},
  };
  CHECK_CASES(cases);
}

static void test_regex_or_division(void **state) {
  (void)state;
  static const scan_case cases[] = {
      {"x / await / y", "a"},
      {"x = / await /", ""},
      {"1 / await / 2", "a"},
      {"'s' / await / 2", "a"},
      {"f(x) / await / 2", "a"},
      {"a[0] / await / 2", "a"},
      {"x++ / await / 2", "a"},
      {"`t` / await / 2", "a"},
      {"x = {} / await / 2", "a"},
      {"x.return / await / 2", "a"},
      {"x! / await / 2", "a"},
      {"return / await /", "r"},
      {"typeof / await /", ""},
      {"case / await /: ", ""},
      {"y of / await /", ""},
      {"f(/ await /)", ""},
      {"[/ await /]", ""},
      {"x => / await /", "f"},
      {"!/ await /", ""},
      {"a && / await /", ""},
      {"if (x) / await /.test(y)", ""},
      {"while (x) / await /.test(y)", ""},
      {"x.if(y) / await / z", "a"},
      {"if (x) { f() }\n/ await /.test(y)", ""},
      {"s.replace(/'/g, '') + await f()", "a"},
      {"s.replace(/\\//g, \"'\") + await f()", "a"},
      {"s.split(/[/'\"]/) + await f()", "a"},
      {"x = /[[/]/; await f()", "a"},
      {"a = b / c; d = e / await f()", "a"},
      {"`${x / 2}` + await f() / 2", "a"},
      {"`${/`}/.test(x)}` + await f()", "a"},
      {"x = / not a regex\nawait f()", "a"},
      {"0xFF / 1_000n / await f()", "a"},
      {"1. / await f() / 3", "a"},
      {"this.#x / await / 2", "a"},
  };
  CHECK_CASES(cases);
}

static void test_whole_functions(void **state) {
  (void)state;
  static const scan_case cases[] = {
      {"async () => { await f(); return 1; }", "af"},
      {"async () => {\n  return 1;\n}\n", "f"},
      {"() => 1", "f"},
      {"(a) => a", "f"},
      {"x => x", "f"},
      {"async x => x", "f"},
      {"async => async", "f"},
      {"(a, {b = {c: ')'}}, ...d) => { return a }", "f"},
      {"(a = '(', b = /[)]/) => a", "f"},
      {"// first\n/* second */ async () => {};;; // last\n", "f"},
      {"(async () => { return 1 })", "f"},
      {"(async () => { return 1 });", "f"},
      {"((x) => x)", "f"},
      {"(((x) => x));", "f"},
      {"function () { return 1 }", "fd"},
      {"function main() { return 1 }", "fd"},
      {"async function main() { return await f() }", "afd"},
      {"async function main() {\n}\n;\n", "fd"},
      {"(function () { return 1 })", "f"},
      {"(async function main() { return 1 });", "f"},
      {"() => ({ a: 1 })", "f"},
      {"() => `a ${ b } c`", "f"},
      {"() => {`a ${ {} } c`}", "f"},
      {"() =>\n  f()\n    .g()\n    .h", "f"},
      {"() => a ?\n  b :\n  c", "f"},
      {"() => a +\n  b", "f"},
      {"() => a\n  + b", "f"},
      {"() => [\n 1,\n 2\n]", "f"},
      {"() => 1;", "f"},
      {"(() => a\n b)", "f"}, /* a syntax error, for the engine to report */
      /* TypeScript */
      {"(a: number): void => {}", "f"},
      {"async (a: number, b?: string): Promise<void> => { }", "pf"},
      {"(): { a: number } => ({ a: 1 })", "f"},
      {"(): Array<{ a: () => void }> => { return [] }", "f"},
      {"<T>(x: T): T => x", "f"},
      {"<T extends { a: 1 }>(x: T) => { return x }", "f"},
      {"async function main(a: number): Promise<Array<number>> { return [] }", "pfd"},
      {"function f(): { a: number } { return { a: 1 } }", "fd"},
      {"function f(): { a: 1 } | { b: 2 } { return { a: 1 } }", "fd"},
      {"function f<T extends object>(x: T): x is T { return true }", "fd"},
      /* not one function */
      {"(async () => { return 1 })()", ""},
      {"(() => 1)();", ""},
      {"(async () => { await f() })().then(x => x)", "ap"},
      {"!function () {}()", ""},
      {"function main() {}\nmain()", ""},
      {"async function main() {}\nawait main()", "a"},
      {"function a() {} function b() {}", ""},
      {"const f = () => 1", ""},
      {"() => 1; 2", ""},
      {"() => 1\nf()", ""},
      {"x => x\ny", ""},
      {"() => { return 1 }\n1", ""},
      {"() => {}, 1", ""},
      {"() => a, b", ""},
      {"() =>", ""},
      {"x =>", ""},
      {"f(x)", ""},
      {"(a)", ""},
      {"(a) + 1", ""},
      {"async(x)", ""},
      {"async", ""},
      {"function", ""},
      {"function* g() { yield 1 }", ""},
      {"class A { f() {} }", ""},
      {"() => { ", ""},
      {"(() => {}", ""},
      {"(((((((((((((() => 1)))))))))))))", ""}, /* deeper than anybody writes */
      {"export default () => 1", "e"},
      {"'use strict'; () => 1", ""},
  };
  CHECK_CASES(cases);
}

static void test_broken_source(void **state) {
  (void)state;
  static const scan_case cases[] = {
      {"'abc", "u"},
      {"\"abc\n1", "u"},
      {"`abc", "u"},
      {"`${", ""},
      {"`${x}", "u"},
      {"/* abc", "u"},
      {"'a\\\nb'", ""},
      {"'a\\\r\nb'", ""},
      {"'\\", "u"},
      {"`\\", "u"},
      {"/", ""},
      {"/[", ""},
      {")]}", ""},
      {"}`${", ""},
      {"\\", ""},
      {"#", ""},
      {"\xff\xfe", ""},
      {"..", ""},
      {"don't\nawait f()", "au"},
      {"({[", ""},
      {"`${{`${", ""},
  };
  CHECK_CASES(cases);
  const char nul[] = "a\0await";
  assert_true(lt_jsscan_program(lt_str_from(nul, sizeof(nul) - 1)).has_await);
  assert_false(lt_jsscan_program(LT_STR_NULL).has_await);
}

static void test_top_level_returns(void **state) {
  (void)state;
  static const scan_case cases[] = {
      {"return 1", "r"},
      {"const a = 1\nreturn a", "r"},
      {"if (a) return", "r"},
      {"if (a) { return b }", "r"},
      {"for await (const x of y) { return x }", "ar"},
      {"switch (a) { case 1: return b }", "r"},
      {"try { return a } catch (e) { return b } finally { c }", "r"},
      {"try { a } catch { return b }", "r"},
      {"do { return a } while (b)", "r"},
      {"while (f(1)) { return a }", "r"},
      {"{ { return a } }", "r"},
      {"const f = () => { return 1 }; f()", ""},
      {"function f() { return 1 }\nf()", ""},
      {"function f()\n{\n  if (a) { return 1 }\n}", "fd"},
      {"a.map(function (x) { for (;;) { return x } })", ""},
      {"class A { m() { return 1 } get x() { return 2 } static async *g() { return 3 } }", ""},
      {"({ m() { return 1 }, async n() { return 2 }, [k]() { return 3 } })", ""},
      {"({ return: 1 }).return", ""},
      {"a.return(1)", ""},
      {"'return 1' // return 2", ""},
      {"`${() => { return 1 }}`", ""},
      {"`${a}`; return 1", "r"},
      {"async () => { return 1 }", "f"},
      {"function f(a: string): { b: number } { return { b: 1 } }\nf('')", ""},
      {"const f = (a: string): Promise<{ b: number }> => { return 1 }; f('')", "p"},
  };
  CHECK_CASES(cases);
}

static void test_idle_main(void **state) {
  (void)state;
  static const struct {
    const char *source;
    bool want;
  } cases[] = {
      {"function main() {}", true},
      {"const a = 1; async function main() {}", true},
      {"const main = async () => {}", true},
      {"const main = () => {}", true},
      {"let main = function () {}", true},
      {"function main() {} main()", false},
      {"function main() {} x(main)", false},
      {"const main = (a + b)", false},
      {"const main = 1", false},
      {"{ function main() {} }", false},
      {"function* main() {}", false},
      {"export function main() {}", true},
      {"export default function main() {}", false},
      {"export const a = 1; function main() {}; export { main }", false},
      {"'main'", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (lt_jsscan_program(lt_str_of(cases[i].source)).has_idle_main != cases[i].want) {
      fail_msg("has_idle_main is not %d for: %s", cases[i].want, cases[i].source);
    }
  }
}

static void check_rewritten(const char *source, bool is_module, const char *want) {
  lt_buf out;
  unsigned prefix;
  lt_buf_init(&out, LT_MIB);
  lt_top_return_rewrite(lt_str_of(source), is_module, &out, &prefix);
  lt_buf_byte(&out, '\0');
  assert_string_equal(out.p, want);
  lt_buf_release(&out);
}

static void test_returns_are_rewritten(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"return a", "$lathe:{{(     a);break $lathe}\n}"},
      {"return a;", "$lathe:{{(     a);break $lathe}\n}"},
      {"return", "$lathe:{{(    void 0);break $lathe}\n}"},
      {"return\na", "$lathe:{{(    void 0);break $lathe}\na\n}"},
      {"if (a) return 1; else return 2", "$lathe:{if (a) {(     1);break $lathe} else {(     2);break $lathe}\n}"},
      {"if (a) { return b }", "$lathe:{if (a) { {(     b);break $lathe} }\n}"},
      {"return a +\n  b // c\nd", "$lathe:{{(     a +\n  b);break $lathe} // c\nd\n}"},
      {"return { a: 1 }\nb()", "$lathe:{{(     { a: 1 });break $lathe}\nb()\n}"},
      {"return a\n  .b()\n  .c()\nd", "$lathe:{{(     a\n  .b()\n  .c());break $lathe}\nd\n}"},
      {"return (\n  a\n)", "$lathe:{{(     (\n  a\n));break $lathe}\n}"},
      {"return () => { return 1 }\nb", "$lathe:{{(     () => { return 1 });break $lathe}\nb\n}"},
      {"return `${a}\n${b}`", "$lathe:{{(     `${a}\n${b}`);break $lathe}\n}"},
      {"#!/bin/x\nreturn a", "#!/bin/x\n$lathe:{{(     a);break $lathe}\n}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_rewritten(cases[i][0], false, cases[i][1]);
  }
  check_rewritten("import { a } from \"b\"\nif (a) return c", true,
                  "import { a } from \"b\";let $lathe_value;$lathe:{\nif (a) {$lathe_value=( c);break $lathe}\n}"
                  "export default $lathe_value;");
}

static void rewrite(lt_str source) {
  lt_buf out;
  unsigned prefix;
  lt_buf_init(&out, 64 * LT_MIB);
  lt_top_return_rewrite(source, false, &out, &prefix);
  lt_buf_release(&out);
}

/* Every prefix of a program full of everything: nothing may crash or hang, whatever is cut. */
static void test_every_prefix(void **state) {
  (void)state;
  const char *text =
      "#!x\nimport a from 'b'; `x${`y${{a: [/[/]\\//g]}}`}`\nif (a) /re/.test(`}`)\nasync <T,>(a?: {b: T}) => a! / 2 "
      "/* c "
      "*/ // d\n\xE2\x80\xA8 function* f() { return '\\'' } \xC2\xA0 x?.5:y?.then(...z)";
  lt_str whole = lt_str_of(text);
  for (size_t n = 0; n <= whole.n; n++) {
    char *copy = lt_mem_strdup(lt_str_sub(whole, 0, n)); /* its end is watched by the sanitizer */
    (void)lt_jsscan_program(lt_str_from(copy, n));
    unsigned lines;
    (void)lt_jsscan_unfence(lt_str_from(copy, n), NULL, &lines);
    rewrite(lt_str_from(copy, n));
    lt_mem_free(copy);
  }
  assert_true(lt_jsscan_program(whole).has_import);
}

static double seconds_for(const char *unit, size_t bytes) {
  lt_buf buf;
  lt_buf_init(&buf, bytes + 64);
  lt_str s = lt_str_of(unit);
  while (buf.n + s.n <= bytes) {
    lt_buf_add(&buf, s);
  }
  struct timespec a;
  struct timespec b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  (void)lt_jsscan_program(lt_buf_view(&buf));
  rewrite(lt_buf_view(&buf));
  unsigned lines;
  (void)lt_jsscan_unfence(lt_buf_view(&buf), NULL, &lines);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  lt_buf_release(&buf);
  return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

/* What would take minutes if anything were looked at again and again. */
static void test_time_is_linear(void **state) {
  (void)state;
  static const char *const units[] = {"return ",  "return /", "return `", "return(",   "return\n{", "return\n:", "(",
                                      "`",        "`${",      "=/[",      "/",         "=/",        "((a)=>",    "{",
                                      "/*",       "'",        "\"\n",     "```\n",     "<",         "(x)=>(",    "a=>",
                                      "/[\\/]/",  "}",        "async(",   "```js\n/*", "()=>`${",   "x:<T>",     "\\",
                                      "\xE2\x80", "'''\n",    "~~~\n",    "import "};
  for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
    double took = seconds_for(units[i], 1024 * 1024);
    if (took > 30.0) {
      print_error("%zu: %s took %.1f s\n", i, units[i], took);
    }
    assert_true(took < 30.0); /* a sanitizer's build needs some seconds */
  }
}

static void test_unfence(void **state) {
  (void)state;
  static const struct {
    const char *source;
    const char *want;
    unsigned dropped;
  } cases[] = {
      {"", "", 0},
      {"1+2", "1+2", 0},
      {"```js\n1+2\n```", "1+2", 1},
      {"```javascript\n1+2\n3\n```\n", "1+2\n3", 1},
      {"```\n1+2\n```", "1+2", 1},
      {"```ts title=\"x\"\n1\n```", "1", 1},
      {"~~~js\n1+2\n~~~", "1+2", 1},
      {"````js\n```\n1\n````", "```\n1", 1},
      {"\n\n  ```js\r\n1\r\n2\r\n```\r\n\r\n", "1\r\n2", 3},
      {"```js\n1+2\n", "1+2\n", 1},
      {"```js\nf();```", "f();", 1},
      {"```js\nf();```\n", "f();", 1},
      {"```js\n```", "", 1},
      {"```js", "", 1},
      {"Here is the code:\n\n```js\n1+2\n```\nIt's good.", "1+2", 3},
      {"Don't worry:\n```js\n1+2", "1+2", 2},
      {"```js\n1\n```\nDone.", "1", 1},
      /* as it is */
      {"```js\n1\n```\n```js\n2\n```", "```js\n1\n```\n```js\n2\n```", 0},
      {"A:\n```js\n1\n```\nB:\n```js\n2\n```", "A:\n```js\n1\n```\nB:\n```js\n2\n```", 0},
      {"/*\n```js\nexample\n```\n*/\nf()", "/*\n```js\nexample\n```\n*/\nf()", 0},
      {"def f():\n  \"\"\"\n  ```\n  f()\n  ```\n  \"\"\"\n", "def f():\n  \"\"\"\n  ```\n  f()\n  ```\n  \"\"\"\n", 0},
      {"s = `\n~~~\nx\n~~~\n`", "s = `\n~~~\nx\n~~~\n`", 0},
      {"s = `\n\\`\\`\\`js\nx\n\\`\\`\\`\n`", "s = `\n\\`\\`\\`js\nx\n\\`\\`\\`\n`", 0},
      {"```1+2```", "```1+2```", 0},
      {"``\n1\n``", "``\n1\n``", 0},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    unsigned dropped = 99;
    lt_str got = lt_jsscan_unfence(lt_str_of(cases[i].source), NULL, &dropped);
    if (!lt_str_eqc(got, cases[i].want) || dropped != cases[i].dropped) {
      print_error("case %zu: got [%.*s] after %u lines\n", i, LT_STR_ARG(got), dropped);
      fail();
    }
  }
}

static void test_several_blocks(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"```js\n1\n```\n```js\n2\n```", "\n1\n\n\n2\n"},
      {"First:\n```js\nconst a = 1\n```\nThen:\n\n```js\na\n```\nDone.", "\n\nconst a = 1\n\n\n\n\na\n"},
      {"```bash\nls\n```\n```js\n1\n```\n```json\n{}\n```\n```js title=x\n2\n```", "\n\n\n\n1\n\n\n\n\n\n2\n"},
      {"```python\na = 1\n```\n```python\na\n```", "\na = 1\n\n\na\n"},
      {"```js\n1\n```\n```json\n2\n```", "\n1\n"},
      /* names of one language */
      {"```js\n1\n```\n```javascript\n2\n```", "\n1\n\n\n2\n"},
      {"```tsx\n1\n```\n```Deno\n2\n```\n```node\n3\n```", "\n1\n\n\n2\n\n\n3\n"},
      {"```py3\n1\n```\n```js\n2\n```\n```python3\n3\n```", "\n1\n\n\n\n\n\n3\n"},
      {"```\n1\n```\n```\n2\n```", "\n1\n\n\n2\n"},
      {"```\n$ ls\n```\n```js\n2\n```", "\n\n\n\n2\n"},
      /* the last one is not closed */
      {"```js\n1\n```\n```js\n2", "\n1\n\n\n2"},
      /* as it is */
      {"```sh\n1\n```\n```json\n2\n```", "```sh\n1\n```\n```json\n2\n```"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    unsigned dropped = 99;
    lt_buf joined;
    lt_buf_init(&joined, LT_MIB);
    lt_str got = lt_jsscan_unfence(lt_str_of(cases[i][0]), &joined, &dropped);
    if (!lt_str_eqc(got, cases[i][1]) || dropped != 0) {
      fail_msg("case %zu: got [%.*s] after %u lines", i, LT_STR_ARG(got), dropped);
    }
    lt_buf_release(&joined);
  }
}

static void add_word(void *arg, lt_str word) {
  lt_buf_add(arg, word);
  lt_buf_byte(arg, ' ');
}

static void test_words(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 4096);
  lt_jsscan_words(lt_str_of("const $a = weatherGet(x_1) // inComment\n`${inTemplate}` 'a.b' 2fast na\xC3\xAFve "
                            "a\xC2\xA0"
                            "b\xE2\x80\xA8"
                            "c"),
                  add_word, &buf);
  assert_string_equal(buf.p, "const $a weatherGet x_1 inComment $ inTemplate a b fast na\xC3\xAFve a b c ");
  lt_buf_clear(&buf);
  lt_jsscan_words(LT_STR_NULL, add_word, &buf);
  assert_int_equal(buf.n, 0);
  lt_buf_release(&buf);
}

static void test_line(void **state) {
  (void)state;
  lt_str source = LT_STR("one\ntwo\r\nthree\rfour\n\nsix");
  static const char *const want[] = {"", "one", "two", "three", "four", "", "six", "", ""};
  for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
    assert_true(lt_str_eqc(lt_jsscan_line(source, i), want[i]));
  }
}

static void put_name(void *arg, lt_str name, bool is_string) {
  lt_buf *out = arg;
  lt_buf_printf(out, is_string ? "'%.*s' " : "%.*s ", LT_STR_ARG(name));
}

static void test_names(void **state) {
  (void)state;
  static const struct {
    const char *source, *want;
  } cases[] = {
      {"new URL(x) // crypto", "new URL x "},
      {"/* URL */ a.URL; ({URL: 1})", "a URL URL "},
      {"g['UR' + \"L\"]; g[`URL`]; `a ${b} URL`", "g 'UR' 'L' g 'URL' '' b '' "},
      {"import a from 'm'; /URL/.test(s)", "import a from 'm' test s "},
      {"'", "'' "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    LT_AUTO_BUF(got, 1024);
    const lt_jsscan_visitor visitor = {.on_name = put_name, .arg = &got};
    (void)lt_jsscan_visit(lt_str_of(cases[i].source), &visitor);
    lt_buf_byte(&got, '\0');
    assert_string_equal(lt_buf_view(&got).p, cases[i].want);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words_that_count),
      cmocka_unit_test(test_import_and_export),
      cmocka_unit_test(test_regex_or_division),
      cmocka_unit_test(test_whole_functions),
      cmocka_unit_test(test_broken_source),
      cmocka_unit_test(test_top_level_returns),
      cmocka_unit_test(test_idle_main),
      cmocka_unit_test(test_returns_are_rewritten),
      cmocka_unit_test(test_every_prefix),
      cmocka_unit_test(test_time_is_linear),
      cmocka_unit_test(test_unfence),
      cmocka_unit_test(test_several_blocks),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_line),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
