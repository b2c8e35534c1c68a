/* JSON: writing. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "json/json.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BUF_BYTES    (16 * LT_MIB)
#define S(literal)   LT_STR(literal)

static void assert_buf(const lt_buf *buf, lt_str want) {
  assert_int_equal(buf->status, LT_OK);
  lt_str got = lt_buf_view(buf);
  if (!lt_str_eq(got, want)) {
    fail_msg("got  %.*s\nwant %.*s", LT_STR_ARG(got), LT_STR_ARG(want));
  }
}

/* --- The writer --------------------------------------------------------------------------------------------------- */

static void write_everything(lt_buf *buf) {
  lt_json_writer w = lt_json_writer_on(buf);
  lt_json_begin_object(&w);
  lt_json_key(&w, "empty");
  lt_json_begin_object(&w);
  lt_json_end_object(&w);
  lt_json_key_str(&w, S("k\"\0"));
  lt_json_begin_array(&w);
  lt_json_put_null(&w);
  lt_json_put_bool(&w, true);
  lt_json_put_bool(&w, false);
  lt_json_put_int(&w, INT64_MIN);
  lt_json_put_double(&w, 0.5);
  lt_json_begin_array(&w);
  lt_json_end_array(&w);
  lt_json_put_raw(&w, S("{\"raw\":[]}"));
  lt_json_put_raw(&w, LT_STR_NULL);
  lt_json_put_cstr(&w, "c");
  lt_json_end_array(&w);
  lt_json_key(&w, "");
  lt_json_put_str(&w, LT_STR_NULL);
  lt_json_key(&w, "nan");
  lt_json_put_double(&w, NAN);
  lt_json_end_object(&w);
}

#define EVERYTHING                                                                                                  \
  "{\"empty\":{},\"k\\\"\\u0000\":[null,true,false,-9223372036854775808,0.5,[],{\"raw\":[]},null,\"c\"],\"\":\"\"," \
  "\"nan\":null}"

static void commas_and_nesting_are_kept(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, BUF_BYTES);
  write_everything(&buf);
  assert_buf(&buf, S(EVERYTHING));
  assert_int_equal(lt_json_check(lt_buf_view(&buf), NULL), LT_OK);
  lt_buf_release(&buf);
}

static void deep_nesting_is_written_too(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, BUF_BYTES);
  lt_json_writer w = lt_json_writer_on(&buf);
  for (int i = 0; i < 200; i++) {
    lt_json_begin_array(&w);
    lt_json_begin_object(&w);
    lt_json_key(&w, "k");
  }
  lt_json_put_int(&w, 1);
  for (int i = 0; i < 200; i++) {
    lt_json_end_object(&w);
    lt_json_put_int(&w, i);
    lt_json_end_array(&w);
  }
  assert_int_equal(lt_json_check(lt_buf_view(&buf), NULL), LT_OK);
  lt_buf_release(&buf);
}

static void a_full_buffer_says_so(void **state) {
  (void)state;
  for (size_t max = 0; max < sizeof(EVERYTHING) - 1; max++) {
    lt_buf buf;
    lt_buf_init(&buf, max);
    write_everything(&buf);
    assert_int_equal(buf.status, LT_E_LIMIT);
    assert_true(buf.n <= max);
    lt_buf_release(&buf);
  }
}

static void misuse_value_without_key(lt_json_writer *w) {
  lt_json_begin_object(w);
  lt_json_put_int(w, 1);
}

static void misuse_key_in_array(lt_json_writer *w) {
  lt_json_begin_array(w);
  lt_json_key(w, "k");
}

static void misuse_key_at_top(lt_json_writer *w) {
  lt_json_key(w, "k");
}

static void misuse_key_twice(lt_json_writer *w) {
  lt_json_begin_object(w);
  lt_json_key(w, "k");
  lt_json_key(w, "k");
}

static void misuse_key_without_value(lt_json_writer *w) {
  lt_json_begin_object(w);
  lt_json_key(w, "k");
  lt_json_end_object(w);
}

static void misuse_wrong_end(lt_json_writer *w) {
  lt_json_begin_object(w);
  lt_json_end_array(w);
}

static void misuse_end_at_top(lt_json_writer *w) {
  lt_json_end_object(w);
}

static void misuse_two_values_at_top(lt_json_writer *w) {
  lt_json_put_int(w, 1);
  lt_json_put_int(w, 2);
}

static void misuse_is_caught(void **state) {
  (void)state;
  static void (*const misuses[])(lt_json_writer *) = {
      misuse_value_without_key, misuse_key_in_array, misuse_key_at_top, misuse_key_twice,
      misuse_key_without_value, misuse_wrong_end,    misuse_end_at_top, misuse_two_values_at_top};
  for (size_t i = 0; i < COUNT(misuses); i++) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      close(STDERR_FILENO);
      signal(SIGABRT, SIG_DFL);
      lt_buf buf;
      lt_buf_init(&buf, BUF_BYTES);
      lt_json_writer w = lt_json_writer_on(&buf);
      misuses[i](&w);
      _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) {
      fail_msg("misuse %zu went through", i);
    }
  }
}

/* --- Strings ------------------------------------------------------------------------------------------------------ */

static void characters_are_escaped(void **state) {
  (void)state;
  const struct {
    lt_str s;
    lt_str want;
  } cases[] = {
      {S(""), S("")},
      {S("plain / 'text' <&> \x7F"), S("plain / 'text' <&> \x7F")},
      {S("\"\\\b\f\n\r\t"), S("\\\"\\\\\\b\\f\\n\\r\\t")},
      {S("\0\x01\x1F"), S("\\u0000\\u0001\\u001f")},
      {S("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), S("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")},
      {S("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"), S("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF")},
      {S("a\xED\xA0\x80z"), S("a\\ud800z")},
      {S("\xED\xBF\xBF"), S("\\udfff")},
      {S("\xED\xA0\xBD\xED\xB8\x80"), S("\\ud83d\\ude00")}, /* halves side by side: an escaped pair, valid */
      {S("\xED\xB8\x80\xED\xA0\xBD"), S("\\ude00\\ud83d")},
      {S("sixteen plain ch\nand sixteen more\""), S("sixteen plain ch\\nand sixteen more\\\"")},
      /* Unicode 15, table 3-8: each maximal subpart becomes one U+FFFD */
      {S("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
       S("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
         "A")},
      {S("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), S("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                                                    "A")},
      {S("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), S("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                                                    "A\xEF\xBF\xBD\xEF\xBF\xBD"
                                                    "B")},
      {S("\xF0\x9F\x98"), S("\xEF\xBF\xBD")},
      {S("\xE2\x82"), S("\xEF\xBF\xBD")},
      {S("\xC3"), S("\xEF\xBF\xBD")},
      {S("\xED\xA0"), S("\xEF\xBF\xBD")},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    lt_buf buf;
    lt_buf_init(&buf, BUF_BYTES);
    lt_json_escape(&buf, cases[i].s);
    assert_buf(&buf, cases[i].want);
    lt_buf_release(&buf);
  }
}

static uint64_t next_random(uint64_t *x) {
  *x ^= *x << 13;
  *x ^= *x >> 7;
  *x ^= *x << 17;
  return *x;
}

/* Any characters, surrogates alone among them, but never halves of a pair side by side: those are one character. */
static size_t random_wtf8(char *out, size_t count, uint64_t *x) {
  static const uint32_t tops[] = {0x20, 0x7F, 0x80, 0x7FF, 0xFFFF, 0x10FFFF};
  size_t n = 0;
  bool after_high = false;
  for (size_t i = 0; i < count; i++) {
    uint32_t cp = (uint32_t)(next_random(x) % (tops[next_random(x) % COUNT(tops)] + 1));
    if (after_high && cp >= 0xDC00 && cp <= 0xDFFF) {
      cp = 'x';
    }
    after_high = cp >= 0xD800 && cp <= 0xDBFF;
    if (cp < 0x80) {
      out[n++] = (char)cp;
    } else if (cp < 0x800) {
      out[n++] = (char)(0xC0 + cp / 64);
      out[n++] = (char)(0x80 + cp % 64);
    } else if (cp < 0x10000) {
      out[n++] = (char)(0xE0 + cp / 4096);
      out[n++] = (char)(0x80 + cp / 64 % 64);
      out[n++] = (char)(0x80 + cp % 64);
    } else {
      out[n++] = (char)(0xF0 + cp / 262144);
      out[n++] = (char)(0x80 + cp / 4096 % 64);
      out[n++] = (char)(0x80 + cp / 64 % 64);
      out[n++] = (char)(0x80 + cp % 64);
    }
  }
  return n;
}

enum { LENGTHS = 36 };

static void put_escaped(lt_buf *out, unsigned c) {
  const char *shorts = "\b\f\n\r\t\"\\";
  const char *found = c != 0 ? strchr(shorts, (int)c) : NULL;
  if (found != NULL) {
    lt_buf_printf(out, "\\%c", "bfnrt\"\\"[found - shorts]);
  } else {
    lt_buf_printf(out, c < ' ' ? "\\u%04x" : "%c", c);
  }
}

static void assert_escaped_at(unsigned c, size_t at, size_t length) {
  static const char filler[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
  char text[LENGTHS];
  lt_buf buf, want;
  lt_buf_init(&buf, BUF_BYTES);
  lt_buf_init(&want, BUF_BYTES);
  memcpy(text, filler, sizeof text);
  text[at] = (char)c;
  lt_json_writer w = lt_json_writer_on(&buf);
  lt_json_put_str(&w, lt_str_from(text, length));
  lt_buf_byte(&want, '"');
  lt_buf_add(&want, lt_str_from(filler, at));
  put_escaped(&want, c);
  lt_buf_add(&want, lt_str_from(filler, length - at - 1));
  lt_buf_byte(&want, '"');
  assert_buf(&buf, lt_buf_view(&want));
  lt_buf_release(&buf);
  lt_buf_release(&want);
}

/* Strings are looked through 16 bytes at a time, and their ends otherwise. */
static void characters_are_escaped_at_any_place(void **state) {
  (void)state;
  for (unsigned c = 0; c < 0x80; c++) {
    for (size_t length = 1; length <= LENGTHS; length++) {
      for (size_t at = 0; at < length; at++) {
        assert_escaped_at(c, at, length);
      }
    }
  }
}

static void what_is_written_reads_back(void **state) {
  (void)state;
  uint64_t x = 88172645463325252u;
  for (size_t round = 0; round < 3000; round++) {
    char bytes[4 * 40];
    lt_str s = {bytes, random_wtf8(bytes, round % 40, &x)};
    lt_buf buf;
    lt_buf_init(&buf, BUF_BYTES);
    lt_json_writer w = lt_json_writer_on(&buf);
    lt_json_put_str(&w, s);
    lt_arena arena;
    lt_arena_init(&arena, BUF_BYTES);
    lt_json_doc doc;
    lt_err err = LT_ERR_INIT;
    if (lt_json_parse(&arena, lt_buf_view(&buf), &doc, &err) != LT_OK) {
      fail_msg("%s", lt_err_msg(&err));
    }
    lt_str got = LT_STR_NULL;
    assert_true(lt_json_str(lt_json_root(&doc), &arena, &got));
    assert_true(lt_str_eq(got, s));
    lt_arena_release(&arena);
    lt_buf_release(&buf);
  }
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

static lt_str put_double(lt_buf *buf, double n) {
  lt_buf_clear(buf);
  lt_json_writer w = lt_json_writer_on(buf);
  lt_json_put_double(&w, n);
  return lt_buf_view(buf);
}

static void doubles_look_as_in_javascript(void **state) {
  (void)state;
  static const struct {
    double n;
    const char *want;
  } cases[] = {
      {0, "0"},
      {-0.0, "-0"},
      {1, "1"},
      {-1, "-1"},
      {27.8, "27.8"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1.0 / 3, "0.3333333333333333"},
      {100, "100"},
      {1500, "1500"},
      {123456.789, "123456.789"},
      {9007199254740991, "9007199254740991"},
      {9007199254740992, "9007199254740992"},
      {9007199254740994, "9007199254740994"},
      {123456789012345680000.0, "123456789012345680000"},
      {1e20, "100000000000000000000"},
      {999999999999999900000.0, "999999999999999900000"},
      {1e21, "1e+21"},
      {1.5e21, "1.5e+21"},
      {-1.25e300, "-1.25e+300"},
      {0.000001, "0.000001"},
      {0.00000123, "0.00000123"},
      {1e-7, "1e-7"},
      {1.23e-7, "1.23e-7"},
      {5e-324, "5e-324"},
      {1.5e-323, "1.5e-323"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {5.684341886080802e-14, "5.684341886080802e-14"},   /* 2^-44: the nearest of 16 digits does not read back */
      {7.678447687145631e-239, "7.678447687145631e-239"}, /* 2^-791: the nearest of 16 digits ends in a 0 */
      {9.5367431640625e-7, "9.5367431640625e-7"},
      {4.35, "4.35"},
      {1e15 + 0.3, "1000000000000000.2"},
      {NAN, "null"},
      {INFINITY, "null"},
      {-INFINITY, "null"},
  };
  lt_buf buf;
  lt_buf_init(&buf, BUF_BYTES);
  for (size_t i = 0; i < COUNT(cases); i++) {
    lt_str got = put_double(&buf, cases[i].n);
    if (!lt_str_eqc(got, cases[i].want)) {
      fail_msg("%.17g: got %.*s, want %s", cases[i].n, LT_STR_ARG(got), cases[i].want);
    }
  }
  lt_buf_release(&buf);
}

static size_t digits_in(const char *text) {
  size_t n = 0;
  size_t zeros = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text == '0') {
      zeros += n > 0;
    } else if (*text >= '1' && *text <= '9') {
      n += zeros + 1;
      zeros = 0;
    }
  }
  return n;
}

static void assert_reads_back(lt_buf *buf, double n) {
  lt_str got = put_double(buf, n);
  double back = strtod(got.p, NULL);
  if (memcmp(&back, &n, sizeof(n)) != 0 || lt_json_check(got, NULL) != LT_OK) {
    fail_msg("%.17g was written as %s", n, got.p);
  }
  for (int precision = 1; precision < 17; precision++) {
    char text[64];
    snprintf(text, sizeof(text), "%.*e", precision - 1, n);
    if (strtod(text, NULL) == n) {
      if (digits_in(got.p) > digits_in(text)) {
        fail_msg("%s was written as %s", text, got.p);
      }
      break;
    }
  }
}

static void doubles_read_back_and_are_short(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, BUF_BYTES);
  uint64_t x = 362436069u;
  for (int i = 0; i < 20000; i++) {
    double n;
    uint64_t bits = next_random(&x);
    if (i % 4 == 0) {
      bits &= ~(0x7FFull << 52); /* subnormal */
    }
    memcpy(&n, &bits, sizeof(n));
    if (isfinite(n)) {
      assert_reads_back(&buf, n);
    }
    assert_reads_back(&buf, (double)(int64_t)(bits >> (i % 60)) / 1000);
  }
  for (int e = -1074; e < 1024; e++) {
    assert_reads_back(&buf, ldexp(1, e));
  }
  lt_buf_release(&buf);
}

/* --- Whole values ------------------------------------------------------------------------------------------------- */

static void lay_out(lt_str text, void (*how)(lt_json, lt_buf *), lt_buf *out) {
  lt_arena arena;
  lt_arena_init(&arena, BUF_BYTES);
  lt_json_doc doc;
  lt_err err = LT_ERR_INIT;
  if (lt_json_parse(&arena, text, &doc, &err) != LT_OK) {
    fail_msg("%.*s: %s", LT_STR_ARG(text), lt_err_msg(&err));
  }
  lt_buf_clear(out);
  how(lt_json_root(&doc), out);
  lt_arena_release(&arena);
}

static void values_are_laid_out(void **state) {
  (void)state;
  const struct {
    lt_str text;
    lt_str compact;
    lt_str pretty;
  } cases[] = {
      {S(" 1.50e1 "), S("1.50e1"), S("1.50e1")},
      {S("[ ]"), S("[]"), S("[]")},
      {S("\t{\r\n}"), S("{}"), S("{}")},
      {S("[1,2]"), S("[1,2]"), S("[\n  1,\n  2\n]")},
      {S("[ [ ] , { } , [ [ 1 ] ] ]"), S("[[],{},[[1]]]"), S("[\n  [],\n  {},\n  [\n    [\n      1\n    ]\n  ]\n]")},
      {S("{ \"a, b: [c]\" : \"{ }\" , \"d\" : { \"e\" : null } }"), S("{\"a, b: [c]\":\"{ }\",\"d\":{\"e\":null}}"),
       S("{\n  \"a, b: [c]\": \"{ }\",\n  \"d\": {\n    \"e\": null\n  }\n}")},
      {S("[\"\\u00e9\\/ \\n\", \"\xC3\xA9\"]"), S("[\"\\u00e9\\/ \\n\",\"\xC3\xA9\"]"),
       S("[\n  \"\\u00e9\\/ \\n\",\n  \"\xC3\xA9\"\n]")}, /* as written */
      {S("{\"\xED\xA0\x80\" : \"\\\"\xED\x9F\xBF\xED\xB8\x80\"}"), S("{\"\\ud800\":\"\\\"\xED\x9F\xBF\\ude00\"}"),
       S("{\n  \"\\ud800\": \"\\\"\xED\x9F\xBF\\ude00\"\n}")},
  };
  lt_buf buf;
  lt_buf_init(&buf, BUF_BYTES);
  for (size_t i = 0; i < COUNT(cases); i++) {
    lay_out(cases[i].text, lt_json_compact, &buf);
    assert_buf(&buf, cases[i].compact);
    lay_out(cases[i].text, lt_json_pretty, &buf);
    assert_buf(&buf, cases[i].pretty);
    lay_out(cases[i].pretty, lt_json_compact, &buf);
    assert_buf(&buf, cases[i].compact);
    lay_out(cases[i].compact, lt_json_pretty, &buf);
    assert_buf(&buf, cases[i].pretty);
  }
  lt_buf_release(&buf);
}

static void a_part_is_laid_out_alone(void **state) {
  (void)state;
  lt_arena arena;
  lt_arena_init(&arena, BUF_BYTES);
  lt_json_doc doc;
  assert_int_equal(lt_json_parse(&arena, S("[0, {\"a\" : [1, {}], \"b\" : 2} , 3]"), &doc, NULL), LT_OK);
  lt_buf buf;
  lt_buf_init(&buf, BUF_BYTES);
  lt_json part = lt_json_at(lt_json_root(&doc), 1);
  lt_json_compact(part, &buf);
  assert_buf(&buf, S("{\"a\":[1,{}],\"b\":2}"));
  lt_buf_clear(&buf);
  lt_json_pretty(lt_json_get(part, "a"), &buf);
  assert_buf(&buf, S("[\n  1,\n  {}\n]"));
  lt_buf_clear(&buf);
  lt_json_compact(lt_json_get(part, "none"), &buf);
  lt_json_pretty(lt_json_get(part, "none"), &buf);
  assert_buf(&buf, S(""));
  lt_buf_release(&buf);
  lt_arena_release(&arena);
}

static void every_failed_allocation_sticks(void **state) {
  (void)state;
  long n = 0;
  for (bool failed = true; failed; n++) {
    lt_buf buf;
    lt_buf out;
    lt_buf_init(&buf, BUF_BYTES);
    lt_buf_init(&out, BUF_BYTES);
    lt_arena arena;
    lt_arena_init(&arena, BUF_BYTES);
    lt_json_doc doc;
    lt_mem_fail_at(n);
    write_everything(&buf);
    lt_status status = buf.status;
    if (status == LT_OK) {
      status = lt_json_parse(&arena, lt_buf_view(&buf), &doc, NULL);
    }
    if (status == LT_OK) {
      lt_json_pretty(lt_json_root(&doc), &out);
      lt_json_compact(lt_json_root(&doc), &out);
      status = out.status;
    }
    failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
    lt_arena_release(&arena);
    lt_buf_release(&out);
    lt_buf_release(&buf);
  }
  assert_true(n > 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commas_and_nesting_are_kept),     cmocka_unit_test(deep_nesting_is_written_too),
      cmocka_unit_test(a_full_buffer_says_so),           cmocka_unit_test(misuse_is_caught),
      cmocka_unit_test(characters_are_escaped),          cmocka_unit_test(characters_are_escaped_at_any_place),
      cmocka_unit_test(what_is_written_reads_back),      cmocka_unit_test(doubles_look_as_in_javascript),
      cmocka_unit_test(doubles_read_back_and_are_short), cmocka_unit_test(values_are_laid_out),
      cmocka_unit_test(a_part_is_laid_out_alone),        cmocka_unit_test(every_failed_allocation_sticks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
