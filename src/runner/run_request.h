/* A request to a runner: a program, its tools and functions, and its limits. The same for every language and engine. */
#ifndef LT_RUNNER_RUN_REQUEST_H
#define LT_RUNNER_RUN_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "runner/lang.h"
#include "runner/run_faults.h"
#include "runner/run_result.h"
#include "runner/stored_values.h"
#include "tool/door.h"

/* A module that programs may import, by its exact name. */
typedef struct lt_run_module {
  lt_str name;
  lt_str source;
} lt_run_module;

/* A function that programs can call beside the tools: `name(...args)` returns the value. In a program with promises it
 * returns a promise that can also be used as the value; in TypeScript the promise rejects when the function fails. A
 * tool of the same name is then callable by its id only. A program that declares the name itself keeps its own. Calls
 * of functions count as tool calls (LT_RUN_CALLS_MAX); the result does not list them. */
typedef struct lt_run_function {
  lt_str name;        /* an identifier */
  lt_str signature;   /* for the model, such as "(data, description?) → id" */
  lt_str description; /* for the model, a sentence; may be empty */
  /* Carries out a call on the loop. `args` is a JSON array of the arguments, without undefined ones at its end; other
   * undefined arguments are null. LT_OK: `out` is the value as JSON text, empty for undefined. Anything else: `out` or
   * `err` has the message, which the program gets unchanged. LT_YIELDS. */
  lt_status (*call)(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS;
  void *arg;
  bool repeatable; /* a second call does no harm: the call is made again when the process was killed during the first */
} lt_run_function;

/* What a session hands from one JavaScript or TypeScript program to the next (docs/internals/sessions.md). */
typedef struct lt_run_session {
  lt_str memory; /* what the program before has left; empty: nothing. Borrows */
  bool is_lost;  /* set by the runner: `memory` is of another engine. Nothing was run */
  /* Called on the loop when the program has ended by itself, before its end is on record. Not called for a program that
   * was stopped or did not run. LT_E_LIMIT: it leaves more than LT_SESSION_BYTES_MAX, and `memory` is empty. LT_YIELDS.
   */
  void (*keep)(void *arg, lt_status status, lt_str memory) LT_YIELDS;
  void *arg;
} lt_run_session;

typedef struct lt_run_request {
  lt_str code;
  lt_lang lang;
  lt_str input;        /* JSON text, or empty */
  uint64_t timeout_ms; /* 0: LT_RUN_TIMEOUT_MS; at most LT_RUN_TIMEOUT_MAX_MS; time in which the program only waits for
                          an approval does not count */
  bool has_fixed_timeout;  /* the program's text cannot ask for another one (exec_pragma.h) */
  uint64_t memory_bytes;   /* 0: LT_RUN_MEMORY_BYTES; LT_RUN_MEMORY_MIN_BYTES to LT_RUN_MEMORY_MAX_BYTES */
  size_t max_output_bytes; /* 0: LT_RUN_OUTPUT_MAX_BYTES; an output beyond it is left out as a whole */
  size_t max_log_bytes;    /* 0: LT_RUN_LOG_MAX_BYTES */
  const lt_run_module *modules;
  size_t module_count;
  const lt_run_function *functions;
  size_t function_count;
  const lt_caller *caller; /* passed to the door; also decides which tools exist; NULL: an anonymous caller */
  bool shows_value;    /* the value is a text for a person, a string (LT_VALUE_STRING). In a session the program after
                          it finds the value as `_`. Not of runners in processes */
  bool is_typed;       /* a person types it among others: a program that is a function is that function, and is not
                          called. Not of runners in processes */
  bool is_cell;        /* a program of mode codex: its globals, what it drops at its end and what its tools answer are
                          those of docs/internals/codex.md; not of runners in processes */
  bool keeps_signals;  /* its thread has the signal stack of the sandbox between its steps, too */
  bool takes_images;   /* image() is a text of its own (LT_SAID_IMAGE), else a line of the log about it */
  bool without_output; /* output, done and complete do not exist; TypeScript's console.log is a log line */
  lt_stored_values *values; /* what store() keeps, across runs; NULL: the run's own */
  lt_run_session *session;  /* NULL: none; not of runners in processes */
  lt_cancel *cancel;        /* may be NULL; of a cell: when it is fired with LT_E_CLOSED, the end is on record */
  /* Not NULL: the program is only checked. Nothing of it runs. The result is LT_OK or the fault that would end a run
   * before it begins; `faults` gets types and names, all of them. Not of the Deno runner. */
  lt_run_faults *faults;
  /* Called on the loop for each text of the program, in order; may be NULL. Must not yield. */
  void (*on_text)(void *arg, lt_said said, lt_str text);
  /* Called on the loop when the run's clock stops, because the program only waits for an approval, and when the clock
   * continues; may be NULL. Must not yield. */
  void (*on_standing)(void *arg, bool stands);
  void *arg;
} lt_run_request;

/* Whether the program is short enough. False: `result` says why it cannot run. */
bool lt_run_request_check_size(const lt_run_request *request, lt_run_result *result);
/* Whether the input is JSON, or empty. False: `result` says why the program cannot run. */
bool lt_run_request_check_input(const lt_run_request *request, lt_run_result *result);
/* The first byte of the program that is not UTF-8 text, or is NUL. SIZE_MAX: the program is text. */
size_t lt_run_request_find_bad_byte(const lt_run_request *request);
/* The request's limits with the defaults filled in. */
uint64_t lt_run_request_timeout_ms(const lt_run_request *request);
uint64_t lt_run_request_memory_bytes(const lt_run_request *request);
size_t lt_run_request_output_bytes(const lt_run_request *request);
size_t lt_run_request_log_bytes(const lt_run_request *request);
/* The index of the function of that name; request->function_count: no such function. */
size_t lt_run_request_find_function(const lt_run_request *request, lt_str name);

#endif
