/* lathe servers: where tools come from, and how it is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "cli/command_session.h"
#include "cli/commands.h"
#include "text/plain.h"

#define COLUMNS 10

typedef struct servers_options {
  const char *name;
  lt_config_sources sources;
  bool known;
  bool json;
} servers_options;

static const lt_option servers_option_rows[] = {
    {"--known", NULL, NULL, "only what is known from the last time: nothing is started",
     LT_OPTION_IS_FLAG(servers_options, known)},
    {"--json", NULL, NULL, "for programs: one array, an object for each", LT_OPTION_IS_FLAG(servers_options, json)},
    LT_OPTION_CONFIG(servers_options, sources),
    LT_OPTION_MCP_CONFIG(servers_options, sources),
};

typedef struct servers_report {
  lt_arena arena;
  lt_sources_row *rows;
  size_t count;
  uint64_t now_ms; /* wall clock */
} servers_report;

/* --- What is to start --------------------------------------------------------------------------------------------- */
static lt_status servers_refuse_name(const lt_config *config, const char *name, lt_err *err) {
  lt_nearest nearest = lt_nearest_to(lt_str_of(name), 3);
  for (size_t i = 0; i < config->server_count; i++) {
    lt_nearest_offer(&nearest, lt_str_of(config->servers[i].name));
  }
  if (nearest.name.p != NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "no server \"%s\" is configured (did you mean \"%.*s\"?)", name,
                   LT_STR_ARG(nearest.name));
  }
  return lt_fail(err, LT_E_NOTFOUND, "no server \"%s\" is configured: `lathe servers --known` lists them", name);
}

/* What is asked about starts, whatever its entry says, and nothing else does. */
static lt_status servers_choose(lt_command_session *s, void *arg, lt_err *err) {
  const servers_options *opt = arg;
  const lt_config *config = &s->app.config;
  bool is_found = opt->name == NULL;
  for (size_t i = 0; i < config->server_count && !is_found; i++) {
    is_found = strcmp(config->servers[i].name, opt->name) == 0;
  }
  s->app.start = opt->known ? LT_SOURCE_START_AT_CALL : LT_SOURCE_START_AT_ONCE;
  s->app.start_only = opt->name;
  return is_found ? LT_OK : servers_refuse_name(config, opt->name, err);
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */
static bool servers_is_source(const servers_report *r, size_t count, lt_str name) {
  for (size_t i = 0; i < count; i++) {
    if (lt_str_eqc(name, r->rows[i].name)) {
      return true;
    }
  }
  return false;
}

static void servers_count_tool(servers_report *r, size_t sources, lt_str ns) {
  for (size_t i = sources; i < r->count; i++) {
    if (lt_str_eqc(ns, r->rows[i].name)) {
      r->rows[i].facts.tool_count++;
      return;
    }
  }
  lt_str name = lt_arena_dup(&r->arena, ns);
  if (name.p != NULL) {
    r->rows[r->count++] = (lt_sources_row){
        .noun = "plugin", .name = name.p, .facts = {.state = "running", .transport = "", .tool_count = 1}};
  }
}

/* The tools that no source has are of plugins. */
static lt_status servers_add_plugins(const lt_command_session *s, servers_report *r, lt_err *err) {
  lt_catalog *catalog = NULL;
  LT_TRY(lt_door_catalog(s->app.door, &catalog, err));
  size_t tools = lt_catalog_count(catalog), sources = r->count;
  lt_sources_row *rows = lt_arena_zalloc(&r->arena, sources + tools + 1, sizeof *rows);
  lt_status status = rows != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory to tell about the plugins");
  if (status == LT_OK) {
    memcpy(rows, r->rows, sources * sizeof *rows);
    r->rows = rows;
  }
  for (size_t i = 0; i < tools && status == LT_OK; i++) {
    lt_str ns = lt_catalog_at(catalog, i)->ns;
    if (!servers_is_source(r, sources, ns)) {
      servers_count_tool(r, sources, ns);
    }
  }
  lt_catalog_unref(catalog);
  return status;
}

static void servers_keep_named(servers_report *r, const char *name) {
  for (size_t i = 0; i < r->count; i++) {
    if (strcmp(r->rows[i].name, name) == 0) {
      r->rows[0] = r->rows[i];
      r->count = 1;
      return;
    }
  }
}

static lt_status servers_look(const lt_command_session *s, const servers_options *opt, servers_report *r,
                              lt_err *err) LT_YIELDS {
  r->now_ms = lt_clock_wall_us() / 1000;
  LT_TRY(lt_sources_describe(s->app.sources, &r->arena, &r->rows, &r->count, err));
  if (opt->name != NULL) {
    servers_keep_named(r, opt->name);
    return LT_OK;
  }
  return servers_add_plugins(s, r, err);
}

/* The list may be of a second that the clock has not reached. */
static uint64_t servers_list_age_ms(const servers_report *r, const lt_source_facts *facts) {
  return r->now_ms > facts->listed_ms ? r->now_ms - facts->listed_ms : 0;
}

/* --- As JSON ------------------------------------------------------------------------------------------------------ */
static void servers_put_number(lt_json_writer *w, const char *key, uint64_t number) {
  if (number > 0) {
    lt_json_key(w, key);
    lt_json_put_int(w, (int64_t)number);
  }
}

static void servers_put_row(const servers_report *r, const lt_sources_row *row, lt_json_writer *w) {
  const lt_source_facts *facts = &row->facts;
  lt_json_begin_object(w);
  lt_json_put_given(w, "name", lt_str_of(row->name));
  lt_json_put_given(w, "kind", lt_str_of(row->noun));
  lt_json_put_given(w, "state", lt_str_of(facts->state));
  lt_json_put_given(w, "reason", facts->reason);
  lt_json_put_given(w, "transport", lt_str_of(facts->transport));
  lt_json_put_given(w, "version", facts->version);
  lt_json_put_given(w, "protocolVersion", facts->protocol);
  servers_put_number(w, "startMs", facts->start_ms);
  servers_put_number(w, "memoryBytes", facts->memory_bytes);
  if (facts->answer_us > 0) {
    lt_json_key(w, "latencyMs");
    lt_json_put_double(w, (double)facts->answer_us / 1000);
  }
  if (facts->listed_ms > 0 || facts->tool_count > 0) {
    lt_json_key(w, "tools");
    lt_json_put_int(w, (int64_t)facts->tool_count);
  }
  if (facts->listed_ms > 0) {
    lt_json_key(w, "listAgeMs");
    lt_json_put_int(w, (int64_t)servers_list_age_ms(r, facts));
  }
  lt_json_end_object(w);
}

static void servers_put_json(const servers_report *r, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < r->count; i++) {
    servers_put_row(r, &r->rows[i], &w);
  }
  lt_json_end_array(&w);
}

/* --- As a table --------------------------------------------------------------------------------------------------- */
typedef struct servers_cells {
  lt_str text[COLUMNS];
} servers_cells;

static lt_str servers_number(lt_arena *arena, uint64_t number, const char *unit) {
  return number > 0 ? lt_arena_printf(arena, "%" PRIu64 " %s", number, unit) : LT_STR("-");
}

static lt_str servers_age(lt_arena *arena, uint64_t ms) {
  uint64_t minutes = ms / 60000;
  return minutes == 0 ? lt_arena_printf(arena, "%" PRIu64 " s", ms / 1000)
                      : lt_arena_printf(arena, "%" PRIu64 " h %02" PRIu64 " min", minutes / 60, minutes % 60);
}

static lt_str servers_or_dash(lt_str text) {
  return text.n > 0 ? text : LT_STR("-");
}

static servers_cells servers_cells_of(servers_report *r, const lt_sources_row *row) {
  const lt_source_facts *facts = &row->facts;
  lt_arena *arena = &r->arena;
  bool is_known = facts->listed_ms > 0 || facts->tool_count > 0;
  return (servers_cells){{
      lt_str_of(row->name),
      lt_str_of(facts->transport[0] != '\0' ? facts->transport : row->noun),
      lt_str_of(facts->state),
      servers_or_dash(facts->version),
      servers_or_dash(facts->protocol),
      servers_number(arena, facts->start_ms, "ms"),
      servers_number(arena, facts->memory_bytes / LT_MIB, "MiB"),
      facts->answer_us > 0 ? lt_arena_printf(arena, "%.1f ms", (double)facts->answer_us / 1000) : LT_STR("-"),
      is_known ? lt_arena_printf(arena, "%zu", facts->tool_count) : LT_STR("-"),
      facts->listed_ms > 0 ? servers_age(arena, servers_list_age_ms(r, facts)) : LT_STR("-"),
  }};
}

static void servers_put_cells(const servers_cells *cells, const size_t *widths, lt_buf *out) {
  for (size_t i = 0; i < COLUMNS; i++) {
    lt_plain_add_line(out, cells->text[i]);
    for (size_t n = cells->text[i].n; i + 1 < COLUMNS && n < widths[i] + 2; n++) {
      lt_buf_byte(out, ' ');
    }
  }
  lt_buf_byte(out, '\n');
}

static void servers_put_table(servers_report *r, lt_buf *out) {
  const servers_cells head = {{LT_STR("NAME"), LT_STR("KIND"), LT_STR("STATE"), LT_STR("VERSION"), LT_STR("PROTOCOL"),
                               LT_STR("START"), LT_STR("MEMORY"), LT_STR("LATENCY"), LT_STR("TOOLS"), LT_STR("LIST")}};
  size_t widths[COLUMNS] = {0};
  servers_cells *cells = lt_arena_zalloc(&r->arena, r->count + 1, sizeof *cells);
  for (size_t i = 0; cells != NULL && i <= r->count; i++) {
    cells[i] = i == 0 ? head : servers_cells_of(r, &r->rows[i - 1]);
    for (size_t k = 0; k < COLUMNS; k++) {
      widths[k] = cells[i].text[k].n > widths[k] ? cells[i].text[k].n : widths[k];
    }
  }
  for (size_t i = 0; cells != NULL && i <= r->count; i++) {
    servers_put_cells(&cells[i], widths, out);
    if (i > 0 && r->rows[i - 1].facts.reason.n > 0) {
      lt_buf_addc(out, "  ");
      lt_plain_add_line(out, r->rows[i - 1].facts.reason);
      lt_buf_byte(out, '\n');
    }
  }
}

/* --- The command -------------------------------------------------------------------------------------------------- */
/* A server that a script names is one that it needs; without a name the table is the answer. */
static int servers_exit_code(const servers_options *opt, const servers_report *r) {
  const char *state = r->count > 0 ? r->rows[0].facts.state : "failed";
  bool is_usable = strcmp(state, "running") == 0 || (opt->known && strcmp(state, "not started") == 0);
  return opt->name == NULL || is_usable ? LT_EXIT_OK : LT_EXIT_FAILED;
}

static int servers_work(lt_command_session *s, void *arg) LT_YIELDS {
  const servers_options *opt = arg;
  LT_ERR_VAR(err);
  LT_AUTO_BUF(out, LT_JSON_MAX_BYTES);
  servers_report report = {0};
  lt_arena_init(&report.arena, LT_JSON_MAX_BYTES);
  lt_status status = servers_look(s, opt, &report, &err);
  if (status == LT_OK && opt->json) {
    servers_put_json(&report, &out);
  } else if (status == LT_OK) {
    servers_put_table(&report, &out);
  }
  if (status == LT_OK) {
    status = lt_console_report(&s->console, &out);
  }
  int code = servers_exit_code(opt, &report);
  lt_arena_release(&report.arena);
  if (status != LT_OK) {
    lt_console_format(&s->console, "lathe servers: %s",
                      err.status != LT_OK ? lt_err_msg(&err) : lt_status_text(status));
    return LT_EXIT_FAILED;
  }
  return code;
}

static int servers_command(void *arg) {
  servers_options *opt = arg;
  return lt_command_session_run(&opt->sources,
                                &(lt_command_plan){.work = servers_work, .check = servers_choose, .arg = opt});
}

const lt_command lt_servers_command = {
    .name = "servers",
    .summary = "Show the servers: state, version, time, memory, tools",
    .about =
        "Start the configured servers, and show for each its state, versions, how long it took to start, the\n"
        "memory of its processes, how long it takes to answer, and its tools; and the plugins with tools.\n",
    .synopsis = "[NAME] [options]",
    .operand = {"NAME", "only this server", "one NAME at most", false, LT_OPERAND_IS(servers_options, name)},
    .options = servers_option_rows,
    .option_count = sizeof servers_option_rows / sizeof servers_option_rows[0],
    .options_size = sizeof(servers_options),
    .notes =
        "Exit code: 0 ok, 1 failed, or the server NAME cannot be used, 2 usage, 3 configuration, 130 "
        "interrupted.\n",
    .run = servers_command,
};
