/* Search: how text is cut into words, what is found and in which order, what bad tools do to it, threads, memory, time.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "tool/catalog.h"
#include "tool/search/stemmer.h"
#include "unit/search_tools.h"

#define TOLD (sizeof told_tools / sizeof told_tools[0])

/* --- Words -------------------------------------------------------------------------------------------------------- */
static bool note_word(void *arg, lt_str word, bool joined) {
  lt_buf *out = arg;
  lt_buf_addc(out, out->n > 0 ? " " : "");
  lt_buf_addc(out, joined ? "+" : "");
  lt_buf_add(out, word);
  return true;
}

static void expect_words(const char *text, const char *words) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_stemmer_each_word(lt_str_of(text), note_word, &out);
  assert_string_equal(out.p != NULL ? out.p : "", words);
  lt_buf_release(&out);
}

static void names_are_cut_at_their_humps(void **state) {
  (void)state;
  expect_words("", "");
  expect_words("read", "read");
  expect_words("readFile", "read file +readfile");
  expect_words("read_text-file.now", "read text file now +readtextfilenow");
  expect_words("HTTPResponse", "http response +httpresponse");
  expect_words("HTTP2Server", "http2 server +http2server");
  expect_words("userIDs", "user ids +userids");
  expect_words("listPRs and URLs", "list prs +listprs and urls");
  expect_words("sha256, v2; a/b", "sha256 v2 a b");
  expect_words("__init__", "init");
  expect_words("it's 50%", "it s 50");
  expect_words("end.Begin", "end begin +endbegin");
  expect_words("\x1b[31m\x01x\xff\xfey", "31m x y");
}

static void other_scripts_have_words_too(void **state) {
  (void)state;
  expect_words("\xC3\x84nderung", "\xC3\xA4nderung");                                                   /* Änderung */
  expect_words("\xD0\x92\xD0\x95\xD0\xA2\xD0\x9A\xD0\x90", "\xD0\xB2\xD0\xB5\xD1\x82\xD0\xBA\xD0\xB0"); /* ВЕТКА */
  expect_words("one\xE2\x80\x94two\xE2\x80\xA6\xF0\x9F\x9A\x80three", "one two three"); /* —, …, a rocket */
  expect_words("\xE5\x88\x9B\xE5\xBB\xBA\xE5\x88\x86\xE6\x94\xAF",                      /* 创建分支 */
               "\xE5\x88\x9B\xE5\xBB\xBA \xE5\xBB\xBA\xE5\x88\x86 \xE5\x88\x86\xE6\x94\xAF");
  expect_words("\xE5\x88\x9B\xE3\x80\x82\x61\xE5\xBB\xBA", "\xE5\x88\x9B a \xE5\xBB\xBA"); /* alone: 创。a建 */
}

static void words_have_an_end(void **state) {
  (void)state;
  char text[200];
  memset(text, 'x', sizeof text);
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_stemmer_each_word(lt_str_from(text, sizeof text), note_word, &out);
  assert_int_equal(out.n, LT_WORD_MAX_BYTES);
  lt_buf_release(&out);
}

static void expect_same_stem(const char *a, const char *b) {
  char x[LT_WORD_MAX_BYTES];
  char y[LT_WORD_MAX_BYTES];
  lt_str s = lt_stemmer_stem(lt_str_of(a), x);
  lt_str t = lt_stemmer_stem(lt_str_of(b), y);
  if (!lt_str_eq(s, t)) {
    fail_msg("%s -> %.*s, %s -> %.*s", a, LT_STR_ARG(s), b, LT_STR_ARG(t));
  }
}

static void forms_of_a_word_have_one_stem(void **state) {
  (void)state;
  static const char *const same[][2] = {
      {"files", "file"},         {"branches", "branch"},  {"repositories", "repository"},
      {"boxes", "box"},          {"classes", "class"},    {"databases", "database"},
      {"creates", "create"},     {"creating", "create"},  {"created", "create"},
      {"creation", "create"},    {"deletion", "delete"},  {"committing", "commit"},
      {"copied", "copies"},      {"calling", "call"},     {"reading", "reads"},
      {"queries", "query"},      {"filtered", "filters"}, {"ids", "id"},
      {"navigation", "navigate"}};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    expect_same_stem(same[i][0], same[i][1]);
  }
  static const char *const kept[] = {"status", "class", "analysis", "string", "bring", "feed", "is", "s", "", "c3s"};
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
    char stem[LT_WORD_MAX_BYTES];
    assert_true(lt_str_eqc(lt_stemmer_stem(lt_str_of(kept[i]), stem), kept[i]));
  }
}

/* --- Ranking ------------------------------------------------------------------------------------------------------ */
static lt_str schema_of(lt_arena *arena, const char *parameters) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_buf_addc(&out, "{\"type\":\"object\",\"properties\":{\"");
  for (const char *p = parameters; *p != '\0'; p++) {
    if (*p == ' ') {
      lt_buf_addc(&out, "\":{},\"");
    } else {
      lt_buf_byte(&out, *p);
    }
  }
  lt_buf_addc(&out, "\":{}}}");
  lt_str schema = lt_arena_dup(arena, lt_buf_view(&out));
  lt_buf_release(&out);
  return schema;
}

static lt_catalog *real_tools(void) {
  lt_catalog_source sources[8] = {0};
  lt_tool_spec specs[TOLD];
  lt_arena arena;
  lt_arena_init(&arena, LT_MIB);
  size_t count = 0;
  for (size_t i = 0; i < TOLD; i++) {
    const told_tool *t = &told_tools[i];
    specs[i] = (lt_tool_spec){.name = lt_str_of(t->name),
                              .description = lt_str_of(t->description),
                              .input_schema = schema_of(&arena, t->parameters)};
    if (count == 0 || !lt_str_eqc(sources[count - 1].ns, t->ns)) {
      sources[count++] = (lt_catalog_source){.ns = lt_str_of(t->ns), .tools = &specs[i]};
    }
    sources[count - 1].count++;
  }
  lt_catalog *catalog = NULL;
  assert_int_equal(lt_catalog_new(sources, count, &catalog, NULL), LT_OK);
  lt_arena_release(&arena);
  return catalog;
}

static void expect_first(const lt_catalog *c, const char *query, const char *id) {
  uint32_t found[1];
  size_t n = lt_catalog_search(c, lt_str_of(query), found, 1);
  lt_str got = n > 0 ? lt_catalog_at(c, found[0])->id : LT_STR("nothing");
  if (!lt_str_eqc(got, id)) {
    fail_msg("%s: %.*s, not %s", query, LT_STR_ARG(got), id);
  }
}

static void what_people_ask_for_comes_first(void **state) {
  (void)state;
  static const char *const asked[][2] = {
      {"create a branch", "github.create_branch"},
      {"git branch", "git.git_branch"},
      {"read a file", "files.read_file"},
      {"read multiple files", "files.read_multiple_files"},
      {"write file", "files.write_file"},
      {"list files in a directory", "files.list_directory"},
      {"rename a file", "files.move_file"},
      {"find files matching a pattern", "files.search_files"},
      {"make line edits", "files.edit_file"},
      {"when was a file modified", "files.get_file_info"},
      {"clone repo", "git.git_clone"},
      {"commit history", "git.git_log"},
      {"staged changes", "git.git_commit"},
      {"who last modified this line", "git.git_blame"},
      {"switch branches", "git.git_checkout"},
      {"delete a tag", "git.git_tag"},
      {"stashes", "git.git_stash"},
      {"pull requests", "github.list_pull_requests"},
      {"create an issue", "github.create_issue"},
      {"commenting on issues", "github.add_issue_comment"},
      {"searching repositories", "github.search_repositories"},
      {"forking", "github.fork_repository"},
      {"retrieve page", "notion.API-retrieve-a-page"},
      {"notion comments", "notion.API-create-a-comment"},
      {"query data", "notion.API-query-data-source"},
      {"newBranchName", "git.git_branch"},
  };
  lt_catalog *c = real_tools();
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
    expect_first(c, asked[i][0], asked[i][1]);
  }
  lt_catalog_unref(c);
}

static void every_name_of_a_tool_finds_it_first(void **state) {
  (void)state;
  lt_catalog *c = real_tools();
  for (size_t i = 0; i < lt_catalog_count(c); i++) {
    const lt_tool *tool = lt_catalog_at(c, i);
    expect_first(c, tool->id.p, tool->id.p);
    char js_name[100];
    snprintf(js_name, sizeof js_name, "%.*s", LT_STR_ARG(tool->js_name));
    expect_first(c, js_name, tool->id.p);
  }
  lt_catalog_unref(c);
}

static size_t count_of(const lt_catalog *c, const char *query) {
  uint32_t found[TOLD];
  return lt_catalog_search(c, lt_str_of(query), found, TOLD);
}

static void what_no_tool_has_finds_nothing(void **state) {
  (void)state;
  lt_catalog *c = real_tools();
  assert_int_equal(count_of(c, "qqqqqq"), 0);
  assert_int_equal(count_of(c, "weather"), 0);
  assert_int_equal(count_of(c, "weather qqq \xE5\x88\x9B"), 0);
  assert_int_equal(count_of(c, "e"), 0);
  assert_int_equal(count_of(c, "weather file"), count_of(c, "file"));
  lt_catalog_unref(c);
}

static void fillers_count_only_alone(void **state) {
  (void)state;
  lt_catalog *c = real_tools();
  assert_int_equal(count_of(c, "to fork the"), count_of(c, "fork"));
  assert_true(count_of(c, "the") > 0);
  lt_catalog_unref(c);
}

static void a_beginning_finds_the_word_and_the_word_its_beginning(void **state) {
  (void)state;
  lt_catalog *c = real_tools();
  assert_true(count_of(c, "repo") > 3);
  assert_true(count_of(c, "repos") > 3);
  expect_first(c, "dir", "files.list_directory"); /* [DIR], though only there */
  expect_first(c, "authored", "git.git_log");     /* author */
  expect_first(c, "stashable", "git.git_stash");
  lt_catalog_unref(c);
}

/* --- The order ---------------------------------------------------------------------------------------------------- */
static lt_catalog *same_tools(size_t count, const char *description, lt_str schema) {
  lt_tool_spec *specs = lt_mem_zalloc(count, sizeof *specs);
  char(*names)[32] = lt_mem_zalloc(count, sizeof *names);
  assert_non_null(specs);
  assert_non_null(names);
  for (size_t i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "t%05zu", count - 1 - i);
    specs[i] =
        (lt_tool_spec){.name = lt_str_of(names[i]), .description = lt_str_of(description), .input_schema = schema};
  }
  const lt_catalog_source source = {.ns = LT_STR("s"), .tools = specs, .count = count};
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(&source, 1, &c, NULL), LT_OK);
  lt_mem_free(names);
  lt_mem_free(specs);
  return c;
}

static void equal_tools_are_in_id_order_however_many_are_asked_for(void **state) {
  (void)state;
  lt_catalog *c = same_tools(300, "Reads something", LT_STR("{}"));
  for (size_t max = 0; max < 300; max += 7) {
    uint32_t found[300];
    assert_int_equal(lt_catalog_search(c, LT_STR("reading"), found, max), max);
    for (size_t i = 0; i < max; i++) {
      assert_int_equal(found[i], i);
    }
  }
  lt_catalog_unref(c);
}

static void fewer_are_the_first_of_more(void **state) {
  (void)state;
  lt_catalog *c = real_tools();
  uint32_t all[TOLD];
  size_t n = lt_catalog_search(c, LT_STR("create branch file path"), all, TOLD);
  assert_true(n > 20);
  for (size_t max = 1; max <= n; max++) {
    uint32_t some[TOLD];
    assert_int_equal(lt_catalog_search(c, LT_STR("create branch file path"), some, max), max);
    assert_memory_equal(some, all, max * sizeof *some);
  }
  lt_catalog_unref(c);
}

/* --- What is in a tool -------------------------------------------------------------------------------------------- */
static size_t found_in(lt_str description, lt_str schema, lt_str annotations, const char *query) {
  const lt_tool_spec specs[] = {
      {.name = LT_STR("other"), .description = LT_STR("Nothing of that")},
      {.name = LT_STR("x"), .description = description, .input_schema = schema, .annotations = annotations}};
  const lt_catalog_source source = {.ns = LT_STR("s"), .tools = specs, .count = 2};
  lt_catalog *c = NULL;
  uint32_t found[2];
  assert_int_equal(lt_catalog_new(&source, 1, &c, NULL), LT_OK);
  size_t n = lt_catalog_search(c, lt_str_of(query), found, 2);
  lt_catalog_unref(c);
  return n;
}

static void schemas_are_read_to_their_depths(void **state) {
  (void)state;
  lt_str schema = LT_STR(
      "{\"properties\":{\"point\":{\"description\":\"Where on Earth\",\"properties\":{\"latitude\":{"
      "}}},\"kind\":{\"enum\":[\"current\",7,\"f\\u006frecast\"]},\"description\":{}},\"anyOf\":[{"
      "\"properties\":{\"zip\":{\"const\":\"always\"}}}],\"$defs\":{\"N\":{\"properties\":{"
      "\"height\":true}}},\"required\":[\"absent\"]}");
  static const char *const there[] = {"point", "earth",  "latitude", "forecast",
                                      "zip",   "always", "height",   "description"};
  for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
    if (found_in(LT_STR(""), schema, LT_STR(""), there[i]) != 1) {
      fail_msg("%s is not found", there[i]);
    }
  }
  assert_int_equal(found_in(LT_STR(""), schema, LT_STR(""), "absent"), 0);
  assert_int_equal(found_in(LT_STR(""), LT_STR("{}"), LT_STR("{\"title\":\"Forecast\"}"), "forecast"), 1);
}

static void broken_schemas_take_nothing_away(void **state) {
  (void)state;
  static const char *const broken[] = {
      "{\"properties\":{\"p\":",         "[]", "null", "{\"properties\":7}", "{\"properties\":[{}]}",
      "{\"enum\":{},\"description\":[]}"};
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    assert_int_equal(found_in(LT_STR("Weather"), lt_str_of(broken[i]), lt_str_of(broken[i]), "weather"), 1);
  }
}

static void a_deep_schema_ends_somewhere(void **state) {
  (void)state;
  lt_buf deep;
  lt_buf_init(&deep, LT_MIB);
  for (int i = 0; i < 400; i++) {
    lt_buf_addc(&deep, i % 2 == 0 ? "{\"items\":" : "{\"not\":");
  }
  lt_buf_addc(&deep, "{}");
  for (int i = 0; i < 400; i++) {
    lt_buf_byte(&deep, '}');
  }
  assert_int_equal(found_in(LT_STR("Weather"), lt_buf_view(&deep), LT_STR(""), "weather"), 1);
  lt_buf_release(&deep);
}

/* 50 KB of words, none twice: the parameters are found all the same. */
static void a_long_description_does_not_crowd_out_the_rest(void **state) {
  (void)state;
  lt_buf text;
  lt_buf_init(&text, LT_MIB);
  for (int i = 0; text.n < 50000; i++) {
    lt_buf_printf(&text, "word%d ", i);
  }
  lt_str schema = LT_STR("{\"properties\":{\"latitude\":{}}}");
  assert_int_equal(found_in(lt_buf_view(&text), schema, LT_STR(""), "latitude"), 1);
  assert_int_equal(found_in(lt_buf_view(&text), schema, LT_STR(""), "word7"), 1);
  lt_buf_release(&text);
}

static void long_queries_are_cut(void **state) {
  (void)state;
  lt_catalog *c = real_tools();
  lt_buf query;
  lt_buf_init(&query, LT_MIB);
  for (int i = 0; query.n < 500000; i++) {
    lt_buf_printf(&query, "nothing%d ", i);
  }
  uint32_t found[1];
  assert_int_equal(lt_catalog_search(c, lt_buf_view(&query), found, 1), 0);
  lt_buf_clear(&query);
  lt_buf_addc(&query, "fork ");
  for (int i = 0; i < 100000; i++) {
    lt_buf_addc(&query, "fork_");
  }
  assert_int_equal(lt_catalog_search(c, lt_buf_view(&query), found, 1), 1);
  lt_buf_clear(&query);
  lt_buf_addc(&query, "nothing0 ");
  while (query.n < LT_SEARCH_QUERY_MAX_BYTES) {
    lt_buf_addc(&query, " ");
  }
  lt_buf_addc(&query, "fork");
  assert_int_equal(lt_catalog_search(c, lt_buf_view(&query), found, 1), 0);
  lt_buf_release(&query);
  lt_catalog_unref(c);
}

/* --- Threads, memory, time ---------------------------------------------------------------------------------------- */
typedef struct seeker {
  pthread_t thread;
  const lt_catalog *catalog;
  pthread_barrier_t *start;
  uint32_t found[TOLD];
  size_t count;
} seeker;

static void *seek(void *arg) {
  seeker *s = arg;
  pthread_barrier_wait(s->start);
  for (int turn = 0; turn < 20; turn++) {
    s->count = lt_catalog_search(s->catalog, LT_STR("create a branch in a repo"), s->found, TOLD);
  }
  return NULL;
}

/* Under TSan this is what says that the first search may be anybody's. */
static void many_threads_search_a_fresh_catalog(void **state) {
  (void)state;
  enum { THREADS = 6 };
  for (int turn = 0; turn < 10; turn++) {
    lt_catalog *c = real_tools();
    static seeker seekers[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
      seekers[i] = (seeker){.catalog = c, .start = &start};
      assert_int_equal(pthread_create(&seekers[i].thread, NULL, seek, &seekers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      pthread_join(seekers[i].thread, NULL);
      assert_true(seekers[i].count > 10);
      assert_int_equal(seekers[i].count, seekers[0].count);
      assert_memory_equal(seekers[i].found, seekers[0].found, seekers[0].count * sizeof(uint32_t));
    }
    pthread_barrier_destroy(&start);
    lt_catalog_unref(c);
  }
}

static void without_memory_nothing_is_found_and_later_all_is(void **state) {
  (void)state;
  uint32_t found[TOLD];
  long n = 0;
  for (int failed = 1; failed; n++) {
    lt_catalog *c = real_tools();
    lt_mem_fail_at(n);
    size_t count = lt_catalog_search(c, LT_STR("queries of branches"), found, TOLD);
    failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    size_t again = lt_catalog_search(c, LT_STR("queries of branches"), found, TOLD);
    assert_true(again > 4);
    assert_true(count == again || (failed && count < again));
    lt_catalog_unref(c);
  }
  assert_true(n > 10);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void thousands_of_tools_are_searched_in_no_time(void **state) {
  (void)state;
  lt_catalog *c = same_tools(5000, "Reads the current weather of a place and says how it will be tomorrow",
                             LT_STR("{\"properties\":{\"latitude\":{\"description\":\"North\"},\"longitude\":{}}}"));
  uint32_t found[20];
  double begin = cpu_seconds();
  assert_int_equal(lt_catalog_search(c, LT_STR("t04999"), found, 20), 1);
  double first = cpu_seconds() - begin;
  begin = cpu_seconds();
  for (int i = 0; i < 100; i++) {
    assert_int_equal(lt_catalog_search(c, LT_STR("what is the weather at this latitude"), found, 20), 20);
  }
  double later = (cpu_seconds() - begin) / 100;
  print_message("5,000 tools: first search %.1f ms, then %.3f ms where every tool matches\n", first * 1e3, later * 1e3);
  assert_true(first < 2.0); /* generous for sanitizers */
  assert_true(later < 0.02);
  lt_catalog_unref(c);
}

/* Words that no two tools share: the most there can be to sort. */
static void the_worst_catalog_is_still_searched(void **state) {
  (void)state;
  enum { TOOLS = 500, OWN_WORDS = 500 };
  static lt_tool_spec specs[TOOLS];
  static char names[TOOLS][16];
  lt_arena arena;
  lt_arena_init(&arena, 256 * LT_MIB);
  for (size_t i = 0; i < TOOLS; i++) {
    lt_buf text;
    lt_buf_init(&text, LT_MIB);
    for (int k = 0; k < OWN_WORDS; k++) {
      lt_buf_printf(&text, "w%zux%d ", i, k);
    }
    snprintf(names[i], sizeof names[i], "tool%zu", i);
    specs[i] = (lt_tool_spec){.name = lt_str_of(names[i]), .description = lt_arena_dup(&arena, lt_buf_view(&text))};
    lt_buf_release(&text);
  }
  const lt_catalog_source source = {.ns = LT_STR("s"), .tools = specs, .count = TOOLS};
  lt_catalog *c = NULL;
  assert_int_equal(lt_catalog_new(&source, 1, &c, NULL), LT_OK);
  uint32_t found[1];
  double begin = cpu_seconds();
  assert_int_equal(lt_catalog_search(c, LT_STR("tool499"), found, 1), 1);
  print_message("250,000 words, each once: first search %.0f ms\n", (cpu_seconds() - begin) * 1e3);
  lt_catalog_unref(c);
  lt_arena_release(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_cut_at_their_humps),
      cmocka_unit_test(other_scripts_have_words_too),
      cmocka_unit_test(words_have_an_end),
      cmocka_unit_test(forms_of_a_word_have_one_stem),
      cmocka_unit_test(what_people_ask_for_comes_first),
      cmocka_unit_test(every_name_of_a_tool_finds_it_first),
      cmocka_unit_test(what_no_tool_has_finds_nothing),
      cmocka_unit_test(fillers_count_only_alone),
      cmocka_unit_test(a_beginning_finds_the_word_and_the_word_its_beginning),
      cmocka_unit_test(equal_tools_are_in_id_order_however_many_are_asked_for),
      cmocka_unit_test(fewer_are_the_first_of_more),
      cmocka_unit_test(schemas_are_read_to_their_depths),
      cmocka_unit_test(broken_schemas_take_nothing_away),
      cmocka_unit_test(a_deep_schema_ends_somewhere),
      cmocka_unit_test(a_long_description_does_not_crowd_out_the_rest),
      cmocka_unit_test(long_queries_are_cut),
      cmocka_unit_test(many_threads_search_a_fresh_catalog),
      cmocka_unit_test(without_memory_nothing_is_found_and_later_all_is),
      cmocka_unit_test(thousands_of_tools_are_searched_in_no_time),
      cmocka_unit_test(the_worst_catalog_is_still_searched),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
