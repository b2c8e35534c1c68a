/* JSON: reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "json/json.h"
#include "unit/json_cases.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ARENA_BYTES  (64 * LT_MIB)
#define S(literal)   LT_STR(literal)

/* A document with its arena, parsed from a copy that ends where the text ends, so that a read past it is seen. */
typedef struct fixture {
  lt_arena arena;
  char *copy;
  lt_json_doc doc;
  lt_json root;
  lt_err err;
} fixture;

static lt_status read_into(fixture *f, lt_str text, size_t arena_bytes) {
  lt_arena_init(&f->arena, arena_bytes);
  f->copy = malloc(text.n != 0 ? text.n : 1);
  assert_non_null(f->copy);
  if (text.n != 0) {
    memcpy(f->copy, text.p, text.n);
  }
  f->err = LT_ERR_INIT;
  lt_str copy = {f->copy, text.n};
  lt_status checked = lt_json_check(copy, NULL);
  lt_status parsed = lt_json_parse(&f->arena, copy, &f->doc, &f->err);
  f->root = parsed == LT_OK ? lt_json_root(&f->doc) : (lt_json){NULL, 0};
  if (parsed != LT_E_NOMEM) {
    assert_int_equal(checked, parsed);
  }
  return parsed;
}

static void drop(fixture *f) {
  lt_arena_release(&f->arena);
  free(f->copy);
}

static void read_ok(fixture *f, lt_str text) {
  if (read_into(f, text, ARENA_BYTES) != LT_OK) {
    fail_msg("%.*s: %s", LT_STR_ARG(text), lt_err_msg(&f->err));
  }
}

static lt_status try(lt_str text) {
  fixture f;
  lt_status status = read_into(&f, text, ARENA_BYTES);
  drop(&f);
  return status;
}

static void assert_str(lt_str got, lt_str want) {
  if (!lt_str_eq(got, want)) {
    fail_msg("got \"%.*s\" (%zu bytes), want \"%.*s\" (%zu bytes)", LT_STR_ARG(got), got.n, LT_STR_ARG(want), want.n);
  }
}

/* --- What is JSON ------------------------------------------------------------------------------------------------- */

static void the_test_suite_cases(void **state) {
  (void)state;
  assert_true(COUNT(json_cases) > 300);
  for (size_t i = 0; i < COUNT(json_cases); i++) {
    const json_case *c = &json_cases[i];
    lt_status status = try((lt_str){c->text, c->size});
    if (status != (c->accept ? LT_OK : LT_E_SYNTAX)) {
      fail_msg("%s: %s", c->name, lt_status_text(status));
    }
  }
}

static lt_str repeat(char *out, const char *unit, size_t times) {
  size_t n = strlen(unit);
  for (size_t i = 0; i < times; i++) {
    memcpy(out + i * n, unit, n);
  }
  return (lt_str){out, n * times};
}

static lt_status try_nested(size_t depth) {
  char text[2 * (LT_JSON_MAX_DEPTH + 1)];
  repeat(text, "[", depth);
  repeat(text + depth, "]", depth);
  return try((lt_str){text, 2 * depth});
}

static void nesting_has_a_limit(void **state) {
  (void)state;
  assert_int_equal(try_nested(500), LT_OK);
  assert_int_equal(try_nested(LT_JSON_MAX_DEPTH), LT_OK);
  assert_int_equal(try_nested(LT_JSON_MAX_DEPTH + 1), LT_E_LIMIT);

  char *big = malloc(500000);
  assert_non_null(big);
  assert_int_equal(try(repeat(big, "[", 100000)), LT_E_LIMIT);      /* n_structure_100000_opening_arrays */
  assert_int_equal(try(repeat(big, "[{\"\":", 50000)), LT_E_LIMIT); /* n_structure_open_array_object */
  /* Depth, not how often: closing gives it back. */
  lt_str wide = repeat(big, "[[]],", 99999);
  big[0] = ' '; /* " []],[[]],...[[]]," becomes "[[]  ,[[]],...[[]]]" */
  memcpy(big, "[[]  ", 4);
  big[wide.n - 1] = ']';
  assert_int_equal(try(wide), LT_OK);
  free(big);
}

static void length_has_a_limit(void **state) {
  (void)state;
  size_t n = LT_JSON_MAX_BYTES + 1;
  char *text = malloc(n);
  assert_non_null(text);
  memset(text, ' ', n);
  text[0] = '7';
  assert_int_equal(lt_json_check((lt_str){text, n - 1}, NULL), LT_OK);
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_json_check((lt_str){text, n}, &err), LT_E_LIMIT);
  assert_non_null(strstr(err.msg, "67108865 bytes"));
  lt_arena arena;
  lt_arena_init(&arena, ARENA_BYTES);
  lt_json_doc doc;
  assert_int_equal(lt_json_parse(&arena, (lt_str){text, n}, &doc, NULL), LT_E_LIMIT);
  lt_arena_release(&arena);
  free(text);
}

/* The Unicode standard's table 3-7 of well-formed UTF-8, with surrogates let in; written down apart from the code. */
static bool is_wtf8(const unsigned char *b, size_t n) {
  static const unsigned char table[][9] = {
      {1, 0x00, 0x7F},
      {2, 0xC2, 0xDF, 0x80, 0xBF},
      {3, 0xE0, 0xE0, 0xA0, 0xBF, 0x80, 0xBF},
      {3, 0xE1, 0xEF, 0x80, 0xBF, 0x80, 0xBF},
      {4, 0xF0, 0xF0, 0x90, 0xBF, 0x80, 0xBF, 0x80, 0xBF},
      {4, 0xF1, 0xF3, 0x80, 0xBF, 0x80, 0xBF, 0x80, 0xBF},
      {4, 0xF4, 0xF4, 0x80, 0x8F, 0x80, 0xBF, 0x80, 0xBF},
  };
  for (size_t row = 0; row < COUNT(table); row++) {
    bool fits = table[row][0] == n;
    for (size_t i = 0; fits && i < n; i++) {
      fits = b[i] >= table[row][1 + 2 * i] && b[i] <= table[row][2 + 2 * i];
    }
    if (fits) {
      return true;
    }
  }
  return false;
}

static void strings_are_wtf8_and_nothing_else(void **state) {
  (void)state;
  static const unsigned char tails[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xED, 0xFF};
  const size_t t = COUNT(tails);
  for (unsigned lead = 0x80; lead <= 0xFF; lead++) {
    unsigned char text[6] = {'"', (unsigned char)lead};
    for (size_t i = 0; i < t * t * t; i++) {
      text[2] = tails[i / t / t];
      text[3] = tails[i / t % t];
      text[4] = tails[i % t];
      for (size_t n = 1; n <= 4; n++) {
        /* The sequence alone; where a shorter one with ASCII after it would do, the longer is another test's. */
        if (n > 1 && text[n] < 0x80) {
          break;
        }
        unsigned char whole[6];
        memcpy(whole, text, 1 + n);
        whole[1 + n] = '"';
        bool want = is_wtf8(text + 1, n) || (n == 4 && is_wtf8(text + 1, 2) && is_wtf8(text + 3, 2));
        bool got = lt_json_check(lt_str_from(whole, n + 2), NULL) == LT_OK;
        if (got != want) {
          fail_msg("%02X %02X %02X %02X, %zu of them: %s", text[1], text[2], text[3], text[4], n,
                   got ? "accepted" : "rejected");
        }
      }
    }
  }
}

/* The scan looks at eight bytes at once: every kind of stop at every place of a word must be seen. */
static void strings_end_where_they_end(void **state) {
  (void)state;
  for (size_t before = 0; before < 20; before++) {
    for (size_t after = 0; after < 20; after++) {
      for (unsigned c = 0; c < 0x80; c++) {
        char text[64];
        size_t n = 0;
        text[n++] = '"';
        n += repeat(text + n, "x", before).n;
        text[n++] = (char)c;
        n += repeat(text + n, "!", after).n;
        text[n++] = '"';
        bool want = c >= 0x20 && c != '"' && c != '\\';
        bool got = lt_json_check((lt_str){text, n}, NULL) == LT_OK;
        if (got != want) {
          fail_msg("byte 0x%02X after %zu and before %zu", c, before, after);
        }
      }
    }
  }
}

#define WHOLE                                                                                \
  " {\"a\\u00e9\" : [1, -2.5e+3, true, false, null, {}, []],\r\n\t\"\xC3\xA9\": {\"deep\": " \
  "[[\"\xF0\x9F\x98\x80\\n\"]]}}"

static void a_cut_document_is_never_accepted(void **state) {
  (void)state;
  lt_str whole = S(WHOLE);
  assert_int_equal(try(whole), LT_OK);
  for (size_t n = 0; n < whole.n; n++) {
    fixture f;
    assert_int_equal(read_into(&f, lt_str_sub(whole, 0, n), ARENA_BYTES), LT_E_SYNTAX);
    drop(&f);
  }
}

static void a_changed_byte_never_breaks_the_reader(void **state) {
  (void)state;
  char text[sizeof(WHOLE)];
  for (size_t at = 0; at < sizeof(WHOLE) - 1; at++) {
    for (unsigned c = 0; c <= 0xFF; c++) {
      memcpy(text, WHOLE, sizeof(WHOLE));
      text[at] = (char)c;
      (void)try((lt_str){text, sizeof(WHOLE) - 1}); /* lt_json_check and lt_json_parse agree */
    }
  }
}

/* --- What errors say ---------------------------------------------------------------------------------------------- */

static void errors_say_where_and_what(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *message;
  } cases[] = {
      {"", "invalid JSON: expected a value, but the text is empty"},
      {"  ", "invalid JSON at line 1, column 3: expected a value, but the text ends here"},
      {"[1 2]", "invalid JSON at line 1, column 4: expected ',' or ']' after an item, found `2]`"},
      {"{\"a\":1 \"b\"}", "invalid JSON at line 1, column 8: expected ',' or '}' after a member, found `\"b\"}`"},
      {"{\n  \"a\" 1\n}", "invalid JSON at line 2, column 7: expected ':' after a key, found `1`"},
      {"{\r\n\r\n  a: 1\r\n}", "invalid JSON at line 3, column 3: expected a key in double quotes, found `a: 1`"},
      {"[\r\r1,\r?]", "invalid JSON at line 4, column 1: expected a value, found `?]`"},
      {"[\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\", x]",
       "invalid JSON at line 1, column 9: expected a value, found `x]`"},
      {"[1,]", "column 4: expected a value, found `]` (remove the comma before it)"},
      {"{\"a\":1, }", "column 9: expected a key in double quotes, found `}` (remove the comma before it)"},
      {"['a']", "column 2: expected a value, found `'a']` (JSON takes double quotes)"},
      {"{'a':1}", "column 2: expected a key in double quotes, found `'a':1}` (JSON takes double quotes)"},
      {"[1, // one\n2]", "column 5: expected a value, found `// one` (JSON has no comments)"},
      {"{\"a\": True}", "column 7: expected a value, found `True}` (write true)"},
      {"[None]", "(write null)"},
      {"undefined", "(write null, or leave the member out)"},
      {"[NaN]", "JSON has no NaN"},
      {"-Infinity", "column 2: expected a digit, found `Infinity` (JSON has no Infinity"},
      {"{\"a\":1", "line 1, column 7: expected ',' or '}' after a member, but the text ends here"},
      {"[\"abc", "line 1, column 2: this string has no closing quote: `\"abc`"},
      {"[1]\n[2]", "line 2, column 1: more text after the end of the value: `[2]`"},
      {"[01]", "column 2: a number must not begin with 0: `01]`"},
      {"1.", "column 3: expected a digit after the decimal point, but the text ends here"},
      {"1e+x", "column 4: expected a digit in the exponent, found `x`"},
      {"\"\\q\"", "column 2: unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX: `\\q\"`"},
      {"\"\\u12g4\"", "column 6: expected four hexadecimal digits after \\u, found `g4\"`"},
      {"\"a\nb\"", "line 1, column 3: a line break inside a string; write \\n, or close the string: `\\x0A"},
      {"\"a\tb\"", "column 3: a raw control character inside a string; write it as \\t or \\u00XX: `\\x09b\"`"},
      {"\"\xC0\xAF\"", "column 2: invalid UTF-8: an overlong form: `\\xC0\\xAF\"`"},
      {"\"\xE0\x80\x80\"", "invalid UTF-8: an overlong form"},
      {"\"\xF0\x8F\xBF\xBF\"", "invalid UTF-8: an overlong form"},
      {"\"\x80\"", "invalid UTF-8: a continuation byte without a lead byte: `\\x80\"`"},
      {"\"\xF4\x90\x80\x80\"", "invalid UTF-8: past U+10FFFF"},
      {"\"\xF5\x80\x80\x80\"", "invalid UTF-8: past U+10FFFF"},
      {"\"\xFF\"", "invalid UTF-8: a byte that UTF-8 never has"},
      {"\"\xE2\x82\"", "invalid UTF-8: an incomplete character"},
      {"\xEF\xBB\xBF{}", "line 1, column 1: a byte order mark before the JSON; send UTF-8 without one"},
      {"\xFF\xFE{", "the text looks like UTF-16; JSON is UTF-8"},
      {"[abcdefghijklmnopqrstuvwxyz]", "found `abcdefghijklmnopqrstuvwx...`"},
      {"[\x1B[31m", "found `\\x1B[31m`"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    fixture f;
    assert_int_equal(read_into(&f, lt_str_of(cases[i].text), ARENA_BYTES), LT_E_SYNTAX);
    if (strstr(f.err.msg, cases[i].message) == NULL) {
      fail_msg("%s\ngot  %s\nwant %s", cases[i].text, f.err.msg, cases[i].message);
    }
    drop(&f);
  }
}

static void the_depth_error_says_where(void **state) {
  (void)state;
  char text[LT_JSON_MAX_DEPTH + 2];
  text[0] = '\n';
  repeat(text + 1, "[", LT_JSON_MAX_DEPTH + 1);
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_json_check((lt_str){text, sizeof(text)}, &err), LT_E_LIMIT);
  assert_string_equal(err.msg, "the JSON is nested deeper than 512 levels at line 2, column 513");
}

/* --- Looking things up -------------------------------------------------------------------------------------------- */

static void values_have_types_and_text(void **state) {
  (void)state;
  static const struct {
    const char *text;
    lt_json_type type;
    const char *name;
  } cases[] = {
      {"null", LT_JSON_NULL, "null"},
      {"true", LT_JSON_TRUE, "boolean"},
      {"false", LT_JSON_FALSE, "boolean"},
      {"-1.50", LT_JSON_NUMBER, "number"},
      {"\"a\\n\"", LT_JSON_STRING, "string"},
      {"[ 1 ]", LT_JSON_ARRAY, "array"},
      {"{ \"a\" : {} }", LT_JSON_OBJECT, "object"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[64];
    snprintf(text, sizeof(text), " \n%s\t ", cases[i].text);
    fixture f;
    read_ok(&f, lt_str_of(text));
    assert_int_equal(lt_json_typeof(f.root), cases[i].type);
    assert_string_equal(lt_json_type_name(lt_json_typeof(f.root)), cases[i].name);
    assert_str(lt_json_text(f.root), lt_str_of(cases[i].text));
    drop(&f);
  }
}

static void members_are_found_by_key(void **state) {
  (void)state;
  fixture f;
  read_ok(&f, S("{\"a\":1,\"b\":{\"a\":[10,[20],{\"c\":30}]},\"\":2,\"n\\u0000l\":3,\"\\u00e9\":4,\"b c\":{},"
                "\"\\uD83D\\uDE00\":5,\"last\":[]}"));
  assert_str(lt_json_text(lt_json_get(f.root, "a")), S("1"));
  assert_str(lt_json_text(lt_json_get(f.root, "")), S("2"));
  assert_str(lt_json_text(lt_json_get_str(f.root, S("n\0l"))), S("3"));
  assert_str(lt_json_text(lt_json_get(f.root, "\xC3\xA9")), S("4"));
  assert_str(lt_json_text(lt_json_get(f.root, "\xF0\x9F\x98\x80")), S("5"));
  assert_str(lt_json_text(lt_json_get(f.root, "last")), S("[]"));
  lt_json inner = lt_json_get(lt_json_get(f.root, "b"), "a");
  assert_str(lt_json_text(lt_json_get(lt_json_at(inner, 2), "c")), S("30"));
  assert_false(lt_json_exists(lt_json_get(f.root, "c"))); /* only deeper */
  assert_false(lt_json_exists(lt_json_get(f.root, "n")));
  assert_false(lt_json_exists(lt_json_get(f.root, "\\u00e9")));
  drop(&f);
}

static void the_last_of_repeated_keys_counts(void **state) {
  (void)state;
  fixture f;
  read_ok(&f, S("{\"a\":1,\"b\":0,\"\\u0061\":[2,{\"a\":9}],\"c\":{\"a\":8}}"));
  assert_str(lt_json_text(lt_json_get(f.root, "a")), S("[2,{\"a\":9}]"));
  assert_int_equal(lt_json_count(f.root), 4);
  drop(&f);
}

static void items_are_found_by_place(void **state) {
  (void)state;
  fixture f;
  read_ok(&f, S("[0,[1,[2]],{\"a\":3},\"4\",[]]"));
  static const char *const items[] = {"0", "[1,[2]]", "{\"a\":3}", "\"4\"", "[]"};
  assert_int_equal(lt_json_count(f.root), COUNT(items));
  for (uint32_t i = 0; i < COUNT(items); i++) {
    assert_str(lt_json_text(lt_json_at(f.root, i)), lt_str_of(items[i]));
  }
  assert_false(lt_json_exists(lt_json_at(f.root, COUNT(items))));
  assert_false(lt_json_exists(lt_json_at(f.root, UINT32_MAX)));
  assert_false(lt_json_exists(lt_json_at(lt_json_at(f.root, 2), 0))); /* an object has no items */
  assert_false(lt_json_exists(lt_json_get(f.root, "0")));
  drop(&f);
}

static void iteration_gives_all_in_order(void **state) {
  (void)state;
  fixture f;
  read_ok(&f, S("{\"x\":[1,[2,3],{}],\"y\":{\"z\":4},\"x\":null}"));
  static const char *const keys[] = {"\"x\"", "\"y\"", "\"x\""};
  static const char *const values[] = {"[1,[2,3],{}]", "{\"z\":4}", "null"};
  size_t n = 0;
  lt_json_iter it = lt_json_each(f.root);
  while (lt_json_next(&it)) {
    assert_true(n < COUNT(keys));
    assert_int_equal(lt_json_typeof(it.key), LT_JSON_STRING);
    assert_str(lt_json_text(it.key), lt_str_of(keys[n]));
    assert_str(lt_json_text(it.value), lt_str_of(values[n]));
    n++;
  }
  assert_int_equal(n, COUNT(keys));
  assert_false(lt_json_next(&it));

  static const char *const items[] = {"1", "[2,3]", "{}"};
  n = 0;
  it = lt_json_each(lt_json_at(f.root, 0));
  assert_false(lt_json_next(&it)); /* the root is no array */
  lt_json_iter members = lt_json_each(f.root);
  assert_true(lt_json_next(&members));
  for (it = lt_json_each(members.value); lt_json_next(&it); n++) {
    assert_false(lt_json_exists(it.key));
    assert_str(lt_json_text(it.value), lt_str_of(items[n]));
  }
  assert_int_equal(n, COUNT(items));
  drop(&f);
}

static void nothing_is_taken_for_nothing(void **state) {
  (void)state;
  lt_json none = {NULL, 0};
  lt_json_iter it = lt_json_each(none);
  lt_str s = S("before");
  int64_t n = 7;
  double d = 7;
  assert_int_equal(lt_json_typeof(none), LT_JSON_NONE);
  assert_string_equal(lt_json_type_name(LT_JSON_NONE), "nothing");
  assert_false(lt_json_exists(lt_json_get(lt_json_at(lt_json_get(none, "a"), 3), "b")));
  assert_int_equal(lt_json_text(none).n, 0);
  assert_int_equal(lt_json_count(none), 0);
  assert_false(lt_json_next(&it));
  assert_false(lt_json_str(none, NULL, &s) || lt_json_str_eq(none, S("")) || lt_json_int(none, &n));
  assert_false(lt_json_double(none, &d));
  assert_true(lt_json_bool(none, true));
  assert_false(lt_json_bool(none, false));
  assert_str(s, S("before"));
  assert_true(n == 7 && d == 7);

  fixture f; /* values of other types neither, and no container's count leaks into a scalar */
  read_ok(&f, S("[null,\"1\",{}]"));
  for (uint32_t i = 0; i < 3; i++) {
    lt_json v = lt_json_at(f.root, i);
    assert_false(lt_json_int(v, &n) || lt_json_double(v, &d) || lt_json_bool(v, false));
    assert_int_equal(lt_json_count(v), 0);
    it = lt_json_each(v);
    assert_false(lt_json_next(&it));
  }
  assert_false(lt_json_str(lt_json_at(f.root, 0), &f.arena, &s));
  drop(&f);
}

static void booleans_fall_back(void **state) {
  (void)state;
  fixture f;
  read_ok(&f, S("[true,false,null]"));
  assert_true(lt_json_bool(lt_json_at(f.root, 0), false));
  assert_false(lt_json_bool(lt_json_at(f.root, 1), true));
  assert_true(lt_json_bool(lt_json_at(f.root, 2), true));
  drop(&f);
}

/* --- Strings ------------------------------------------------------------------------------------------------------ */

static void strings_are_unescaped_to_wtf8(void **state) {
  (void)state;
  const struct {
    lt_str text;
    lt_str want;
  } cases[] = {
      {S("\"\""), S("")},
      {S("\"plain\""), S("plain")},
      {S("\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""), S("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")},
      {S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), S("\"\\/\b\f\n\r\t")},
      {S("\"a\\u0000b\""), S("a\0b")},
      {S("\"\\u007f\\u0080\\u07fF\\u0800\\uFFFF\""), S("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF")},
      {S("\"\\uD83D\\uDE00\\uD800\\uDC00\\uDBFF\\uDFFF\""), S("\xF0\x9F\x98\x80\xF0\x90\x80\x80\xF4\x8F\xBF\xBF")},
      {S("\"\\uD83Dx\""), S("\xED\xA0\xBDx")},
      {S("\"x\\uDE00\""), S("x\xED\xB8\x80")},
      {S("\"\\uDE00\\uD83D\""), S("\xED\xB8\x80\xED\xA0\xBD")},
      {S("\"\\uD83D\\uD83D\\uDE00\""), S("\xED\xA0\xBD\xF0\x9F\x98\x80")},
      {S("\"\\uD83D\\n\""), S("\xED\xA0\xBD\n")},
      {S("\"\xED\xA0\x80\""), S("\xED\xA0\x80")},
      {S("\"\xED\x9F\xBF\xEE\x80\x80\""), S("\xED\x9F\xBF\xEE\x80\x80")},
      /* a pair is one character, however its halves were written */
      {S("\"\xED\xA0\xBD\xED\xB8\x80\""), S("\xF0\x9F\x98\x80")},
      {S("\"\\uD83D\xED\xB8\x80\""), S("\xF0\x9F\x98\x80")},
      {S("\"\xED\xA0\xBD\\uDE00\""), S("\xF0\x9F\x98\x80")},
      {S("\"a long run of plain text\\nand another one after it\""),
       S("a long run of plain text\nand another one after it")},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    fixture f;
    read_ok(&f, cases[i].text);
    lt_str got = LT_STR_NULL;
    assert_true(lt_json_str(f.root, &f.arena, &got));
    assert_str(got, cases[i].want);
    assert_true(lt_json_str_eq(f.root, cases[i].want));
    assert_false(lt_json_str_eq(f.root, S("other")));
    if (cases[i].want.n > 0) {
      assert_false(lt_json_str_eq(f.root, lt_str_sub(cases[i].want, 0, cases[i].want.n - 1)));
      assert_false(lt_json_str_eq(f.root, lt_str_sub(cases[i].want, 1, cases[i].want.n)));
    }
    drop(&f);
  }
}

static void a_string_without_escapes_is_not_copied(void **state) {
  (void)state;
  fixture f;
  read_ok(&f, S("[\"\xC3\xA9plain\",\"\\t\"]"));
  lt_str got = LT_STR_NULL;
  assert_true(lt_json_str(lt_json_at(f.root, 0), NULL, &got));
  assert_ptr_equal(got.p, f.copy + 2);
  lt_arena none;
  lt_arena_init(&none, 0);
  assert_false(lt_json_str(lt_json_at(f.root, 1), &none, &got));
  assert_ptr_equal(got.p, f.copy + 2);
  lt_arena_release(&none);
  drop(&f);
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

static void whole_numbers_that_fit(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t want;
  } cases[] = {
      {"0", 0},
      {"-0", 0},
      {"1", 1},
      {"-17", -17},
      {"2.0", 2},
      {"1e3", 1000},
      {"1E+3", 1000},
      {"1200e-2", 12},
      {"-1.5e1", -15},
      {"0.000", 0},
      {"0e999999999999999999999", 0},
      {"0.0e-999999999999999999999", 0},
      {"0.0005e4", 5},
      {"9223372036854775807", INT64_MAX},
      {"9223372036854775807.000", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"-9.223372036854775808e18", INT64_MIN},
      {"9007199254740993", 9007199254740993},
      {"1000000000000000000", 1000000000000000000},
      {"1e18", 1000000000000000000},
      {"0.000000000000000000000000000001e30", 1},
      {"1000000000000000000000000000000e-30", 1},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    fixture f;
    read_ok(&f, lt_str_of(cases[i].text));
    int64_t got = -77;
    if (!lt_json_int(f.root, &got) || got != cases[i].want) {
      fail_msg("%s: %lld", cases[i].text, (long long)got);
    }
    drop(&f);
  }
}

static void other_numbers_are_not_integers(void **state) {
  (void)state;
  static const char *const cases[] = {"1.5",
                                      "1e-1",
                                      "1e19",
                                      "1e30",
                                      "1e999999999999999999999",
                                      "1e-999999999999999999999",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551616",
                                      "99999999999999999999999999",
                                      "9223372036854775807.1",
                                      "1000000000000000000000000000001e-30"};
  for (size_t i = 0; i < COUNT(cases); i++) {
    fixture f;
    read_ok(&f, lt_str_of(cases[i]));
    int64_t got = -77;
    if (lt_json_int(f.root, &got) || got != -77) {
      fail_msg("%s: %lld", cases[i], (long long)got);
    }
    drop(&f);
  }
}

static void assert_double(lt_str text, double want) {
  fixture f;
  read_ok(&f, text);
  double got = -77;
  assert_true(lt_json_double(f.root, &got));
  if (memcmp(&got, &want, sizeof(got)) != 0) {
    fail_msg("%.*s: got %.17g, want %.17g", LT_STR_ARG(text), got, want);
  }
  drop(&f);
}

static void doubles_are_rounded_as_strtod_does(void **state) {
  (void)state;
  static const char *const cases[] = {"0",
                                      "-0",
                                      "0.0",
                                      "-0.0e5",
                                      "1",
                                      "-1",
                                      "27.8",
                                      "0.1",
                                      "1e22",
                                      "1e23",
                                      "123456789012345678",
                                      "9007199254740993",
                                      "9007199254740992.5",
                                      "1.7976931348623157e308",
                                      "1.7976931348623159e308",
                                      "1e309",
                                      "-1e309",
                                      "1e999999999999999",
                                      "1e-999999999999999",
                                      "5e-324",
                                      "2.4703282292062327e-324",
                                      "2.4703282292062328e-324",
                                      "2.2250738585072011e-308",
                                      "0.000001",
                                      "123.456e-10",
                                      "100000000000000000000000",
                                      "0.30000000000000004",
                                      "8.98846567431158e307",
                                      "3.14159265358979323846264338327950288419716939937510",
                                      "1e15",
                                      "999999999999999.9",
                                      "4503599627370496.5",
                                      "1234567890.12345e-5",
                                      "6.02214076e23",
                                      "7450580596923828125e-27"};
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_double(lt_str_of(cases[i]), strtod(cases[i], NULL));
  }
}

/* Half way between two doubles, then a 1 after more digits than any double needs: that 1 decides. */
static void the_thousandth_digit_counts(void **state) {
  (void)state;
  char text[2100] = "9007199254740993.";
  size_t n = strlen(text);
  n += repeat(text + n, "0", 2000).n;
  assert_double((lt_str){text, n}, 9007199254740992.0);
  text[n++] = '1';
  assert_double((lt_str){text, n}, 9007199254740994.0);
  memcpy(text + n, "e-5", 3);
  assert_double((lt_str){text, n + 3}, 90071992547.40993);
  n = repeat(text, "7", 2000).n;
  memcpy(text + n, "e-1999", 7);
  assert_double((lt_str){text, n + 6}, 7.7777777777777777);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static void every_failed_allocation_is_reported(void **state) {
  (void)state;
  lt_str text = S("{\"a\\n\":[1,2,{\"b\":\"\\u00e9\"}],\"c\":null}");
  long n = 0;
  for (;; n++) {
    lt_arena arena;
    lt_arena_init(&arena, ARENA_BYTES);
    lt_json_doc doc = {.count = 77};
    lt_err err = LT_ERR_INIT;
    lt_str key = S("before");
    lt_mem_fail_at(n);
    lt_status status = lt_json_parse(&arena, text, &doc, &err);
    bool got = false;
    if (status == LT_OK) {
      lt_json_iter it = lt_json_each(lt_json_root(&doc));
      got = lt_json_next(&it) && lt_json_str(it.key, &arena, &key);
    }
    bool failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    lt_arena_release(&arena);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_true(got);
      break;
    }
    assert_false(got);
    assert_true(lt_str_eq(key, S("before")));
    if (status != LT_OK) {
      assert_int_equal(status, LT_E_NOMEM);
      assert_int_equal(doc.count, 77);
      assert_non_null(strstr(err.msg, "no memory"));
    }
  }
  assert_true(n > 0);
}

static void checking_needs_no_memory(void **state) {
  (void)state;
  lt_mem_fail_at(0);
  lt_status status = lt_json_check(S(WHOLE), NULL);
  int failed = lt_mem_failed();
  lt_mem_fail_at(-1);
  assert_int_equal(status, LT_OK);
  assert_int_equal(failed, 0);
}

/* The index is sized by a guess that counts punctuation; text full of it must not use up the arena. */
static void punctuation_in_strings_costs_no_memory(void **state) {
  (void)state;
  char text[40000] = "[\"";
  repeat(text + 2, ",:[{", 9990);
  size_t n = 2 + 4 * 9990;
  memcpy(text + n, "\",7]", 4);
  fixture f;
  assert_int_equal(read_into(&f, (lt_str){text, n + 4}, 4096), LT_OK);
  assert_str(lt_json_text(lt_json_at(f.root, 1)), S("7"));
  assert_int_equal(f.doc.count, 3);
  drop(&f);
}

static void an_index_too_big_for_the_arena_is_no_memory(void **state) {
  (void)state;
  fixture f;
  lt_status status = read_into(&f, S("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]"), 100);
  assert_int_equal(status, LT_E_NOMEM);
  assert_non_null(strstr(f.err.msg, "no memory for the index"));
  drop(&f);
  /* A syntax error is said even so: it needs no index. */
  assert_int_equal(read_into(&f, S("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20}"), 100), LT_E_SYNTAX);
  drop(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_test_suite_cases),
      cmocka_unit_test(nesting_has_a_limit),
      cmocka_unit_test(length_has_a_limit),
      cmocka_unit_test(strings_are_wtf8_and_nothing_else),
      cmocka_unit_test(strings_end_where_they_end),
      cmocka_unit_test(a_cut_document_is_never_accepted),
      cmocka_unit_test(a_changed_byte_never_breaks_the_reader),
      cmocka_unit_test(errors_say_where_and_what),
      cmocka_unit_test(the_depth_error_says_where),
      cmocka_unit_test(values_have_types_and_text),
      cmocka_unit_test(members_are_found_by_key),
      cmocka_unit_test(the_last_of_repeated_keys_counts),
      cmocka_unit_test(items_are_found_by_place),
      cmocka_unit_test(iteration_gives_all_in_order),
      cmocka_unit_test(nothing_is_taken_for_nothing),
      cmocka_unit_test(booleans_fall_back),
      cmocka_unit_test(strings_are_unescaped_to_wtf8),
      cmocka_unit_test(a_string_without_escapes_is_not_copied),
      cmocka_unit_test(whole_numbers_that_fit),
      cmocka_unit_test(other_numbers_are_not_integers),
      cmocka_unit_test(doubles_are_rounded_as_strtod_does),
      cmocka_unit_test(the_thousandth_digit_counts),
      cmocka_unit_test(every_failed_allocation_is_reported),
      cmocka_unit_test(checking_needs_no_memory),
      cmocka_unit_test(punctuation_in_strings_costs_no_memory),
      cmocka_unit_test(an_index_too_big_for_the_arena_is_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
