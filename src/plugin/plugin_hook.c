/* Hooks of a plugin. */
#include "plugin/plugin_hook.h"

#include "base/limits.h"

static const char *plugin_hook_name(lt_plugin_call_kind kind) {
  switch (kind) {
    case LT_CALL_SETUP:
      return "setup";
    case LT_CALL_READY:
      return "ready";
    case LT_CALL_PREPARE:
      return "prepare";
    case LT_CALL_TEARDOWN:
      return "teardown";
    case LT_CALL_TOOL:
    case LT_CALL_FUNCTION:
    case LT_CALL_MODE:
      break;
  }
  return "";
}

static lathe_function_fn *plugin_hook_function(const lathe_plugin *definition, lt_plugin_call_kind kind) {
  switch (kind) {
    case LT_CALL_SETUP:
      return definition->setup;
    case LT_CALL_READY:
      return definition->ready;
    case LT_CALL_PREPARE:
      return definition->prepare;
    case LT_CALL_TEARDOWN:
      return definition->teardown;
    case LT_CALL_TOOL:
    case LT_CALL_FUNCTION:
    case LT_CALL_MODE:
      break;
  }
  return NULL;
}

lt_status lt_plugin_hook_run(lt_plugin *plugin, const lt_plugin_hook *hook, lt_registry **ret_registered, lt_err *err) {
  lathe_call *call = NULL;
  lt_plugin_call_spec spec = {.kind = hook->kind,
                              .name = lt_str_of(plugin_hook_name(hook->kind)),
                              .fn = plugin_hook_function(&plugin->definition, hook->kind),
                              .arg = plugin->definition.arg,
                              .in = hook->in,
                              .caller = hook->caller,
                              .timeout_ms = hook->timeout_ms};
  LT_TRY(lt_plugin_call_new(plugin, &spec, &call, err));
  lt_status status = lt_plugin_call_run(call, err);
  if (status == LT_OK) {
    LT_AUTO_BUF(answer, LT_JSON_MAX_BYTES); /* not used: hooks only register */
    status = lt_plugin_call_outcome(call, &answer, err);
  }
  if (status == LT_OK && ret_registered != NULL) {
    *ret_registered = call->registered;
    call->registered = NULL;
  }
  lt_plugin_call_unref(call);
  return status;
}
