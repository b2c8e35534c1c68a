/* What the calls of a session need: the policy, the database, the plugins; and for each run a caller with its budget
 * and approver. Loop thread only.
 *
 * The database opens when something is stored, and an engine when a program runs.
 */
#ifndef LT_APP_TOOLBOX_H
#define LT_APP_TOOLBOX_H

#include "app/report.h"
#include "config/config.h"
#include "plugin/host.h"
#include "io/loop.h"
#include "runner/runner.h"
#include "tool/caller.h"
#include "tool/masked_records.h"
#include "trace/sampler.h"

typedef struct lt_toolbox lt_toolbox;

typedef struct lt_toolbox_options {
  lt_loop *loop;
  lt_door *door;
  const lt_config *config;
  const lt_secrets *secrets;
  const lt_report *report; /* gets a warning for each plugin that cannot be used */
  lt_monitor *monitor;     /* is told of programs; may be NULL */
  lt_cancel *cancel;
  bool is_embedded;   /* as in lt_session ... */
  const char *helper; /* ... and this, too */
  bool is_reloadable; /* its rules may be replaced later: there is a policy, also without rules */
} lt_toolbox_options;

/* Compiles the policy. Borrows everything in the options. Errors: LT_E_CONFIG, with file and key; LT_E_NOMEM. Owns: the
 * caller, lt_toolbox_close. */
lt_status lt_toolbox_open(const lt_toolbox_options *options, lt_toolbox **ret_toolbox, lt_err *err);
void lt_toolbox_close(lt_toolbox *toolbox); /* NULL is allowed; after lt_toolbox_unload */

/* Loads the built-in plugins and those of the configuration. A plugin that cannot be used gives a warning. A cancel
 * skips the remaining plugins, with a warning. LT_YIELDS. Errors: LT_E_NOMEM. The caller calls lt_toolbox_unload also
 * after an error. */
lt_status lt_toolbox_load(lt_toolbox *toolbox, lt_err *err) LT_YIELDS;
/* Calls the ready hooks of the plugins: all tools are known. LT_YIELDS. */
void lt_toolbox_ready(lt_toolbox *toolbox) LT_YIELDS;
/* Ends plugins and engine and closes the database. Every run must have ended. LT_YIELDS. */
void lt_toolbox_unload(lt_toolbox *toolbox) LT_YIELDS;

/* As lt_runners_warm. */
void lt_toolbox_warm(lt_toolbox *toolbox);
/* As lt_runners_warm_types; after lt_toolbox_load. */
void lt_toolbox_warm_types(lt_toolbox *toolbox);
/* The runner of a language: the one with this id, or for NULL the configuration's. It is made at its first use. NULL:
 * `err` says why. Borrows. */
lt_runner *lt_toolbox_runner(lt_toolbox *toolbox, const char *id, lt_lang lang, lt_err *err);
/* Sets the runner for calls without an id, for every language; NULL: the configuration's runners. Borrows.
 */
void lt_toolbox_use_runner(lt_toolbox *toolbox, lt_runner *runner);
/* As lt_runners_count_boxes; after lt_toolbox_load. */
lt_runner_boxes lt_toolbox_count_boxes(const lt_toolbox *toolbox);
/* Says which runs are traced from now on; NULL: none. Borrows. */
void lt_toolbox_set_sampler(lt_toolbox *toolbox, const lt_sampler *sampler);
/* The places of storage, for direct use. NULL before lt_toolbox_load. Borrow. */
lt_store *lt_toolbox_db(const lt_toolbox *toolbox);
lt_artifacts *lt_toolbox_artifacts(const lt_toolbox *toolbox);
/* Whether the database outlives the process. */
bool lt_toolbox_keeps(const lt_toolbox *toolbox);
/* Replaces the rules of a toolbox that is_reloadable, also for runs under way (lt_policy_replace). Owns: the toolbox.
 */
void lt_toolbox_replace_policy(lt_toolbox *toolbox, lt_policy *policy);
/* NULL: no rules. Borrows. */
const lt_policy *lt_toolbox_policy(const lt_toolbox *toolbox);
/* What plugins have registered. Borrows. */
lt_host *lt_toolbox_host(const lt_toolbox *toolbox);
/* The saved programs as modules (plugin/program_tools.h). Borrows. */
const lt_run_module *lt_toolbox_program_modules(const lt_toolbox *toolbox, size_t *ret_count);

/* --- Runs --------------------------------------------------------------------------------------------------------- */
#define LT_TOOLBOX_RUN_ID_DIGITS 32

typedef struct lt_toolbox_run_options {
  lt_str user;           /* empty: the one of the command line */
  lt_approver *approver; /* borrowed; NULL: calls that need an approval are denied */
  bool journal;          /* the calls are recorded in the database */
} lt_toolbox_run_options;

/* One run: its caller, and the caller's parts. Not to be moved while it is in use. */
typedef struct lt_toolbox_run {
  lt_caller caller;
  lt_journal *stored_journal;       /* NULL: none */
  lt_masked_journal masked_journal; /* in front of it */
  lt_prepared_prompt prepared;
  bool is_prepared;
  char id[LT_TOOLBOX_RUN_ID_DIGITS + 1];
} lt_toolbox_run;

/* Makes the caller and lets plugins prepare. `defaults`: settings of programs that plugins run; borrowed until the end.
 * LT_YIELDS. Errors: LT_E_NOMEM, LT_E_LIMIT, LT_E_CONFIG (no place for the journal). After success the caller calls
 * lt_toolbox_end. */
lt_status lt_toolbox_begin(lt_toolbox *toolbox, const lt_toolbox_run_options *options, const lt_run_request *defaults,
                           lt_toolbox_run *ret_run, lt_err *err) LT_YIELDS;
/* All calls of the run must have ended. */
void lt_toolbox_end(lt_toolbox_run *run);

#endif
