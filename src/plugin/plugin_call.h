/* One call of a plugin's function: made on the loop, run by the plugin's thread or on the loop.
 *
 * The waiting fiber and the running thread each hold a reference. Each member says which thread may use it.
 */
#ifndef LT_PLUGIN_PLUGIN_CALL_H
#define LT_PLUGIN_PLUGIN_CALL_H

#include "plugin/plugin.h"

typedef enum lt_plugin_call_kind {
  LT_CALL_SETUP,
  LT_CALL_READY,
  LT_CALL_PREPARE,
  LT_CALL_TEARDOWN,
  LT_CALL_TOOL,
  LT_CALL_FUNCTION,
  LT_CALL_MODE,
} lt_plugin_call_kind;

/* The target of lt_caller.prompt: one for each prompt, and one for each nested caller. */
typedef struct lt_plugin_prompt {
  const lathe_call *by; /* the plugin's call; NULL: the prompt itself */
  lt_str conversation;
  lt_run_request defaults;
} lt_plugin_prompt;

struct lathe_call {
  atomic_uint refs;
  lt_plugin *plugin;
  lt_plugin_call_kind kind;
  lathe_function_fn *fn;
  void *arg;
  lt_arena arena; /* used by the plugin's thread while it runs, and by the loop while it runs a request */
  lt_str name;    /* for messages: "todo.add", "setup" */
  lt_str in;
  lt_str user;
  lt_str conversation;

  /* Used by the plugin's thread only, until the function has returned. */
  lt_buf answer;
  bool has_answer;
  bool has_failed;
  lt_status failure_status;
  lt_buf failure;
  lt_buf error;            /* of the last failed host function */
  lt_registry *registered; /* NULL: this kind of call registers nothing */

  atomic_bool is_abandoned; /* no fiber waits for it any more; set by the loop */
  lathe_call *next;         /* in the queue; under the thread's lock */
  lt_post returned_post;

  /* Used by the loop only. */
  bool has_returned;
  bool has_no_caller; /* the waiting fiber is gone: the three pointers below must not be used */
  const lt_caller *caller;
  const lt_invoke_options *options;
  const lt_mode_actions *mode_actions; /* NULL: it is no mode's call */
  bool is_approval_check; /* decides whether another call needs approval; its nested calls have other numbers */
  uint64_t nested_count;  /* number of nested tool calls and programs */
  lt_str divergence;      /* how a repeated one diverged from the record; empty: none did */
  lt_wait wait;
  lt_cancel cancel;
  unsigned borrower_count; /* open requests that use the caller or the options */
  lathe_call *next_open, *previous_open;
  uint64_t deadlock_search; /* number of the last search that visited it */
  uint64_t timeout_ms;
  uint64_t deadline_ms;
  bool has_hard_timeout; /* set by the caller: the clock runs on while the plugin waits for others */
  unsigned pause_count;
  uint64_t paused_at_ms;
};

typedef struct lt_plugin_call_spec {
  lt_plugin_call_kind kind;
  lt_str name;
  lathe_function_fn *fn;
  void *arg;
  lt_str in;
  const lt_caller *caller;             /* may be NULL */
  const lt_invoke_options *options;    /* may be NULL */
  const lt_mode_actions *mode_actions; /* of a mode */
  bool is_approval_check;
  uint64_t timeout_ms; /* unless the options say otherwise */
} lt_plugin_call_spec;

/* Copies the texts. Owns: the caller, lt_plugin_call_unref. */
lt_status lt_plugin_call_new(lt_plugin *plugin, const lt_plugin_call_spec *spec, lathe_call **ret_call, lt_err *err);
lathe_call *lt_plugin_call_ref(lathe_call *call);
void lt_plugin_call_unref(lathe_call *call); /* any thread; NULL is allowed */

/* Whether the call answers a request, for a tool, a function or a mode. Else it is a hook. */
bool lt_plugin_call_is_request(lt_plugin_call_kind kind);
/* The result of a returned call: appends the answer, if there is one. LT_E_TOOL: the plugin reported a failure, and its
 * message is appended; LT_E_PROTOCOL and others: `err` has the message. */
lt_status lt_plugin_call_outcome(const lathe_call *call, lt_buf *out, lt_err *err);
/* Records why a host function failed. Always returns -1, the result of a failed host function. */
int lt_plugin_call_set_error(lathe_call *call, lt_str why);
/* The same with the message of `err`. */
int lt_plugin_call_set_err(lathe_call *call, const lt_err *err);
/* Copies a text into the call's arena. False: no room; the error is recorded. */
bool lt_plugin_call_copy_text(lathe_call *call, lt_str text, lathe_text *ret);
/* Ends a host function: 0 with a copy of `out`, or -1. `rc` is the result of the request. */
int lt_plugin_call_return_text(lathe_call *call, int rc, const lt_buf *out, lathe_text *ret);

/* Stops and starts the call's clock. It stands still while the plugin waits for a person, a tool or a program. Loop
 * only. */
void lt_plugin_call_pause(lathe_call *call);
void lt_plugin_call_resume(lathe_call *call);
/* The remaining time of the call; UINT64_MAX while the clock stands still. */
uint64_t lt_plugin_call_left_ms(const lathe_call *call);

/* --- Running a call (plugin_call_run.c) --------------------------------------------------------------------------- */
/* Runs the call. LT_OK: it has returned, and lt_plugin_call_outcome has its result. Other errors: it is abandoned.
 * Afterwards the caller and the options are not used. LT_YIELDS. */
lt_status lt_plugin_call_run(lathe_call *call, lt_err *err) LT_YIELDS;
/* Makes a call, runs it and appends its outcome. Errors: lt_plugin_call_run's and lt_plugin_call_outcome's. LT_YIELDS.
 */
lt_status lt_plugin_call_make(lt_plugin *plugin, const lt_plugin_call_spec *spec, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
