#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "js/unfinished.h"

static const char *const finished[] = {
    "",
    "1",
    "x",
    "x;",
    "a + b",
    "f()",
    "f({ a: [1, 2] })",
    "`a${b}c`",
    "/[/(]/.test(x)",
    "x++",
    "a.in",
    "o.function",
    "const x = 1",
    "function f() { return 1 }",
    "class A { m() {} }",
    "class A extends f({}) {}",
    "if (a) b()",
    "if (a) { b() } else { c() }",
    "for (const x of y) f(x)",
    "while (a) b()",
    "do { a() } while (b)",
    "do a(); while (b)",
    "try { a() } catch { b() }",
    "try { a() } finally { b() }",
    "x => x",
    "async () => { await 1 }",
    "return 1",
    "a // (",
    "a /* ( */",
    "'('",
    "\"`\"",
    "let y: number[] = []",
    "x!",
    "o.try",
    "label: f()",
    "await x",
    /* broken: the engine says how */
    ")",
    "f(]",
    "'abc",
    "\"abc\nd",
    "{ ] }",
    "a))",
};
static const char *const unfinished[] = {
    "(",
    "f(",
    "f({ a: [1,",
    "{",
    "`a",
    "`a${b",
    "`a${`b`",
    "/* a",
    "a +",
    "a &&",
    "a ?",
    "a ? b :",
    "x =",
    "x =>",
    "const",
    "const x =",
    "a.",
    "a?.",
    "f(a,",
    "f(...",
    "function f()",
    "function* f(a, b)",
    "class A",
    "class A extends B",
    "if (a)",
    "if (a) { b() } else",
    "for (const x of y)",
    "while (a)",
    "do { a() }",
    "do",
    "try { a() }",
    "try",
    "typeof",
    "await",
    "new",
    "a instanceof",
    "export default",
    "import",
    "'abc\\",
    "{ f(",
    "[",
    "!",
    "-",
    "x = !",
    "if (a) { if (b) { } else {",
};

static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof finished / sizeof finished[0]; i++) {
    if (lt_unfinished_program(lt_str_of(finished[i]))) {
      fail_msg("waits for more of: %s", finished[i]);
    }
  }
  for (size_t i = 0; i < sizeof unfinished / sizeof unfinished[0]; i++) {
    if (!lt_unfinished_program(lt_str_of(unfinished[i]))) {
      fail_msg("does not wait for more of: %s", unfinished[i]);
    }
  }
}

/* Typed line by line, a program is run as one: no line before its last one ends it. */
static void test_programs_by_lines(void **state) {
  (void)state;
  static const char *const programs[] = {
      "const all = [\n  1,\n  2,\n]",
      "async function f(a,\n  b) {\n  if (a) {\n    return `x\n${b}\ny`\n  } else {\n    return 1\n  }\n}",
      "class A\n  extends B\n{\n  m() {\n    return /[}]/\n  }\n}",
      "const x = await\n  f()",
      "do\n{\n  a()\n}\nwhile (b)",
      "try {\n  a()\n}\ncatch (e) {\n  b()\n}",
      "if (a)\n  b()",
      "x =\n  a +\n  b",
  };
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    lt_str program = lt_str_of(programs[i]);
    for (size_t end = lt_str_find(program, LT_STR("\n"), 0); end < program.n;
         end = lt_str_find(program, LT_STR("\n"), end + 1)) {
      if (!lt_unfinished_program(lt_str_sub(program, 0, end))) {
        fail_msg("ends too early, at byte %zu: %s", end, programs[i]);
      }
    }
    if (lt_unfinished_program(program)) {
      fail_msg("does not end: %s", programs[i]);
    }
  }
}

/* Deep nesting and arbitrary bytes: an answer, and no reading beyond the end. */
static void test_odd_bytes(void **state) {
  (void)state;
  enum { N = 200000 };
  char *text = lt_mem_alloc(N);
  assert_non_null(text);
  memset(text, '(', N);
  assert_true(lt_unfinished_program(lt_str_from(text, N)));
  memset(text + N / 2, ')', N / 2);
  assert_false(lt_unfinished_program(lt_str_from(text, N)));
  uint32_t random = 1;
  for (size_t i = 0; i < N; i++) {
    random = random * 1664525 + 1013904223;
    text[i] = (char)(random >> 24);
  }
  for (size_t n = 0; n < 2000; n++) {
    (void)lt_unfinished_program(lt_str_from(text + n * 50, n % 50));
  }
  lt_mem_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_programs_by_lines),
      cmocka_unit_test(test_odd_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
