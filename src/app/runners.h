/* What runs programs: the table of runners, and every runner of a session, each made when it is first needed. The
 * caller names the language; the configuration and the command line decide which runner runs it. Loop thread only.
 */
#ifndef LT_APP_RUNNERS_H
#define LT_APP_RUNNERS_H

#include "config/config.h"
#include "io/loop.h"
#include "runner/runner.h"
#include "tool/door.h"

typedef struct lt_runners lt_runners;

/* One row for each runner: ROW(id, its languages for messages, the two that it speaks). The first row that speaks a
 * language runs it, unless the configuration says otherwise. runners.c makes each from its part of the configuration.
 */
#define LT_RUNNERS(ROW)                                             \
  ROW(quickjs, "js and ts", LT_LANG_JAVASCRIPT, LT_LANG_TYPESCRIPT) \
  ROW(deno, "ts and js", LT_LANG_TYPESCRIPT, LT_LANG_JAVASCRIPT)    \
  ROW(python, "python", LT_LANG_PYTHON, LT_LANG_PYTHON)

/* Their ids for help texts: "quickjs|deno|...". */
#define LT_RUNNER_BAR_ID(id, languages, first, second) "|" #id
#define LT_RUNNER_IDS                                  (LT_RUNNERS(LT_RUNNER_BAR_ID) + 1)

/* Borrows everything. Errors: LT_E_NOMEM. Owns: the caller, lt_runners_free. */
lt_status lt_runners_new(lt_loop *loop, lt_door *door, const lt_config *config, lt_runners **ret_runners, lt_err *err);
/* Every run must have ended. NULL is allowed. LT_YIELDS. */
void lt_runners_free(lt_runners *runners) LT_YIELDS;

/* Starts what takes a while, so that the first program need not wait for it: Python's interpreter, where the
 * configuration has Python. And there may be several programs: once one has run in Deno, a Deno is started ahead. Does
 * not yield; the first program meets what goes wrong. */
void lt_runners_warm(lt_runners *runners);

/* "js", "ts", "python". */
const char *lt_runners_language(lt_lang lang);
/* Whether there is a runner of that id (NULL: any) for the language. LT_E_INVALID: there is none, or it does not speak
 * it; the message says which one does. */
lt_status lt_runners_check(const char *id, lt_lang lang, lt_err *err);

/* The runner for programs in a language: the one of that id, or the configuration's when it is NULL. NULL: `err` says
 * why there is none, as lt_runners_check does, or the runner itself. Borrows. */
lt_runner *lt_runners_get(lt_runners *runners, const char *id, lt_lang lang, lt_err *err);

#endif
