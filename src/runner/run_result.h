/* How a run ended, the same for every language and engine. A failed program is a result, not an error; the result has
 * everything that the program did. */
#ifndef LT_RUNNER_RUN_RESULT_H
#define LT_RUNNER_RUN_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "io/loop.h"
#include "text/secrets.h"

/* One text that a program put out or logged. The runner uses `post`. */
typedef enum lt_said {
  LT_SAID_OUTPUT,
  LT_SAID_LOG,
  LT_SAID_WARNING,
  LT_SAID_ERROR,
  LT_SAID_IMAGE,  /* an image's URL, mostly `data:`; only of requests that take images */
  LT_SAID_NOTICE, /* notify(); of cells only */
  LT_SAID_YIELD,  /* yield_control(); of cells only */
} lt_said;
/* Whether it is for whoever wrote the program. */
static inline bool lt_said_is_log(lt_said said) {
  return said == LT_SAID_LOG || said == LT_SAID_WARNING || said == LT_SAID_ERROR;
}
typedef struct lt_run_text {
  struct lt_run_text *next;
  lt_said said;
  lt_str text;
  lt_post post;
  void *run;
} lt_run_text;

/* One tool call. `input` and `result` are JSON text, empty when they were too large to keep. */
typedef struct lt_run_call {
  const struct lt_run_call *next;
  lt_str tool;
  lt_str input;
  lt_str result;
  lt_str error;        /* the message of a failure; otherwise empty */
  bool is_input_json;  /* it was read as JSON */
  size_t input_bytes;  /* also when the input itself was not kept */
  size_t result_bytes; /* also when the result itself was not kept */
  bool finished;       /* false: the program's end cancelled it */
} lt_run_call;

typedef enum lt_value_kind { LT_VALUE_UNDEFINED, LT_VALUE_STRING, LT_VALUE_JSON } lt_value_kind;

typedef struct lt_run_result {
  /* LT_OK; LT_E_PROGRAM: it failed; LT_E_TIMEOUT; LT_E_CANCELLED; LT_E_NOMEM: over its memory limit; LT_E_TRAP: the
   * sandbox ended it; LT_E_INVALID: it is not text that can be run; LT_E_DIVERGED: the repeated run diverged from its
   * record. */
  lt_status status;
  lt_value_kind kind;
  lt_buf value;         /* a string's characters, or JSON text */
  lt_buf unread;        /* LT_OK: the failed Results at which a TypeScript program did not look, a sentence a line */
  lt_buf error;         /* one sentence; empty for LT_OK */
  uint32_t line;        /* 1-based, in the written program; 0: unknown */
  uint32_t column;      /* 1-based */
  lt_buf context;       /* that line, trimmed */
  lt_buf stack;         /* stack frames inside the program, a line each; may be empty */
  bool has_type_errors; /* nothing was run: its types are wrong */
  bool done;            /* done() or complete() was called */
  bool output_cut;      /* output beyond the limit was dropped */
  bool log_cut;
  lt_run_text *texts;       /* outputs and logs, in order */
  const lt_run_call *calls; /* in the order they were made */
  double duration_ms;       /* waiting for approvals included */
  void *owned;              /* the memory of the calls: a list of lt_run_tool_call */
} lt_run_result;

void lt_run_result_init(lt_run_result *result);
void lt_run_result_release(lt_run_result *result);

/* The result as the JSON object of `lathe run --json`. `secrets` (may be NULL) are masked in calls, logs and errors;
 * not in the result and the outputs, which are the program's answer. */
void lt_run_result_json(const lt_run_result *result, const lt_secrets *secrets, lt_buf *out);

/* --- For runners: filling a result -------------------------------------------------------------------------------- */
/* A place in the written program. Columns count characters from 1. */
typedef struct lt_run_place {
  uint32_t line;
  uint32_t column; /* 0: unknown */
  size_t at;       /* zero-based byte index of the column */
} lt_run_place;

/* The run ended with that status and message; printf. */
void lt_run_result_fail(lt_run_result *result, lt_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Gives a failure without a message (no memory) the text of its status. */
void lt_run_result_ensure_error(lt_run_result *result);
/* Appends a line of the program for `context`; of a long line only the part around byte `at`. */
void lt_run_result_put_context(lt_buf *out, lt_str line, size_t at);

#endif
