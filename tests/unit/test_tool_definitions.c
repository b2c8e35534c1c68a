/* Tools as a model's API takes them (agent/tool_definitions.h), and TypeScript mode's one tool
 * (agent/modes/typescript_tool.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/modes/typescript_tool.h"
#include "agent/tool_definitions.h"
#include "base/limits.h"
#include "base/mem.h"
#include "text/tokens.h"
#include "tool/door.h"

/* --- Helpers ------------------------------------------------------------------------------------------------------ */
#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

static lt_provider provider = {.name = TEXT("p")};

typedef struct table {
  lt_arena arena;
  lt_catalog *catalog;
  lt_tool_definitions *wire;
} table;

static void make_table(table *t, const lt_catalog_source *sources, size_t count) {
  lt_arena_init(&t->arena, LT_GIB);
  assert_int_equal(lt_catalog_new(sources, count, &t->catalog, NULL), LT_OK);
  assert_int_equal(lt_tool_definitions_new(&t->arena, t->catalog, &t->wire, NULL), LT_OK);
}

static void release_table(table *t) {
  lt_catalog_unref(t->catalog);
  lt_arena_release(&t->arena);
}

/* Tools of one namespace, by name; NULL at the end. */
static void make_tools(table *t, const char *ns, const char *const *names) {
  lt_tool_spec specs[64] = {{.name = {NULL, 0}}};
  size_t count = 0;
  for (; names[count] != NULL; count++) {
    specs[count].name = lt_str_of(names[count]);
  }
  const lt_catalog_source source = {.ns = lt_str_of(ns), .provider = &provider, .tools = specs, .count = count};
  make_table(t, &source, 1);
}

static void assert_text(lt_str got, const char *want) {
  char *text = lt_mem_strdup(got);
  assert_string_equal(text, want);
  lt_mem_free(text);
}

/* Every name is allowed, nobody else's, and leads back. */
static void check_table(const table *t) {
  for (size_t i = 0; i < lt_catalog_count(t->catalog); i++) {
    const lt_tool *tool = lt_catalog_at(t->catalog, i);
    lt_str name = lt_tool_definitions_name(t->wire, tool->id);
    assert_in_range(name.n, 1, 64);
    for (size_t k = 0; k < name.n; k++) {
      assert_non_null(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", name.p[k]));
    }
    assert_ptr_equal(lt_tool_definitions_find(t->wire, name), tool);
  }
}

/* --- Names -------------------------------------------------------------------------------------------------------- */
static void test_names(void **state) {
  (void)state;
  static const char *const names[] = {"get-weather",
                                      "a.b",
                                      "with space",
                                      "gr\xC3\xB6\xC3\x9F"
                                      "e",
                                      "\xE5\xA4\xA9",
                                      NULL};
  table t;
  make_tools(&t, "weather", names);
  assert_text(lt_tool_definitions_name(t.wire, LT_STR("weather.get-weather")), "weather_get-weather");
  assert_text(lt_tool_definitions_name(t.wire, LT_STR("weather.a.b")), "weather_a_b");
  assert_text(lt_tool_definitions_name(t.wire, LT_STR("weather.with space")), "weather_with_space");
  assert_text(lt_tool_definitions_name(t.wire, LT_STR("weather.gr\xC3\xB6\xC3\x9F"
                                                      "e")),
              "weather_gr__e");
  assert_text(lt_tool_definitions_name(t.wire, LT_STR("weather.\xE5\xA4\xA9")), "weather__");
  assert_int_equal(lt_tool_definitions_name(t.wire, LT_STR("weather.none")).n, 0);
  assert_int_equal(lt_tool_definitions_name(NULL, LT_STR("weather.a.b")).n, 0);
  check_table(&t);
  release_table(&t);
}

/* Models write the id now and then. */
static void test_ids_are_found(void **state) {
  (void)state;
  static const char *const names[] = {"get-weather", NULL};
  table t;
  make_tools(&t, "weather", names);
  assert_ptr_equal(lt_tool_definitions_find(t.wire, LT_STR("weather.get-weather")), lt_catalog_at(t.catalog, 0));
  assert_null(lt_tool_definitions_find(t.wire, LT_STR("get-weather")));
  assert_null(lt_tool_definitions_find(t.wire, LT_STR("")));
  assert_null(lt_tool_definitions_find(t.wire, LT_STR("weather_get-weather\0")));
  release_table(&t);
}

static void test_collisions(void **state) {
  (void)state;
  static const char *const names[] = {"b.c",
                                      "b_c",
                                      "b c",
                                      "b\xC3\xA4"
                                      "c",
                                      "b:c",
                                      NULL};
  table t;
  make_tools(&t, "a", names);
  assert_text(lt_tool_definitions_name(t.wire, LT_STR("a.b c")), "a_b_c"); /* the first by id */
  lt_str later = lt_tool_definitions_name(t.wire, LT_STR("a.b_c"));
  assert_int_equal(later.n, strlen("a_b_c_01234567"));
  assert_true(lt_str_starts(later, LT_STR("a_b_c_")));
  check_table(&t);
  release_table(&t);
}

/* The name that a collision's hash gives may be another tool's own: that one keeps it. */
static void test_a_hash_takes_nobodys_name(void **state) {
  (void)state;
  static const char *const two[] = {"b.c", "b_c", NULL};
  char taken[80];
  table t;
  make_tools(&t, "a", two);
  lt_str hashed = lt_tool_definitions_name(t.wire, LT_STR("a.b_c"));
  snprintf(taken, sizeof taken, "%.*s", (int)hashed.n - 2, hashed.p + 2);
  release_table(&t);
  const char *const three[] = {"b.c", "b_c", taken, NULL};
  char id[90], want[90];
  make_tools(&t, "a", three);
  snprintf(id, sizeof id, "a.%s", taken);
  snprintf(want, sizeof want, "a_%s", taken);
  assert_text(lt_tool_definitions_name(t.wire, lt_str_of(id)), want);
  check_table(&t);
  release_table(&t);
}

static void test_overflow(void **state) {
  (void)state;
  char fits[80], longer[80], other[80], wide[200] = "";
  memset(fits, 'x', sizeof fits);
  memcpy(longer, fits, sizeof fits);
  memcpy(other, fits, sizeof fits);
  fits[62] = '\0'; /* with "a." 64 */
  longer[63] = '\0';
  other[63] = '\0';
  other[62] = 'y';
  for (size_t i = 0; i < 62; i++) {
    strcat(wide, "\xC3\xA4");
  }
  const char *const names[] = {fits, longer, other, wide, NULL};
  table t;
  make_tools(&t, "a", names);
  check_table(&t);
  char id[300];
  snprintf(id, sizeof id, "a.%s", fits);
  assert_int_equal(lt_tool_definitions_name(t.wire, lt_str_of(id)).n, 64);
  assert_true(lt_str_ends(lt_tool_definitions_name(t.wire, lt_str_of(id)), LT_STR("xxxxxxxxxx")));
  snprintf(id, sizeof id, "a.%s", longer);
  lt_str name = lt_tool_definitions_name(t.wire, lt_str_of(id));
  assert_int_equal(name.n, 64);
  assert_int_equal(name.p[64 - 9], '_');
  snprintf(id, sizeof id, "a.%s", wide); /* 64 characters in 126 bytes */
  name = lt_tool_definitions_name(t.wire, lt_str_of(id));
  assert_int_equal(name.n, 64);
  assert_true(lt_str_ends(name, LT_STR("__________")));
  release_table(&t);
}

/* 20,000 tools that are all alike on the wire, twice the same. */
static void test_many(void **state) {
  (void)state;
  enum { COUNT = LT_TOOLS_MAX };
  lt_tool_spec *specs = lt_mem_zalloc(COUNT, sizeof *specs);
  char(*names)[16] = lt_mem_zalloc(COUNT, sizeof *names);
  for (size_t i = 0; i < COUNT; i++) {
    size_t n = 0; /* 14 bits as "." or ":" */
    for (size_t bit = 0; bit < 15; bit++) {
      names[i][n++] = i >> bit & 1 ? '.' : ':';
    }
    specs[i].name = lt_str_from(names[i], n);
  }
  const lt_catalog_source source = {.ns = LT_STR("a"), .provider = &provider, .tools = specs, .count = COUNT};
  table t, again;
  make_table(&t, &source, 1);
  make_table(&again, &source, 1);
  check_table(&t);
  for (size_t i = 0; i < COUNT; i++) {
    lt_str id = lt_catalog_at(t.catalog, i)->id;
    assert_true(lt_str_eq(lt_tool_definitions_name(t.wire, id), lt_tool_definitions_name(again.wire, id)));
  }
  release_table(&t);
  release_table(&again);
  lt_mem_free(specs);
  lt_mem_free(names);
}

static void test_no_tools(void **state) {
  (void)state;
  table t;
  make_table(&t, NULL, 0);
  assert_null(lt_tool_definitions_find(t.wire, LT_STR("x")));
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_tool_definitions_put_all(t.wire, &out, NULL), LT_OK);
  assert_string_equal(out.p, "[]");
  lt_buf_release(&out);
  release_table(&t);
}

/* --- Definitions -------------------------------------------------------------------------------------------------- */
static void check_parameters(const char *schema, const char *want) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_tool_definitions_put_one(&w, LT_STR("n"), LT_STR(""), lt_str_of(schema));
  char expected[1024];
  snprintf(expected, sizeof expected, "{\"type\":\"function\",\"function\":{\"name\":\"n\",\"parameters\":%s}}", want);
  assert_string_equal(out.p, expected);
  lt_buf_release(&out);
}

#define EMPTY "{\"type\":\"object\",\"properties\":{}}"

static void test_parameters(void **state) {
  (void)state;
  static const char *const none[] = {"",
                                     "{}",
                                     "true",
                                     "null",
                                     "[1]",
                                     "\"x\"",
                                     "{",
                                     "{\"type\":\"string\"}",
                                     "{\"type\":[\"object\",\"null\"]}",
                                     "{\"type\":\"array\",\"properties\":{}}",
                                     "{\"properties\":7}",
                                     "{\"type\":\"object\",\"properties\":[]}"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    check_parameters(none[i], EMPTY);
  }
  check_parameters(
      "{ \"$schema\": \"http://json-schema.org/draft-07/schema#\", \"properties\" : {\"a\": {\"type\": \"number\"}},\n"
      " \"required\": [\"a\"], \"type\": \"object\", \"additionalProperties\": false }",
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"}},\"required\":[\"a\"],"
      "\"additionalProperties\":false}");
  check_parameters("{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"null\"}]}}}",
                   "{\"type\":\"object\",\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"null\"}]}}}");
  check_parameters("{\"anyOf\":[{\"required\":[\"a\"]}],\"properties\":{\"a\":{}}}",
                   "{\"type\":\"object\",\"properties\":{\"a\":{}}}");
  check_parameters("{\"type\":\"object\",\"required\":[\"x\"]}",
                   "{\"type\":\"object\",\"properties\":{},\"required\":[\"x\"]}");
}

static void test_definitions(void **state) {
  (void)state;
  static const lt_tool_spec specs[] = {
      {.name = TEXT("b"), .description = TEXT("Says \"b\"\n")},
      {.name = TEXT("a")},
  };
  const lt_catalog_source source = {.ns = LT_STR("t"), .provider = &provider, .tools = specs, .count = 2};
  table t;
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  make_table(&t, &source, 1);
  assert_int_equal(lt_tool_definitions_put_all(t.wire, &out, NULL), LT_OK);
  assert_string_equal(out.p, "[{\"type\":\"function\",\"function\":{\"name\":\"t_a\",\"parameters\":" EMPTY
                             "}},{\"type\":\"function\",\"function\":{\"name\":\"t_b\",\"description\":\"Says "
                             "\\\"b\\\"\\n\",\"parameters\":" EMPTY "}}]");
  lt_buf_release(&out);
  release_table(&t);
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */
static void check_answer(const char *json, const char *want) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_tool_answer_put(&w, lt_str_of(json));
  assert_string_equal(out.p, want);
  assert_int_equal(lt_json_check(lt_buf_view(&out), NULL), LT_OK);
  lt_buf_release(&out);
}

static void test_answers(void **state) {
  (void)state;
  static const char *const nothing[] = {"", "null", " null\n", "\"\"", "  "};
  for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
    check_answer(nothing[i], "\"(completed, no output)\"");
  }
  check_answer("42", "\"42\"");
  check_answer("false", "\"false\"");
  check_answer("{\"a\": \"b\"}", "\"{\\\"a\\\": \\\"b\\\"}\"");
  check_answer("\"plain \\u00e9\\ud83d\\n\"", "\"plain \xC3\xA9\\ud83d\\n\"");
  check_answer("\"broken", "\"\\\"broken\"");
  check_answer("{broken", "\"{broken\"");
  check_answer("\"\xff\"", "\"\\\"\xEF\xBF\xBD\\\"\"");
}

static void check_failure(const char *message, const char *want) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_tool_answer_put_failure(&out, LT_STR("a.b"), lt_str_of(message));
  assert_string_equal(out.p, want);
  lt_buf_release(&out);
}

static void test_failures(void **state) {
  (void)state;
  check_failure("no", "Error in tool \"a.b\": no");
  check_failure("Tool \"a.b\" was not approved: no", "Tool \"a.b\" was not approved: no");
}

/* --- TypeScript's one tool ---------------------------------------------------------------------------------------- */
static char *describe(const lt_catalog *catalog, const lt_run_request *world, size_t max_tokens) {
  lt_buf out, again;
  lt_buf_init(&out, LT_GIB);
  lt_buf_init(&again, LT_GIB);
  assert_int_equal(lt_typescript_tool_describe(catalog, world, max_tokens, &out, NULL), LT_OK);
  assert_int_equal(lt_typescript_tool_describe(catalog, world, max_tokens, &again, NULL), LT_OK);
  assert_string_equal(out.p, again.p);
  lt_buf_release(&again);
  return lt_buf_take(&out, NULL);
}

static void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    fail_msg("no \"%s\" in: %s", part, text);
  }
}

static void assert_lacks(const char *text, const char *part) {
  if (strstr(text, part) != NULL) {
    fail_msg("\"%s\" in: %s", part, text);
  }
}

static lt_catalog *many_tools(size_t namespaces, size_t each) {
  static char names[64][24], spaces[4096][24];
  static lt_tool_spec specs[64];
  lt_catalog_source *sources = lt_mem_zalloc(namespaces, sizeof *sources);
  lt_catalog *catalog;
  assert_true(each <= 64 && namespaces <= 4096);
  for (size_t i = 0; i < each; i++) {
    snprintf(names[i], sizeof names[i], "do-%zu", i);
    specs[i] = (lt_tool_spec){.name = lt_str_of(names[i]), .of_plugin = true};
  }
  for (size_t i = 0; i < namespaces; i++) {
    snprintf(spaces[i], sizeof spaces[i], "s%04zu", i);
    sources[i] = (lt_catalog_source){.ns = lt_str_of(spaces[i]), .provider = &provider, .tools = specs, .count = each};
  }
  assert_int_equal(lt_catalog_new(sources, namespaces, &catalog, NULL), LT_OK);
  lt_mem_free(sources);
  return catalog;
}

static const lt_run_request no_world;

static void test_declared(void **state) {
  (void)state;
  static const lt_tool_spec specs[] = {{
      .name = TEXT("get-weather"),
      .input_schema = TEXT("{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}}"),
  }};
  static const lt_run_function functions[] = {
      {.name = TEXT("llm"), .signature = TEXT("(prompt) \xE2\x86\x92 text"), .description = TEXT("Asks a model")}};
  static const lt_run_module modules[] = {{.name = TEXT("dates")}, {.name = TEXT("text")}};
  const lt_run_request world = {.functions = functions, .function_count = 1, .modules = modules, .module_count = 2};
  const lt_catalog_source source = {.ns = LT_STR("weather"), .provider = &provider, .tools = specs, .count = 1};
  lt_catalog *catalog;
  assert_int_equal(lt_catalog_new(&source, 1, &catalog, NULL), LT_OK);
  char *text = describe(catalog, &world, 1000);
  assert_has(text, "Use `console.log` to print output.\n");
  assert_has(text, "The final result of the tool call will be the standard output of the script.\n");
  assert_has(text, "```typescript\ntype Result<T> =");
  assert_has(text, "export interface GetWeatherInput {\n  city?: string;\n}");
  assert_has(text, "declare function get_weather(");
  assert_has(text, "- llm(prompt) \xE2\x86\x92 text: Asks a model\n");
  assert_has(text, "Modules to import: `dates`, `text`\n");
  assert_lacks(text, "Deno runtime");
  lt_mem_free(text);
  lt_catalog_unref(catalog);
}

/* As much as the budget allows, and never more. */
static void test_too_many_to_declare(void **state) {
  (void)state;
  lt_catalog *few = many_tools(3, 4), *lots = many_tools(4000, 5);
  char *text = describe(few, &no_world, 10000);
  assert_has(text, "declare function s0002_do_3(");
  lt_mem_free(text);
  text = describe(few, &no_world, 200);
  assert_has(text, "There are 12 tools");
  assert_has(text, "**s0001**: s0001_do_0, s0001_do_1, s0001_do_2, s0001_do_3\n");
  assert_has(text, "discoverTools(");
  assert_lacks(text, "declare function");
  lt_mem_free(text);
  text = describe(few, &no_world, 60);
  assert_has(text, "**s0000**: 4 tools\n**s0001**: 4 tools\n**s0002**: 4 tools\n");
  lt_mem_free(text);
  text = describe(lots, &no_world, 1000);
  assert_has(text, "There are 20000 tools");
  assert_has(text, "**s0000**: 5 tools\n");
  assert_has(text, "... and more\n");
  assert_true(lt_tokens_estimate(lt_str_of(text)) < 1000 + 500);
  lt_mem_free(text);
  lt_catalog_unref(few);
  lt_catalog_unref(lots);
}

static void test_nothing_to_declare(void **state) {
  (void)state;
  lt_catalog *none;
  assert_int_equal(lt_catalog_new(NULL, 0, &none, NULL), LT_OK);
  char *text = describe(none, &no_world, 1000);
  assert_has(text, "No tools are configured.\n");
  lt_mem_free(text);
  lt_catalog_unref(none);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */
static void test_without_memory(void **state) {
  (void)state;
  static const lt_tool_spec specs[] = {{.name = TEXT("a"), .input_schema = TEXT("{\"required\":[\"x\"]}")},
                                       {.name = TEXT("b")}};
  const lt_catalog_source source = {.ns = LT_STR("t"), .provider = &provider, .tools = specs, .count = 2};
  lt_catalog *catalog;
  bool failed = true;
  assert_int_equal(lt_catalog_new(&source, 1, &catalog, NULL), LT_OK);
  for (long n = 0; failed; n++) {
    lt_arena arena;
    lt_tool_definitions *wire;
    lt_buf out, tool;
    lt_arena_init(&arena, LT_GIB);
    lt_buf_init(&out, LT_GIB);
    lt_buf_init(&tool, LT_GIB);
    lt_mem_fail_at(n);
    lt_status status = lt_tool_definitions_new(&arena, catalog, &wire, NULL);
    if (status == LT_OK) {
      status = lt_tool_definitions_put_all(wire, &out, NULL);
    }
    if (status == LT_OK) {
      status = lt_typescript_tool_define(catalog, &no_world, 100, &tool, NULL);
    }
    failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
    assert_true(failed || strstr(out.p, "\"required\":[\"x\"]") != NULL);
    lt_buf_release(&out);
    lt_buf_release(&tool);
    lt_arena_release(&arena);
  }
  lt_catalog_unref(catalog);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_ids_are_found),
      cmocka_unit_test(test_collisions),
      cmocka_unit_test(test_a_hash_takes_nobodys_name),
      cmocka_unit_test(test_overflow),
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_no_tools),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_definitions),
      cmocka_unit_test(test_answers),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_declared),
      cmocka_unit_test(test_too_many_to_declare),
      cmocka_unit_test(test_nothing_to_declare),
      cmocka_unit_test(test_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
