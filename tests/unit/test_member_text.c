/* One string member of an object whose text arrives in pieces: every cut, whole characters only, no other member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "json/member_text.h"

/* What the parser of whole documents says; empty where it finds no string. */
static lt_str as_parsed(lt_arena *arena, lt_str json) {
  lt_json_doc *doc = lt_arena_zalloc(arena, 1, sizeof *doc);
  lt_str text = LT_STR("");
  assert_non_null(doc);
  if (lt_json_parse(arena, json, doc, NULL) == LT_OK) {
    (void)lt_json_str(lt_json_get(lt_json_root(doc), "code"), arena, &text);
  }
  return text;
}

/* A piece has whole characters: as JSON and back it stays as it is. */
static void expect_whole_characters(lt_str piece) {
  lt_buf mended;
  lt_buf_init(&mended, LT_MIB);
  lt_json_mend_utf8(&mended, piece);
  assert_true(lt_str_eq(lt_buf_view(&mended), piece));
  lt_buf_release(&mended);
}

static void add_piece(lt_member_text *member, lt_str piece, lt_buf *all) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  char *copy = piece.n > 0 ? malloc(piece.n) : NULL; /* so that a sanitizer sees what is read beyond it */
  if (copy != NULL) {
    memcpy(copy, piece.p, piece.n);
  }
  lt_member_text_add(member, lt_str_from(copy, piece.n), &out);
  free(copy);
  expect_whole_characters(lt_buf_view(&out));
  lt_buf_add(all, lt_buf_view(&out));
  lt_buf_release(&out);
}

static void expect_in_pieces(lt_str json, size_t first, size_t step, lt_str want) {
  lt_member_text member;
  lt_buf all;
  lt_buf_init(&all, LT_MIB);
  lt_member_text_init(&member, "code");
  for (size_t at = 0, n = first; at < json.n; at += n, n = step) {
    n = n < json.n - at ? n : json.n - at;
    add_piece(&member, lt_str_sub(json, at, at + n), &all);
  }
  if (!lt_str_eq(lt_buf_view(&all), want)) {
    print_error("first %zu, then %zu of %.*s: %.*s\n", first, step, LT_STR_ARG(json), LT_STR_ARG(lt_buf_view(&all)));
    fail();
  }
  lt_buf_release(&all);
}

static void expect(lt_str json, lt_str want) {
  for (size_t first = 1; first <= json.n; first++) {
    expect_in_pieces(json, first, 1, want);
    expect_in_pieces(json, first, json.n, want);
  }
}

static void the_parser_finds_the_same(void **state) {
  (void)state;
  static const char *const documents[] = {
      "{\"code\":\"1 + 2\"}",
      " \n{ \"timeout\" : 5 , \"code\" : \"a\" , \"more\" : [ ] } ",
      "{\"code\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20aC\"}",
      "{\"code\":\"\\ud83d\\ude00 \xf0\x9f\x98\x80 \xc3\xa9\xe2\x82\xac\"}",
      "{\"code\":\"\\ud83d\xed\xb8\x80 \xed\xa0\xbd\xed\xb8\x80 \xed\xa0\xbd\\ude00\"}", /* halves in two notations */
      "{\"code\":\"\\ud83d\"}",
      "{\"code\":\"\\ude00\\ud83d\\ud83dx\\ud83d\\n\"}",
      "{\"code\":\"\"}",
      "{\"co\\u0064e\":\"the key has an escape\"}",
      "{\"cod\":\"a\",\"codes\":\"b\",\"\":\"c\",\"code\\u0000\":\"d\",\"xcode\":\"e\",\"code\":\"f\"}",
      "{\"a\":{\"code\":\"inner\",\"b\":[\"]}\\\"\",{}]},\"c\":[[{\"code\":\"inner\"}],\"\\\\\"],\"code\":\"outer\"}",
      "{\"a\":null,\"b\":-1.5e3,\"c\":true,\"code\":\"after words\"}",
      "{\"code\":5}",
      "{\"code\":{\"code\":\"inner\"}}",
      "{\"code\":null,\"b\":\"c\"}",
      "{\"other\":\"code\",\"last\":\"code\"}",
      "{}",
      "[\"code\",\"x\"]",
      "\"{\\\"code\\\":\\\"x\\\"}\"",
  };
  for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
    lt_arena arena;
    lt_arena_init(&arena, LT_MIB);
    expect(lt_str_of(documents[i]), as_parsed(&arena, lt_str_of(documents[i])));
    lt_arena_release(&arena);
  }
}

static void the_first_of_repeated_members_counts(void **state) {
  (void)state;
  expect(LT_STR("{\"code\":\"first\",\"code\":\"second\"}"), LT_STR("first"));
}

/* Half of a program is shown; what is no JSON adds nothing to it. */
static void text_that_is_cut_or_broken(void **state) {
  (void)state;
  expect(LT_STR("{\"code\":\"let a = \\\"b"), LT_STR("let a = \"b"));
  expect(LT_STR("{\"code\":\"a\\u00"), LT_STR("a"));
  expect(LT_STR("{\"code\":\"a\\ud83d"), LT_STR("a"));
  expect(LT_STR("{\"code\":\"a\xe2\x82"), LT_STR("a"));
  expect(LT_STR("{\"code\":\"a\\xb\""), LT_STR("a"));
  expect(LT_STR("{\"code\":\"a\\u00gb\""), LT_STR("a"));
  expect(LT_STR("{\"code\":\"a\xff\x62\""), LT_STR("a"));
  expect(LT_STR("{\"code\":\"a\xc3\x28\""), LT_STR("a"));
  expect(LT_STR("{\"code\":\"a\nb\""), LT_STR("a"));
  expect(LT_STR("{code:\"a\"}"), LT_STR(""));
  expect(LT_STR("{\"code\" \"a\"}"), LT_STR(""));
  expect(LT_STR("code = 1"), LT_STR(""));
  expect(LT_STR("}{\"code\":\"a\"}"), LT_STR(""));
  expect(LT_STR("{]\"code\":\"a\"}"), LT_STR(""));
}

/* Random documents, some of them broken at a random place: what is handed on is the beginning of what the parser finds
 * in the whole one. */
static void random_documents(void **state) {
  (void)state;
  static const char *const parts[] = {
      "a", "\\n", "\\\"", "\\\\", "\\u0041", "\\ud83d", "\\ude00", "\xc3\xa9", "\xf0\x9f\x98\x80",
      "}", "{",   "]",    ",",    ":",       "code",    " "};
  const char *seed = getenv("LATHE_SEED");
  srandom(seed != NULL ? (unsigned)atoi(seed) : 1);
  for (int round = 0; round < 2000; round++) {
    lt_arena arena;
    lt_buf json;
    lt_arena_init(&arena, LT_MIB);
    lt_buf_init(&json, LT_MIB);
    lt_buf_addc(&json, random() % 2 ? "{\"a\":[\"" : "{\"a\":\"");
    bool is_list = json.p[5] == '[';
    for (long n = random() % 6; n > 0; n--) {
      lt_buf_addc(&json, parts[(size_t)random() % (sizeof parts / sizeof parts[0])]);
    }
    lt_buf_addc(&json, is_list ? "\"],\"code\":\"" : "\",\"code\":\"");
    for (long n = random() % 12; n > 0; n--) {
      lt_buf_addc(&json, parts[(size_t)random() % (sizeof parts / sizeof parts[0])]);
    }
    lt_buf_addc(&json, "\"}");
    lt_str want = as_parsed(&arena, lt_buf_view(&json));
    expect_in_pieces(lt_buf_view(&json), 1 + (size_t)random() % json.n, 1 + (size_t)random() % 5, want);
    lt_arena_release(&arena);
    lt_buf_release(&json);
  }
}

static void a_buffer_that_is_full_keeps_its_status(void **state) {
  (void)state;
  lt_member_text member;
  lt_buf out;
  lt_buf_init(&out, 4);
  lt_member_text_init(&member, "code");
  lt_member_text_add(&member, LT_STR("{\"code\":\"more than four\"}"), &out);
  assert_int_equal(out.status, LT_E_LIMIT);
  lt_buf_release(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_parser_finds_the_same),
      cmocka_unit_test(the_first_of_repeated_members_counts),
      cmocka_unit_test(text_that_is_cut_or_broken),
      cmocka_unit_test(random_documents),
      cmocka_unit_test(a_buffer_that_is_full_keeps_its_status),
  };
  return cmocka_run_group_tests_name("member_text", tests, NULL, NULL);
}
