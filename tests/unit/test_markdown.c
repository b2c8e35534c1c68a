/* Markdown at a terminal: what is shown, where lines are broken, whatever comes in whatever pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "text/code_words.h"
#include "text/markdown.h"

#define BAR    "\x1b[2m\xe2\x94\x82\x1b[0m "
#define DASH   "\xe2\x94\x80"
#define BULLET "\xe2\x80\xa2 "
#define OUT    (256 * LT_MIB)

#define HOSTILE_BYTES 200000 /* of each hostile text */

static void render(lt_str text, size_t width, size_t step, lt_buf *out) {
  lt_markdown *m;
  assert_int_equal(lt_markdown_new(width, &m, NULL), LT_OK);
  for (size_t at = 0; at < text.n; at += step) {
    lt_markdown_add(m, lt_str_sub(text, at, at + step), out);
  }
  lt_markdown_end(m, out);
  assert_false(lt_markdown_is_mid_line(m));
  lt_markdown_free(m);
}

/* Whole, and cut once at every byte, and byte by byte. */
static void expect(size_t width, const char *text, const char *wanted) {
  lt_str all = lt_str_of(text);
  LT_AUTO_BUF(out, OUT);
  render(all, width, all.n, &out);
  assert_string_equal(out.p ? out.p : "", wanted);
  for (size_t step = 1; step < all.n; step++) {
    lt_buf_clear(&out);
    render(all, width, step, &out);
    assert_string_equal(out.p ? out.p : "", wanted);
  }
}

static void marks_in_a_line(void **state) {
  (void)state;
  expect(80, "a **b** c", "a \x1b[1mb\x1b[0m c\n");
  expect(80, "*i* _i_ ~~s~~ ~s~", "\x1b[3mi\x1b[0m \x1b[3mi\x1b[0m \x1b[9ms\x1b[0m ~s~\n");
  expect(80, "***both***", "\x1b[1;3mboth\x1b[0m\n");
  expect(80, "**bold *it* `co de`**",
         "\x1b[1mbold\x1b[0m \x1b[1;3mit\x1b[0m \x1b[1;36mco\x1b[0m \x1b[1;36mde\x1b[0m\n");
  expect(80, "`` a`b ``", "\x1b[36ma`b\x1b[0m\n");
  expect(80, "snake_case_name 2 * 3 * 4 \\*as is\\* *x", "snake_case_name 2 * 3 * 4 *as is* *x\n");
  expect(80, "**open and `open", "**open and `open\n");
  expect(80, "# Not#a\n## Two **b**", "\x1b[1;4mNot#a\x1b[0m\n\x1b[1mTwo\x1b[0m \x1b[1mb\x1b[0m\n");
  expect(80, "#hash 1.5 -1", "#hash 1.5 -1\n");
}

static void links_say_their_address(void **state) {
  (void)state;
  expect(80, "[a b](http://x/(1)) e", "\x1b[4ma\x1b[0m\x1b[4m \x1b[0m\x1b[4mb\x1b[0m \x1b[2m(http://x/(1))\x1b[0m e\n");
  expect(80, "[http://x](http://x \"t\") <https://y>", "\x1b[4mhttp://x\x1b[0m \x1b[4mhttps://y\x1b[0m\n");
  expect(80, "[no] (x) a[1] [open](x", "[no] (x) a[1] [open](x\n");
}

static void blocks(void **state) {
  (void)state;
  expect(80, "- a\n  - b\n\n1. c\n10) d\n", BULLET "a\n  " BULLET "b\n\n1. c\n10) d\n");
  expect(80, "> q\n>> r\nt", BAR "q\n" BAR BAR "r\nt\n");
  expect(10, "a\n---\n* * *\n--",
         "a\n"
         "\x1b[2m\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80"
         "\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\x1b[0m\n"
         "\x1b[2m\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80"
         "\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\x1b[0m\n--\n");
  expect(80, "```js\nconst a = 'b'; // c\n```\nd",
         "\x1b[2m```js\x1b[0m\n\x1b[35mconst\x1b[0m a = \x1b[32m'b'\x1b[0m; "
         "\x1b[2m// c\x1b[0m\n\x1b[2m```\x1b[0m\nd\n");
  expect(80, "~~~\n**a**\n\tb\n``", "\x1b[2m~~~\x1b[0m\n**a**\n\tb\n``\n");
  expect(80, "x\n\n    *code*\n    more", "x\n\n    *code*\n    more\n");
  expect(80, "- x\n\n      ```\n      a\n        b\n      ```",
         BULLET "x\n\n      \x1b[2m```\x1b[0m\n      a\n        b\n      \x1b[2m```\x1b[0m\n");
}

static void lines_are_broken_between_words(void **state) {
  (void)state;
  expect(10, "one two three four", "one two\nthree four\n");
  expect(10, "- one two three", BULLET "one two\n  three\n");
  expect(10, "> one two three", BAR "one two\n" BAR "three\n");
  expect(8, "**one two three**", "\x1b[1mone\x1b[0m \x1b[1mtwo\x1b[0m\n\x1b[1mthree\x1b[0m\n");
  expect(6, "\xe6\xbc\xa2\xe5\xad\x97 \xe6\xbc\xa2\xe5\xad\x97",
         "\xe6\xbc\xa2\xe5\xad\x97\n\xe6\xbc\xa2\xe5\xad\x97\n");
  expect(5, "a http://example.com b", "a\nhttp://example.com b\n");
  expect(80, "kept   spaces", "kept   spaces\n");
}

static void tables_fit_the_width(void **state) {
  (void)state;
  const char *text = "| a | bb |\n|:-:|---:|\n| 1 | two `x|y` |\n| long one |\nend";
  expect(80, text,
         "   \x1b[1ma\x1b[0m           \x1b[1mbb\x1b[0m\n"
         "\x1b[2m\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80  "
         "\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\x1b[0m\n"
         "   1      two \x1b[36mx|y\x1b[0m\n"
         "long one\n"
         "end\n");
  expect(20, "|h|w|\n|-|-|\n|a b c d e f|one two three four|\n",
         "\x1b[1mh\x1b[0m\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x1b[1mw\x1b[0m\n"
         "\x1b[2m" DASH DASH DASH DASH DASH DASH DASH DASH DASH "  " DASH DASH DASH DASH DASH DASH DASH DASH DASH
         "\x1b[0m\n"
         "a b c d e  one two\nf          three\n           four\n");
  expect(80, "| a |\nb", "| a |\nb\n");
  expect(80, "| a |\n| b |", "| a |\n| b |\n");
  expect(6, "| a | b |\n|--|--|\n| one | two |", BULLET "a:\n  one\n  b:\n  two\n");
}

static lt_str repeat(const char *text, size_t times, lt_buf *out) {
  for (size_t i = 0; i < times; i++) {
    lt_buf_addc(out, text);
  }
  return lt_buf_view(out);
}

/* What one of them leaves behind costs the next ones nothing: the time is proportional to the text, and the memory is
 * that of lt_markdown. A renderer that is not linear does not come to the end of this. */
static void nothing_takes_long(void **state) {
  (void)state;
  static const char *const hostile[] = {"`",     "*",  "**a ", "_a*", "[",       "[](",  "[a](b", ">",
                                        "> ",    "- ", "1. ",  "#",   "|",       "|a\n", "~",     "|a|\n|-|\n",
                                        "\\",    "<",  "a",    " ",   "\n",      "`a``", "\x1b",  "\xff",
                                        "```\n", "* ", "*a",   "](",  "<http://"};
  LT_AUTO_BUF(text, OUT);
  LT_AUTO_BUF(out, OUT);
  for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
    lt_buf_clear(&text);
    lt_buf_clear(&out);
    render(repeat(hostile[i], HOSTILE_BYTES / strlen(hostile[i]), &text), 80, 1000, &out);
    assert_int_equal(out.status, LT_OK);
    assert_true(out.n <= 8 * text.n);
  }
  lt_buf_clear(&text);
  lt_buf_clear(&out);
  render(repeat("`", 10000000, &text), 80, OUT, &out);
  assert_int_equal(out.n, 10000001);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(marks_in_a_line),
      cmocka_unit_test(links_say_their_address),
      cmocka_unit_test(blocks),
      cmocka_unit_test(lines_are_broken_between_words),
      cmocka_unit_test(tables_fit_the_width),
      cmocka_unit_test(nothing_takes_long),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
