/* How a run ended, the same for every language and engine. A program that fails is a result, not an error: everything
 * the program did is in it. */
#ifndef LT_RUNNER_RUN_RESULT_H
#define LT_RUNNER_RUN_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "io/loop.h"
#include "text/secrets.h"

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

typedef enum lt_value_kind { LT_VALUE_UNDEFINED, LT_VALUE_STRING, LT_VALUE_JSON } lt_value_kind;

typedef struct lt_run_result {
  /* LT_OK; LT_E_PROGRAM: it failed; LT_E_TIMEOUT; LT_E_CANCELLED; LT_E_NOMEM: over its memory limit; LT_E_TRAP: the
   * sandbox ended it; LT_E_INVALID: it is not text that can be run; LT_E_DIVERGED: run again, it diverged from its
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
  void *owned;              /* the calls as the runner keeps them: lt_run_tool_call */
} lt_run_result;

void lt_run_result_init(lt_run_result *result);
void lt_run_result_release(lt_run_result *result);

/* The result as the JSON object of `lathe run --json`. `secrets` (may be NULL) are masked in calls, logs and errors;
 * not in the result and the outputs, which are the program's answer. */
void lt_run_result_json(const lt_run_result *result, const lt_secrets *secrets, lt_buf *out);

/* --- For runners: filling a result -------------------------------------------------------------------------------- */
/* A place in what was written. Columns count characters from 1. */
typedef struct lt_run_place {
  uint32_t line;
  uint32_t column; /* 0: unknown */
  size_t at;       /* the column as bytes from 0 */
} lt_run_place;

/* The run ended with that status and message; printf. */
void lt_run_result_fail(lt_run_result *result, lt_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A failure without a message, because there was no memory for one, gets the status's own. */
void lt_run_result_ensure_error(lt_run_result *result);
/* A line of the program as `context` shows it: of a long one the part around byte `at`. */
void lt_run_result_put_context(lt_buf *out, lt_str line, size_t at);

#endif
