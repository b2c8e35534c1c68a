/* A run that is turned on Node's own thread: Node's loop stands still meanwhile, but for what the program's tools do
 * themselves.
 */
#include "addon.h"

typedef struct turned_run {
  addon_env *it;
  lathe_env *lathe; /* open until the last thread has left it, also when a tool closes the sandbox */
  uint64_t number;
  uint64_t began_ns;
  napi_value take; /* a function of index.js, called with each event */
  bool has_failed; /* an exception is pending, such as the end of a worker: JavaScript cannot be called any more */
} turned_run;

static void run_tell(turned_run *run, const lathe_event *event) {
  napi_env env = run->it->env;
  napi_handle_scope scope;
  napi_value arguments[EVENT_VALUES];
  if (napi_open_handle_scope(env, &scope) != napi_ok) {
    return;
  }
  value_event(env, event, arguments);
  run->has_failed = napi_call_function(env, value_undefined(env), run->take, EVENT_VALUES, arguments, NULL) != napi_ok;
  napi_close_handle_scope(env, scope);
}

/* False: there was none within the limits, or no more are wanted. */
static bool run_turn(turned_run *run, int work_ms, int wait_ms) {
  const addon_library *lib = run->it->lib;
  const lathe_event *event;
  if (lib->lathe_turn(run->lathe, run->number, work_ms, wait_ms, &event) != LATHE_OK) {
    return false;
  }
  bool has_ended = event->type == LATHE_EVENT_END;
  if (!run->has_failed) {
    run_tell(run, event);
  }
  if (run->has_failed) {
    lib->lathe_cancel(run->lathe, run->number, NULL);
  }
  lib->lathe_event_free(event);
  return !has_ended;
}

/* Until it ends. */
static void run_turn_to_end(turned_run *run) {
  while (run_turn(run, -1, -1)) {
  }
}

/* As long as it need not wait, for a few milliseconds. */
static void run_turn_for(turned_run *run, int limit_ms) {
  uint64_t until_ns = run->began_ns + (uint64_t)limit_ms * 1000000;
  int left_ms = limit_ms;
  while (left_ms > 0 && !run->has_failed && run_turn(run, left_ms, 0)) {
    uint64_t now_ns = uv_hrtime();
    left_ms = now_ns < until_ns ? (int)((until_ns - now_ns) / 1000000) : 0;
  }
}

/* turn(environment, run, take, limitMs) → how many milliseconds that took: calls take(type, status, run, call, tool,
 * text, json) with each event, as onEvent of open(). Without a limit it has ended then. */
napi_value addon_turn(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  napi_value took_ms = NULL;
  if (it == NULL) {
    return NULL;
  }
  turned_run run = {.it = it,
                    .lathe = it->lathe,
                    .number = arguments_number(&arguments, 1),
                    .take = arguments.at[2],
                    .began_ns = uv_hrtime()};
  uint64_t limit_ms = arguments_number(&arguments, 3);
  it->working++; /* a tool may end the process: env_on_cleanup */
  if (limit_ms > 0) {
    run_turn_for(&run, (int)limit_ms);
  } else {
    run_turn_to_end(&run);
  }
  it->working--;
  napi_create_double(env, (double)(uv_hrtime() - run.began_ns) / 1e6, &took_ms);
  return took_ms;
}

/* detach(environment, run): the library's threads go on with it */
napi_value addon_detach(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  if (it != NULL) {
    it->lib->lathe_detach(it->lathe, arguments_number(&arguments, 1), NULL);
  }
  return NULL;
}
