/* A run of a Python program, from its text to its result. The other files of the room take parts of it. */
#ifndef LT_RUNNER_PYTHON_PYTHON_RUN_H
#define LT_RUNNER_PYTHON_PYTHON_RUN_H

#include "io/watch.h"
#include "replay/call_matching.h"
#include "runner/run_tool_call.h"
#include "runner/runner.h"
#include "runner/python/python_child.h"

typedef struct lt_python_call lt_python_call; /* python_calls.c */

/* A message of the program's, as far as it has come. */
typedef struct lt_pyframe {
  unsigned char head[12];
  size_t head_n;
  uint32_t length;
  uint32_t id;
  uint32_t name_n;
  unsigned kind;
  lt_buf body;
} lt_pyframe;

typedef struct lt_python_run {
  lt_python *python;
  const lt_run_request *request;
  lt_run_result *result;
  lt_catalog *catalog;
  lt_python_child *child;
  lt_watch *connection;
  lt_watch *output;
  lt_wait wait;
  lt_cancel cancel;
  lt_status stopped; /* why it was ended from here; LT_OK: it was not */
  uint64_t killed_ns;
  uint64_t look_ns; /* when its folder is looked at next */
  bool connection_closed;
  bool output_closed;

  /* What it sent (python_link.c). */
  lt_pyframe frame;
  bool broken; /* something that is no message */
  bool done;
  lt_buf failure; /* what it said of its failure */
  bool has_value;
  lt_buf to_send;
  size_t sent;

  /* What it said (python_output.c). */
  lt_run_text **last_text;
  size_t log_bytes;
  lt_buf line; /* one that has not ended */

  /* Its calls (python_calls.c). */
  lt_call_matching matching; /* what they were answered before, where it is run again */
  bool recalled;             /* its end is on record */
  lt_run_tool_call *calls;
  lt_run_tool_call **last_call;
  lt_python_call *queued;
  lt_python_call **last_queued;
  uint32_t call_count;
  uint32_t in_flight;
  uint32_t asking;
  size_t held_bytes;
  size_t kept_bytes;

  /* Its clock. */
  uint64_t deadline_ns;
  uint64_t stands_since_ns; /* 0: it runs */

  char piece[LT_PYTHON_PIECE_BYTES];
} lt_python_run;

/* Lt_runner.run. */
lt_status lt_python_run_run(lt_runner *self, const lt_run_request *request, lt_run_result *result,
                            lt_err *err) LT_YIELDS;
/* What the request allows, or what holds without it. */
uint64_t lt_python_run_memory(const lt_run_request *request);
/* Ends the program. */
void lt_python_run_stop(lt_python_run *run, lt_status why);
/* What it waits for has changed: its clock stands still or goes on. */
void lt_python_run_set_clock(lt_python_run *run);

#endif
