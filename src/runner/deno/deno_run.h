/* A run of a Deno program. The other files of the room take parts of it. */
#ifndef LT_RUNNER_DENO_DENO_RUN_H
#define LT_RUNNER_DENO_DENO_RUN_H

#include "io/http_server.h"
#include "replay/call_matching.h"
#include "runner/deno/deno_state.h"
#include "runner/run_tool_call.h"
#include "runner/runner.h"

/* What a process said of a failure of the program. */
typedef struct lt_deno_failure {
  bool there;
  lt_buf name;
  lt_buf message;
  lt_buf stack;
} lt_deno_failure;

typedef struct lt_deno_run {
  lt_deno *deno;
  lt_loop *loop;
  const lt_run_request *request;
  lt_run_result *result;
  lt_catalog *catalog;
  lt_stored_values *values;
  lt_stored_values *own_values; /* NULL when the request brought one */
  bool typed;

  /* The program, and the folder it is in. */
  lt_str source;          /* without fences */
  unsigned line_offset;   /* lines dropped before it */
  unsigned column_offset; /* bytes put before its first line */
  lt_deno_room room;

  /* Its processes, one of them the room's. Each has a fiber that reads. */
  lt_process *checker;
  lt_http_server *server;
  unsigned readers;
  bool ran;          /* there was a Deno for it */
  bool ended;        /* Deno has */
  bool checking;     /* the compiler has not ended */
  bool check_failed; /* and said so */
  bool hello;        /* Deno has run our own code, and begins the program */
  lt_buf faults;     /* what the compiler said */
  lt_wait wait;      /* of the run's own fiber */
  lt_cancel cancel;  /* of its calls */
  lt_status stopped; /* why it was ended from here; LT_OK: it was not */

  /* What it said (deno_output.c). */
  lt_run_text **last_text;
  size_t output_bytes;
  size_t log_bytes;
  lt_deno_failure failure;
  bool has_value;

  /* Its calls (deno_bridge.c). */
  lt_run_tool_call *calls;
  lt_run_tool_call **last_call;
  lt_call_matching matching; /* calls that are on record, when it is run again */
  bool recalled;             /* its end is on record */
  uint32_t call_count;
  uint32_t in_flight;
  uint32_t asking;
  size_t kept_bytes;

  /* Its clock (deno_clock.c). */
  uint64_t deadline_ns;
  uint64_t stands_since_ns; /* 0: it runs */
} lt_deno_run;

#define LT_DENO_PROGRAM(run) ((run)->typed ? "program.ts" : "program.js")

/* Whether the compiler looks at the program before it begins. */
static inline bool lt_deno_is_checked(const lt_deno_run *run) {
  return run->typed && run->deno->check != LT_DENO_CHECK_NEVER && run->deno->tsc != NULL;
}

/* The program may begin. */
void lt_deno_give_word(lt_deno_run *run) LT_YIELDS;
/* Ends the program; what it began is cancelled. */
void lt_deno_stop(lt_deno_run *run, lt_status why);

#endif
