/* lathe doctor: which files count and why, versions, walls, the store, the servers. It starts nothing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/settings.h"
#include "app/trust.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "config/config_review.h"
#include "jail/jail.h"
#include "json/json.h"
#include "runner/typecheck/tsc_find.h"
#include "store/store.h"

typedef struct doctor_options {
  lt_config_sources sources;
  bool json;
} doctor_options;

static const lt_option doctor_option_rows[] = {
    {"--json", NULL, NULL, "one JSON object on standard output", LT_OPTION_IS_FLAG(doctor_options, json)},
    LT_OPTION_CONFIG(doctor_options, sources),
    LT_OPTION_MCP_CONFIG(doctor_options, sources),
};

/* How the store is. */
typedef enum doctor_store_state {
  STORE_IS_MEMORY,
  STORE_IS_MISSING,
  STORE_IS_OPEN,
  STORE_IS_BROKEN
} doctor_store_state;
static const char *const doctor_store_states[] = {"memory", "missing", "open", "broken"};

typedef struct doctor_report {
  lt_config config;
  lt_secrets *secrets;
  lt_err config_error, trust_error, store_error, walls_error;
  lt_jail_walls walls;
  lt_loop *loop;
  lt_buf store; /* its path */
  doctor_store_state store_state;
  size_t trusted;
  char *tsc; /* TypeScript's compiler; NULL: there is none */
} doctor_report;

/* --- The store ---------------------------------------------------------------------------------------------------- */

static lt_status doctor_open_store(doctor_report *report) LT_YIELDS {
  lt_store *store;
  LT_AUTO_BUF(none, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_new(report->loop, report->config.store, &store, &report->store_error));
  lt_status status = lt_store_runs_below(store, LT_STR("doctor:"), &none, &report->store_error);
  lt_store_close(store);
  return status;
}

static void doctor_on_fiber(void *arg) {
  doctor_report *report = arg;
  report->store_state = doctor_open_store(report) == LT_OK ? STORE_IS_OPEN : STORE_IS_BROKEN;
}

/* Whether the nearest folder that is there can be written: the missing ones are made when something is stored. */
static void doctor_check_folder(doctor_report *report) {
  char folder[LT_PROC_PATH_MAX_BYTES];
  snprintf(folder, sizeof folder, "%s", report->store.p);
  while (access(folder, F_OK) != 0 && strrchr(folder, '/') != NULL && strrchr(folder, '/') != folder) {
    *strrchr(folder, '/') = '\0';
  }
  report->store_state = STORE_IS_MISSING;
  if (access(folder, W_OK | X_OK) != 0) {
    report->store_state = STORE_IS_BROKEN;
    lt_fail(&report->store_error, LT_E_IO, "it cannot be made, %s: %s", folder, strerror(errno));
  }
}

/* A database that is not there is not created. */
static void doctor_check_store(doctor_report *report) {
  const char *path = report->config.store;
  if (path != NULL) {
    lt_buf_addc(&report->store, path);
  } else if (lt_store_default_path(&report->store, &report->store_error) != LT_OK) {
    report->store_state = STORE_IS_BROKEN;
    return;
  }
  if (strcmp(report->store.p, ":memory:") == 0) {
    report->store_state = STORE_IS_MEMORY;
  } else if (access(report->store.p, F_OK) != 0) {
    doctor_check_folder(report);
  } else if (lt_loop_new(&report->loop, &report->store_error) == LT_OK) {
    report->store_state = STORE_IS_BROKEN;
    (void)lt_loop_spawn(report->loop, doctor_on_fiber, report, &report->store_error);
    lt_loop_run(report->loop);
    lt_loop_free(report->loop);
  }
}

/* --- Looking ------------------------------------------------------------------------------------------------------ */

static void doctor_look(doctor_report *report, const doctor_options *opt) {
  lt_trust trust;
  lt_config_sources sources = opt->sources;
  sources.leaves_out_untrusted = true;
  (void)lt_settings_load(&sources, &report->config, &report->config_error);
  (void)lt_config_secrets(&report->config, &report->secrets, NULL);
  (void)lt_trust_read(&trust, &report->trust_error);
  report->trusted = trust.count;
  lt_trust_release(&trust);
  lt_jail_probe(&report->walls);
  (void)lt_jail_check(&report->walls, LT_JAIL_PYTHON, &report->walls_error);
  report->tsc = lt_tsc_find(report->config.typescript.path);
  doctor_check_store(report);
}

/* A wall that is missing is told, but need not matter here: it is for Python and Deno only. */
static bool doctor_has_problem(const doctor_report *r) {
  return r->config_error.status != LT_OK || r->trust_error.status != LT_OK || r->store_state == STORE_IS_BROKEN;
}

/* --- For people --------------------------------------------------------------------------------------------------- */

static void doctor_put_files(const doctor_report *r, lt_buf *out) {
  lt_buf_addc(out, "configuration\n");
  for (size_t i = 0; i < r->config.file_count; i++) {
    const lt_config_file *file = &r->config.files[i];
    lt_buf_addc(out, file->counts ? "  counts: " : "  does not count: ");
    lt_config_review_text(lt_str_of(file->path), out);
    lt_buf_addc(out, " (");
    lt_buf_addc(out, file->why);
    lt_buf_addc(out, ")\n");
  }
  if (r->config.file_count == 0) {
    lt_buf_addc(out, "  no file: the defaults\n");
  }
  for (size_t i = 0; r->config.warnings[i] != NULL; i++) {
    lt_buf_printf(out, "  warning: %s\n", r->config.warnings[i]);
  }
  lt_buf_printf(out, "  files that you trust: %zu (lathe trust --list)\n", r->trusted);
}

static void doctor_put_problem(const lt_err *err, lt_buf *out) {
  if (err->status != LT_OK) {
    lt_buf_printf(out, "  PROBLEM: %s\n", lt_err_msg(err));
  }
}

static void doctor_put_walls(const doctor_report *r, lt_buf *out) {
  lt_buf_addc(out, "walls round Python and Deno\n");
  if (r->walls.landlock_abi > 0) {
    lt_buf_printf(out, "  Landlock: version %d\n", r->walls.landlock_abi);
  } else {
    lt_buf_addc(out, "  Landlock: no\n");
  }
  lt_buf_printf(out, "  filter of system calls: %s\n", r->walls.seccomp ? "yes" : "no");
  if (r->walls_error.status != LT_OK) {
    lt_buf_printf(out, "  note: %s\n", lt_err_msg(&r->walls_error));
  }
}

static void doctor_put_types(const doctor_report *r, lt_buf *out) {
  lt_buf_addc(out, "types of TypeScript programs\n  ");
  if (r->config.typescript.check == 0) {
    lt_buf_addc(out, "not checked: typescript.check is false\n");
  } else if (r->tsc != NULL) {
    lt_buf_addc(out, "checked by ");
    lt_config_review_text(lt_str_of(r->tsc), out);
    lt_buf_addc(out, "\n");
  } else {
    lt_buf_addc(out, "not checked: there is no tsc (npm install typescript, or typescript.path)\n");
  }
}

static void doctor_put_store(const doctor_report *r, lt_buf *out) {
  static const char *const words[] = {"nothing is kept", "made when something is stored", "can be used",
                                      "cannot be used"};
  lt_buf_addc(out, "store\n  ");
  lt_config_review_text(lt_buf_view(&r->store), out);
  lt_buf_printf(out, ": %s\n", words[r->store_state]);
  doctor_put_problem(&r->store_error, out);
}

static void doctor_put_servers(const doctor_report *r, lt_buf *out) {
  lt_buf_addc(out, r->config.server_count > 0 ? "servers\n" : "servers: none\n");
  for (size_t i = 0; i < r->config.server_count; i++) {
    const lt_config_server *server = &r->config.servers[i];
    lt_buf_addc(out, "  ");
    lt_config_review_text(lt_str_of(server->name), out);
    lt_buf_printf(out, ": %s ", server->type != NULL ? server->type : "stdio");
    lt_config_review_text(lt_str_of(server->command != NULL ? server->command : "address"), out);
    lt_buf_addc(out, server->disabled ? " (disabled)\n" : "\n");
  }
}

static void doctor_put_text(const doctor_report *r, lt_buf *out) {
  lt_buf_addc(out, "lathe " LT_VERSION ", engine quickjs-wasi " LT_ENGINE_VERSION "\n");
  doctor_put_files(r, out);
  doctor_put_problem(&r->config_error, out);
  doctor_put_problem(&r->trust_error, out);
  doctor_put_store(r, out);
  doctor_put_walls(r, out);
  doctor_put_types(r, out);
  doctor_put_servers(r, out);
}

/* --- As JSON ------------------------------------------------------------------------------------------------------ */

static void doctor_put_pair(lt_json_writer *w, const char *key, const char *value) {
  lt_json_key(w, key);
  lt_json_put_cstr(w, value);
}

static void doctor_put_truth(lt_json_writer *w, const char *key, bool value) {
  lt_json_key(w, key);
  lt_json_put_bool(w, value);
}

static void doctor_put_error(lt_json_writer *w, const char *key, const lt_err *err) {
  if (err->status != LT_OK) {
    doctor_put_pair(w, key, lt_err_msg(err));
  }
}

static void doctor_put_json_files(const doctor_report *r, lt_json_writer *w) {
  lt_json_key(w, "files");
  lt_json_begin_array(w);
  for (size_t i = 0; i < r->config.file_count; i++) {
    const lt_config_file *file = &r->config.files[i];
    lt_json_begin_object(w);
    doctor_put_pair(w, "path", file->path);
    doctor_put_pair(w, "layer", file->layer == LT_CONFIG_LAYER_USER ? "user" : "project");
    doctor_put_truth(w, "counts", file->counts);
    doctor_put_pair(w, "why", file->why);
    doctor_put_pair(w, "sha256", file->hash);
    lt_json_end_object(w);
  }
  lt_json_end_array(w);
  lt_json_key(w, "warnings");
  lt_json_begin_array(w);
  for (size_t i = 0; r->config.warnings[i] != NULL; i++) {
    lt_json_put_cstr(w, r->config.warnings[i]);
  }
  lt_json_end_array(w);
}

static void doctor_put_json_servers(const doctor_report *r, lt_json_writer *w) {
  lt_json_key(w, "servers");
  lt_json_begin_array(w);
  for (size_t i = 0; i < r->config.server_count; i++) {
    const lt_config_server *server = &r->config.servers[i];
    lt_json_begin_object(w);
    doctor_put_pair(w, "name", server->name);
    doctor_put_pair(w, "type", server->type != NULL ? server->type : "stdio");
    if (server->command != NULL) {
      doctor_put_pair(w, "command", server->command);
    }
    doctor_put_truth(w, "disabled", server->disabled);
    lt_json_end_object(w);
  }
  lt_json_end_array(w);
}

static void doctor_put_json_system(const doctor_report *r, lt_json_writer *w) {
  lt_json_key(w, "store");
  lt_json_begin_object(w);
  lt_json_key(w, "path");
  lt_json_put_str(w, lt_buf_view(&r->store));
  doctor_put_pair(w, "state", doctor_store_states[r->store_state]);
  doctor_put_error(w, "error", &r->store_error);
  lt_json_end_object(w);
  lt_json_key(w, "walls");
  lt_json_begin_object(w);
  lt_json_key(w, "landlock");
  lt_json_put_int(w, r->walls.landlock_abi);
  doctor_put_truth(w, "seccomp", r->walls.seccomp);
  doctor_put_error(w, "error", &r->walls_error);
  lt_json_end_object(w);
}

static void doctor_put_json(const doctor_report *r, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  doctor_put_pair(&w, "lathe", LT_VERSION);
  doctor_put_pair(&w, "engine", "quickjs-wasi " LT_ENGINE_VERSION);
  doctor_put_json_files(r, &w);
  doctor_put_error(&w, "configError", &r->config_error);
  doctor_put_error(&w, "trustError", &r->trust_error);
  lt_json_key(&w, "trustedFiles");
  lt_json_put_int(&w, (int64_t)r->trusted);
  doctor_put_json_system(r, &w);
  if (r->tsc != NULL) {
    doctor_put_pair(&w, "tsc", r->tsc);
  }
  doctor_put_json_servers(r, &w);
  lt_json_end_object(&w);
}

static int doctor_run(void *options) {
  const doctor_options *opt = options;
  doctor_report report = {.store_state = STORE_IS_BROKEN};
  LT_AUTO_BUF(out, LT_JSON_MAX_BYTES);
  lt_config_init(&report.config);
  lt_buf_init(&report.store, LT_CONFIG_MAX_BYTES);
  doctor_look(&report, opt);
  (opt->json ? doctor_put_json : doctor_put_text)(&report, &out);
  lt_console console = {.secrets = report.secrets};
  lt_status status = lt_console_report(&console, &out);
  int code = doctor_has_problem(&report) || status != LT_OK ? LT_EXIT_FAILED : LT_EXIT_OK;
  lt_secrets_free(report.secrets);
  lt_buf_release(&report.store);
  lt_mem_free(report.tsc);
  lt_config_release(&report.config);
  return code;
}

const lt_command lt_doctor_command = {
    .name = "doctor",
    .summary = "Show which files count and why, versions, walls, store and servers",
    .about =
        "Show what Lathe would use here: which configuration files count and why, versions, the walls that this\n"
        "system has, the store, and the servers that are configured. Nothing is started.\n",
    .synopsis = "[options]",
    .operand = {.rule = "no word is wanted, only options"},
    .options = doctor_option_rows,
    .option_count = sizeof doctor_option_rows / sizeof doctor_option_rows[0],
    .options_size = sizeof(doctor_options),
    .notes = "Exit code: 0 ok, 1 something is wrong, 2 usage.\n",
    .run = doctor_run,
};
