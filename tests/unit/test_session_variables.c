/* Top-level variables that later programs share: what is rewritten, and what must not be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "js/session_variables.h"

typedef struct rewriting {
  const char *written, *shared;
} rewriting;

static void check_all(const rewriting *all, size_t count, bool is_block) {
  for (size_t i = 0; i < count; i++) {
    unsigned prefix = 0;
    LT_AUTO_BUF(out, LT_MIB);
    lt_session_variables_rewrite(lt_str_of(all[i].written), is_block, &out, &prefix);
    lt_buf_byte(&out, '\0');
    assert_string_equal(out.p, all[i].shared);
  }
}

static void test_declarations(void **state) {
  (void)state;
  static const rewriting all[] = {
      {"const a = 1", "var   a = 1"},
      {"let a, b = 2; const {c, d: [e]} = f()", "var a, b = 2; var   {c, d: [e]} = f()"},
      {"f()\nlet [a] = g()", "f()\nvar [a] = g()"},
      {"{ const a = 1 } const b = 2", "{ const a = 1 } var   b = 2"},
      {"for (const a of b) { let c = a }", "for (const a of b) { let c = a }"},
      {"function f() { const a = 1 }", "function f() { const a = 1 }"},
      {"let = 5; x.let = 6; let\n+ 1", "let = 5; x.let = 6; let\n+ 1"},
      {"'const a'; `let ${ x } b`; // const c\n/let x/", "'const a'; `let ${ x } b`; // const c\n/let x/"},
      {"o = { const: 1 }; o.const", "o = { const: 1 }; o.const"},
      {"#!/bin/x\nconst a = 1", "#!/bin/x\nvar   a = 1"},
      {"", ""},
  };
  check_all(all, sizeof all / sizeof all[0], false);
}

static void test_classes(void **state) {
  (void)state;
  static const rewriting all[] = {
      {"class A { f() { return {} } }\n(1)", "var A=class A { f() { return {} } };\n(1)"},
      {"class A extends B { } class C {}", "var A=class A extends B { }; var C=class C {};"},
      {"x = class A {}", "x = class A {}"},
      {"x =\nclass A {}", "x =\nclass A {}"},
      {"class A {", "var A=class A {"},
  };
  check_all(all, sizeof all / sizeof all[0], false);
}

/* Functions of a block are known from its first line, also those that an ordinary script would not share. */
static void test_functions_of_a_block(void **state) {
  (void)state;
  static const rewriting all[] = {
      {"async function f() {}\nfunction* g() {}\nreturn f()",
       "globalThis.f=f;globalThis.g=g;async function f() {}\nfunction* g() {}\nreturn f()"},
      {"x = function f() {}; { function g() {} } return", "x = function f() {}; { function g() {} } return"},
  };
  check_all(all, sizeof all / sizeof all[0], true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_declarations),
      cmocka_unit_test(test_classes),
      cmocka_unit_test(test_functions_of_a_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
