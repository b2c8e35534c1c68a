/* Opens the calls of a program: calls from before the program was dropped, recorded calls, and new calls. On the
 * worker. */
#ifndef LT_RUNNER_QUICKJS_CALL_OPENING_H
#define LT_RUNNER_QUICKJS_CALL_OPENING_H

#include "runner/quickjs/program_call.h"
#include "sandbox/engine.h"

/* Opens a call of a tool, or of the request's function at `index`. Returns the call's id; 0: it cannot be started, and
 * `ret` says why. `is_object`: lt_invoke_options.is_object. */
uint32_t lt_call_opening_tool(lt_run *run, lt_str tool, lt_str input, bool is_object, lt_outcome *ret);
uint32_t lt_call_opening_function(lt_run *run, uint32_t index, lt_str args, lt_outcome *ret);

#endif
