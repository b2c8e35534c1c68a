/* lathe tools: what a program can call. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "codec/typegen.h"
#include "front/args.h"
#include "front/command.h"
#include "front/session.h"

typedef struct options {
  const char *types;
  const char *config;
  const char *mcp_config;
  const char *query;
  bool json;
  bool help;
} options;

static const char help[] =
    "List what a program can call.\n"
    "\n"
    "  lathe tools [QUERY] [options]\n"
    "\n"
    "  QUERY              only tools that match, best first\n"
    "  --types ts         TypeScript declarations\n"
    "  --types python     Python stubs\n"
    "  --types json       ids, names, descriptions and schemas\n"
    "  --types prompt     the compact listing that a model is shown\n"
    "  --json             the same as --types json\n"
    "  --config FILE      configuration (default: $LATHE_CONFIG, ./lathe.yaml, ~/.config/lathe/lathe.yaml)\n"
    "  --mcp-config FILE  servers in the form of other MCP clients (.mcp.json)\n"
    "  -h, --help         this\n"
    "\n"
    "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration.\n";

typedef lt_status (*generator)(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);

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

/* For people: a line per tool, the name that JavaScript calls it by, and its first sentence. */
static lt_status list_lines(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  (void)err;
  for (size_t i = 0; i < count; i++) {
    lt_str description = tools[i].description;
    size_t end = lt_str_find(description, LT_STR("\n"), 0);
    description = lt_str_sub(description, 0, end < 120 ? end : 120);
    lt_buf_add(out, tools[i].id);
    lt_buf_addc(out, "  ");
    lt_buf_add(out, tools[i].js_name.n > 0 ? tools[i].js_name : LT_STR("-"));
    lt_buf_addc(out, "  ");
    for (size_t k = 0; k < description.n; k++) {
      unsigned char c = (unsigned char)description.p[k];
      lt_buf_byte(out, c < 0x20 || c == 0x7f ? ' ' : (char)c); /* a description is a stranger's text */
    }
    lt_buf_byte(out, '\n');
  }
  return out->status;
}

static lt_typegen_tool described(const lt_tool *tool) {
  return (lt_typegen_tool){
      .id = tool->id,
      .ns = tool->ns,
      .js_name = tool->js_name,
      .ts_name = tool->ts_name,
      .ts_type = tool->ts_type,
      .description = tool->description,
      .input_schema = tool->input_schema,
      .output_schema = tool->output_schema,
  };
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
      tools[i] = described(lt_catalog_at(catalog, found[i]));
    }
  }
  lt_mem_free(found);
  *ret_count = count;
  return tools;
}

static void print_warnings(const lt_catalog *catalog) {
  const lt_str *warnings = NULL;
  size_t count = lt_catalog_warnings(catalog, &warnings);
  for (size_t i = 0; i < count; i++) {
    fprintf(stderr, "warning: %.*s\n", LT_STR_ARG(warnings[i]));
  }
}

static int print_tools(const options *opt, const lt_catalog *catalog) {
  size_t count = 0;
  lt_err err = LT_ERR_INIT;
  lt_buf out;
  lt_buf_init(&out, LT_JSON_MAX_BYTES);
  lt_typegen_tool *tools = select_tools(catalog, opt->query, &count);
  generator generate = opt->types != NULL ? find_generator(opt->types) : list_lines;
  lt_status status = tools == NULL ? LT_E_NOMEM : generate(tools, count, &out, &err);
  if (status == LT_OK) {
    fwrite(out.p != NULL ? out.p : "", 1, out.n, stdout);
    if (out.n > 0 && out.p[out.n - 1] != '\n') {
      putchar('\n');
    }
  } else {
    fprintf(stderr, "lathe tools: %s\n", err.status != LT_OK ? lt_err_msg(&err) : lt_status_text(status));
  }
  lt_mem_free(tools);
  lt_buf_release(&out);
  return status == LT_OK ? LT_EXIT_OK : LT_EXIT_FAILED;
}

static int work(lt_session *s, void *arg) {
  const options *opt = arg;
  lt_err err = LT_ERR_INIT;
  lt_catalog *catalog = NULL;
  if (lt_door_catalog(s->door, &catalog, &err) != LT_OK) {
    fprintf(stderr, "lathe tools: %s\n", lt_err_msg(&err));
    return LT_EXIT_FAILED;
  }
  print_warnings(catalog);
  int code = print_tools(opt, catalog);
  if (lt_catalog_count(catalog) == 0) {
    fprintf(stderr, "lathe tools: there are none: name MCP servers in lathe.yaml or with --mcp-config FILE\n");
  }
  lt_catalog_unref(catalog);
  return code;
}

static int run(int argc, char **argv) {
  options opt = {0};
  const lt_arg args[] = {
      {"--types", NULL, LT_ARG_TEXT, &opt.types, 0, 0},
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
  return lt_session_main(&sources, work, &opt);
}

const lt_command lt_command_tools = {"tools", "List what a program can call", help, run};
