/* What a program says of itself: exports that are written out, comments, and what cannot be used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "json/json_literal.h"
#include "plugin/program_head.h"

#define ANY "{\"type\":\"object\"}"

/* What the head of a program in that language is; the message where there is none. */
static lt_saved_program complete(const char *code, lt_lang lang, lt_arena *arena, lt_err *err) {
  lt_saved_program program = {.name = LT_STR("p"), .code = lt_str_of(code)};
  *err = LT_ERR_INIT;
  (void)lt_program_head_complete(&program, lang, arena, err);
  return program;
}

static void check(const char *code, lt_lang lang, const char *description, const char *schema) {
  lt_err err;
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_saved_program p = complete(code, lang, &arena, &err);
  if (err.status != LT_OK) {
    fail_msg("%s: %s", code, lt_err_msg(&err));
  }
  assert_string_equal(lt_arena_printf(&arena, "%.*s", LT_STR_ARG(p.description)).p, description);
  assert_string_equal(lt_arena_printf(&arena, "%.*s", LT_STR_ARG(p.schema)).p, schema);
}

static void test_heads(void **state) {
  (void)state;
  check("1", LT_LANG_JAVASCRIPT, "", ANY);
  check("#!/bin/lathe\n\n// One.\n//  Two.\n1 // three", LT_LANG_JAVASCRIPT, "One.\nTwo.", ANY);
  check("/** One.\n * Two. */\n1", LT_LANG_TYPESCRIPT, "One.\nTwo.", ANY);
  check("# One.\nset_result(1)", LT_LANG_PYTHON, "One.", ANY);
  check("// no\nexport const description = 'yes'\nexport const input = { type: 'object', }", LT_LANG_JAVASCRIPT, "yes",
        ANY);
  check("export let description: string = `a\n\\u{41}\\x42\\u0043\\n`; 1", LT_LANG_TYPESCRIPT, "a\nABC\n", ANY);
  check(
      "export const input: { type: string } = {\"type\": \"object\", properties: { n: { minimum: -1.5, enum: [1, 2,] } "
      "} }"
      " as const // ...\nexport default 1",
      LT_LANG_TYPESCRIPT, "", "{\"type\":\"object\",\"properties\":{\"n\":{\"minimum\":-1.5,\"enum\":[1,2]}}}");
  /* what is no export of a module, and what is another one's */
  check(
      "const input = f(); x.export; 'export const input = f()'; { export const description = g() }\nexport const "
      "inputs = f()",
      LT_LANG_JAVASCRIPT, "", ANY);
  check("export const input = f()", LT_LANG_PYTHON, "", ANY);
}

static void test_bad_heads(void **state) {
  (void)state;
  static const struct {
    const char *code, *why;
  } bad[] = {
      {"\n\nexport const input = f()",
       "written out, as JSON or JavaScript: a value that is written out is wanted, not f() (line 3)"},
      {"export const input = {\n a: b }", "not b } (line 2)"},
      {"export const input = { a }", "\":\" with a value"},
      {"export const input = { ...a }", "a member's name"},
      {"export const input = { type: 'object' }.x", "goes on behind the value"},
      {"export const input = { type: 'object' }\n  .x", "goes on behind the value"},
      {"export const description = 'a' + 'b'", "goes on behind the value"},
      {"export const description = `${a}`", "a text without ${}"},
      {"export const description = 'a", "a string does not end"},
      {"export const description = 'a\nb'", "the end of a string"},
      {"export const description = '\\u{110000}'", "an escape that means nothing"},
      {"export const description = 5", "has to be a string"},
      {"export const input = [1, 2", "\",\" or \"]\""},
      {"export const input = 0x10", "a number such as"},
      {"export const input = [ /* ...", "not the end"},
      {"export const input = 'x'", "input is an object"},
      {"export const input = { type: 'object', properties: 4 }", "#/properties"},
      {" \n", "not empty"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    lt_err err;
    LT_AUTO_ARENA(arena, LT_MIB);
    complete(bad[i].code, LT_LANG_JAVASCRIPT, &arena, &err);
    if (strstr(lt_err_msg(&err), bad[i].why) == NULL) {
      fail_msg("%s: %s", bad[i].code, lt_err_msg(&err));
    }
  }
}

/* Every beginning of a literal, and a nesting without end: an error, and no read behind the text. */
static void test_cut_literals(void **state) {
  (void)state;
  static const char whole[] = "{ /* c */ a: [1, -2e3, 'x\\u{1F600}\\'', `t\\\n`], \"b\": true, $c_1: null, // d\n }";
  for (size_t n = 0; n <= sizeof whole - 1; n++) {
    size_t end = 0;
    LT_AUTO_BUF(out, LT_MIB);
    char *copy = malloc(n + 1); /* exactly as long, for the sanitizer */
    assert_non_null(copy);
    memcpy(copy, whole, n);
    lt_status status = lt_json_literal_read(lt_str_from(copy, n), &out, &end, NULL);
    assert_int_equal(status, n == sizeof whole - 1 ? LT_OK : LT_E_SYNTAX);
    assert_true(end <= n);
    free(copy);
  }
  size_t end = 0;
  char deep[1000];
  LT_AUTO_BUF(out, LT_MIB);
  memset(deep, '[', sizeof deep);
  assert_int_equal(lt_json_literal_read(lt_str_from(deep, sizeof deep), &out, &end, NULL), LT_E_LIMIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heads),
      cmocka_unit_test(test_bad_heads),
      cmocka_unit_test(test_cut_literals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
