/* Strings. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/nearest.h"
#include "base/utf8.h"

#define S(literal) LT_STR(literal)

static void assert_str(lt_str got, const char *want) {
  assert_int_equal(got.n, strlen(want));
  assert_memory_equal(got.n != 0 ? got.p : "", want, got.n);
}

static void equal_means_the_same_bytes(void **state) {
  (void)state;
  assert_true(lt_str_eq(S("ab"), lt_str_of("ab")));
  assert_false(lt_str_eq(S("ab"), S("abc")));
  assert_false(lt_str_eq(S("ab"), S("aB")));
  assert_true(lt_str_eq(LT_STR_NULL, S("")));
  assert_true(lt_str_eq(S("a\0b"), lt_str_from("a\0b", 3)));
  assert_false(lt_str_eq(S("a\0b"), S("a\0c")));
  assert_true(lt_str_eqc(S("ab"), "ab"));
  assert_true(lt_str_eqc(LT_STR_NULL, NULL));
}

static void cmp_orders_by_bytes_then_length(void **state) {
  (void)state;
  static const char *const sorted[] = {"", "A", "a", "aa", "ab", "b", "\xC3\xA4"};
  const size_t n = sizeof(sorted) / sizeof(sorted[0]);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      int order = lt_str_cmp(lt_str_of(sorted[i]), lt_str_of(sorted[j]));
      assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
    }
  }
  assert_int_equal(lt_str_cmp(LT_STR_NULL, S("")), 0);
  assert_true(lt_str_cmp(S("a\0"), S("a")) > 0);
}

static void starts_and_ends(void **state) {
  (void)state;
  assert_true(lt_str_starts(S("tool_name"), S("tool_")));
  assert_true(lt_str_starts(S("x"), S("x")));
  assert_true(lt_str_starts(S("x"), LT_STR_NULL));
  assert_true(lt_str_starts(LT_STR_NULL, LT_STR_NULL));
  assert_false(lt_str_starts(S("too"), S("tool")));
  assert_false(lt_str_starts(LT_STR_NULL, S("t")));
  assert_true(lt_str_ends(S("a.yaml"), S(".yaml")));
  assert_true(lt_str_ends(S("a"), S("a")));
  assert_true(lt_str_ends(LT_STR_NULL, S("")));
  assert_false(lt_str_ends(S("yaml"), S(".yaml")));
  assert_false(lt_str_ends(S("a.yamk"), S(".yaml")));
}

static void ascii_has_no_byte_above(void **state) {
  char text[20];
  (void)state;
  assert_true(lt_str_is_ascii(LT_STR_NULL));
  for (size_t n = 1; n <= sizeof text; n++) {
    memset(text, 0x7f, sizeof text);
    assert_true(lt_str_is_ascii(lt_str_from(text, n)));
    for (size_t at = 0; at < n; at++) {
      text[at] = (char)0x80;
      assert_false(lt_str_is_ascii(lt_str_from(text, n)));
      assert_true(lt_str_is_ascii(lt_str_from(text, at)));
      text[at] = 0;
    }
  }
}

static void sub_is_clamped(void **state) {
  (void)state;
  assert_str(lt_str_sub(S("hello"), 1, 3), "el");
  assert_str(lt_str_sub(S("hello"), 0, SIZE_MAX), "hello");
  assert_str(lt_str_sub(S("hello"), 3, 2), "");
  assert_str(lt_str_sub(S("hello"), 9, 12), "");
  assert_str(lt_str_sub(S("hello"), 5, 5), "");
  assert_str(lt_str_sub(LT_STR_NULL, 1, 2), "");
}

static void trim_takes_ascii_space_only(void **state) {
  (void)state;
  assert_str(lt_str_trim(S(" \t\r\n\v\f a b \n")), "a b");
  assert_str(lt_str_trim(S("ab")), "ab");
  assert_str(lt_str_trim(S(" \n ")), "");
  assert_str(lt_str_trim(LT_STR_NULL), "");
  assert_str(lt_str_trim(S("\xC2\xA0x")), "\xC2\xA0x"); /* U+00A0: its bytes are not ASCII space */
  assert_int_equal(lt_str_trim(S("\0a\0")).n, 3);
}

static void find_the_first_from_there(void **state) {
  (void)state;
  lt_str s = S("abcabc");
  assert_int_equal(lt_str_find(s, S("bc"), 0), 1);
  assert_int_equal(lt_str_find(s, S("bc"), 1), 1);
  assert_int_equal(lt_str_find(s, S("bc"), 2), 4);
  assert_true(lt_str_find(s, S("bc"), 5) == SIZE_MAX);
  assert_true(lt_str_find(s, S("abcabcd"), 0) == SIZE_MAX);
  assert_int_equal(lt_str_find(s, S(""), 3), 3);
  assert_int_equal(lt_str_find(s, S(""), 6), 6);
  assert_true(lt_str_find(s, S(""), 7) == SIZE_MAX);
  assert_true(lt_str_find(s, S("a"), SIZE_MAX) == SIZE_MAX);
  assert_int_equal(lt_str_find(LT_STR_NULL, LT_STR_NULL, 0), 0);
  assert_int_equal(lt_str_find(S("a\0b"), S("\0b"), 0), 1);
}

/* Known answers, from the FNV reference code's test vectors. */
static void hash_is_fnv1a(void **state) {
  (void)state;
  assert_true(lt_str_hash(LT_STR_NULL) == 0xcbf29ce484222325U);
  assert_true(lt_str_hash(S("a")) == 0xaf63dc4c8601ec8cU);
  assert_true(lt_str_hash(S("foobar")) == 0x85944171f73967e8U);
}

static void distance_counts_edits(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    unsigned want;
  } cases[] = {
      {"", "", 0},
      {"same", "same", 0},
      {"Same", "sAME", 0},         /* ASCII case */
      {"\xC3\x84", "\xC3\xA4", 1}, /* not other case */
      {"", "abc", 3},
      {"a", "b", 1},
      {"ab", "ba", 1}, /* swap */
      {"ab", "BA", 1},
      {"abcd", "acbd", 1},
      {"abcdef", "badcfe", 3},
      {"kitten", "sitting", 3},
      {"ca", "abc", 3}, /* 2 without "no part is edited twice" */
      {"read_file", "readfile", 1},
      {"read_file", "file_read", 8},
      {"list_issues", "lsit_isues", 2},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    lt_str a = lt_str_of(cases[i].a);
    lt_str b = lt_str_of(cases[i].b);
    assert_int_equal(lt_str_distance(a, b, 64), cases[i].want);
    assert_int_equal(lt_str_distance(b, a, 64), cases[i].want);
    for (unsigned max = 0; max < 10; max++) {
      unsigned want = cases[i].want <= max ? cases[i].want : max + 1;
      assert_int_equal(lt_str_distance(a, b, max), want);
      assert_int_equal(lt_str_distance(b, a, max), want);
    }
  }
}

static void the_nearest_name_is_found(void **state) {
  (void)state;
  static const char *const names[] = {"models", "modules", "mode"};
  static const struct {
    const char *wanted;
    unsigned edits;
    const char *nearest;
  } cases[] = {{"modles", 3, "models"}, {"modulse", 3, "modules"}, {"mod", 3, "mode"},  {"xyzzy", 3, NULL},
               {"modles", 0, NULL},     {"mode", 0, "mode"},       {"MODE", 2, "mode"}, {"", 1, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    lt_nearest nearest = lt_nearest_to(lt_str_of(cases[i].wanted), cases[i].edits);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
      lt_nearest_offer(&nearest, lt_str_of(names[k]));
    }
    assert_true(nearest.name.p == cases[i].nearest ||
                (cases[i].nearest != NULL && lt_str_eqc(nearest.name, cases[i].nearest)));
  }
}

static void distance_is_bounded(void **state) {
  (void)state;
  char text[65];
  memset(text, 'a', sizeof(text));
  lt_str longest = lt_str_from(text, 64);
  lt_str too_long = lt_str_from(text, 65);
  assert_int_equal(lt_str_distance(longest, longest, 3), 0);
  assert_int_equal(lt_str_distance(longest, LT_STR_NULL, 64), 64);
  assert_int_equal(lt_str_distance(longest, LT_STR_NULL, 63), 64);
  assert_int_equal(lt_str_distance(too_long, too_long, 3), 4);
  assert_int_equal(lt_str_distance(too_long, longest, 3), 4);
  assert_int_equal(lt_str_distance(longest, too_long, 3), 4);
  assert_true(lt_str_distance(too_long, longest, UINT_MAX) == UINT_MAX);
  assert_int_equal(lt_str_distance(longest, LT_STR_NULL, UINT_MAX), 64);
}

/* The definition, without tables, bounds or early ends. */
static unsigned plain_distance(const char *a, size_t an, const char *b, size_t bn) {
  if (an == 0 || bn == 0) {
    return (unsigned)(an + bn);
  }
  unsigned best = plain_distance(a, an - 1, b, bn - 1) + (a[an - 1] != b[bn - 1]);
  unsigned other = plain_distance(a, an - 1, b, bn) + 1;
  best = other < best ? other : best;
  other = plain_distance(a, an, b, bn - 1) + 1;
  best = other < best ? other : best;
  if (an > 1 && bn > 1 && a[an - 1] == b[bn - 2] && a[an - 2] == b[bn - 1]) {
    other = plain_distance(a, an - 2, b, bn - 2) + 1;
    best = other < best ? other : best;
  }
  return best;
}

/* All pairs of short words over two letters, under every bound: the early end must not change an answer. */
static void distance_agrees_with_the_definition(void **state) {
  (void)state;
  char words[63][6];
  size_t count = 0;
  for (size_t n = 0; n <= 5; n++) {
    for (unsigned bits = 0; bits < 1U << n; bits++, count++) {
      for (size_t i = 0; i < n; i++) {
        words[count][i] = (bits >> i & 1) ? 'b' : 'a';
      }
      words[count][n] = '\0';
    }
  }
  assert_int_equal(count, 63);
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) {
      lt_str a = lt_str_of(words[i]);
      lt_str b = lt_str_of(words[j]);
      unsigned want = plain_distance(a.p, a.n, b.p, b.n);
      for (unsigned max = 0; max < 7; max++) {
        assert_int_equal(lt_str_distance(a, b, max), want <= max ? want : max + 1);
      }
    }
  }
}

static void utf8_is_cut_between_characters(void **state) {
  (void)state;
  lt_str s = LT_STR("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"); /* of 1, 2, 3, 4 and 1 bytes */
  static const size_t floors[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  static const size_t ceils[] = {0, 1, 3, 3, 6, 6, 6, 10, 10, 10, 10, 11, 11};
  for (size_t at = 0; at < sizeof floors / sizeof floors[0]; at++) {
    assert_int_equal(lt_utf8_floor(s, at), floors[at]);
    assert_int_equal(lt_utf8_ceil(s, at), ceils[at]);
    assert_int_equal(lt_utf8_cut(s, at).n, floors[at]);
  }
  assert_int_equal(lt_utf8_count(s), 5);
  assert_int_equal(lt_utf8_count(LT_STR_NULL), 0);
  assert_int_equal(lt_utf8_floor(LT_STR_NULL, 7), 0);
  assert_int_equal(lt_utf8_ceil(LT_STR_NULL, 7), 0);
}

/* Bytes that are no UTF-8 are cut somewhere, not looked through to their beginning, and never beyond their end. */
static void utf8_takes_any_bytes(void **state) {
  (void)state;
  lt_str junk = LT_STR("\x80\x80\x80\x80\x80\x80\x80\x80");
  assert_int_equal(lt_utf8_floor(junk, 7), 7);
  assert_int_equal(lt_utf8_floor(junk, 3), 0);
  assert_int_equal(lt_utf8_ceil(junk, 1), 8);
  assert_int_equal(lt_utf8_cut(junk, 99).n, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_means_the_same_bytes),
      cmocka_unit_test(cmp_orders_by_bytes_then_length),
      cmocka_unit_test(starts_and_ends),
      cmocka_unit_test(ascii_has_no_byte_above),
      cmocka_unit_test(sub_is_clamped),
      cmocka_unit_test(trim_takes_ascii_space_only),
      cmocka_unit_test(find_the_first_from_there),
      cmocka_unit_test(hash_is_fnv1a),
      cmocka_unit_test(distance_counts_edits),
      cmocka_unit_test(the_nearest_name_is_found),
      cmocka_unit_test(distance_is_bounded),
      cmocka_unit_test(distance_agrees_with_the_definition),
      cmocka_unit_test(utf8_is_cut_between_characters),
      cmocka_unit_test(utf8_takes_any_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
