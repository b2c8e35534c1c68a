/* Plugins that would wait for each other for ever: found when the last one begins to.
 *
 * A plugin's thread runs one call; the others of its queue wait for that one. That call in turn waits for all that is
 * called on its behalf. A call that would wait, through however many of these, for a call it is made on behalf of, is
 * not made. Loop thread only: a running call is there until the loop has heard of its end.
 */
#include "plugin/host_impl.h"

/* The plugin's call that this caller works for, or NULL. */
static const lathe_call *maker_of(const lt_caller *caller) {
  const lt_prompt *prompt = caller->prompt;
  return prompt != NULL ? prompt->by : NULL;
}

/* Whether what this caller calls is called, in the end, on behalf of `call`. */
static bool works_for(const lt_caller *caller, const lathe_call *call) {
  for (; caller != NULL; caller = caller->parent) {
    if (maker_of(caller) == call) {
      return true;
    }
  }
  return false;
}

bool lt_caller_is_within(const lt_caller *caller, const lt_plugin *plugin) {
  for (; caller != NULL; caller = caller->parent) {
    const lathe_call *by = maker_of(caller);
    if (by != NULL && by->plugin == plugin) {
      return true;
    }
  }
  return false;
}

/* Whether `running` has to wait until `caller`, or one of those it works for, has got what it wants. */
static bool waits_for(lt_host *host, lathe_call *running, const lt_caller *caller) {
  if (running == NULL || running->seen == host->looks) {
    return false;
  }
  running->seen = host->looks;
  if (works_for(caller, running)) {
    return true;
  }
  for (lathe_call *open = host->open_calls; open != NULL; open = open->next_open) {
    if (works_for(open->caller, running)) {
      lathe_call *ahead = lt_thread_running(open->plugin);
      if (ahead != open && waits_for(host, ahead, caller)) {
        return true;
      }
    }
  }
  return false;
}

bool lt_call_would_circle(const lathe_call *call) {
  lt_host *host = call->plugin->host;
  host->looks++;
  return call->caller != NULL && waits_for(host, lt_thread_running(call->plugin), call->caller);
}

void lt_call_open(lathe_call *call) {
  lt_host *host = call->plugin->host;
  call->previous_open = NULL;
  call->next_open = host->open_calls;
  if (host->open_calls != NULL) {
    host->open_calls->previous_open = call;
  }
  host->open_calls = call;
}

void lt_call_close(lathe_call *call) {
  if (call->previous_open != NULL) {
    call->previous_open->next_open = call->next_open;
  } else {
    call->plugin->host->open_calls = call->next_open;
  }
  if (call->next_open != NULL) {
    call->next_open->previous_open = call->previous_open;
  }
}
