/* lathe tools: what a program can call. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "types/typegen.h"
#include "types/typegen_text.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/command_session.h"
#include "tool/tool_typegen.h"

#define FOUND_SHOWN 20 /* of what a query finds, for people, unless asked otherwise: nobody reads further */
#define NOT_SAID    (-1)
#define BUDGET_MAX  100000000 /* tokens: no model reads so many */

typedef struct options {
  const char *types;
  const char *config;
  const char *mcp_config;
  const char *query;
  int64_t budget; /* tokens; 0: none; NOT_SAID */
  int64_t limit;  /* tools; 0: all; NOT_SAID */
  bool json;
  bool help;
} options;

static const char help[] =
    "List what a program can call.\n"
    "\n"
    "  lathe tools [QUERY] [options]\n"
    "\n"
    "  QUERY              only tools that match it by name, description or parameters, best first\n"
    "  --types ts         TypeScript declarations\n"
    "  --types python     Python stubs\n"
    "  --types json       ids, names, descriptions and schemas\n"
    "  --types prompt     the compact listing that a model is shown\n"
    "  --budget TOKENS    what that may take; more tools are told shorter (default: tools.listingTokens, else 4000; 0: "
    "none)\n"
    "  --limit N          so many tools at most (default: 20 with a QUERY and without --types; 0: all)\n"
    "  --json             the same as --types json\n"
    "  --config FILE      configuration (default: $LATHE_CONFIG, ./lathe.yaml, ~/.config/lathe/lathe.yaml)\n"
    "  --mcp-config FILE  servers in the form of other MCP clients (.mcp.json)\n"
    "  -h, --help         this\n"
    "\n"
    "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration, 130 interrupted.\n";

typedef lt_status (*generator)(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);

/* The listing has a budget besides. */
static const struct {
  const char *name;
  generator generate;
} generators[] = {
    {"ts", lt_typegen_ts}, {"python", lt_typegen_py}, {"json", lt_typegen_json}, {"prompt", lt_typegen_prompt}};

static generator find_generator(const char *name) {
  for (size_t i = 0; i < sizeof generators / sizeof generators[0]; i++) {
    if (strcmp(generators[i].name, name) == 0) {
      return generators[i].generate;
    }
  }
  return NULL;
}

static lt_status generate(const options *opt, const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  generator fn = opt->types != NULL ? find_generator(opt->types) : lt_typegen_lines;
  return fn == lt_typegen_prompt ? lt_typegen_prompt_budget(tools, count, (size_t)opt->budget, out, err)
                                 : fn(tools, count, out, err);
}

/* The tools asked for; the caller frees the list. */
static lt_typegen_tool *select_tools(const lt_catalog *catalog, const char *query, size_t *ret_count) {
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

/* A name in it is a stranger's text. */
static void print_warnings(const lt_console *console, const lt_catalog *catalog) {
  const lt_str *warnings = NULL;
  size_t count = lt_catalog_warnings(catalog, &warnings);
  lt_buf line;
  lt_buf_init(&line, LT_JSON_MAX_BYTES);
  for (size_t i = 0; i < count; i++) {
    lt_buf_clear(&line);
    lt_typegen_put_line(&line, warnings[i], LT_TYPEGEN_DOC_MAX_BYTES);
    lt_console_line(console, "warning: ", lt_buf_view(&line));
  }
  lt_buf_release(&line);
}

static size_t shown_of(const options *opt, size_t found) {
  bool few = opt->limit == NOT_SAID && opt->query[0] != '\0' && opt->types == NULL;
  size_t most = few ? FOUND_SHOWN : opt->limit > 0 ? (size_t)opt->limit : found;
  return found < most ? found : most;
}

static void say_what_is_missing(const lt_config *config, const options *opt, const lt_catalog *catalog, size_t found,
                                size_t shown) {
  size_t all = lt_catalog_count(catalog);
  if (all == 0) {
    fprintf(stderr, "lathe tools: there are none: name MCP servers in lathe.yaml or with --mcp-config FILE\n");
  } else if (found == 0) {
    fprintf(stderr, "lathe tools: nothing matches; without a QUERY all are listed (%zu)\n", all);
  } else if (shown < found) {
    fprintf(stderr, "lathe tools: %s %zu of %zu; --limit 0 shows all\n",
            opt->query[0] != '\0' ? "the best" : "the first", shown, found);
  }
  if (all > 0 && config->server_count == 0 && config->plugin_count == 0) {
    fprintf(stderr, "lathe tools: only what is built in: name MCP servers in lathe.yaml or with --mcp-config FILE\n");
  }
}

static void print_text(const lt_buf *out) {
  fwrite(out->p != NULL ? out->p : "", 1, out->n, stdout);
  if (out->n > 0 && out->p[out->n - 1] != '\n') {
    putchar('\n');
  }
  fflush(stdout); /* before what is said of it on stderr */
}

static int print_tools(const lt_command_session *s, const options *opt, const lt_catalog *catalog) {
  size_t found = 0;
  lt_err err = LT_ERR_INIT;
  lt_buf out;
  lt_buf_init(&out, LT_JSON_MAX_BYTES);
  lt_typegen_tool *tools = select_tools(catalog, opt->query, &found);
  size_t shown = shown_of(opt, found);
  lt_status status = tools == NULL ? LT_E_NOMEM : generate(opt, tools, shown, &out, &err);
  lt_secrets_mask_buf(s->app.secrets, &out); /* a server may have put what it was given into its descriptions */
  status = status == LT_OK ? out.status : status;
  if (status == LT_OK) {
    print_text(&out);
    say_what_is_missing(&s->app.config, opt, catalog, found, shown);
  } else {
    lt_console_format(&s->console, "lathe tools: %s", err.status != LT_OK ? lt_err_msg(&err) : lt_status_text(status));
  }
  lt_mem_free(tools);
  lt_buf_release(&out);
  return status == LT_OK ? LT_EXIT_OK : LT_EXIT_FAILED;
}

/* Types and the listing are for those who write programs. */
static lt_status take_catalog(lt_door *door, const options *opt, lt_catalog **ret_catalog, lt_err *err) {
  lt_catalog *all = NULL;
  LT_TRY(lt_door_catalog(door, &all, err));
  if (opt->types == NULL || find_generator(opt->types) == lt_typegen_json) {
    *ret_catalog = all;
    return LT_OK;
  }
  lt_status status = lt_catalog_for_programs(all, ret_catalog, err);
  lt_catalog_unref(all);
  return status;
}

static int work(lt_command_session *s, void *arg) {
  options *opt = arg;
  lt_err err = LT_ERR_INIT;
  lt_catalog *catalog = NULL;
  if (take_catalog(s->app.door, opt, &catalog, &err) != LT_OK) {
    lt_console_format(&s->console, "lathe tools: %s", lt_err_msg(&err));
    return LT_EXIT_FAILED;
  }
  if (opt->budget == NOT_SAID) {
    opt->budget = s->app.config.listing_tokens;
  }
  print_warnings(&s->console, catalog);
  int code = print_tools(s, opt, catalog);
  lt_catalog_unref(catalog);
  return code;
}

static int run(int argc, char **argv) {
  options opt = {.budget = NOT_SAID, .limit = NOT_SAID};
  const lt_arg args[] = {
      {"--types", NULL, LT_ARG_TEXT, &opt.types, 0, 0},
      {"--budget", NULL, LT_ARG_NUMBER, &opt.budget, 0, BUDGET_MAX},
      {"--limit", NULL, LT_ARG_NUMBER, &opt.limit, 0, LT_TOOLS_MAX},
      {"--config", NULL, LT_ARG_TEXT, &opt.config, 0, 0},
      {"--mcp-config", NULL, LT_ARG_TEXT, &opt.mcp_config, 0, 0},
      {"--json", NULL, LT_ARG_FLAG, &opt.json, 0, 0},
      {"--help", "-h", LT_ARG_FLAG, &opt.help, 0, 0},
  };
  int operands = 0;
  if (!lt_args_read("tools", argc, argv, args, sizeof args / sizeof args[0], &operands)) {
    return LT_EXIT_USAGE;
  }
  if (opt.help) {
    fputs(help, stdout);
    return LT_EXIT_OK;
  }
  opt.types = opt.json && opt.types == NULL ? "json" : opt.types;
  if (operands > 1 || (opt.types != NULL && find_generator(opt.types) == NULL)) {
    fprintf(stderr, operands > 1 ? "lathe tools: one QUERY at most; quote it\n"
                                 : "lathe tools: --types is ts, python, json or prompt\n");
    return LT_EXIT_USAGE;
  }
  opt.query = operands == 1 ? argv[1] : "";
  lt_config_sources sources = {.config_file = opt.config, .mcp_config_file = opt.mcp_config};
  return lt_command_session_run(&sources, &(lt_command_plan){.work = work, .arg = &opt});
}

const lt_command lt_tools_command = {"tools", "List what a program can call", help, run};
