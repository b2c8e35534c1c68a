#include "app/toolbox.h"

#include "agent/agent.h"

#include "app/plugins.h"
#include "app/retention.h"
#include "app/runners.h"
#include "app/settings.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "plugin/program_tools.h"
#include "store/store.h"

struct lt_toolbox {
  lt_toolbox_options o;
  lt_policy *policy; /* NULL: no rules */
  lt_store *db;
  bool is_nowhere; /* the database has no path: stored data ends with the process */
  lt_artifacts *stored_artifacts;
  lt_masked_artifacts masked_artifacts;
  lt_artifacts *artifacts; /* the masking ones, in front of the stored ones; NULL: none yet */
  lt_host *host;
  lt_program_tools *programs; /* the saved ones; NULL: there are none */
  lt_runners *runners;
  const lt_sampler *sampler; /* of runs; NULL: none is traced */
  lt_runner *runner;         /* replaces the configuration's runners; NULL: it does not */
  lt_caller nobody;          /* the caller of plugins outside of runs; it has no approver */
};

lt_status lt_toolbox_open(const lt_toolbox_options *options, lt_toolbox **ret_toolbox, lt_err *err) {
  lt_toolbox *t = lt_mem_zalloc(1, sizeof *t);
  if (t == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  t->o = *options;
  lt_status status = lt_settings_policy(options->config, &t->policy, err);
  if (status == LT_OK && t->policy == NULL && options->is_reloadable) {
    status = lt_policy_new(NULL, 0, NULL, 0, &t->policy, err);
  }
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

/* --- Plugins and the store ---------------------------------------------------------------------------------------- */
static void toolbox_on_line(void *arg, bool is_warning, lt_str line) {
  lt_report_line(((lt_toolbox *)arg)->o.report, is_warning ? LT_REPORT_WARNING : LT_REPORT_INFO, line);
}

static const char *toolbox_module_at(void *arg, size_t i) {
  const lt_config *c = ((lt_toolbox *)arg)->o.config;
  return i < c->module_count ? c->modules[i].name : NULL;
}

static lt_runner *toolbox_runner_of(void *arg, lt_lang lang, lt_err *err) {
  return lt_toolbox_runner(arg, NULL, lang, err);
}

static lt_status toolbox_user_tools(void *arg, lt_str user, lt_arena *arena, lt_catalog_source *ret_source,
                                    lt_err *err) LT_YIELDS {
  return lt_program_tools_of_user(((lt_toolbox *)arg)->programs, user, arena, ret_source, err);
}

/* Without a home folder, stored data is kept until the process ends. So programs that store nothing still work. */
static lt_status toolbox_open_store(lt_toolbox *t, lt_err *err) {
  const char *store = t->o.config->store;
  lt_status status = lt_store_new(t->o.loop, store, &t->db, err);
  if (status == LT_E_CONFIG && store == NULL) {
    t->is_nowhere = true;
    status = lt_store_new(t->o.loop, ":memory:", &t->db, err);
  }
  LT_TRY(status);
  t->stored_artifacts = lt_store_artifacts_new(t->db);
  if (t->stored_artifacts == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  const lt_config *config = t->o.config;
  lt_store_artifacts_set_limits(t->stored_artifacts, (uint64_t)config->artifacts_per_run_mb * LT_MIB,
                                (uint64_t)config->artifacts_mb * LT_MIB);
  t->artifacts = lt_masked_records_artifacts(&t->masked_artifacts, t->stored_artifacts, t->o.secrets);
  return LT_OK;
}

/* Whoever embeds Lathe has programs of its own. Without those that a person has saved, everything else works. */
static void toolbox_open_programs(lt_toolbox *t, const lt_host_options *options) LT_YIELDS {
  LT_ERR_VAR(why);
  bool may_save = t->o.config->programs.save;
  if (!t->o.is_embedded && lt_program_tools_open(t->host, options, may_save, &t->programs, &why) != LT_OK) {
    lt_report_line(t->o.report, LT_REPORT_WARNING, lt_str_of(lt_err_msg(&why)));
  }
}

lt_status lt_toolbox_load(lt_toolbox *t, lt_err *err) {
  LT_TRY(toolbox_open_store(t, err));
  LT_TRY(lt_runners_new(t->o.loop, t->o.door, t->o.config, t->o.report, &t->runners, err));
  lt_runners_set_monitor(t->runners, t->o.monitor);
  lt_runners_set_helper(t->runners, t->o.helper);
  if (t->o.is_embedded) {
    lt_runners_check_types_if_asked(t->runners);
  }
  t->nobody = (lt_caller){.user = LT_STR("local"), .policy = t->policy, .artifacts = t->artifacts};
  lt_host_options options = {
      .loop = t->o.loop,
      .door = t->o.door,
      .db = t->db,
      .is_mode_reserved = lt_agent_is_built_in_mode,
      .artifacts = t->artifacts,
      .secrets = t->o.secrets,
      .runner = toolbox_runner_of,
      .caller = &t->nobody,
      .module_at = toolbox_module_at,
      .user_tools = toolbox_user_tools,
      .on_line = toolbox_on_line,
      .arg = t,
  };
  LT_TRY(lt_host_new(&options, &t->host, err));
  lt_plugins_load(t->host, t->o.config, t->o.report, t->o.cancel);
  toolbox_open_programs(t, &options);
  return LT_OK;
}

void lt_toolbox_ready(lt_toolbox *t) {
  lt_host_ready(t->host);
}

void lt_toolbox_unload(lt_toolbox *t) {
  lt_program_tools_close(t->programs);
  lt_host_free(t->host);
  lt_runners_free(t->runners);
  lt_store_artifacts_free(t->stored_artifacts);
  if (t->db != NULL && t->o.cancel->why == LT_OK) {
    lt_retention_apply(t->o.config, t->db);
  }
  lt_store_close(t->db);
  t->host = NULL;
  t->programs = NULL;
  t->runners = NULL;
  t->artifacts = t->stored_artifacts = NULL;
  t->db = NULL;
}

void lt_toolbox_warm(lt_toolbox *t) {
  lt_runners_warm(t->runners);
}

void lt_toolbox_warm_types(lt_toolbox *t) {
  lt_runners_warm_types(t->runners);
}

lt_runner *lt_toolbox_runner(lt_toolbox *t, const char *id, lt_lang lang, lt_err *err) {
  return id == NULL && t->runner != NULL ? t->runner : lt_runners_get(t->runners, id, lang, err);
}

void lt_toolbox_use_runner(lt_toolbox *t, lt_runner *runner) {
  t->runner = runner;
}

lt_runner_boxes lt_toolbox_count_boxes(const lt_toolbox *t) {
  return lt_runners_count_boxes(t->runners);
}

void lt_toolbox_set_sampler(lt_toolbox *t, const lt_sampler *sampler) {
  t->sampler = sampler;
}

lt_store *lt_toolbox_db(const lt_toolbox *t) {
  return t->db;
}

lt_artifacts *lt_toolbox_artifacts(const lt_toolbox *t) {
  return t->artifacts;
}

bool lt_toolbox_keeps(const lt_toolbox *t) {
  return !t->is_nowhere;
}

void lt_toolbox_replace_policy(lt_toolbox *t, lt_policy *policy) {
  LT_CHECK(t->policy != NULL);
  lt_policy_replace(t->policy, policy);
}

const lt_policy *lt_toolbox_policy(const lt_toolbox *t) {
  return t->policy;
}

const lt_run_module *lt_toolbox_program_modules(const lt_toolbox *t, size_t *ret_count) {
  return lt_program_tools_modules(t->programs, ret_count);
}

lt_host *lt_toolbox_host(const lt_toolbox *t) {
  return t->host;
}

/* --- A run -------------------------------------------------------------------------------------------------------- */
static lt_status toolbox_open_run_journal(lt_toolbox *t, lt_toolbox_run *run, lt_err *err) {
  if (t->is_nowhere) {
    return lt_fail(
        err, LT_E_CONFIG,
        "there is no place for the journal: set $HOME, or say where in the configuration: store: sqlite:PATH");
  }
  run->stored_journal = lt_store_journal_new(t->db);
  if (run->stored_journal == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  run->caller.journal = lt_masked_records_journal(&run->masked_journal, run->stored_journal, t->o.secrets);
  return LT_OK;
}

static lt_status toolbox_fill_run_caller(lt_toolbox *t, const lt_toolbox_run_options *options, lt_toolbox_run *run,
                                         lt_err *err) {
  run->caller = (lt_caller){
      .user = options->user.n > 0 ? options->user : LT_STR("local"),
      .run = lt_str_of(run->id),
      .policy = t->policy,
      .budget = lt_budget_new(t->policy),
      .approver = options->approver,
      .artifacts = t->artifacts,
      .trace = lt_sampler_begin(t->sampler, NULL),
  };
  if (run->caller.budget == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  return options->journal ? toolbox_open_run_journal(t, run, err) : LT_OK;
}

lt_status lt_toolbox_begin(lt_toolbox *t, const lt_toolbox_run_options *options, const lt_run_request *defaults,
                           lt_toolbox_run *ret_run, lt_err *err) {
  lt_toolbox_run *run = ret_run;
  run->is_prepared = false;
  run->caller = (lt_caller){0};
  run->stored_journal = NULL;
  if (!lt_random_hex(run->id, LT_TOOLBOX_RUN_ID_DIGITS)) {
    return lt_fail(err, LT_E_IO, "the kernel gives no random numbers for an id");
  }
  lt_status status = toolbox_fill_run_caller(t, options, run, err);
  if (status == LT_OK) {
    status = lt_host_prepare(t->host, LT_STR(LT_HOST_RUN_MODE), true, LT_STR(""), defaults, &run->caller,
                             &run->prepared, err);
    run->is_prepared = status == LT_OK;
  }
  if (status != LT_OK) {
    lt_toolbox_end(run);
  }
  return status;
}

void lt_toolbox_end(lt_toolbox_run *run) {
  if (run->is_prepared) {
    lt_host_prepared_release(&run->prepared);
  }
  lt_store_journal_free(run->stored_journal);
  lt_budget_free(run->caller.budget);
  run->caller = (lt_caller){0};
}
