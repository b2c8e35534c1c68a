/* A run on Node's own thread, which waits for its end. Node's loop stands still meanwhile, but for what the program's
 * tools do themselves.
 */
#include "addon.h"

typedef struct run_here {
  addon_env *it;
  napi_value take; /* of index.js: is told of each event */
  bool has_failed; /* an exception is pending, such as the end of a worker: JavaScript cannot be called any more */
} run_here;

static void run_tell(run_here *here, const lathe_event *event) {
  napi_env env = here->it->env;
  napi_handle_scope scope;
  napi_value arguments[EVENT_VALUES];
  if (here->has_failed || napi_open_handle_scope(env, &scope) != napi_ok) {
    return;
  }
  value_event(env, event, arguments);
  here->has_failed =
      napi_call_function(env, value_undefined(env), here->take, EVENT_VALUES, arguments, NULL) != napi_ok;
  napi_close_handle_scope(env, scope);
}

static void run_on_event(lathe_env *lathe, const lathe_event *event, void *arg) {
  run_here *here = arg;
  run_tell(here, event);
  if (here->has_failed) {
    here->it->lib->lathe_cancel(lathe, event->run, NULL);
  }
}

/* run(environment, code, language, input, timeoutMs, memoryBytes, canSnapshot, take): calls take(type, status, run,
 * call, tool, text, json) with each event, as onEvent of open(), and with the end. */
napi_value addon_run(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  const lathe_run_options options = arguments_program(&arguments);
  run_here here = {.it = it, .take = arguments.at[7]};
  lathe_error error = {.size = sizeof error};
  char *report = NULL;
  if (!arguments.has_failed) {
    it->working++; /* a tool may end the process: env_on_cleanup */
    lathe_status status = it->lib->lathe_run(it->lathe, &options, run_on_event, &here, &report, &error);
    it->working--;
    const lathe_event end = {.type = LATHE_EVENT_END,
                             .status = status,
                             .tool = "",
                             .text = error.message,
                             .json = report != NULL ? report : ""};
    run_tell(&here, &end);
    it->lib->lathe_free(report);
  }
  arguments_release(&arguments);
  return NULL;
}
