/* The catalog: order, look-ups, repeated tools, suggestions, search, size, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tool/catalog_suggest.h"

/* LT_STR where only a constant will do. */
#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

static const lt_tool_spec weather_tools[] = {
    {.name = TEXT("get-weather"),
     .description = TEXT("Current conditions of a place"),
     .input_schema = TEXT("{\"type\":\"object\",\"properties\":{\"latitude\":{\"type\":\"number\"}}}"),
     .annotations = TEXT("{\"readOnlyHint\":true}")},
    {.name = TEXT("forecast"), .description = TEXT("The weather of the next days"), .input_schema = TEXT(" ")},
};
static const lt_tool_spec file_tools[] = {
    {.name = TEXT("readFile"),
     .description = TEXT("Read a file"),
     .input_schema = TEXT("{\"properties\":{\"path\":{},\"maxBytes\":{}}}")},
    {.name = TEXT("write_file"), .description = TEXT("Write a file to disk"), .input_schema = TEXT("not JSON")},
};

static const lt_catalog_source sources[] = {
    {.ns = TEXT("weather"), .tools = weather_tools, .count = 2},
    {.ns = TEXT("fs"), .tools = file_tools, .count = 2},
};

static lt_catalog *make(void) {
  lt_catalog *catalog = NULL;
  assert_int_equal(lt_catalog_new(sources, 2, &catalog, NULL), LT_OK);
  return catalog;
}

static void expect_id(const lt_tool *tool, const char *id) {
  assert_non_null(tool);
  assert_true(lt_str_eqc(tool->id, id));
}

static void tools_are_in_id_order_and_found_by_every_name(void **state) {
  (void)state;
  lt_catalog *c = make();
  assert_int_equal(lt_catalog_count(c), 4);
  expect_id(lt_catalog_at(c, 0), "fs.readFile");
  expect_id(lt_catalog_at(c, 1), "fs.write_file");
  expect_id(lt_catalog_at(c, 2), "weather.forecast");
  expect_id(lt_catalog_at(c, 3), "weather.get-weather");
  assert_null(lt_catalog_at(c, 4));
  expect_id(lt_catalog_find(c, LT_STR("weather.get-weather")), "weather.get-weather");
  expect_id(lt_catalog_find_js(c, LT_STR("weatherGetWeather")), "weather.get-weather");
  expect_id(lt_catalog_find_ts(c, LT_STR("get_weather")), "weather.get-weather");
  assert_null(lt_catalog_find(c, LT_STR("weatherGetWeather")));
  assert_null(lt_catalog_find(c, LT_STR("")));
  assert_null(lt_catalog_find_js(c, LT_STR("weather.get-weather")));
  lt_catalog_unref(c);
}

static void what_the_provider_said_is_copied(void **state) {
  (void)state;
  char text[] = "short-lived";
  lt_tool_spec spec = {.name = lt_str_of(text), .description = lt_str_of(text), .output_schema = lt_str_of(text)};
  lt_catalog_source source = {.ns = LT_STR("x"), .provider = (lt_provider *)(void *)text, .tools = &spec, .count = 1};
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(&source, 1, &c, NULL), LT_OK);
  memset(text, '#', sizeof text - 1);
  const lt_tool *tool = lt_catalog_at(c, 0);
  assert_true(lt_str_eqc(tool->id, "x.short-lived"));
  assert_true(lt_str_eqc(tool->ns, "x"));
  assert_true(lt_str_eqc(tool->name, "short-lived"));
  assert_true(lt_str_eqc(tool->description, "short-lived"));
  assert_true(lt_str_eqc(tool->output_schema, "short-lived"));
  assert_true(lt_str_eqc(tool->input_schema, "{}"));
  assert_int_equal(tool->annotations.n, 0);
  assert_ptr_equal(tool->provider, text);
  lt_catalog_unref(c);
}

static void repeated_tools_keep_the_first_and_warn(void **state) {
  (void)state;
  const lt_tool_spec twice[] = {{.name = LT_STR("t"), .description = LT_STR("first")},
                                {.name = LT_STR("t"), .description = LT_STR("second")},
                                {.name = LT_STR("a")}};
  const lt_tool_spec dotted = {.name = LT_STR("b.c")};
  const lt_tool_spec plain = {.name = LT_STR("c")};
  const lt_catalog_source all[] = {
      {.ns = LT_STR("a"), .tools = &dotted, .count = 1},
      {.ns = LT_STR("a.b"), .tools = &plain, .count = 1},
      {.ns = LT_STR("s"), .tools = twice, .count = 3},
  };
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(all, 3, &c, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(c), 3);
  assert_true(lt_str_eqc(lt_catalog_find(c, LT_STR("s.t"))->description, "first"));
  assert_true(lt_str_eqc(lt_catalog_find(c, LT_STR("a.b.c"))->ns, "a"));
  const lt_str *warnings;
  assert_int_equal(lt_catalog_warnings(c, &warnings), 2);
  assert_true(lt_str_find(warnings[0], LT_STR("\"a.b.c\""), 0) != SIZE_MAX);
  assert_true(lt_str_find(warnings[1], LT_STR("\"s.t\""), 0) != SIZE_MAX);
  lt_catalog_unref(c);
}

/* A server's "list" keeps its name, whatever plugins there are. */
static void plugins_tools_have_the_plugins_name_in_typescript(void **state) {
  (void)state;
  static const lt_tool_spec of_server[] = {{.name = TEXT("list")}, {.name = TEXT("todo_list")}};
  static const lt_tool_spec of_plugin[] = {{.name = TEXT("list"), .of_plugin = true}};
  static const lt_catalog_source both[] = {
      {.ns = TEXT("files"), .tools = of_server, .count = 1},
      {.ns = TEXT("todo"), .tools = of_plugin, .count = 1},
  };
  static const lt_catalog_source clash[] = {
      {.ns = TEXT("files"), .tools = of_server, .count = 2},
      {.ns = TEXT("todo"), .tools = of_plugin, .count = 1},
  };
  lt_catalog *c = NULL;
  const lt_str *warnings;
  assert_int_equal(lt_catalog_new(both, 2, &c, NULL), LT_OK);
  expect_id(lt_catalog_find_ts(c, LT_STR("list")), "files.list");
  expect_id(lt_catalog_find_ts(c, LT_STR("todo_list")), "todo.list");
  assert_int_equal(lt_catalog_warnings(c, &warnings), 0);
  lt_catalog_unref(c);
  assert_int_equal(lt_catalog_new(clash, 2, &c, NULL), LT_OK);
  expect_id(lt_catalog_find_ts(c, LT_STR("files_todo_list")), "files.todo_list");
  expect_id(lt_catalog_find_ts(c, LT_STR("todo_list")), "todo.list");
  lt_catalog_unref(c);
}

/* Tools of which nobody says whose they are, and which only models call. */
static const lt_tool_spec bare_tools[] = {
    {.name = TEXT("execute_plan"), .of_plugin = true, .not_for_programs = true},
    {.name = TEXT("plain"), .of_plugin = true},
};
static const lt_tool_spec taken_tools[] = {{.name = TEXT("execute_plan")}};
static const lt_catalog_source with_bare[] = {
    {.ns = TEXT(""), .tools = bare_tools, .count = 2},
    {.ns = TEXT("down")},
    {.ns = TEXT("weather"), .tools = weather_tools, .count = 2},
    {.ns = TEXT("x"), .tools = taken_tools, .count = 1},
};

static void a_name_without_a_namespace_is_the_same_everywhere(void **state) {
  (void)state;
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(with_bare, 4, &c, NULL), LT_OK);
  const lt_tool *tool = lt_catalog_find(c, LT_STR("execute_plan"));
  expect_id(tool, "execute_plan");
  assert_true(lt_str_eqc(tool->js_name, "execute_plan"));
  assert_true(lt_str_eqc(tool->ts_name, "execute_plan"));
  lt_catalog_unref(c);
}

static void programs_have_a_catalog_of_their_own(void **state) {
  (void)state;
  lt_catalog *c = make(), *same, *narrow, *again;
  assert_int_equal(lt_catalog_for_programs(c, &same, NULL), LT_OK);
  assert_ptr_equal(same, c); /* there is nothing to leave out */
  lt_catalog_unref(same);
  lt_catalog_unref(c);
  assert_int_equal(lt_catalog_new(with_bare, 4, &c, NULL), LT_OK);
  assert_int_equal(lt_catalog_for_programs(c, &narrow, NULL), LT_OK);
  assert_int_equal(lt_catalog_for_programs(c, &again, NULL), LT_OK);
  assert_ptr_equal(narrow, again);
  lt_catalog_unref(again);
  assert_int_equal(lt_catalog_count(c), 5);
  lt_catalog_unref(c); /* whoever has the one for programs does not need the other */
  assert_int_equal(lt_catalog_count(narrow), 4);
  assert_null(lt_catalog_find(narrow, LT_STR("execute_plan")));
  assert_true(lt_catalog_withholds(narrow, LT_STR("execute_plan")));
  assert_false(lt_catalog_withholds(narrow, LT_STR("plain")));
  expect_id(lt_catalog_find(narrow, LT_STR("plain")), "plain");
  expect_id(lt_catalog_find_ts(narrow, LT_STR("execute_plan")), "x.execute_plan"); /* the name is free */
  const lt_tool *tool = lt_catalog_find(narrow, LT_STR("weather.get-weather"));
  assert_true(lt_str_eqc(tool->annotations, "{\"readOnlyHint\":true}"));
  assert_true(lt_str_eqc(tool->ns, "weather"));
  const lt_str *silent;
  assert_int_equal(lt_catalog_silent(narrow, &silent), 1);
  assert_true(lt_str_eqc(silent[0], "down"));
  lt_catalog_unref(narrow);
}

static void without_memory_programs_get_no_catalog_at_all(void **state) {
  (void)state;
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(with_bare, 4, &c, NULL), LT_OK);
  lt_status status = LT_E_NOMEM;
  for (long n = 0; status != LT_OK; n++) {
    lt_catalog *narrow = NULL;
    lt_mem_fail_at(n);
    status = lt_catalog_for_programs(c, &narrow, NULL);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(failed ? LT_E_NOMEM : LT_OK, status);
    assert_int_equal(failed, narrow == NULL);
    lt_catalog_unref(narrow);
  }
  lt_catalog_unref(c);
}

static void whatever_it_is_called_it_is_found(void **state) {
  (void)state;
  lt_catalog *c = make();
  static const char *const names[] = {"weather.get-weather", "weatherGetWeather", "weather_get-weather", "get_weather"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    expect_id(lt_catalog_find_any(c, lt_str_of(names[i])), "weather.get-weather");
  }
  assert_null(lt_catalog_find_any(c, LT_STR("weather_get-weathe")));
  assert_null(lt_catalog_find_any(c, LT_STR("weather_get-weather_")));
  assert_null(lt_catalog_find_any(c, LT_STR("")));
  lt_catalog_unref(c);
}

static void put_similar_name(void *arg, const lt_tool_suggestion *suggestion, lt_buf *message) {
  (void)arg;
  lt_buf_add(message, suggestion->name);
}

/* `expected` is the beginning of the list of names; NULL: there is no suggestion. */
static void expect_best(const lt_catalog *c, const char *wanted, const char *expected) {
  LT_AUTO_BUF(message, 1000);
  LT_AUTO_BUF(begin, 1000);
  bool is_any = lt_catalog_suggest_put(c, lt_str_of(wanted), put_similar_name, NULL, &message);
  assert_int_equal(is_any, expected != NULL);
  lt_buf_printf(&begin, ". Did you mean: %s", expected != NULL ? expected : "");
  if (is_any && !lt_str_starts(lt_buf_view(&message), lt_buf_view(&begin))) {
    fail_msg("%s: got %s, not %s", wanted, message.p, begin.p);
  }
}

static void the_empty_catalog_answers_too(void **state) {
  (void)state;
  lt_catalog *c = NULL;
  uint32_t found[1];
  const lt_str *warnings;
  assert_int_equal(lt_catalog_new(NULL, 0, &c, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(c), 0);
  assert_null(lt_catalog_find(c, LT_STR("a.b")));
  expect_best(c, "a.b", NULL);
  assert_int_equal(lt_catalog_search(c, LT_STR("a"), found, 1), 0);
  assert_int_equal(lt_catalog_warnings(c, &warnings), 0);
  lt_catalog_unref(c);
  lt_catalog_unref(NULL);
}

static void references_keep_a_snapshot(void **state) {
  (void)state;
  lt_catalog *c = make();
  lt_catalog *again = lt_catalog_ref(c);
  lt_catalog_unref(c);
  expect_id(lt_catalog_at(again, 0), "fs.readFile");
  lt_catalog_unref(again);
}

/* --- Suggestions -------------------------------------------------------------------------------------------------- */
static void suggestions_are_what_was_meant(void **state) {
  (void)state;
  lt_catalog *c = make();
  expect_best(c, "weatherGetWether", "weatherGetWeather");
  expect_best(c, "weathergetweather", "weatherGetWeather");
  expect_best(c, "weatherGet", "weatherGetWeather");
  expect_best(c, "getWeather", "get_weather");
  expect_best(c, "get_wheather", "get_weather");
  expect_best(c, "weather.getweather", "weather.get-weather");
  expect_best(c, "weather.get_weather", "weather.get-weather");
  expect_best(c, "fs.readfile", "fs.readFile");
  expect_best(c, "fsReadFileSync", "fsReadFile");
  expect_best(c, "forcast", "forecast");
  expect_best(c, "weatherGetTemperature", NULL);
  expect_best(c, "x", NULL);
  expect_best(c, "", NULL);
  expect_best(c, "sendEmail", NULL);
  lt_catalog_unref(c);
}

static void suggestions_are_few_and_best_first(void **state) {
  (void)state;
  const lt_tool_spec specs[] = {{.name = LT_STR("list_a")},
                                {.name = LT_STR("list_b")},
                                {.name = LT_STR("list_c")},
                                {.name = LT_STR("list_dd")},
                                {.name = LT_STR("lists")}};
  const lt_catalog_source source = {.ns = LT_STR("s"), .tools = specs, .count = 5};
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(&source, 1, &c, NULL), LT_OK);
  assert_int_equal(LT_TOOL_SUGGESTIONS, 3);
  expect_best(c, "list", "lists, list_a, list_b?");
  lt_catalog_unref(c);
}

static void put_unless_first(void *arg, const lt_tool_suggestion *suggestion, lt_buf *message) {
  if (!lt_str_eq(suggestion->tool->id, *(const lt_str *)arg)) {
    lt_buf_add(message, suggestion->tool->id);
  }
}

static void expect_sentence(const lt_catalog *c, const char *begin, lt_str hidden, const char *expected) {
  LT_AUTO_BUF(message, 1000);
  lt_buf_addc(&message, begin);
  bool is_any = lt_catalog_suggest_put(c, LT_STR("list"), put_unless_first, &hidden, &message);
  assert_int_equal(is_any, strcmp(begin, expected) != 0);
  assert_string_equal(message.p, expected);
}

static void the_sentence_leaves_out_what_the_reader_does_not_see(void **state) {
  (void)state;
  const lt_tool_spec specs[] = {{.name = LT_STR("list_a")}, {.name = LT_STR("lists")}};
  const lt_catalog_source both = {.ns = LT_STR("s"), .tools = specs, .count = 2};
  const lt_catalog_source one = {.ns = LT_STR("s"), .tools = specs, .count = 1};
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(&both, 1, &c, NULL), LT_OK);
  expect_sentence(c, "no list", LT_STR(""), "no list. Did you mean: s.lists, s.list_a?");
  expect_sentence(c, "no list.", LT_STR("s.lists"), "no list. Did you mean: s.list_a?");
  expect_sentence(c, "no list.", LT_STR("s.list_a"), "no list. Did you mean: s.lists?");
  lt_catalog_unref(c);
  assert_int_equal(lt_catalog_new(&one, 1, &c, NULL), LT_OK);
  expect_sentence(c, "no list", LT_STR("s.list_a"), "no list");
  lt_catalog_unref(c);
}

/* --- Search ------------------------------------------------------------------------------------------------------- */
static void expect_found(const lt_catalog *c, const char *query, size_t count, const char *const *ids) {
  uint32_t found[8];
  size_t n = lt_catalog_search(c, lt_str_of(query), found, 8);
  assert_int_equal(n, count);
  for (size_t i = 0; i < n; i++) {
    expect_id(lt_catalog_at(c, found[i]), ids[i]);
  }
}

static void search_finds_by_id_description_and_parameters(void **state) {
  (void)state;
  lt_catalog *c = make();
  expect_found(c, "weather", 2, (const char *const[]){"weather.get-weather", "weather.forecast"});
  expect_found(c, "latitude", 1, (const char *const[]){"weather.get-weather"});
  expect_found(c, "bytes", 1, (const char *const[]){"fs.readFile"});
  expect_found(c, "read", 1, (const char *const[]){"fs.readFile"});
  expect_found(c, "DISK write", 1, (const char *const[]){"fs.write_file"});
  expect_found(c, "writeFile", 2, (const char *const[]){"fs.write_file", "fs.readFile"});
  expect_found(c, "cond", 1, (const char *const[]){"weather.get-weather"});
  expect_found(c, "email", 0, NULL);
  lt_catalog_unref(c);
}

static void an_empty_query_finds_all_in_order(void **state) {
  (void)state;
  lt_catalog *c = make();
  static const char *const all[] = {"fs.readFile", "fs.write_file", "weather.forecast", "weather.get-weather"};
  expect_found(c, "", 4, all);
  expect_found(c, " * ", 4, all);
  uint32_t two[2];
  assert_int_equal(lt_catalog_search(c, LT_STR(""), two, 2), 2);
  assert_int_equal(lt_catalog_search(c, LT_STR("file"), two, 1), 1);
  lt_catalog_unref(c);
}

static void a_whole_compound_is_one_word_too(void **state) {
  (void)state;
  const lt_tool_spec spec = {.name = LT_STR("GitHubSearch")};
  const lt_catalog_source source = {.ns = LT_STR("s"), .tools = &spec, .count = 1};
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(&source, 1, &c, NULL), LT_OK);
  expect_found(c, "github", 1, (const char *const[]){"s.GitHubSearch"});
  expect_found(c, "hub", 1, (const char *const[]){"s.GitHubSearch"});
  lt_catalog_unref(c);
}

/* --- Size and memory ---------------------------------------------------------------------------------------------- */
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#define SEPARATORS "-._ :/+"

/* The i-th of 10,000 names that are all `a_b_c_d_e` as identifiers: the worst a server can do to the numbering. */
static void worst_name(char *name, unsigned i) {
  memcpy(name, "a-b-c-d-e-f", 12);
  for (size_t at = 1; at < 11; at += 2, i /= 7) {
    name[at] = SEPARATORS[i % 7];
  }
}

static void twenty_thousand_tools_take_no_time(void **state) {
  (void)state;
  static lt_tool_spec specs[LT_TOOLS_MAX];
  static char names[LT_TOOLS_MAX][32];
  for (unsigned i = 0; i < LT_TOOLS_MAX; i++) {
    if (i < 10000) {
      worst_name(names[i], i);
    } else {
      snprintf(names[i], sizeof names[i], "tool-number_%u", i);
    }
    specs[i] = (lt_tool_spec){.name = lt_str_of(names[i]),
                              .description = LT_STR("Does what its name says"),
                              .input_schema = LT_STR("{\"type\":\"object\",\"properties\":{\"a\":{}}}")};
  }
  const lt_catalog_source both[] = {{.ns = LT_STR("one"), .tools = specs, .count = 10000},
                                    {.ns = LT_STR("two"), .tools = specs + 10000, .count = 10000}};
  lt_catalog *c = NULL;
  double begin = seconds();
  assert_int_equal(lt_catalog_new(both, 2, &c, NULL), LT_OK);
  double took = seconds() - begin;
  print_message("20,000 tools: %.1f ms\n", took * 1e3);
  assert_true(took < 2.0); /* generous for sanitizers; a quadratic numbering takes far longer */
  assert_int_equal(lt_catalog_count(c), LT_TOOLS_MAX);
  for (uint32_t i = 0; i < LT_TOOLS_MAX; i++) {
    const lt_tool *tool = lt_catalog_at(c, i);
    assert_ptr_equal(lt_catalog_find(c, tool->id), tool);
    assert_ptr_equal(lt_catalog_find_ts(c, tool->ts_name), tool);
  }
  lt_catalog_unref(c);
}

static void one_tool_too_many_is_an_error(void **state) {
  (void)state;
  const lt_catalog_source two[] = {{.ns = LT_STR("a"), .tools = file_tools, .count = 1},
                                   {.ns = LT_STR("b"), .tools = NULL, .count = LT_TOOLS_MAX}};
  lt_err err = LT_ERR_INIT;
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(two, 2, &c, &err), LT_E_LIMIT);
  assert_non_null(strstr(err.msg, "20000"));
  assert_null(c);
}

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  const lt_tool_spec clash[] = {{.name = LT_STR("get-weather")},
                                {.name = LT_STR("get_weather")},
                                {.name = LT_STR("get_weather")},
                                {.name = LT_STR("delete")}};
  const lt_catalog_source all[] = {sources[0], {.ns = LT_STR("x"), .tools = clash, .count = 4}};
  for (long n = 0;; n++) {
    lt_catalog *c = NULL;
    lt_err err = LT_ERR_INIT;
    lt_mem_fail_at(n);
    lt_status status = lt_catalog_new(all, 2, &c, &err);
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      lt_catalog_unref(c);
      assert_true(n > 5);
      break;
    }
    assert_int_equal(status, LT_E_NOMEM);
    assert_null(c);
  }
}

static void search_without_memory_finds_nothing(void **state) {
  (void)state;
  lt_catalog *c = make();
  for (long n = 0;; n++) {
    uint32_t found[4];
    lt_mem_fail_at(n);
    size_t count = lt_catalog_search(c, LT_STR("weather latitude"), found, 4);
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_true(count <= 2);
    if (!failed) {
      assert_int_equal(count, 2);
      break;
    }
  }
  lt_catalog_unref(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tools_are_in_id_order_and_found_by_every_name),
      cmocka_unit_test(what_the_provider_said_is_copied),
      cmocka_unit_test(repeated_tools_keep_the_first_and_warn),
      cmocka_unit_test(plugins_tools_have_the_plugins_name_in_typescript),
      cmocka_unit_test(the_empty_catalog_answers_too),
      cmocka_unit_test(references_keep_a_snapshot),
      cmocka_unit_test(suggestions_are_what_was_meant),
      cmocka_unit_test(suggestions_are_few_and_best_first),
      cmocka_unit_test(the_sentence_leaves_out_what_the_reader_does_not_see),
      cmocka_unit_test(search_finds_by_id_description_and_parameters),
      cmocka_unit_test(an_empty_query_finds_all_in_order),
      cmocka_unit_test(a_whole_compound_is_one_word_too),
      cmocka_unit_test(twenty_thousand_tools_take_no_time),
      cmocka_unit_test(one_tool_too_many_is_an_error),
      cmocka_unit_test(a_name_without_a_namespace_is_the_same_everywhere),
      cmocka_unit_test(programs_have_a_catalog_of_their_own),
      cmocka_unit_test(without_memory_programs_get_no_catalog_at_all),
      cmocka_unit_test(whatever_it_is_called_it_is_found),
      cmocka_unit_test(every_failed_allocation_is_survived),
      cmocka_unit_test(search_without_memory_finds_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
