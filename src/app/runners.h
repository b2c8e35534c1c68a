/* The table of runners, and the runners of a session. A runner is made at its first use. The caller names the language;
 * the configuration and the command line choose the runner. Loop thread only.
 */
#ifndef LT_APP_RUNNERS_H
#define LT_APP_RUNNERS_H

#include "app/report.h"
#include "config/config.h"
#include "io/loop.h"
#include "runner/runner.h"
#include "tool/door.h"

typedef struct lt_runners lt_runners;

/* One row for each runner: ROW(id, its languages for messages, the languages that it speaks). The first row that speaks
 * a language runs it, unless the configuration says otherwise. runners.c makes each from its part of the configuration.
 */
#define LT_RUNNERS(ROW)                                             \
  ROW(quickjs, "js and ts", LT_LANG_JAVASCRIPT, LT_LANG_TYPESCRIPT) \
  ROW(deno, "ts and js", LT_LANG_TYPESCRIPT, LT_LANG_JAVASCRIPT)    \
  ROW(python, "python", LT_LANG_PYTHON, LT_LANG_PYTHON)

/* The runners' ids for help texts: "quickjs|deno|...". */
#define LT_RUNNER_BAR_ID(id, languages, first, second) "|" #id
#define LT_RUNNER_IDS                                  (LT_RUNNERS(LT_RUNNER_BAR_ID) + 1)

/* Borrows everything. Errors: LT_E_NOMEM. Owns: the caller, lt_runners_free. */
lt_status lt_runners_new(lt_loop *loop, lt_door *door, const lt_config *config, const lt_report *report,
                         lt_runners **ret_runners, lt_err *err);
/* Who is told of programs; NULL: nobody. Before the first runner is handed out. */
void lt_runners_set_monitor(lt_runners *runners, lt_monitor *monitor);
/* The program that puts up walls (jail/jail.h), instead of our own. Borrows. Before the first runner is handed out. */
void lt_runners_set_helper(lt_runners *runners, const char *helper);
/* Types are checked where the configuration says so, and not where a compiler is found. Before the first runner is
 * handed out. */
void lt_runners_check_types_if_asked(lt_runners *runners);
/* Every run must have ended. NULL is allowed. LT_YIELDS. */
void lt_runners_free(lt_runners *runners) LT_YIELDS;

/* Adds up the sandboxes of all runners. */
lt_runner_boxes lt_runners_count_boxes(const lt_runners *runners);

/* Starts slow parts early, so that the first program does not wait: Python's interpreter, if the configuration has
 * Python. Several programs may follow: after one program in Deno, the next Deno starts ahead. Does not yield. The first
 * program reports a failure. */
void lt_runners_warm(lt_runners *runners);

/* Starts the compiler that checks types: the program that comes is TypeScript, on the embedded engine. Does not yield.
 * The first program reports a failure. */
void lt_runners_warm_types(lt_runners *runners);

/* Checks that a runner with this id (NULL: any) speaks the language. LT_E_INVALID: no such runner, or it does not speak
 * the language; the message names one that does. */
lt_status lt_runners_check(const char *id, lt_lang lang, lt_err *err);

/* The runner for programs in a language: the one with this id, or for NULL the configuration's. NULL with `err`:
 * lt_runners_check failed, or the runner could not be made. Borrows. */
lt_runner *lt_runners_get(lt_runners *runners, const char *id, lt_lang lang, lt_err *err);

#endif
