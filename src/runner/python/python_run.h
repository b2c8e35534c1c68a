/* A run of a Python program, from its text to its result.
 *
 * The struct lives on the heap as long as lt_python_run_program. Each part of it is changed by the file that is named
 * beside the part. Loop thread only. */
#ifndef LT_RUNNER_PYTHON_PYTHON_RUN_H
#define LT_RUNNER_PYTHON_PYTHON_RUN_H

#include "runner/call_warnings.h"
#include "runner/exec_pragma.h"
#include "io/watch.h"
#include "replay/call_matching.h"
#include "runner/run_tool_call.h"
#include "runner/runner.h"
#include "runner/python/python_child.h"

typedef struct lt_python_call lt_python_call; /* python_calls.c */

/* A message from the program, as far as it has arrived. */
typedef struct lt_python_frame {
  unsigned char head[12];
  size_t head_n;
  uint32_t length;
  uint32_t id;
  uint32_t name_n;
  unsigned kind;
  lt_buf body;
} lt_python_frame;

/* The connection: python_link.c, python_send.c. */
typedef struct lt_python_link {
  lt_watch *watch;
  lt_python_frame frame;
  bool is_closed;
  bool is_broken;        /* the program sent something that is no message */
  bool has_reported_end; /* it sent DONE or FAILED */
  bool has_value;        /* it sent a result */
  bool has_lost_message; /* there was no memory to keep a message to it */
  lt_buf failure;        /* the body of FAILED; or empty */
  lt_buf unsent;         /* kept until the program reads */
  size_t unsent_done;    /* bytes of `unsent` that are sent already */
} lt_python_link;

/* What the program prints: python_output.c. */
typedef struct lt_python_output {
  lt_watch *watch;
  bool is_closed;
  lt_run_text **texts_end; /* where the result's next text is linked */
  size_t bytes;            /* in the log */
  lt_buf partial_line;     /* a line whose end has not arrived */
} lt_python_output;

/* Its tool calls: python_calls.c. */
typedef struct lt_python_calls {
  lt_run_tool_call *list; /* all of them; the result takes them over */
  lt_run_tool_call **list_end;
  lt_python_call *queue; /* those that wait for a place among LT_RUN_OPEN_CALLS_MAX */
  lt_python_call **queue_end;
  uint32_t count;
  uint32_t running;
  uint32_t waiting_for_approval;
  size_t open_input_bytes; /* inputs of calls that have not finished */
  size_t recorded_bytes;   /* inputs and results kept for the result */
  lt_call_warnings warnings;
} lt_python_calls;

/* Its clock: python_clock.c. */
typedef struct lt_python_clock {
  uint64_t deadline_ns;
  uint64_t paused_since_ns; /* 0: the clock runs */
} lt_python_clock;

typedef struct lt_python_run {
  lt_python *python;
  lt_exec_pragma pragma; /* `request` is its, when the program has one */
  const lt_run_request *request;
  lt_run_result *result;
  lt_catalog *catalog;
  lt_python_child *child;
  lt_wait wait;              /* of the run's fiber */
  lt_cancel cancel;          /* of its calls */
  lt_call_matching matching; /* the answers on record, when the program is run again */
  bool is_replayed;          /* its result is on record: nothing is run */
  lt_status stop_reason;     /* why the runner ended the program; LT_OK: it did not */
  uint64_t killed_ns;
  uint64_t next_disk_check_ns; /* python_disk.c */
  bool has_too_many_locks;     /* of files; python_disk.c */
  lt_python_link link;
  lt_python_output output;
  lt_python_calls calls;
  lt_python_clock clock;
  char read_buffer[LT_PYTHON_PIECE_BYTES];
} lt_python_run;

/* lt_runner.run. */
lt_status lt_python_run_program(lt_runner *self, const lt_run_request *request, lt_run_result *result,
                                lt_err *err) LT_YIELDS;

#endif
