/* Finding tools: a search of 5,000 of them, and the listing of 1,000 for a prompt.
 *
 * Names and descriptions are put together from a hundred words, as those of real tools are; a search whose words every
 * tool has is the worst case. */
#include "base/arena.h"
#include "base/limits.h"
#include "bench/bench.h"
#include "bench/measure.h"
#include "text/tokens.h"
#include "types/typegen.h"
#include "tool/catalog.h"

enum { SEARCHED = 5000, LISTED = 1000, PER_NAMESPACE = 25, CATALOGS = 15, SEARCHES = 2000, LISTS = 50, FOUND = 25 };
enum { MEMORY = 256 * 1024 * 1024 };

#define TARGET_SEARCH_NS 1e6

static const char *const verbs[] = {"get",  "list",    "create", "update", "delete", "search", "move",  "copy",
                                    "open", "archive", "export", "import", "assign", "merge",  "share", "restore"};
static const char *const things[] = {"file",  "branch",  "issue",   "page",   "comment", "user",    "invoice", "order",
                                     "event", "message", "channel", "report", "table",   "row",     "image",   "label",
                                     "task",  "project", "contact", "folder", "webhook", "release", "query",   "token"};

static const char *pick(const char *const *words, size_t count, size_t i) {
  return words[(i * 2654435761u >> 7) % count];
}

#define VERB(i)  pick(verbs, sizeof verbs / sizeof verbs[0], i)
#define THING(i) pick(things, sizeof things / sizeof things[0], i)

static lt_tool_spec make_spec(lt_arena *arena, size_t i) {
  return (lt_tool_spec){
      .name = lt_arena_printf(arena, "%s_%s_%zu", VERB(i), THING(i + 1), i),
      .description = lt_arena_printf(arena,
                                     "%s a %s of a %s by its id. Answers the %s with its %s and every %s that was made "
                                     "since; use %s_%s to see which there are.",
                                     VERB(i), THING(i + 1), THING(i + 2), THING(i + 3), THING(i + 4), THING(i + 5),
                                     VERB(i + 6), THING(i + 7)),
      .input_schema =
          lt_arena_printf(arena,
                          "{\"type\":\"object\",\"properties\":{\"%sId\":{\"type\":\"string\",\"description\":"
                          "\"The %s's id\"},\"%s\":{\"type\":\"string\",\"enum\":[\"%s\",\"%s\"]},\"limit\":{"
                          "\"type\":\"integer\",\"minimum\":1}},\"required\":[\"%sId\"]}",
                          THING(i + 1), THING(i + 1), THING(i + 8), VERB(i + 9), VERB(i + 10), THING(i + 1))};
}

static lt_catalog *make_catalog(lt_arena *arena, size_t count) {
  size_t namespaces = count / PER_NAMESPACE;
  lt_catalog_source *sources = lt_arena_zalloc(arena, namespaces, sizeof *sources);
  lt_tool_spec *specs = lt_arena_zalloc(arena, count, sizeof *specs);
  LT_CHECK(sources != NULL && specs != NULL);
  for (size_t i = 0; i < count; i++) {
    specs[i] = make_spec(arena, i);
  }
  for (size_t i = 0; i < namespaces; i++) {
    sources[i] = (lt_catalog_source){
        .ns = lt_arena_printf(arena, "%s%zu", THING(i), i), .tools = &specs[i * PER_NAMESPACE], .count = PER_NAMESPACE};
  }
  lt_catalog *catalog = NULL;
  LT_CHECK(lt_catalog_new(sources, namespaces, &catalog, NULL) == LT_OK);
  return catalog;
}

static double time_search(const lt_catalog *catalog, lt_str query) {
  uint32_t found[FOUND];
  double start = lt_measure_now();
  LT_CHECK(lt_catalog_search(catalog, query, found, FOUND) > 0);
  return lt_measure_now() - start;
}

static void measure_searches(const lt_catalog *catalog, const char *what, lt_str query) {
  lt_measure m;
  lt_measure_init(&m);
  for (int i = 0; i < SEARCHES; i++) {
    lt_measure_add(&m, time_search(catalog, query));
  }
  lt_measure_print_ns(what, &m, TARGET_SEARCH_NS);
}

static void measure_search(void) {
  lt_arena arena;
  lt_arena_init(&arena, MEMORY);
  lt_measure first;
  lt_measure_init(&first);
  lt_catalog *catalog = NULL;
  for (int i = 0; i < CATALOGS; i++) {
    lt_catalog_unref(catalog);
    catalog = make_catalog(&arena, SEARCHED);
    lt_measure_add(&first, time_search(catalog, LT_STR("create a branch")));
  }
  lt_measure_print_ns("search of 5,000 tools, the first", &first, 0);
  measure_searches(catalog, "… later: \"create a branch\"", LT_STR("create a branch"));
  measure_searches(catalog, "… one tool: \"invoice4 100\"", LT_STR("invoice4 100"));
  measure_searches(catalog, "… words that all tools have", LT_STR("which id with a limit was made since"));
  lt_catalog_unref(catalog);
  lt_arena_release(&arena);
}

static lt_typegen_tool *described(lt_arena *arena, const lt_catalog *catalog) {
  lt_typegen_tool *tools = lt_arena_zalloc(arena, LISTED, sizeof *tools);
  LT_CHECK(tools != NULL);
  for (size_t i = 0; i < LISTED; i++) {
    const lt_tool *t = lt_catalog_at(catalog, i);
    tools[i] = (lt_typegen_tool){.id = t->id,
                                 .ns = t->ns,
                                 .js_name = t->js_name,
                                 .description = t->description,
                                 .input_schema = t->input_schema};
  }
  return tools;
}

static void measure_listing(const lt_typegen_tool *tools, const char *what, size_t budget) {
  lt_measure m;
  lt_measure_init(&m);
  lt_buf out;
  lt_buf_init(&out, MEMORY);
  for (int i = 0; i < LISTS; i++) {
    lt_buf_clear(&out);
    double start = lt_measure_now();
    LT_CHECK(lt_typegen_prompt_budget(tools, LISTED, budget, &out, NULL) == LT_OK);
    lt_measure_add(&m, lt_measure_now() - start);
  }
  lt_measure_print_ns(what, &m, 0);
  lt_measure_print_one("… its tokens, estimated", LT_MEASURE_COUNT, (double)lt_tokens_estimate(lt_buf_view(&out)),
                       (double)budget);
  lt_buf_release(&out);
}

static void measure_listings(void) {
  lt_arena arena;
  lt_arena_init(&arena, MEMORY);
  lt_catalog *catalog = make_catalog(&arena, LISTED);
  lt_typegen_tool *tools = described(&arena, catalog);
  measure_listing(tools, "listing of 1,000 tools, no budget", 0);
  measure_listing(tools, "… 4,000 tokens", LT_LISTING_TOKENS);
  lt_catalog_unref(catalog);
  lt_arena_release(&arena);
}

void lt_bench_find(void) {
  measure_search();
  measure_listings();
}
