/* A run of a Deno program, from its text to its result.
 *
 * The struct lives on the heap as long as the run. Each part of it is changed by the file that is named beside the
 * part. Loop thread only. */
#ifndef LT_RUNNER_DENO_DENO_RUN_H
#define LT_RUNNER_DENO_DENO_RUN_H

#include "io/http_server.h"
#include "replay/call_matching.h"
#include "runner/call_warnings.h"
#include "runner/exec_pragma.h"
#include "runner/deno/deno_state.h"
#include "runner/run_tool_call.h"
#include "runner/runner.h"

/* The program's own report of its failure. */
typedef struct lt_deno_failure {
  bool is_reported;
  lt_buf name;
  lt_buf message;
  lt_buf stack;
} lt_deno_failure;

/* The compiler: deno.c. */
typedef struct lt_deno_checker {
  lt_process *process;
  bool is_running;
  bool has_type_errors;
  lt_buf report; /* what it wrote */
} lt_deno_checker;

/* What the program wrote: deno_output.c. */
typedef struct lt_deno_output {
  lt_run_text **texts_end; /* where the result's next text is linked */
  size_t output_bytes;
  size_t log_bytes;
  lt_deno_failure failure;
  bool has_value;
} lt_deno_output;

/* Its tool calls: deno_bridge.c. */
typedef struct lt_deno_calls {
  lt_run_tool_call *list; /* all of them; the result takes them over */
  lt_run_tool_call **list_end;
  uint32_t count;
  uint32_t running;
  uint32_t waiting_for_approval;
  size_t recorded_bytes; /* inputs and results kept for the result */
  lt_call_warnings warnings;
} lt_deno_calls;

/* Its clock: deno_clock.c. */
typedef struct lt_deno_clock {
  uint64_t deadline_ns;
  uint64_t paused_since_ns; /* 0: the clock runs */
} lt_deno_clock;

typedef struct lt_deno_run {
  lt_deno *deno;
  lt_loop *loop;
  lt_exec_pragma pragma; /* `request` is its, when the program has one */
  const lt_run_request *request;
  lt_run_result *result;
  lt_catalog *catalog;
  lt_stored_values *values;
  lt_stored_values *own_values; /* NULL when the request brought one */
  lt_wait wait;                 /* of the run's fiber */
  lt_cancel cancel;             /* of its calls */
  lt_call_matching matching;    /* the answers on record, when the program is run again */
  bool is_replayed;             /* its result is on record: nothing is run */
  bool is_typescript;

  lt_str source;          /* the program without code fences: deno_program_text.c */
  lt_buf joined;          /* `source`, when it stood in several code blocks */
  unsigned line_offset;   /* lines removed before it */
  unsigned column_offset; /* bytes added before its first line: deno_source.c */

  /* Its processes: deno.c. Each has a fiber that reads. */
  lt_deno_instance instance;
  lt_http_server *server;
  unsigned readers;
  bool has_run;          /* Deno began the program or was stopped */
  bool has_begun;        /* boot.js has reported that it begins the program */
  bool has_ended;        /* Deno's output has ended */
  lt_status stop_reason; /* why the runner ended the program; LT_OK: it did not */

  lt_deno_checker checker;
  lt_deno_output output;
  lt_deno_calls calls;
  lt_deno_clock clock;
} lt_deno_run;

#define LT_DENO_PROGRAM(run) ((run)->is_typescript ? "program.ts" : "program.js")

/* Whether the compiler checks the program before it begins. */
static inline bool lt_deno_run_is_checked(const lt_deno_run *run) {
  return run->is_typescript && run->deno->check != LT_DENO_CHECK_NEVER && run->deno->tsc != NULL;
}

#endif
