/* Strangers' text for a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "json/json_text.h"
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
  expect(LT_STR("\xE2\x80\x8D\xE2\x80\x8C"
                "a\xE2\x80\x8D"),
         "a", "a"); /* joiners with nothing to join */
}

/* Appends the character as UTF-8. */
static void put_char(lt_buf *out, uint32_t cp) {
  char bytes[4];
  lt_buf_add(out, lt_str_from(bytes, lt_json_write_char(bytes, cp)));
}

static void letters_without_ink_are_gone(void **state) {
  (void)state;
  static const uint32_t gone[] = {0x3164, 0x115F,  0x1160,  0xFFA0, 0x180E, 0x200B, 0x200C, 0x200D,
                                  0x2060, 0x2064,  0xFEFF,  0xFE00, 0xFE0F, 0x034F, 0x00AD, 0x17B4,
                                  0x206F, 0xE0020, 0xE0100, 0xFDD0, 0xFFF9, 0xFFFE};
  for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
    lt_buf text;
    lt_buf_init(&text, LT_KIB);
    lt_buf_byte(&text, 'a');
    put_char(&text, gone[i]);
    lt_buf_byte(&text, 'b');
    expect(lt_buf_view(&text), "ab", "ab");
    unsigned marks = 0;
    assert_true(lt_plain_needs_escape(gone[i], &marks));
    lt_buf_release(&text);
  }
}

static void what_an_emoji_or_a_script_needs_stays(void **state) {
  (void)state;
  static const char *const whole[] = {
      "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9",                         /* man, joiner, woman */
      "\xE2\x9D\xA4\xEF\xB8\x8F\xE2\x80\x8D\xF0\x9F\x94\xA5",                 /* heart, selector, joiner, fire */
      "1\xEF\xB8\x8F\xE2\x83\xA3",                                            /* keycap */
      "\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xAE\xD9\x88\xD8\xA7\xD9\x87\xD9\x85", /* Persian, with a non-joiner */
      "e\xCC\x82\xCC\x81",                                                    /* two marks: Vietnamese */
      "\xEE\x82\xA0",                                                         /* private use: fonts of terminals */
  };
  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
    expect(lt_str_of(whole[i]), whole[i], whole[i]);
  }
  expect(LT_STR("a\xCC\x81\xCC\x81\xCC\x81\xCC\x81z"), "a\xCC\x81\xCC\x81z", "a\xCC\x81\xCC\x81z");
  expect(LT_STR("\xE2\xA0\x80."), " .", " ."); /* an empty braille cell */
}

static void a_question_escapes_all_of_it(void **state) {
  (void)state;
  static const uint32_t escaped[] = {0xA0, 0x2003, 0x2028, 0x2800, 0x3000, 0xE000, 0xF0000, 0x200D, 0xFE0F};
  unsigned marks = 0;
  for (size_t i = 0; i < sizeof escaped / sizeof escaped[0]; i++) {
    assert_true(lt_plain_needs_escape(escaped[i], &marks));
  }
  assert_false(lt_plain_needs_escape('a', &marks));
  assert_false(lt_plain_needs_escape(0x301, &marks));
  assert_false(lt_plain_needs_escape(0x302, &marks));
  assert_true(lt_plain_needs_escape(0x303, &marks));
  assert_false(lt_plain_needs_escape('b', &marks));
  assert_false(lt_plain_needs_escape(0x1F600, &marks));
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
      cmocka_unit_test(nothing_a_terminal_would_obey),       cmocka_unit_test(nothing_that_reads_otherwise_than_it_is),
      cmocka_unit_test(letters_without_ink_are_gone),        cmocka_unit_test(what_an_emoji_or_a_script_needs_stays),
      cmocka_unit_test(a_question_escapes_all_of_it),        cmocka_unit_test(white_space_stays),
      cmocka_unit_test(broken_characters_are_shown_as_such),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
