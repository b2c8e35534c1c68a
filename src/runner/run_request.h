/* What is asked of a runner: a program, what it may use, and its limits. The same for every language and engine. */
#ifndef LT_RUNNER_RUN_REQUEST_H
#define LT_RUNNER_RUN_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "runner/run_result.h"
#include "runner/stored_values.h"
#include "tool/door.h"

typedef enum lt_lang { LT_LANG_JAVASCRIPT, LT_LANG_TYPESCRIPT, LT_LANG_PYTHON } lt_lang;

/* A module that programs may import, by its exact name. */
typedef struct lt_run_module {
  lt_str name;
  lt_str source;
} lt_run_module;

/* A function that programs find beside the tools: `name(...args)` gives the value, in a program with promises a promise
 * of it that can be used as the value, in TypeScript a promise that rejects when the function fails. It takes the name
 * from a tool of the same name, which stays callable by its id, but not from a program that declares the name itself.
 * Its calls count as tool calls do (LT_RUN_CALLS_MAX); the result does not list them. */
typedef struct lt_run_function {
  lt_str name;        /* an identifier */
  lt_str signature;   /* for the model, such as "(data, description?) → id" */
  lt_str description; /* for the model, a sentence; may be empty */
  /* Carries out a call on the loop. `args` is a JSON array of the arguments, without undefined ones at its end; other
   * undefined arguments are null. LT_OK: `out` is the value as JSON text, empty for undefined. Anything else: `out` or
   * `err` has the message, which the program gets unchanged. LT_YIELDS. */
  lt_status (*call)(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS;
  void *arg;
  bool repeatable; /* a second call does no harm: it is made again when the process was killed during the first */
} lt_run_function;

typedef struct lt_run_request {
  lt_str code;
  lt_lang lang;
  lt_str input;            /* JSON text, or empty */
  uint64_t timeout_ms;     /* 0: LT_RUN_TIMEOUT_MS; at most LT_RUN_TIMEOUT_MAX_MS; time in which the program waits for
                              nothing but an approval does not count */
  uint64_t memory_bytes;   /* 0: LT_RUN_MEMORY_BYTES; LT_RUN_MEMORY_MIN_BYTES to LT_RUN_MEMORY_MAX_BYTES */
  size_t max_output_bytes; /* 0: LT_RUN_OUTPUT_MAX_BYTES */
  const lt_run_module *modules;
  size_t module_count;
  const lt_run_function *functions;
  size_t function_count;
  const lt_caller *caller;  /* for the door, and which tools exist; NULL: an anonymous caller */
  bool without_output;      /* output, done and complete do not exist; TypeScript's console.log is a log line */
  lt_stored_values *values; /* what store() keeps, across runs; NULL: the run's own */
  lt_cancel *cancel;        /* may be NULL */
  /* Called on the loop for each text of the program, in order; may be NULL. Must not yield. */
  void (*on_text)(void *arg, lt_said said, lt_str text);
  /* Called on the loop when the run's clock stops, because only an approval keeps the program from going on, and when
   * the clock goes on; may be NULL. Must not yield. */
  void (*on_standing)(void *arg, bool stands);
  void *arg;
} lt_run_request;

/* The request's limits with the defaults filled in. */
uint64_t lt_run_request_timeout_ms(const lt_run_request *request);
uint64_t lt_run_request_memory_bytes(const lt_run_request *request);
/* The index of the function of that name; request->function_count: there is none. */
size_t lt_run_request_find_function(const lt_run_request *request, lt_str name);

#endif
