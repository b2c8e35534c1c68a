/* Strangers' text for a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "text/plain.h"

static void expect(lt_str text, const char *in_lines, const char *in_one) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_plain_add(&out, text);
  assert_string_equal(out.p ? out.p : "", in_lines);
  lt_buf_clear(&out);
  lt_plain_add_line(&out, text);
  assert_string_equal(out.p ? out.p : "", in_one);
  assert_int_equal(out.status, LT_OK);
  lt_buf_release(&out);
}

static void nothing_a_terminal_would_obey(void **state) {
  (void)state;
  expect(LT_STR("\x1b[31;1mred\x1b[0m"), "red", "red");
  expect(LT_STR("a\x1b]0;title\a"
                "b\x1b]8;;http://x\x1b\\c\x1bPq\nd"),
         "abc\nd", "abc d");
  expect(LT_STR("a\x1b(Bb\x1b"
                "7c\x1b"),
         "abc", "abc");
  expect(LT_STR("a\x1b[2"), "a", "a");
  expect(LT_STR("a\x1b[2\nb"), "a\nb", "a b"); /* cut off: what is no part of it stays */
  expect(LT_STR("a\b\a\0b\x7f\xC2\x9B"
                "c"),
         "abc", "abc");
}

static void nothing_that_reads_otherwise_than_it_is(void **state) {
  (void)state;
  expect(LT_STR("gnp\xE2\x80\xAEpng\xE2\x81\xA6.exe\xE2\x80\x8B\xEF\xBB\xBF\xC2\xAD"), "gnppng.exe", "gnppng.exe");
  expect(LT_STR("\xE2\x80\x8D\xE2\x80\x8C"), "\xE2\x80\x8D\xE2\x80\x8C", "\xE2\x80\x8D\xE2\x80\x8C"); /* joiners */
}

static void white_space_stays(void **state) {
  (void)state;
  expect(LT_STR("a\tb\r\nc\rd\xE2\x80\xA8"
                "e\n"),
         "a\tb\nc\nd\ne\n", "a b c d e ");
  expect(LT_STR_NULL, "", "");
}

static void broken_characters_are_shown_as_such(void **state) {
  (void)state;
  expect(LT_STR("\xff(\xC3"), "\xEF\xBF\xBD(\xEF\xBF\xBD", "\xEF\xBF\xBD(\xEF\xBF\xBD");
  expect(LT_STR("\xED\xA0\x80"), "\xEF\xBF\xBD", "\xEF\xBF\xBD"); /* half of a pair: one character, broken */
  expect(LT_STR("\xC3\xA9\xF0\x9F\x98\x80"), "\xC3\xA9\xF0\x9F\x98\x80", "\xC3\xA9\xF0\x9F\x98\x80");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_a_terminal_would_obey),
      cmocka_unit_test(nothing_that_reads_otherwise_than_it_is),
      cmocka_unit_test(white_space_stays),
      cmocka_unit_test(broken_characters_are_shown_as_such),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
