/* Runs: what is asked of a runner and what comes back, the same for every language and engine.
 *
 * A runner takes a program's text, runs it in its sandbox with the tools behind a door, and says how it ended. A
 * program that fails is a result, not an error: everything the program did is in it.
 */
#ifndef LT_RUNNER_RUNNER_H
#define LT_RUNNER_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "text/secrets.h"
#include "io/loop.h"
#include "runner/values.h"
#include "tool/door.h"

typedef enum lt_lang { LT_LANG_JAVASCRIPT, LT_LANG_TYPESCRIPT, LT_LANG_PYTHON } lt_lang;

/* A module that programs may import, by its exact name. */
typedef struct lt_run_module {
  lt_str name;
  lt_str source;
} lt_run_module;

/* A function that programs find in their world, beside the tools: `name(...args)` gives the value, in a program with
 * promises a promise of it that stands for it as a tool's does, in TypeScript a promise that rejects when it fails. It
 * takes the name from a tool that has it, which stays there by id, but not from a program that declares it itself. Its
 * calls count as tool calls do (LT_RUN_CALLS_MAX), without showing in the result. */
typedef struct lt_run_function {
  lt_str name;        /* an identifier */
  lt_str signature;   /* for the model, such as "(data, description?) → id" */
  lt_str description; /* likewise, a sentence; may be empty */
  /* Carries out a call on the loop. `args` is a JSON array of the arguments, without undefined ones at its end; others
   * are null. LT_OK: `out` is the value as JSON text, nothing for undefined. Anything else: `out` or `err` has the
   * message, which the program gets as it is. LT_YIELDS. */
  lt_status (*call)(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS;
  void *arg;
  bool repeatable; /* calling it twice does no harm: it is called again when the process was killed in the middle */
} lt_run_function;

/* One piece of what a program said. `post` is the runner's. */
typedef enum lt_said { LT_SAID_OUTPUT, LT_SAID_LOG, LT_SAID_WARNING, LT_SAID_ERROR } lt_said;
typedef struct lt_run_text {
  struct lt_run_text *next;
  lt_said said;
  lt_str text;
  lt_post post;
  void *run;
} lt_run_text;

/* One tool call. `input` and `result` are JSON text, empty when they were not kept for their size. */
typedef struct lt_run_call {
  const struct lt_run_call *next;
  lt_str tool;
  lt_str input;
  lt_str result;
  lt_str error;        /* why it failed; empty when it did not */
  size_t input_bytes;  /* also when the input itself was not kept */
  size_t result_bytes; /* also when the result itself was not kept */
  bool finished;       /* false: cut short by the program's end */
} lt_run_call;

typedef struct lt_run_request {
  lt_str code;
  lt_lang lang;
  lt_str input;            /* JSON text, or empty */
  uint64_t timeout_ms;     /* 0: LT_RUN_TIMEOUT_MS; at most LT_RUN_TIMEOUT_MAX_MS; does not count what the program only
                              waits for somebody's approval */
  uint64_t memory_bytes;   /* 0: LT_RUN_MEMORY_BYTES; LT_RUN_MEMORY_MIN_BYTES to LT_RUN_MEMORY_MAX_BYTES */
  size_t max_output_bytes; /* 0: LT_RUN_OUTPUT_MAX_BYTES */
  const lt_run_module *modules;
  size_t module_count;
  const lt_run_function *functions;
  size_t function_count;
  const lt_caller *caller;  /* for the door, and what tools there are; NULL: nobody in particular */
  bool without_output;      /* output, done and complete do not exist; TypeScript's console.log is a log line */
  lt_stored_values *values; /* what store() keeps, across runs; NULL: the run's own */
  lt_cancel *cancel;        /* may be NULL */
  /* Called on the loop as things are said, in order; may be NULL. Must not yield. */
  void (*on_text)(void *arg, lt_said said, lt_str text);
  /* Called on the loop when the run's clock begins to stand still, as nothing but somebody's approval keeps the program
   * from going on, and when it goes on; may be NULL. Must not yield. */
  void (*on_standing)(void *arg, bool stands);
  void *arg;
} lt_run_request;

typedef enum lt_value_kind { LT_VALUE_UNDEFINED, LT_VALUE_STRING, LT_VALUE_JSON } lt_value_kind;

typedef struct lt_run_result {
  /* LT_OK; LT_E_PROGRAM: it failed; LT_E_TIMEOUT; LT_E_CANCELLED; LT_E_NOMEM: over its memory limit; LT_E_TRAP: the
   * sandbox ended it; LT_E_INVALID: it is not text that can be run; LT_E_DIVERGED: run again, it does not do what is on
   * record. */
  lt_status status;
  lt_value_kind kind;
  lt_buf value;    /* a string's characters, or JSON text */
  lt_buf error;    /* one sentence; for everything but LT_OK */
  uint32_t line;   /* 1-based, in what was written; 0: unknown */
  uint32_t column; /* 1-based */
  lt_buf context;  /* that line, trimmed */
  lt_buf stack;    /* calls inside the program, a line each; may be empty */
  bool done;       /* done() or complete() was called */
  bool output_cut; /* more was output than the limit allows */
  bool log_cut;
  lt_run_text *texts;       /* what was said, in order */
  const lt_run_call *calls; /* in the order they were made */
  double duration_ms;       /* waiting for approvals included */
  void *owned;
} lt_run_result;

/* A runner: quickjs, deno or python. Which one runs a program is its language's and the configuration's business, not
 * that of who asks. */
typedef struct lt_runner lt_runner;
struct lt_runner {
  const char *id;               /* "quickjs" */
  bool (*speaks)(lt_lang lang); /* whether it runs programs in that language */
  /* Runs a program to its end. LT_YIELDS. `result` (initialised) says how it went, also when it failed; the returned
   * status is only about the run as such: LT_OK, or why it could not be begun (LT_E_NOMEM, LT_E_NOTFOUND: an
   * interpreter is missing, LT_E_UNSUPPORTED: a wall cannot be had; the message says what to do). Borrows the request
   * until it returns. Calls the program left open are waited for when it succeeds, and cancelled when it fails or is
   * stopped. */
  lt_status (*run)(lt_runner *self, const lt_run_request *request, lt_run_result *result, lt_err *err) LT_YIELDS;
};

void lt_run_result_init(lt_run_result *result);
void lt_run_result_release(lt_run_result *result);

/* The result as the JSON object of `lathe run --json`. `secrets` (may be NULL) are masked in what
 * is told of the program's way: calls, logs and errors; not in what it answers, the result and the outputs. */
void lt_run_result_json(const lt_run_result *result, const lt_secrets *secrets, lt_buf *out);

#endif
