/* Letters of different scripts in one word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/scripts.h"

/* `first` NULL: nothing is found in the text. */
static void expect(const char *text, const char *word, const char *first, const char *second) {
  lt_scripts_find find;
  size_t at = 0;
  bool found = lt_scripts_next(lt_str_of(text), &at, &find);
  assert_int_equal(found, word != NULL);
  if (found) {
    assert_true(lt_str_eqc(find.word, word));
    assert_string_equal(find.second != NULL ? find.first : "", first);
    assert_string_equal(find.second != NULL ? find.second : "", second);
  }
}

static void words_that_mix_are_found(void **state) {
  (void)state;
  expect("pay at \xD1\x80\xD0\xB0ypal.com", "\xD1\x80\xD0\xB0ypal", "Cyrillic", "Latin");
  expect("/srv/\xCE\xB1lice/x", "\xCE\xB1lice", "Greek", "Latin");
  expect("https://\xD1\x80\xD0\xB0\xD1\x83.com/x", "\xD1\x80\xD0\xB0\xD1\x83.com", "Cyrillic", "Latin");
  expect("me@\xD1\x80\xD0\xB0\xD1\x83.com", "\xD1\x80\xD0\xB0\xD1\x83.com", "Cyrillic", "Latin");
  expect(
      "x \xEF\xBD\x81"
      "bc",
      "\xEF\xBD\x81"
      "bc",
      "fullwidth", "Latin");
  expect("\xF0\x9D\x90\x9Aws", "\xF0\x9D\x90\x9Aws", "mathematical", "Latin");
  expect(
      "\xD5\xBD"
      "er",
      "\xD5\xBD"
      "er",
      "Armenian", "Latin");
}

static void encoded_names_are_found(void **state) {
  (void)state;
  expect("see xn--80ak6aa92e.com", "xn--80ak6aa92e.com", "", "");
  expect("https://www.xn--80ak6aa92e.com/", "www.xn--80ak6aa92e.com", "", "");
}

static void ordinary_text_is_not_pointed_at(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "plain words, a-b_c.txt https://example.com/x?y=z#1 a@b.c",
      "\xD0\xBE\xD1\x82\xD1\x87\xD1\x91\xD1\x82.txt",           /* a Russian file name */
      "/srv/me/\xD0\x94\xD0\xBE\xD0\xBA/x",                     /* a Russian folder */
      "\xE6\x9D\xB1\xE4\xBA\xACTower \xE3\x81\x82\xE3\x82\xA2", /* Japanese */
      "caf\xC3\xA9 na\xC3\xAFve \xC3\x9F 5\xC2\xB5m",           /* Latin */
      "\xFF\xFE broken",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    expect(texts[i], NULL, NULL, NULL);
  }
}

static void all_of_them_are_found(void **state) {
  (void)state;
  lt_scripts_find find;
  size_t at = 0, count = 0;
  while (lt_scripts_next(LT_STR("\xD1\x80x \xD1\x80y/\xD1\x80z xn--a \xD1\x80"), &at, &find)) {
    count++;
  }
  assert_int_equal(count, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_that_mix_are_found),
      cmocka_unit_test(encoded_names_are_found),
      cmocka_unit_test(ordinary_text_is_not_pointed_at),
      cmocka_unit_test(all_of_them_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
