/* lathe tools: the tools that a program can call. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "types/typegen.h"
#include "types/typegen_text.h"
#include "cli/commands.h"
#include "cli/command_session.h"
#include "cli/tools_policy.h"
#include "tool/tool_typegen.h"

#define FOUND_SHOWN 20 /* default number of a query's results for people */
#define NOT_SAID    (-1)
#define BUDGET_MAX  100000000 /* tokens: more than any model reads */

typedef struct tools_options {
  const char *types;
  lt_config_sources sources;
  const char *query;
  int64_t budget; /* tokens; 0: none; NOT_SAID */
  int64_t limit;  /* tools; 0: all; NOT_SAID */
  bool json;
  bool policy;
} tools_options;

static const lt_option tools_option_rows[] = {
    {"--types", NULL, "ts|python|json|prompt",
     "ts: TypeScript declarations; python: Python stubs; json: ids, names, descriptions and\n"
     "schemas; prompt: the compact listing that a model is shown",
     LT_OPTION_IS_TEXT(tools_options, types)},
    {"--budget", NULL, "TOKENS",
     "what the listing may take; more tools are told shorter (default: tools.listingTokens, else\n"
     "4000; 0: none)",
     LT_OPTION_IS_NUMBER(tools_options, budget, NOT_SAID, 0, BUDGET_MAX)},
    {"--limit", NULL, "N", "so many tools at most (default: 20 with a QUERY and without --types; 0: all)",
     LT_OPTION_IS_NUMBER(tools_options, limit, NOT_SAID, 0, LT_TOOLS_MAX)},
    {"--json", NULL, NULL, "the same as --types json; with --policy: the rules as JSON",
     LT_OPTION_IS_FLAG(tools_options, json)},
    {"--policy", NULL, NULL, "for each tool: which rule of the configuration holds, and what happens without one",
     LT_OPTION_IS_FLAG(tools_options, policy)},
    LT_OPTION_CONFIG(tools_options, sources),
    LT_OPTION_MCP_CONFIG(tools_options, sources),
};

typedef lt_status (*tools_generator)(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);

/* The listing also has a budget. */
static const struct {
  const char *name;
  tools_generator generate;
} tools_generators[] = {
    {"ts", lt_typegen_ts}, {"python", lt_typegen_py}, {"json", lt_typegen_json}, {"prompt", lt_typegen_prompt}};

static tools_generator tools_find_generator(const char *name) {
  for (size_t i = 0; i < sizeof tools_generators / sizeof tools_generators[0]; i++) {
    if (strcmp(tools_generators[i].name, name) == 0) {
      return tools_generators[i].generate;
    }
  }
  return NULL;
}

static lt_status tools_generate(const tools_options *opt, const lt_typegen_tool *tools, size_t count, lt_buf *out,
                                lt_err *err) {
  tools_generator fn = opt->types != NULL ? tools_find_generator(opt->types) : lt_typegen_lines;
  return fn == lt_typegen_prompt ? lt_typegen_prompt_budget(tools, count, (size_t)opt->budget, out, err)
                                 : fn(tools, count, out, err);
}

/* Finds the requested tools; the caller frees the list. */
static lt_typegen_tool *tools_select(const lt_catalog *catalog, const char *query, size_t *ret_count) {
  size_t all = lt_catalog_count(catalog);
  lt_typegen_tool *tools = lt_mem_zalloc(all + 1, sizeof *tools);
  uint32_t *found = lt_mem_zalloc(all + 1, sizeof *found);
  size_t count = 0;
  if (tools != NULL && found != NULL) {
    count = lt_catalog_search(catalog, lt_str_of(query), found, all);
    for (size_t i = 0; i < count; i++) {
      tools[i] = lt_tool_typegen(lt_catalog_at(catalog, found[i]));
    }
  }
  lt_mem_free(found);
  *ret_count = count;
  return tools;
}

/* The names come from servers and are not trusted. */
static void tools_print_catalog_warnings(const lt_console *console, const lt_catalog *catalog) {
  const lt_str *warnings = NULL;
  size_t count = lt_catalog_warnings(catalog, &warnings);
  LT_AUTO_BUF(line, LT_JSON_MAX_BYTES);
  for (size_t i = 0; i < count; i++) {
    lt_buf_clear(&line);
    lt_typegen_put_line(&line, warnings[i], LT_TYPEGEN_DOC_MAX_BYTES);
    lt_console_line(console, "warning: ", lt_buf_view(&line));
  }
}

static size_t tools_shown(const tools_options *opt, size_t found) {
  bool few = opt->limit == NOT_SAID && opt->query != NULL && opt->types == NULL;
  size_t most = few ? FOUND_SHOWN : opt->limit > 0 ? (size_t)opt->limit : found;
  return found < most ? found : most;
}

static void tools_print_missing(const lt_command_session *s, const tools_options *opt, const lt_catalog *catalog,
                                size_t found, size_t shown) {
  size_t all = lt_catalog_count(catalog);
  if (all == 0) {
    fprintf(stderr, "lathe tools: there are none: name MCP servers in lathe.yaml or with --mcp-config FILE\n");
  } else if (found == 0) {
    fprintf(stderr, "lathe tools: nothing matches; without a QUERY all are listed (%zu)\n", all);
  } else if (shown < found) {
    fprintf(stderr, "lathe tools: %s %zu of %zu; --limit 0 shows all\n", opt->query != NULL ? "the best" : "the first",
            shown, found);
  }
  if (all > 0 && lt_sources_count(s->app.sources) == 0 && s->app.config.plugin_count == 0) {
    fprintf(stderr, "lathe tools: only what is built in: name MCP servers in lathe.yaml or with --mcp-config FILE\n");
  }
}

static int tools_print_found(const lt_command_session *s, const tools_options *opt, const lt_catalog *catalog) {
  size_t found = 0;
  LT_ERR_VAR(err);
  LT_AUTO_BUF(out, LT_JSON_MAX_BYTES);
  lt_typegen_tool *tools = tools_select(catalog, opt->query, &found);
  size_t shown = tools_shown(opt, found);
  lt_status status = tools == NULL ? LT_E_NOMEM : tools_generate(opt, tools, shown, &out, &err);
  if (status == LT_OK) {
    status = lt_console_report(&s->console, &out);
  }
  if (status == LT_OK) {
    tools_print_missing(s, opt, catalog, found, shown);
  } else {
    lt_console_format(&s->console, "lathe tools: %s", err.status != LT_OK ? lt_err_msg(&err) : lt_status_text(status));
  }
  lt_mem_free(tools);
  return status == LT_OK ? LT_EXIT_OK : LT_EXIT_FAILED;
}

/* The rules for the requested tools. */
static int tools_print_policy(const lt_command_session *s, const tools_options *opt, const lt_catalog *catalog) {
  LT_AUTO_ARENA(arena, LT_CATALOG_MAX_BYTES);
  LT_AUTO_BUF(out, LT_JSON_MAX_BYTES);
  LT_ERR_VAR(err);
  size_t all = lt_catalog_count(catalog);
  uint32_t *found = lt_arena_zalloc(&arena, all + 1, sizeof *found);
  const lt_tool **tools = lt_arena_zalloc(&arena, all + 1, sizeof *tools);
  lt_status status = found != NULL && tools != NULL ? LT_OK : LT_E_NOMEM;
  size_t count = status == LT_OK ? lt_catalog_search(catalog, lt_str_of(opt->query), found, all) : 0;
  for (size_t i = 0; i < count; i++) {
    tools[i] = lt_catalog_at(catalog, found[i]);
  }
  size_t shown = tools_shown(opt, count);
  if (status == LT_OK) {
    status = lt_tools_policy_report(lt_toolbox_policy(s->app.toolbox), tools, shown, opt->json, &out, &err);
  }
  if (status == LT_OK) {
    status = lt_console_report(&s->console, &out);
  }
  if (status != LT_OK) {
    lt_console_format(&s->console, "lathe tools: %s", err.status != LT_OK ? lt_err_msg(&err) : lt_status_text(status));
    return LT_EXIT_FAILED;
  }
  tools_print_missing(s, opt, catalog, count, shown);
  return LT_EXIT_OK;
}

/* Types and the listing are for authors of programs. */
static lt_status tools_take_catalog(lt_door *door, const tools_options *opt, lt_catalog **ret_catalog, lt_err *err) {
  lt_catalog *all = NULL;
  LT_TRY(lt_door_catalog(door, &all, err));
  if (opt->types == NULL || tools_find_generator(opt->types) == lt_typegen_json) {
    *ret_catalog = all;
    return LT_OK;
  }
  lt_status status = lt_catalog_for_programs(all, ret_catalog, err);
  lt_catalog_unref(all);
  return status;
}

static int tools_work(lt_command_session *s, void *arg) {
  tools_options *opt = arg;
  LT_ERR_VAR(err);
  lt_catalog *catalog = NULL;
  if (tools_take_catalog(s->app.door, opt, &catalog, &err) != LT_OK) {
    lt_console_format(&s->console, "lathe tools: %s", lt_err_msg(&err));
    return LT_EXIT_FAILED;
  }
  if (opt->budget == NOT_SAID) {
    opt->budget = s->app.config.listing_tokens;
  }
  tools_print_catalog_warnings(&s->console, catalog);
  int code = opt->policy ? tools_print_policy(s, opt, catalog) : tools_print_found(s, opt, catalog);
  lt_catalog_unref(catalog);
  return code;
}

static int tools_command(void *arg) {
  tools_options *opt = arg;
  if (opt->policy && opt->types != NULL) {
    fprintf(stderr, "lathe tools: --policy shows no types: leave --types out\n");
    return LT_EXIT_USAGE;
  }
  opt->types = opt->json && opt->types == NULL && !opt->policy ? "json" : opt->types;
  if (opt->types != NULL && tools_find_generator(opt->types) == NULL) {
    fprintf(stderr, "lathe tools: --types is ts, python, json or prompt\n");
    return LT_EXIT_USAGE;
  }
  opt->query = opt->query != NULL && opt->query[0] != '\0' ? opt->query : NULL;
  return lt_command_session_run(&opt->sources, &(lt_command_plan){.work = tools_work, .arg = opt});
}

const lt_command lt_tools_command = {
    .name = "tools",
    .summary = "List what a program can call",
    .about = "List what a program can call.\n",
    .synopsis = "[QUERY] [options]",
    .operand = {"QUERY", "only tools that match it by name, description or parameters, best first",
                "one QUERY at most; quote it", false, LT_OPERAND_IS(tools_options, query)},
    .options = tools_option_rows,
    .option_count = sizeof tools_option_rows / sizeof tools_option_rows[0],
    .options_size = sizeof(tools_options),
    .notes = "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration, 130 interrupted.\n",
    .run = tools_command,
};
