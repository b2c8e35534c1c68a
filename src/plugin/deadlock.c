/* Deadlocks between plugins.
 *
 * A plugin's thread runs one call; the others of its queue wait for that one. That call in turn waits for its nested
 * calls. A call is refused when it would wait, directly or indirectly, for a call that waits for it.
 */
#include "plugin/deadlock.h"

#include "plugin/host_state.h"

/* The plugin's call of a nested caller, or NULL. */
static const lathe_call *deadlock_call_of(const lt_caller *caller) {
  const lt_plugin_prompt *prompt = caller->prompt;
  return prompt != NULL ? prompt->by : NULL;
}

/* Whether the caller is nested, directly or indirectly, in `call`. */
static bool deadlock_works_for(const lt_caller *caller, const lathe_call *call) {
  for (; caller != NULL; caller = caller->parent) {
    if (deadlock_call_of(caller) == call) {
      return true;
    }
  }
  return false;
}

/* Whether the caller is nested in a call of this plugin. */
static bool deadlock_is_own_call(const lt_caller *caller, const lt_plugin *plugin) {
  for (; caller != NULL; caller = caller->parent) {
    const lathe_call *by = deadlock_call_of(caller);
    if (by != NULL && by->plugin == plugin) {
      return true;
    }
  }
  return false;
}

/* Whether `running` waits for `caller`, or for a call in which the caller is nested. */
static bool deadlock_waits_for(lt_host *host, lathe_call *running, const lt_caller *caller) {
  if (running == NULL || running->deadlock_search == host->deadlock_searches) {
    return false;
  }
  running->deadlock_search = host->deadlock_searches;
  if (deadlock_works_for(caller, running)) {
    return true;
  }
  for (lathe_call *open = host->open_calls; open != NULL; open = open->next_open) {
    if (deadlock_works_for(open->caller, running)) {
      lathe_call *ahead = lt_plugin_thread_running(open->plugin);
      if (ahead != open && deadlock_waits_for(host, ahead, caller)) {
        return true;
      }
    }
  }
  return false;
}

lt_status lt_deadlock_check(const lathe_call *call, lt_err *err) {
  lt_plugin *plugin = call->plugin;
  if (call->caller == NULL || lt_plugin_on_loop(plugin)) {
    return LT_OK;
  }
  if (deadlock_is_own_call(call->caller, plugin)) {
    return lt_fail(err, LT_E_INVALID,
                   "plugin \"%s\" called itself (\"%.*s\") while its only thread was busy with the call that did so: "
                   "it has to call its own functions in C, or be a LATHE_ON_LOOP plugin",
                   plugin->definition.id, LT_STR_ARG(call->name));
  }
  plugin->host->deadlock_searches++;
  if (deadlock_waits_for(plugin->host, lt_plugin_thread_running(plugin), call->caller)) {
    return lt_fail(err, LT_E_INVALID,
                   "\"%.*s\" was not called: plugin \"%s\" is busy with a call that waits for this one's caller, so "
                   "that both would wait for ever; one of the plugins has to be a LATHE_ON_LOOP plugin",
                   LT_STR_ARG(call->name), plugin->definition.id);
  }
  return LT_OK;
}

void lt_deadlock_add_call(lathe_call *call) {
  lt_host *host = call->plugin->host;
  call->previous_open = NULL;
  call->next_open = host->open_calls;
  if (host->open_calls != NULL) {
    host->open_calls->previous_open = call;
  }
  host->open_calls = call;
}

void lt_deadlock_remove_call(lathe_call *call) {
  if (call->previous_open != NULL) {
    call->previous_open->next_open = call->next_open;
  } else {
    call->plugin->host->open_calls = call->next_open;
  }
  if (call->next_open != NULL) {
    call->next_open->previous_open = call->previous_open;
  }
}
