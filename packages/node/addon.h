/* What the files of the addon share: the functions of lathe.h, found in the library that was loaded; values and
 * arguments of JavaScript; and an environment of the library in a value.
 *
 * All functions run on the thread of their Node environment.
 */
#ifndef LATHE_NODE_ADDON_H
#define LATHE_NODE_ADDON_H

#define NAPI_VERSION 8
#include <lathe.h>
#include <node_api.h>
#include <stdbool.h>
#include <uv.h>

/* --- The library -------------------------------------------------------------------------------------------------- */
#define LIBRARY_FUNCTIONS(X) \
  X(lathe_version)           \
  X(lathe_free)              \
  X(lathe_open)              \
  X(lathe_close)             \
  X(lathe_add_tool)          \
  X(lathe_remove_tool)       \
  X(lathe_tools)             \
  X(lathe_declare)           \
  X(lathe_check)             \
  X(lathe_start)             \
  X(lathe_turn)              \
  X(lathe_detach)            \
  X(lathe_cancel)            \
  X(lathe_snapshot)          \
  X(lathe_restore)           \
  X(lathe_prompt)            \
  X(lathe_next)              \
  X(lathe_event_free)        \
  X(lathe_fd)                \
  X(lathe_answer)            \
  X(lathe_fail)              \
  X(lathe_approve)           \
  X(lathe_reject)

typedef struct addon_library {
#define MEMBER(name) __typeof__(name) *name;
  LIBRARY_FUNCTIONS(MEMBER)
#undef MEMBER
} addon_library;

/* Of one Node environment. */
typedef struct addon_state {
  addon_library lib;
  napi_ref make_error; /* (status, message) → Error */
} addon_state;

addon_state *addon_state_of(napi_env env);

/* --- Values ------------------------------------------------------------------------------------------------------- */
napi_value value_undefined(napi_env env);
napi_value value_number(napi_env env, double number);
napi_value value_text(napi_env env, const char *text);
/* The exception of a status: index.js makes it. */
napi_value value_error(napi_env env, lathe_status status, const char *message);

/* Both return NULL, or undefined. An exception may be pending already. */
napi_value addon_throw(napi_env env, lathe_status status, const char *message);
napi_value addon_throw_unless_ok(napi_env env, lathe_status status, const lathe_error *error);

enum { EVENT_VALUES = 7 };
/* What index.js is told of an event: its type, status, run, call, tool, text and json. */
void value_event(napi_env env, const lathe_event *event, napi_value ret[EVENT_VALUES]);

/* --- Arguments ---------------------------------------------------------------------------------------------------- */
enum { ARGUMENTS_MAX = 8 };

/* Of one call. The texts are freed by arguments_release. */
typedef struct addon_arguments {
  napi_env env;
  napi_value at[ARGUMENTS_MAX];
  char *texts[ARGUMENTS_MAX];
  bool has_failed; /* an exception is pending */
} addon_arguments;

addon_arguments arguments_init(napi_env env, napi_callback_info info);
void arguments_release(addon_arguments *arguments);
void arguments_fail(addon_arguments *arguments, lathe_status status, const char *message);
/* NULL: undefined or null was given, or it has failed. */
const char *arguments_text(addon_arguments *arguments, int i);
/* 0 for what is no number that fits: index.js has looked. */
uint64_t arguments_number(const addon_arguments *arguments, int i);
/* A program, from the second argument on: code, language, input, timeoutMs, memoryBytes, canSnapshot, byTurns. */
lathe_run_options arguments_program(addon_arguments *arguments);

/* --- Environments ------------------------------------------------------------------------------------------------- */
/* What a JavaScript value of ours holds: an environment of the library, and the handle by which Node's loop waits.
 * Freed when the value is gone and the handle is closed. */
typedef struct addon_env {
  napi_env env;
  const addon_library *lib;
  lathe_env *lathe; /* NULL: closed */
  uv_poll_t *poll;  /* NULL: closed */
  napi_ref on_event;
  napi_async_context context;
  napi_async_cleanup_hook_handle cleanup; /* NULL: it has run */
  unsigned working;                       /* threads that are inside: of the pool, and this one in lathe_turn */
  bool has_value;
} addon_env;

/* The environment of an argument, or NULL and an exception. */
addon_env *arguments_env(addon_arguments *arguments);

/* --- Functions of the module that have a file of their own -------------------------------------------------------- */
napi_value addon_turn(napi_env env, napi_callback_info info);
napi_value addon_detach(napi_env env, napi_callback_info info);

#endif
