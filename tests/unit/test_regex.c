/* Patterns: what they match, what is refused, and that none takes long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/regex.h"

#define STEPS 10000000

static lt_status test_one(lt_str pattern, lt_str text, uint64_t *steps, bool *ret) {
  lt_arena arena;
  lt_arena_init(&arena, 16 * LT_MIB);
  const lt_regex *regex = NULL;
  lt_regex_work work = LT_REGEX_WORK_INIT;
  lt_status status = lt_regex_new(&arena, pattern, &regex, NULL);
  if (status == LT_OK) {
    status = lt_regex_test(regex, text, &work, steps, ret);
  }
  lt_regex_work_release(&work);
  lt_arena_release(&arena);
  return status;
}

/* The text ends where its memory ends, so that a read past it is seen. */
static bool matches_n(const char *pattern, lt_str text) {
  uint64_t steps = STEPS;
  bool ret = false;
  char *copy = malloc(text.n > 0 ? text.n : 1);
  assert_non_null(copy);
  if (text.n > 0) {
    memcpy(copy, text.p, text.n);
  }
  lt_status status = test_one(lt_str_of(pattern), (lt_str){copy, text.n}, &steps, &ret);
  free(copy);
  if (status != LT_OK) {
    fail_msg("%s: %s", pattern, lt_status_text(status));
  }
  return ret;
}

static void check(const char *pattern, const char *text, bool want) {
  if (matches_n(pattern, lt_str_of(text)) != want) {
    fail_msg("/%s/ %s \"%s\"", pattern, want ? "should match" : "should not match", text);
  }
}

typedef struct row {
  const char *pattern;
  const char *yes[4];
  const char *no[4];
} row;

static void check_rows(const row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < 4 && rows[i].yes[k] != NULL; k++) {
      check(rows[i].pattern, rows[i].yes[k], true);
    }
    for (size_t k = 0; k < 4 && rows[i].no[k] != NULL; k++) {
      check(rows[i].pattern, rows[i].no[k], false);
    }
  }
}

#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

static void test_basics(void **state) {
  (void)state;
  static const row rows[] = {
      {"", {"", "abc"}, {NULL}},
      {"b", {"abc", "b"}, {"", "ac"}},
      {"^b", {"b", "bc"}, {"ab", "\nb"}},
      {"b$", {"ab"}, {"bc", "b\n"}},
      {"^$", {""}, {" ", "\n"}},
      {"^a.c$",
       {"abc",
        "a\xC3\xA9"
        "c",
        "a\xF0\x9F\x98\x80"
        "c"},
       {"ac", "a\nc",
        "a\xE2\x80\xA8"
        "c"}},
      {"^(cat|dog|)s$", {"cats", "dogs", "s"}, {"birds"}},
      {"^a|b$", {"ax", "xb"}, {"xa"}},
      {"^a*$", {"", "aaa"}, {"ab"}},
      {"^a+?$", {"a", "aa"}, {""}},
      {"^ab?$", {"a", "ab"}, {"abb"}},
      {"^a{2}$", {"aa"}, {"a", "aaa"}},
      {"^a{2,}$", {"aa", "aaaa"}, {"a"}},
      {"^a{1,2}$", {"a", "aa"}, {"", "aaa"}},
      {"^(ab){2,3}$", {"abab", "ababab"}, {"ab", "abababab"}},
      {"^a{0}$", {""}, {"a"}},
      {"^(a*)*$", {"", "aa"}, {"b"}},
      {"^(a|ab)(c|bcd)$", {"abcd", "ac", "abc"}, {"abd"}},
      {"^{a}$", {"{a}"}, {"a"}},
      {"^a{,2}$", {"a{,2}"}, {"aa"}},
      {"]", {"]"}, {"["}},
      {"^(?<year>\\d{4})$", {"2025"}, {"25"}},
      {"^(?P<year>\\d{4})$", {"2025"}, {"25"}},
  };
  CHECK_ROWS(rows);
}

static void test_classes(void **state) {
  (void)state;
  static const row rows[] = {
      {"^[abc]$", {"a", "c"}, {"d", "-"}},
      {"^[^abc]$", {"d", "\n", "\xC3\xA9"}, {"a", ""}},
      {"^[a-c_-]+$", {"a-b_c"}, {"d"}},
      {"^[-a]$", {"-", "a"}, {"b"}},
      {"^[\\w.-]+$", {"a-b.c_9"}, {"\xC3\xA9", " "}},
      {"^[\\w-z]$", {"-", "a"}, {"+"}},
      {"^[]$", {NULL}, {"", "a"}},
      {"^[^]$", {"a", "\n"}, {""}},
      {"^[\\]\\\\]+$", {"]\\"}, {"a"}},
      {"^[[:alpha:]]$", {"a]", ":]"}, {"b", "b]"}},
      {"^[\xC3\xA0-\xC3\xBF]$", {"\xC3\xA9"}, {"e", "\xC4\x80"}},
      {"^\\d\\D$",
       {"1a"},
       {"11",
        "\xD9\xA1"
        "a"}},
      {"^\\s\\S$",
       {" a",
        "\xC2\xA0"
        "a",
        "\xEF\xBB\xBF"
        "a"},
       {"  ", "ab"}},
      {"^[\\s\\S]$", {"\n", "a"}, {""}},
      {"^[\\b]$", {"\b"}, {"b"}},
  };
  CHECK_ROWS(rows);
}

static void test_escapes(void **state) {
  (void)state;
  static const row rows[] = {
      {"^\\t\\n\\v\\f\\r$", {"\t\n\v\f\r"}, {"tnvfr"}},
      {"^\\x41\\u0042\\u{43}$", {"ABC"}, {"abc"}},
      {"^\\uD83D\\uDE00$", {"\xF0\x9F\x98\x80"}, {"\xEF\xBF\xBD"}},
      {"^\\u{1F600}$", {"\xF0\x9F\x98\x80"}, {NULL}},
      {"^\\uD83D$", {"\xED\xA0\xBD"}, {"\xF0\x9F\x98\x80"}},
      {"^\\cA$", {"\x01"}, {"A"}},
      {"^\\.\\-\\/\\@\\\"$", {".-/@\""}, {"a-/@\""}},
      {"\\bcat\\b", {"a cat!", "cat"}, {"cats", "_cat"}},
      {"\\Bcat", {"bobcat"}, {"cat", "a cat"}},
  };
  CHECK_ROWS(rows);
  assert_true(matches_n("^\\0$", LT_STR("\0")));
}

static void test_look_around(void **state) {
  (void)state;
  static const row rows[] = {
      {"^(?=.*\\d)(?=.*[a-z]).{4,}$", {"abc1", "1aaaa"}, {"abcd", "1234", "a1"}},
      {"^(?!admin$).*$", {"user", "admins"}, {"admin"}},
      {"^(?!.*\\.\\.)[a-z.]+$", {"a.b"}, {"a..b"}},
      {"(?<=\\$)\\d+$", {"$42", "a$1"}, {"42"}},
      {"(?<!-)\\b\\d+$", {"5", " 5"}, {"-5"}},
      {"^(?:(?!ab)[abc])+$", {"acb", "ba"}, {"cab"}},
      {"(?=(?!b)\\w)c", {"c"}, {"b"}},
      {"(?<=^|,)x", {"x", "a,x"}, {"ax"}},
      {"^(?=a)*b$", {"b"}, {"a"}},
  };
  CHECK_ROWS(rows);
}

static void test_flags_and_properties(void **state) {
  (void)state;
  static const row rows[] = {
      {"(?i)^abc[x-z]$", {"ABCX", "abcz"}, {"abcd"}},
      {"^(?i:a)b$", {"Ab", "ab"}, {"AB"}},
      {"^((?i)a)b$", {"Ab"}, {"AB"}},
      {"(?s)^.$", {"\n"}, {""}},
      {"(?m)^b$", {"a\nb\nc"}, {"ab"}},
      {"^\\p{L}+$", {"abc", "\xC3\xA9"}, {"a1", "-"}},
      {"^[\\p{Lu}\\d]+$", {"A1"}, {"a1"}},
      {"^\\P{Letter}$", {"1", "\xC3\xA9"}, {"a"}},
      {"^\\p{Script=Greek}$", {"\xCE\xB1"}, {"a"}},
      {"^\\p{ASCII}$", {"a"}, {"\xC3\xA9"}},
  };
  CHECK_ROWS(rows);
}

static void test_real_patterns(void **state) {
  (void)state;
  static const row rows[] = {
      {"^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
       {"a.b+c@example.org"},
       {"a..b@example.org", ".a@example.org", "a@b", "a@b.c"}},
      {"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$",
       {"123e4567-e89b-12d3-a456-426614174000"},
       {"123e4567-e89b-12d3-a456-42661417400", "123e4567-e89b-92d3-a456-426614174000"}},
      {"^((25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(?!$)|$)){4}$", {"192.168.0.1"}, {"256.1.1.1", "1.2.3", "1.2.3.4."}},
  };
  CHECK_ROWS(rows);
}

static void test_refusals(void **state) {
  (void)state;
  static const struct {
    const char *pattern;
    lt_status status;
  } rows[] = {
      {"(", LT_E_SYNTAX},
      {")", LT_E_SYNTAX},
      {"[a", LT_E_SYNTAX},
      {"*a", LT_E_SYNTAX},
      {"a**", LT_E_SYNTAX},
      {"a++", LT_E_SYNTAX},
      {"a{2}{3}", LT_E_SYNTAX},
      {"^*", LT_E_SYNTAX},
      {"a{3,2}", LT_E_SYNTAX},
      {"[z-a]", LT_E_SYNTAX},
      {"\\", LT_E_SYNTAX},
      {"[\\", LT_E_SYNTAX},
      {"\\x4", LT_E_SYNTAX},
      {"\\u{110000}", LT_E_SYNTAX},
      {"\\p", LT_E_SYNTAX},
      {"(?<n", LT_E_SYNTAX},
      {"\xFF", LT_E_SYNTAX},
      {"(a)\\1", LT_E_UNSUPPORTED},
      {"\\k<n>", LT_E_UNSUPPORTED},
      {"a\\Z", LT_E_UNSUPPORTED},
      {"\\Aa", LT_E_UNSUPPORTED},
      {"\\a", LT_E_UNSUPPORTED},
      {"(?>a)", LT_E_UNSUPPORTED},
      {"\\p{Nope}", LT_E_UNSUPPORTED},
      {"(?!\\p{L})", LT_E_UNSUPPORTED},
      {"a{9000}", LT_E_LIMIT},
      {"((a{99}){99}){99}", LT_E_LIMIT},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    uint64_t steps = STEPS;
    bool ret;
    lt_status status = test_one(lt_str_of(rows[i].pattern), LT_STR("a"), &steps, &ret);
    if (status != rows[i].status) {
      fail_msg("/%s/: %s", rows[i].pattern, lt_status_name(status));
    }
  }
}

static void test_deep_groups(void **state) {
  (void)state;
  char pattern[4000] = "";
  memset(pattern, '(', 1000);
  uint64_t steps = STEPS;
  bool ret;
  assert_int_equal(test_one(lt_str_of(pattern), LT_STR("a"), &steps, &ret), LT_E_LIMIT);
}

static void test_says_where(void **state) {
  (void)state;
  lt_arena arena;
  lt_arena_init(&arena, LT_MIB);
  const lt_regex *regex;
  lt_err err;
  assert_int_equal(lt_regex_new(&arena, LT_STR("ab[c"), &regex, &err), LT_E_SYNTAX);
  assert_string_equal(err.msg, "a class without its ], at byte 5 of the pattern");
  lt_arena_release(&arena);
}

/* What backtracking takes exponential, cubic or quadratic time for. */
static void test_time_is_linear(void **state) {
  (void)state;
  static const char *const patterns[] = {"^(a+)+$",    "^(a|aa)+$",    "\\s+$",   "(.*)*b",
                                         "(.*a){10}x", "^(?=(a+)+$)b", "(x+x+)+y"};
  for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
    uint64_t used[2];
    for (size_t k = 0; k < 2; k++) {
      size_t n = k == 0 ? 10000 : 20000;
      char *text = malloc(n);
      assert_non_null(text);
      memset(text, patterns[i][0] == '\\' ? ' ' : patterns[i][1] == 'x' ? 'x' : 'a', n);
      text[n - 1] = '!';
      uint64_t steps = UINT64_MAX;
      bool ret = true;
      assert_int_equal(test_one(lt_str_of(patterns[i]), (lt_str){text, n}, &steps, &ret), LT_OK);
      assert_false(ret);
      used[k] = UINT64_MAX - steps;
      free(text);
    }
    assert_in_range(used[1], 0, used[0] * 2 + used[0] / 10);
  }
}

static void test_steps_end(void **state) {
  (void)state;
  uint64_t steps = 100;
  bool ret;
  char text[1000];
  memset(text, 'a', sizeof(text));
  assert_int_equal(test_one(LT_STR("a+b"), (lt_str){text, sizeof(text)}, &steps, &ret), LT_E_LIMIT);
  assert_int_equal(steps, 0);
  steps = 2;
  assert_int_equal(test_one(LT_STR("(?=x)a+b"), (lt_str){text, sizeof(text)}, &steps, &ret), LT_E_LIMIT);
}

/* Text that is no UTF-8 at all ends, and is read byte by byte. */
static void test_bad_text(void **state) {
  (void)state;
  assert_true(matches_n("^.{3}$", LT_STR("\xFF\xC3(")));
  assert_true(matches_n("b$", LT_STR("\xFF\xF0\x9F"
                                     "b")));
  assert_true(matches_n("(?=\\w$)", LT_STR("\x80\x80\x80\x80\x80z")));
}

static void test_work_is_reused(void **state) {
  (void)state;
  lt_arena arena;
  lt_arena_init(&arena, 16 * LT_MIB);
  const lt_regex *small = NULL;
  const lt_regex *large = NULL;
  assert_int_equal(lt_regex_new(&arena, LT_STR("^a$"), &small, NULL), LT_OK);
  assert_int_equal(lt_regex_new(&arena, LT_STR("^(?=a)[a-z]{1,500}$"), &large, NULL), LT_OK);
  lt_regex_work work = LT_REGEX_WORK_INIT;
  for (int i = 0; i < 3; i++) {
    uint64_t steps = STEPS;
    bool ret = false;
    assert_int_equal(lt_regex_test(small, LT_STR("a"), &work, &steps, &ret), LT_OK);
    assert_true(ret);
    assert_int_equal(lt_regex_test(large, LT_STR("abc"), &work, &steps, &ret), LT_OK);
    assert_true(ret);
    assert_int_equal(lt_regex_test(large, LT_STR("bbc"), &work, &steps, &ret), LT_OK);
    assert_false(ret);
  }
  lt_regex_work_release(&work);
  lt_arena_release(&arena);
}

static void test_out_of_memory(void **state) {
  (void)state;
  for (long n = 0;; n++) {
    uint64_t steps = STEPS;
    bool ret = false;
    lt_mem_fail_at(n);
    lt_status status = test_one(LT_STR("^(?:(?=[a-z\\d])(?<!x)\\w|[^\\s\\S]){1,900}$"), LT_STR("abc"), &steps, &ret);
    bool failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_true(ret);
      break;
    }
    assert_int_equal(status, LT_E_NOMEM);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_basics),
      cmocka_unit_test(test_classes),
      cmocka_unit_test(test_escapes),
      cmocka_unit_test(test_look_around),
      cmocka_unit_test(test_flags_and_properties),
      cmocka_unit_test(test_real_patterns),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_deep_groups),
      cmocka_unit_test(test_says_where),
      cmocka_unit_test(test_time_is_linear),
      cmocka_unit_test(test_steps_end),
      cmocka_unit_test(test_bad_text),
      cmocka_unit_test(test_work_is_reused),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
