/* The monitor: what a session does, reported as it happens, for metrics, traces and logs.
 *
 * One interface for prompts, questions to models, programs and tool calls. The session has one (lt_session.monitor) and
 * hands it down; the way in fills it. Each function may be NULL. They are called on the loop's thread, must not yield,
 * and borrow what they get for the time of the call. Everything is reported twice: at its begin and at its end, except
 * where a function says so. Nothing is reported of what is answered from a record. Secrets are masked in texts of
 * calls.
 */
#ifndef LT_TOOL_MONITOR_H
#define LT_TOOL_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "trace/trace_context.h"

struct lt_call_event;
struct lt_completion;
struct lt_completion_request;
struct lt_model;
struct lt_usage;
struct lt_run_request;
struct lt_run_result;

/* A prompt that runs in this process. One that is left to the next process has no end. */
typedef struct lt_monitor_prompt {
  bool has_ended;
  bool is_resumed; /* it began in another process */
  lt_str id, conversation, user;
  lt_str mode;
  const struct lt_model *model;
  const char *state;                      /* "completed", "failed", "cancelled"; NULL: it has not ended */
  lt_str error;                           /* of a failed one */
  uint64_t took_us;                       /* its time in this process */
  const lt_trace_context *trace, *parent; /* its span, and the one that it is below; may be not set */
  /* lt_clock_monotonic_us; `began_us` of a prompt that another process has begun may be negative. */
  int64_t began_us, ended_us;
  lt_str input; /* what the user said; secrets are not masked */
  const struct lt_usage *usage;
} lt_monitor_prompt;

/* A question to a model, with its repeated attempts. */
typedef struct lt_monitor_question {
  bool has_ended;
  uint64_t number;     /* the same at begin and end */
  const char *purpose; /* "round", "llm" (asked by a program), "title", "sampling" (asked by a server) */
  lt_str run;          /* the prompt's id, or the name of the run; may be empty */
  const struct lt_model *model;
  const struct lt_completion *completion; /* NULL: it has not ended */
  lt_status status;
  uint64_t took_us;
  const lt_trace_context *trace, *parent; /* as of a prompt */
  uint64_t began_us;
  const struct lt_completion_request *request;
} lt_monitor_question;

/* A run of a program; request->caller->run is its name. */
typedef struct lt_monitor_program {
  bool has_ended;
  uint64_t number;    /* the same at begin and end */
  const char *runner; /* "quickjs" */
  const struct lt_run_request *request;
  const struct lt_run_result *result; /* NULL: it has not ended, or could not begin */
  lt_status status;                   /* how it ended */
  uint64_t took_us;
  const lt_trace_context *trace, *parent; /* as of a prompt */
  uint64_t began_us;
} lt_monitor_program;

typedef struct lt_monitor lt_monitor;
struct lt_monitor {
  lt_monitor *next; /* is told, too; NULL: the last one */
  void (*on_prompt)(void *arg, const lt_monitor_prompt *prompt);
  void (*on_question)(void *arg, const lt_monitor_question *question);
  void (*on_program)(void *arg, const lt_monitor_program *program);
  /* Every event of every call at the door, as lt_caller.on_call gets them. */
  void (*on_call)(void *arg, const struct lt_call_event *event);
  void *arg;
  uint64_t numbered; /* questions and programs so far; of the first monitor */
};

/* Tell all monitors from `monitor` on, which may be NULL. */
void lt_monitor_tell_prompt(const lt_monitor *monitor, const lt_monitor_prompt *prompt);
void lt_monitor_tell_question(const lt_monitor *monitor, const lt_monitor_question *question);
void lt_monitor_tell_program(const lt_monitor *monitor, const lt_monitor_program *program);
void lt_monitor_tell_call(const lt_monitor *monitor, const struct lt_call_event *event);
/* Whether one of them wants to be told of calls. */
bool lt_monitor_wants_calls(const lt_monitor *monitor);

#endif
