/* What programs get for an MCP tool's answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "source/mcp_value.h"

static lt_status value_of(lt_str result, const char *schema, lt_buf *out) {
  lt_arena arena;
  lt_json_doc doc;
  lt_arena_init(&arena, LT_MIB);
  lt_status status = lt_json_parse(&arena, result, &doc, NULL);
  if (status == LT_OK) {
    status = lt_mcp_value(&arena, lt_json_root(&doc), LT_STR("srv.tool"), lt_str_of(schema), NULL, out);
  }
  lt_arena_release(&arena);
  return status;
}

static void expect_as(const char *result, const char *schema, lt_status status, const char *want) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(value_of(lt_str_of(result), schema, &out), status);
  assert_non_null(out.p);
  assert_string_equal(out.p, want);
  if (status == LT_OK) {
    assert_int_equal(lt_json_check(lt_buf_view(&out), NULL), LT_OK);
  }
  lt_buf_release(&out);
}

static void expect(const char *result, const char *want) {
  expect_as(result, "", LT_OK, want);
}

#define TEXT(t) "{\"content\":[{\"type\":\"text\",\"text\":" t "}]}"

static void structured_content_comes_first(void **state) {
  (void)state;
  expect("{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"structuredContent\":{\"n\": 27.80}}", "{\"n\": 27.80}");
  expect("{\"structuredContent\":{}}", "{}");
  expect("{\"structuredContent\":[1]}", "[1]");
  expect("{\"content\":[{\"type\":\"text\",\"text\":\"yes\"}],\"structuredContent\":null}", "\"yes\"");
}

static void one_text_is_parsed_when_it_is_an_object_or_array(void **state) {
  (void)state;
  expect(TEXT("\"{\\\"a\\\": 12345678901234567890}\""), "{\"a\": 12345678901234567890}");
  expect(TEXT("\" \\n[1, 2]\\n\""), "[1, 2]");
  expect(TEXT("\"plain\""), "\"plain\"");
  expect(TEXT("\"42\""), "\"42\"");
  expect(TEXT("\"true\""), "\"true\"");
  expect(TEXT("\"null\""), "\"null\"");
  expect(TEXT("\"{broken\""), "\"{broken\"");
  expect(TEXT("\"{\\\"a\\\":1} and more\""), "\"{\\\"a\\\":1} and more\"");
  expect(TEXT("\"[note] read this\""), "\"[note] read this\"");
  expect(TEXT("\" spaces stay \""), "\" spaces stay \"");
  expect(TEXT("\"\""), "\"\"");
}

static void the_output_schema_says_otherwise(void **state) {
  (void)state;
  expect_as(TEXT("\" 42\""), "{\"type\":\"number\"}", LT_OK, "42");
  expect_as(TEXT("\"42\""), "{\"type\":\"integer\"}", LT_OK, "42");
  expect_as(TEXT("\"4.5\""), "{\"type\":\"integer\"}", LT_OK, "\"4.5\"");
  expect_as(TEXT("\"true\""), "{\"type\":\"boolean\"}", LT_OK, "true");
  expect_as(TEXT("\"null\""), "{\"type\":[\"object\",\"null\"]}", LT_OK, "null");
  expect_as(TEXT("\"42\""), "{\"type\":[\"string\",\"number\"]}", LT_OK, "\"42\"");
  expect_as(TEXT("\"42\""), "{\"type\":\"string\"}", LT_OK, "\"42\"");
  expect_as(TEXT("\"not a number\""), "{\"type\":\"number\"}", LT_OK, "\"not a number\"");
  expect_as(TEXT("\"{}\""), "{\"type\":\"string\"}", LT_OK, "\"{}\"");
  expect_as(TEXT("\"{}\""), "{\"type\":[\"string\",\"object\"]}", LT_OK, "{}");
  expect_as(TEXT("\"[]\""), "{\"type\":\"object\"}", LT_OK, "[]");
  expect_as(TEXT("\"42\""), "{}", LT_OK, "\"42\"");
  expect_as(TEXT("\"42\""), "{broken", LT_OK, "\"42\"");
  expect_as(TEXT("\"42\""), "{\"type\":\"made-up\"}", LT_OK, "\"42\"");
}

static void several_texts_are_joined(void **state) {
  (void)state;
  expect(
      "{\"content\":[{\"type\":\"text\",\"text\":\"a\\\"\"},{\"type\":\"text\",\"text\":\"\"},"
      "{\"type\":\"text\",\"text\":\"{}\"}]}",
      "\"a\\\"\\n\\n{}\"");
}

static void nothing_is_null(void **state) {
  (void)state;
  expect("{\"content\":[]}", "null");
  expect("{}", "null");
  expect("{\"content\":null}", "null");
  expect("{\"content\":{}}", "null");
}

static void media_are_described(void **state) {
  (void)state;
  expect("{\"content\":[{\"type\":\"image\",\"data\":\"aGVsbG8=\",\"mimeType\":\"image/png\"}]}",
         "{\"type\":\"image\",\"mimeType\":\"image/png\",\"bytes\":5,\"artifact\":null}");
  expect("{\"content\":[{\"type\":\"audio\",\"data\":\"aGVs\\nbG8h\",\"mimeType\":\"audio\\/wav\"}]}",
         "{\"type\":\"audio\",\"mimeType\":\"audio\\/wav\",\"bytes\":6,\"artifact\":null}");
  expect("{\"content\":[{\"type\":\"image\"}]}",
         "{\"type\":\"image\",\"mimeType\":null,\"bytes\":0,\"artifact\":null}");
}

static void resources_keep_their_uri(void **state) {
  (void)state;
  expect(
      "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"mimeType\":\"text/plain\","
      "\"text\":\"hi\"}}]}",
      "{\"type\":\"resource\",\"uri\":\"file:///a\",\"mimeType\":\"text/plain\",\"text\":\"hi\"}");
  expect("{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"blob\":\"AAA=\"}}]}",
         "{\"type\":\"resource\",\"uri\":\"file:///a\",\"mimeType\":null,\"bytes\":2,\"artifact\":null}");
  expect("{\"content\":[{\"type\":\"resource_link\",\"uri\":\"file:///a\",\"name\":\"a\"}]}",
         "{\"type\":\"resource_link\",\"uri\":\"file:///a\",\"name\":\"a\"}");
}

static void mixed_blocks_are_an_array(void **state) {
  (void)state;
  expect(
      "{\"content\":[{\"type\":\"text\",\"text\":\"see\",\"annotations\":{}},{\"type\":\"image\",\"data\":\"AA==\","
      "\"mimeType\":\"image/png\"},{\"type\":\"later\",\"x\":1},7]}",
      "[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image\",\"mimeType\":\"image/png\",\"bytes\":1,"
      "\"artifact\":null},{\"type\":\"later\",\"x\":1},7]");
}

static void what_no_version_has_is_shown(void **state) {
  (void)state;
  expect("{\"content\":\"just text\"}", "\"just text\"");
  expect("{\"content\":{\"type\":\"text\",\"text\":\"x\"}}", "{\"type\":\"text\",\"text\":\"x\"}");
  expect("[]", "null");
}

static void failures_are_texts(void **state) {
  (void)state;
  const char *nothing = "Tool \"srv.tool\" failed without a message";
  expect_as("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no \\\"such\\\" file\"}]}", "", LT_E_TOOL,
            "no \"such\" file");
  expect_as(
      "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"data\":\"\"},"
      "{\"type\":\"resource\",\"resource\":{\"uri\":\"u\",\"text\":\"b\"}}]}",
      "", LT_E_TOOL, "a\nb");
  expect_as("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"  \"}]}", "", LT_E_TOOL, nothing);
  expect_as("{\"isError\":true,\"content\":[]}", "", LT_E_TOOL, nothing);
  expect_as("{\"isError\":true}", "", LT_E_TOOL, nothing);
  expect_as("{\"isError\":true,\"structuredContent\":{\"code\":7}}", "", LT_E_TOOL, "{\"code\":7}");
  expect("{\"isError\":false,\"content\":[]}", "null");
}

static void lone_surrogates_survive(void **state) {
  (void)state;
  expect(TEXT("\"\\ud800\""), "\"\\ud800\"");
  expect(TEXT("\"{\\\"a\\\":\\\"\\\\ud800\\\"}\""), "{\"a\":\"\\ud800\"}");
}

static void a_full_buffer_is_an_error(void **state) {
  (void)state;
  lt_buf out;
  lt_buf_init(&out, 8);
  assert_int_equal(value_of(LT_STR(TEXT("\"more than eight\"")), "", &out), LT_E_LIMIT);
  lt_buf_release(&out);
  assert_int_equal(
      value_of(LT_STR("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"more than 8\"}]}"), "", &out),
      LT_E_LIMIT);
  lt_buf_release(&out);
}

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  static const char *const results[] = {
      TEXT("\"{\\\"a\\\":1}\""),
      "{\"content\":[{\"type\":\"text\",\"text\":\"a\\\"\"},{\"type\":\"text\",\"text\":\"b\\\"\"}]}",
      "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"data\":\"\\u0041AAA\"}]}",
      "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"a\\\"\"}]}",
  };
  for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
    for (long n = 0;; n++) {
      lt_buf out;
      lt_buf_init(&out, LT_MIB);
      lt_mem_fail_at(n);
      lt_status status = value_of(lt_str_of(results[i]), "{\"type\":\"object\"}", &out);
      int failed = lt_mem_failed();
      lt_mem_fail_at(-1);
      lt_buf_release(&out);
      if (!failed) {
        assert_int_equal(status, i == 3 ? LT_E_TOOL : LT_OK);
        break;
      }
      assert_int_equal(status, LT_E_NOMEM);
    }
  }
}

/* What is put aside is whole, or there is no answer. */
static void no_image_is_empty_for_want_of_memory(void **state) {
  (void)state;
  for (long n = 0;; n++) {
    lt_buf out;
    lt_arena arena;
    lt_json_doc doc;
    lt_mcp_media_list media = {.last = &media.first};
    lt_buf_init(&out, LT_MIB);
    lt_arena_init(&arena, LT_MIB);
    assert_int_equal(
        lt_json_parse(&arena, LT_STR("{\"content\":[{\"type\":\"image\",\"data\":\"AAAA\"}]}"), &doc, NULL), LT_OK);
    lt_mem_fail_at(n);
    lt_status status = lt_mcp_value(&arena, lt_json_root(&doc), LT_STR("srv.tool"), LT_STR(""), &media, &out);
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (status == LT_OK) {
      assert_int_equal(media.count, 1);
      assert_int_equal(media.first->data.n, 3);
    }
    lt_arena_release(&arena);
    lt_buf_release(&out);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      break;
    }
    assert_int_equal(status, LT_E_NOMEM);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structured_content_comes_first),
      cmocka_unit_test(one_text_is_parsed_when_it_is_an_object_or_array),
      cmocka_unit_test(the_output_schema_says_otherwise),
      cmocka_unit_test(several_texts_are_joined),
      cmocka_unit_test(nothing_is_null),
      cmocka_unit_test(media_are_described),
      cmocka_unit_test(resources_keep_their_uri),
      cmocka_unit_test(mixed_blocks_are_an_array),
      cmocka_unit_test(what_no_version_has_is_shown),
      cmocka_unit_test(failures_are_texts),
      cmocka_unit_test(lone_surrogates_survive),
      cmocka_unit_test(a_full_buffer_is_an_error),
      cmocka_unit_test(every_failed_allocation_is_survived),
      cmocka_unit_test(no_image_is_empty_for_want_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
