#include "app/toolbox.h"

#include <stdio.h>
#include <sys/random.h>

#include "base/mem.h"
#include "cli/approver.h"
#include "app/runners.h"
#include "plugin/builtin/plugins.h"
#include "store/store.h"

struct lt_toolbox {
  lt_toolbox_options o;
  lt_policy *policy; /* NULL: no rules */
  lt_db *db;
  bool nowhere; /* there is no place for the database: what is stored goes with the process */
  lt_artifacts *artifacts;
  lt_host *host;
  lt_runners *runners;
  lt_runner *runner; /* instead of the configuration's; NULL: those */
  lt_caller nobody;  /* in whose name plugins call outside of runs: nobody is asked */
};

static lt_status compile_policy(lt_toolbox *t, lt_err *err) {
  const lt_config *c = t->o.config;
  if (c->rule_count + c->budget_count == 0) {
    return LT_OK;
  }
  lt_status status = lt_policy_new(c->rules, c->rule_count, c->budgets, c->budget_count, &t->policy, err);
  if (status == LT_OK || status == LT_E_NOMEM) {
    return status;
  }
  lt_err_prefix(err, "%s", c->path);
  return LT_E_CONFIG;
}

lt_status lt_toolbox_open(const lt_toolbox_options *options, lt_toolbox **ret_toolbox, lt_err *err) {
  lt_toolbox *t = lt_mem_zalloc(1, sizeof *t);
  if (t == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  t->o = *options;
  lt_status status = compile_policy(t, err);
  if (status != LT_OK) {
    lt_toolbox_close(t);
    return status;
  }
  *ret_toolbox = t;
  return LT_OK;
}

void lt_toolbox_close(lt_toolbox *t) {
  if (t != NULL) {
    lt_policy_free(t->policy);
    lt_mem_free(t);
  }
}

/* --- Plugins ------------------------------------------------------------------------------------------------------ */
/* `wanted`: whether it is there without being named in `plugins`. */
static bool always(const lt_config *c) {
  (void)c;
  return true;
}
static bool has_python(const lt_config *c) {
  return c->python.given;
}
static bool has_plan(const lt_config *c) {
  return c->plan.given;
}

static const struct {
  const char *name;
  lathe_plugin_entry_fn *entry;
  bool (*wanted)(const lt_config *config);
} built_in[] = {
    {"artifact", lathe_plugin_artifact, always},
    {"interpreter", lathe_plugin_interpreter, always},
    {"python", lathe_plugin_python, has_python},
    {"plan", lathe_plugin_plan, has_plan},
};

static lathe_plugin_entry_fn *find_built_in(const char *name) {
  for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++) {
    if (strcmp(built_in[i].name, name) == 0) {
      return built_in[i].entry;
    }
  }
  return NULL;
}

static bool is_configured(const lt_config *c, const char *name) {
  for (size_t i = 0; i < c->plugin_count; i++) {
    if (c->plugins[i].name != NULL && strcmp(c->plugins[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* What the section `plan` says, where the plugin's own entry says nothing. */
static lt_str config_of(const lt_toolbox *t, const lt_config_plugin *plugin, char room[96]) {
  const lt_config_plan *plan = &t->o.config->plan;
  if (plugin->config[0] != '\0' || plugin->name == NULL || strcmp(plugin->name, "plan") != 0) {
    return lt_str_of(plugin->config);
  }
  int n = snprintf(room, 96, "{\"maxSteps\":%lld,\"concurrency\":%lld}", (long long)plan->max_steps,
                   (long long)plan->concurrency);
  return lt_str_from(room, (size_t)n);
}

static void load(lt_toolbox *t, const lt_config_plugin *plugin) LT_YIELDS {
  if (plugin->disabled || t->o.cancel->why != LT_OK) {
    return;
  }
  char room[96];
  lt_err err = LT_ERR_INIT;
  lt_str config = config_of(t, plugin, room);
  lt_status status = plugin->path != NULL ? lt_host_load(t->host, plugin->path, config, &err)
                                          : lt_host_add(t->host, find_built_in(plugin->name), config, &err);
  if (status != LT_OK) {
    lt_console_warning(t->o.say, lt_str_of(lt_err_msg(&err)));
  }
}

/* Built-in plugins come first, so that others find their tools, but for those that the configuration names. */
static void load_all(lt_toolbox *t) LT_YIELDS {
  const lt_config *c = t->o.config;
  for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++) {
    if (built_in[i].wanted(c) && !is_configured(c, built_in[i].name)) {
      load(t, &(lt_config_plugin){.name = built_in[i].name, .config = ""});
    }
  }
  for (size_t i = 0; i < c->plugin_count; i++) {
    load(t, &c->plugins[i]);
  }
}

static void on_line(void *arg, bool warning, lt_str line) {
  lt_console_line(((lt_toolbox *)arg)->o.say, warning ? "warning: " : "", line);
}

static const char *module_at(void *arg, size_t i) {
  const lt_config *c = ((lt_toolbox *)arg)->o.config;
  return i < c->module_count ? c->modules[i].name : NULL;
}

static lt_runner *runner_of(void *arg, lt_lang lang, lt_err *err) {
  return lt_toolbox_runner(arg, NULL, lang, err);
}

/* Without a home, what is stored is kept as long as the process lives: a program that stores nothing need not care. */
static lt_status open_store(lt_toolbox *t, lt_err *err) {
  const char *store = t->o.config->store;
  lt_status status = lt_db_new(t->o.loop, store, &t->db, err);
  if (status == LT_E_CONFIG && store == NULL) {
    t->nowhere = true;
    status = lt_db_new(t->o.loop, ":memory:", &t->db, err);
  }
  LT_TRY(status);
  t->artifacts = lt_store_artifacts_new(t->db);
  return t->artifacts != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

lt_status lt_toolbox_load(lt_toolbox *t, lt_err *err) {
  LT_TRY(open_store(t, err));
  LT_TRY(lt_runners_new(t->o.loop, t->o.door, t->o.config, &t->runners, err));
  t->nobody = (lt_caller){.user = LT_STR("local"), .policy = t->policy, .artifacts = t->artifacts};
  lt_host_options options = {
      .loop = t->o.loop,
      .door = t->o.door,
      .db = t->db,
      .artifacts = t->artifacts,
      .secrets = t->o.secrets,
      .runner = runner_of,
      .caller = &t->nobody,
      .module_at = module_at,
      .on_line = on_line,
      .arg = t,
  };
  LT_TRY(lt_host_new(&options, &t->host, err));
  load_all(t);
  return LT_OK;
}

void lt_toolbox_ready(lt_toolbox *t) {
  lt_host_ready(t->host);
}

void lt_toolbox_unload(lt_toolbox *t) {
  lt_host_free(t->host);
  lt_runners_free(t->runners);
  lt_store_artifacts_free(t->artifacts);
  lt_db_close(t->db);
  t->host = NULL;
  t->runners = NULL;
  t->artifacts = NULL;
  t->db = NULL;
}

void lt_toolbox_warm(lt_toolbox *t) {
  lt_runners_warm(t->runners);
}

lt_runner *lt_toolbox_runner(lt_toolbox *t, const char *id, lt_lang lang, lt_err *err) {
  return id == NULL && t->runner != NULL ? t->runner : lt_runners_get(t->runners, id, lang, err);
}

void lt_toolbox_use_runner(lt_toolbox *t, lt_runner *runner) {
  t->runner = runner;
}

lt_db *lt_toolbox_db(const lt_toolbox *t) {
  return t->db;
}

lt_artifacts *lt_toolbox_artifacts(const lt_toolbox *t) {
  return t->artifacts;
}

bool lt_toolbox_keeps(const lt_toolbox *t) {
  return !t->nowhere;
}

const lt_policy *lt_toolbox_policy(const lt_toolbox *t) {
  return t->policy;
}

lt_host *lt_toolbox_host(const lt_toolbox *t) {
  return t->host;
}

/* --- A run -------------------------------------------------------------------------------------------------------- */
static void make_id(char id[33]) {
  unsigned char bytes[16] = {0};
  (void)!getrandom(bytes, sizeof bytes, 0); /* 16 bytes come whole, whatever signals come */
  for (size_t i = 0; i < sizeof bytes; i++) {
    id[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    id[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  id[32] = '\0';
}

static lt_status open_journal(lt_toolbox *t, lt_caller *caller, lt_err *err) {
  if (t->nowhere) {
    return lt_fail(
        err, LT_E_CONFIG,
        "there is no place for the journal: set $HOME, or say where in the configuration: store: sqlite:PATH");
  }
  caller->journal = lt_store_journal_new(t->db);
  return caller->journal != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

static lt_status fill_caller(lt_toolbox *t, const lt_toolbox_run_options *options, lt_toolbox_run *run, lt_err *err) {
  run->caller = (lt_caller){
      .user = LT_STR("local"),
      .run = lt_str_of(run->id),
      .policy = t->policy,
      .budget = lt_budget_new(t->policy),
      .approver = lt_approver_new(t->o.loop, t->o.say, options->yes),
      .artifacts = t->artifacts,
  };
  if (run->caller.budget == NULL || run->caller.approver == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  return options->journal ? open_journal(t, &run->caller, err) : LT_OK;
}

lt_status lt_toolbox_begin(lt_toolbox *t, const lt_toolbox_run_options *options, const lt_run_request *defaults,
                           lt_toolbox_run *ret_run, lt_err *err) {
  lt_toolbox_run *run = ret_run;
  run->is_prepared = false;
  make_id(run->id);
  lt_status status = fill_caller(t, options, run, err);
  if (status == LT_OK) {
    status = lt_host_prepare(t->host, LT_STR("run"), LT_STR(""), defaults, &run->caller, &run->prepared, err);
    run->is_prepared = status == LT_OK;
  }
  if (status != LT_OK) {
    lt_toolbox_end(t, run);
  }
  return status;
}

void lt_toolbox_end(lt_toolbox *t, lt_toolbox_run *run) {
  if (run->is_prepared) {
    lt_host_prepared_release(t->host, &run->prepared);
  }
  lt_store_journal_free(run->caller.journal);
  lt_approver_free(run->caller.approver);
  lt_budget_free(run->caller.budget);
  run->caller = (lt_caller){0};
}
