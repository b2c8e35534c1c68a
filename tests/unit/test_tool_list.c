/* A catalog's tools as JSON and back: what a prompt saw is seen again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tool/door.h"
#include "tool/tool_list.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

static const lt_tool_spec cash[] = {
    {.name = TEXT("pay"),
     .description = TEXT("Pays \"at once\",\n\xc3\xbc and \x01"),
     .input_schema = TEXT("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"),
     .output_schema = TEXT("{\"type\":\"object\"}"),
     .annotations = TEXT("{\"readOnlyHint\":false}"),
     .needs_approval = true,
     .approval = TEXT("it is money")},
    {.name = TEXT("a.b")},
};
static const lt_tool_spec todo[] = {
    {.name = TEXT("list"), .of_plugin = true},
    {.name = TEXT("run"), .of_plugin = true, .not_for_programs = true, .only_calls = true}};
static const lt_tool_spec bare[] = {{.name = TEXT("cash")}};
static lt_provider provider;

static lt_catalog *make_catalog(void) {
  lt_catalog *catalog;
  const lt_catalog_source sources[] = {
      {.ns = TEXT("todo"), .provider = &provider, .tools = todo, .count = 2},
      {.ns = TEXT("cash"), .provider = &provider, .tools = cash, .count = 2},
      {.ns = TEXT(""), .provider = &provider, .tools = bare, .count = 1},
  };
  assert_int_equal(lt_catalog_new(sources, 3, &catalog, NULL), LT_OK);
  return catalog;
}

static void put(const lt_catalog *catalog, lt_buf *out) {
  lt_buf_init(out, LT_MIB);
  lt_json_writer w = lt_json_writer_on(out);
  lt_tool_list_put(catalog, &w);
  assert_int_equal(out->status, LT_OK);
}

static void check_tool(const lt_tool *a, const lt_tool *b) {
  const lt_str left[] = {a->id,          a->ns,           a->name,          a->js_name,     a->ts_name,
                         a->description, a->input_schema, a->output_schema, a->annotations, a->approval};
  const lt_str right[] = {b->id,          b->ns,           b->name,          b->js_name,     b->ts_name,
                          b->description, b->input_schema, b->output_schema, b->annotations, b->approval};
  for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
    assert_true(lt_str_eq(left[i], right[i]));
  }
  assert_int_equal(a->needs_approval, b->needs_approval);
  assert_int_equal(a->of_plugin, b->of_plugin);
  assert_int_equal(a->not_for_programs, b->not_for_programs);
  assert_int_equal(a->only_calls, b->only_calls);
}

static void test_all_that_is_shown_comes_back(void **state) {
  (void)state;
  lt_arena arena;
  lt_buf first, second;
  lt_tool_list list;
  lt_catalog *before = make_catalog(), *after;
  put(before, &first);
  lt_arena_init(&arena, LT_MIB);
  assert_int_equal(lt_tool_list_read(lt_buf_view(&first), &arena, &list, NULL), LT_OK);
  assert_int_equal(list.count, 3);
  for (size_t i = 0; i < list.count; i++) {
    list.sources[i].provider = &provider;
  }
  assert_int_equal(lt_catalog_new(list.sources, list.count, &after, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(after), 5);
  for (size_t i = 0; i < 5; i++) {
    check_tool(lt_catalog_at(before, i), lt_catalog_at(after, i));
  }
  put(after, &second);
  assert_true(lt_str_eq(lt_buf_view(&first), lt_buf_view(&second)));
  lt_buf_release(&first);
  lt_buf_release(&second);
  lt_arena_release(&arena);
  lt_catalog_unref(before);
  lt_catalog_unref(after);
}

static lt_status read_text(const char *text) {
  lt_arena arena;
  lt_tool_list list;
  lt_arena_init(&arena, LT_MIB);
  lt_status status = lt_tool_list_read(lt_str_of(text), &arena, &list, NULL);
  lt_arena_release(&arena);
  return status;
}

static void test_what_is_no_list_is_not_read_as_one(void **state) {
  (void)state;
  assert_int_equal(read_text("[]"), LT_OK);
  assert_int_equal(read_text("[1, {}, {\"name\": 2}]"), LT_E_INVALID);
  assert_int_equal(read_text("{\"name\": \"x\"}"), LT_E_INVALID);
  assert_int_equal(read_text("[{\"name\": \"x\""), LT_E_SYNTAX);
}

static void test_without_memory_there_is_none(void **state) {
  (void)state;
  lt_buf text;
  lt_catalog *catalog = make_catalog();
  put(catalog, &text);
  lt_status status = LT_E_NOMEM;
  for (long at = 0; status != LT_OK; at++) {
    lt_arena arena;
    lt_tool_list list;
    lt_arena_init(&arena, LT_MIB);
    lt_mem_fail_at(at);
    status = lt_tool_list_read(lt_buf_view(&text), &arena, &list, NULL);
    assert_true(status == LT_OK || status == LT_E_NOMEM);
    assert_int_equal(status == LT_OK, !lt_mem_failed());
    lt_mem_fail_at(-1);
    lt_arena_release(&arena);
  }
  lt_buf_release(&text);
  lt_catalog_unref(catalog);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_that_is_shown_comes_back),
      cmocka_unit_test(test_what_is_no_list_is_not_read_as_one),
      cmocka_unit_test(test_without_memory_there_is_none),
  };
  return cmocka_run_group_tests_name("tool list", tests, NULL, NULL);
}
