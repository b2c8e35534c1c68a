/* The first line of a program may say how it is to be run: `// @exec: {"timeout": 60000}`, in Python `# @exec: {...}`.
 *
 * Known are `timeout` (`timeout_ms`, `timeoutMs`; milliseconds), `memory` (`memory_mb`, `memoryMb`; MiB) and
 * `max_output_tokens`. The time is at most LT_RUN_TIMEOUT_MAX_MS; memory and output are at most what the request
 * allows. What is unknown, or more than that, is a warning for the program's log, not a failure. Pure.
 */
#ifndef LT_RUNNER_EXEC_PRAGMA_H
#define LT_RUNNER_EXEC_PRAGMA_H

#include "runner/run_request.h"

typedef struct lt_exec_pragma {
  lt_run_request request; /* with what the line asks for */
  lt_buf warnings;        /* lines; empty: none */
} lt_exec_pragma;

/* The request with what the program's first line asks for: `pragma->request`, or `request` itself where there is no
 * such line. Initialises the pragma. Borrows: both. */
const lt_run_request *lt_exec_pragma_apply(lt_exec_pragma *pragma, const lt_run_request *request);
void lt_exec_pragma_release(lt_exec_pragma *pragma);

#endif
