/* The QuickJS runner: JavaScript, and TypeScript with its types taken off, in boxes on worker threads.
 *
 * Owns the workers, the images and the pools. Its functions belong to the loop's thread; programs run on the workers
 * and come over only for tool calls and timers.
 */
#ifndef LT_RUNNER_QUICKJS_QUICKJS_H
#define LT_RUNNER_QUICKJS_QUICKJS_H

#include "io/loop.h"
#include "runner/runner.h"
#include "tool/door.h"

typedef struct lt_quickjs lt_quickjs;

/* Opens the engine's image and starts `workers` threads (0: one per core). Borrows: loop and door.
 * Errors: LT_E_NOMEM, LT_E_IO. Owns: the caller, lt_quickjs_free. */
lt_status lt_quickjs_new(lt_loop *loop, lt_door *door, unsigned workers, lt_quickjs **ret_quickjs, lt_err *err);
/* Every run must have ended; the loop must still be there: workers may be about to leave lt_loop_post. NULL is allowed.
 */
void lt_quickjs_free(lt_quickjs *quickjs);

/* As one runner among others: JavaScript and TypeScript. Borrows: lives as long as the engine. */
lt_runner *lt_quickjs_runner(lt_quickjs *quickjs);

/* Runs a program to its end. LT_YIELDS. `result` (initialised) says how it went, also when it failed; the returned
 * status is only about the run as such: LT_OK, or LT_E_NOMEM when there was no room to start it. Borrows the request
 * until it returns. Calls the program left open are waited for when it succeeds, and cancelled when it fails or is
 * stopped: a tool that does not heed its cancel delays the end. */
lt_status lt_quickjs_run(lt_quickjs *quickjs, const lt_run_request *request, lt_run_result *result,
                         lt_err *err) LT_YIELDS;

#endif
