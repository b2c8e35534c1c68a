/* Runners: what carries out programs. One implementation per engine (quickjs/, deno/, python/).
 *
 * A runner takes a program's text, runs it in its sandbox with the tools behind a door, and says how it ended.
 */
#ifndef LT_RUNNER_RUNNER_H
#define LT_RUNNER_RUNNER_H

#include "runner/run_request.h"
#include "runner/run_result.h"

/* Which runner carries out a program is decided by its language and the configuration, not by the one who asks. */
typedef struct lt_runner lt_runner;
struct lt_runner {
  const char *id;               /* "quickjs" */
  bool (*speaks)(lt_lang lang); /* whether it runs programs in that language */
  /* Runs a program to its end. LT_YIELDS. `result` (initialised) says how it went, also when it failed; the returned
   * status is only about the run as such: LT_OK, or why it could not be begun (LT_E_NOMEM, LT_E_NOTFOUND: an
   * interpreter is missing, LT_E_UNSUPPORTED: a wall cannot be had; the message says what to do). Borrows the request
   * until it returns. Calls the program left open are waited for when it succeeds, and cancelled when it fails or is
   * stopped. */
  lt_status (*run)(lt_runner *self, const lt_run_request *request, lt_run_result *result, lt_err *err) LT_YIELDS;
  /* Starts what the first program would wait for; NULL: there is nothing to start. LT_YIELDS. */
  lt_status (*warm)(lt_runner *self, lt_err *err) LT_YIELDS;
  /* Frees the runner. Every run must have ended. LT_YIELDS. */
  void (*free)(lt_runner *self) LT_YIELDS;
};

#endif
