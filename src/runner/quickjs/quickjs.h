/* The QuickJS runner: JavaScript, and TypeScript after its types are removed, in boxes on worker threads.
 *
 * Owns the workers, the images and the pools. Call its functions on the loop's thread. Programs run on the workers;
 * tool calls and timers run on the loop.
 */
#ifndef LT_RUNNER_QUICKJS_QUICKJS_H
#define LT_RUNNER_QUICKJS_QUICKJS_H

#include "io/loop.h"
#include "runner/runner.h"
#include "runner/typecheck/typecheck.h"
#include "tool/door.h"

typedef struct lt_quickjs lt_quickjs;

/* Opens the engine's image and starts `workers` threads (0: one per core). Borrows: loop and door.
 * Errors: LT_E_NOMEM, LT_E_IO. Owns: the caller, lt_quickjs_free. */
lt_status lt_quickjs_new(lt_loop *loop, lt_door *door, unsigned workers, lt_quickjs **ret_quickjs, lt_err *err);
/* From now on types of TypeScript programs are checked before they run. Borrows: must outlive `quickjs`. NULL: they are
 * not checked, as at first. */
void lt_quickjs_check_types(lt_quickjs *quickjs, lt_typecheck *typecheck);
/* The time zone of programs' local time, a name that lt_time_zone_find knows; without this call it is UTC. A run by a
 * record has the recorded one. Borrows the name. */
void lt_quickjs_set_time_zone(lt_quickjs *quickjs, lt_str time_zone);
/* Every run must have ended. The loop must still exist, because a worker may still be inside lt_loop_post. NULL is
 * allowed.
 */
void lt_quickjs_free(lt_quickjs *quickjs);

/* The runner of JavaScript and TypeScript. Borrows: lives as long as `quickjs`. */
lt_runner *lt_quickjs_runner(lt_quickjs *quickjs);

/* Declarations of what this runner's programs have beside the globals of every program. Borrows: static. */
lt_str lt_quickjs_globals(void);

/* Runs a program to its end. LT_YIELDS. `result` (initialised) gets the program's end, also a failure. The returned
 * status is LT_OK, or why the run could not begin: LT_E_NOMEM, or what lt_typecheck_run says. Borrows the request until
 * it returns. After a success it waits for the program's open calls; after a failure or a stop it cancels them. A tool
 * that ignores its cancel delays the end. */
lt_status lt_quickjs_run(lt_quickjs *quickjs, const lt_run_request *request, lt_run_result *result,
                         lt_err *err) LT_YIELDS;

#endif
