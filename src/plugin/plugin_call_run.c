/* Runs a call on the plugin's thread or on the loop, and waits for it. */
#include "base/clock.h"
#include "base/limits.h"
#include "plugin/abi.h"
#include "plugin/deadlock.h"
#include "plugin/plugin_call.h"

/* Why a call was given up, for its message. */
typedef struct call_abandonment {
  lt_status why;
  bool had_begun;
  bool is_own_deadline; /* the call's own time limit was reached, not its caller's */
} call_abandonment;

static lt_status plugin_call_fail_abandoned(lathe_call *call, const call_abandonment *a, lt_err *err) {
  const char *id = call->plugin->definition.id;
  const char *verb = lt_plugin_call_is_request(call->kind) ? "answered" : "come back from";
  lt_plugin_thread_activity other;
  if (!a->had_begun && lt_plugin_thread_busy(call->plugin, &call->arena, &other)) {
    return lt_fail(err, a->why, "plugin \"%s\" is busy with \"%.*s\" since %llu s", id, LT_STR_ARG(other.name),
                   (unsigned long long)((lt_clock_monotonic_ms() - other.since_ms) / 1000));
  }
  if (a->is_own_deadline) {
    return lt_fail(err, a->why, "plugin \"%s\" has not %s \"%.*s\" within %llu ms", id, verb, LT_STR_ARG(call->name),
                   (unsigned long long)call->timeout_ms);
  }
  return lt_fail(err, a->why, "plugin \"%s\" had not %s \"%.*s\" when the call was %s", id, verb,
                 LT_STR_ARG(call->name), a->why == LT_E_TIMEOUT ? "out of time" : "cancelled");
}

/* LT_OK: the call has returned. */
static lt_status plugin_call_wait(lathe_call *call) LT_YIELDS {
  while (!call->has_returned) {
    uint64_t left_ms = lt_plugin_call_left_ms(call);
    if (left_ms == 0) {
      return LT_E_TIMEOUT;
    }
    lt_wait_on(&call->wait, left_ms);
    if (!call->has_returned && call->cancel.why != LT_OK) {
      return call->cancel.why;
    }
  }
  return LT_OK;
}

/* The plugin's function continues. Requests that use the caller are cancelled, and end before the caller is released.
 */
static bool plugin_call_abandon(lathe_call *call, lt_status why) LT_YIELDS {
  call->has_no_caller = true;
  atomic_store(&call->is_abandoned, true);
  lt_cancel_fire(&call->cancel, why);
  bool had_begun = !lt_plugin_thread_drop(call);
  while (call->borrower_count > 0) {
    lt_wait_on(&call->wait, UINT64_MAX);
  }
  return had_begun;
}

static lt_status plugin_call_run_on_thread(lathe_call *call, lt_err *err) LT_YIELDS {
  lt_cancel_node node;
  LT_TRY(lt_plugin_thread_submit(call, err));
  lt_deadlock_add_call(call);
  lt_cancel_add(&call->cancel, &node, &call->wait);
  call_abandonment a = {.why = plugin_call_wait(call)};
  lt_cancel_remove(&call->cancel, &node);
  if (a.why != LT_OK) {
    a.is_own_deadline = call->cancel.why == LT_OK;
    a.had_begun = plugin_call_abandon(call, a.why);
  }
  lt_deadlock_remove_call(call);
  return a.why == LT_OK ? LT_OK : plugin_call_fail_abandoned(call, &a, err);
}

/* A call on the loop cannot be abandoned. Its waits end when it is cancelled, and then the call returns. */
static lt_status plugin_call_run_on_loop(lathe_call *call, lt_err *err) LT_YIELDS {
  /* LT_YIELDS: the plugin calls host functions */
  call->fn(call->plugin->functions, call, lt_abi_to_text(call->in), call->arg);
  call->has_returned = true;
  if (call->has_failed && call->cancel.why != LT_OK) {
    return plugin_call_fail_abandoned(call, &(call_abandonment){.why = call->cancel.why, .had_begun = true}, err);
  }
  return LT_OK;
}

/* The caller's cancel and Lathe's end both cancel the call. */
static lt_status plugin_call_run_cancellable(lathe_call *call, lt_cancel *cancel, lt_err *err) LT_YIELDS {
  lt_plugin *plugin = call->plugin;
  lt_cancel_node caller_node, end_node;
  lt_cancel_follow(cancel, &caller_node, &call->cancel);
  lt_cancel_follow(&plugin->end_cancel, &end_node, &call->cancel);
  plugin->call_count++;
  call->deadline_ms = lt_clock_monotonic_ms() + call->timeout_ms;
  lt_status status =
      lt_plugin_on_loop(plugin) ? plugin_call_run_on_loop(call, err) : plugin_call_run_on_thread(call, err);
  plugin->call_count--;
  lt_cancel_remove(&plugin->end_cancel, &end_node);
  lt_cancel_remove(cancel, &caller_node);
  if (plugin->end_cancel.why != LT_OK) {
    lt_wait_wake(&plugin->thread.end_wait, LT_OK);
  }
  return status;
}

lt_status lt_plugin_call_run(lathe_call *call, lt_err *err) {
  lt_cancel *cancel = call->options != NULL ? call->options->cancel : NULL;
  if (call->plugin->end_cancel.why != LT_OK) {
    return lt_fail(err, LT_E_CLOSED, "Lathe is ending");
  }
  LT_TRY(lt_deadlock_check(call, err));
  if (cancel != NULL && cancel->why != LT_OK) {
    return lt_fail(err, cancel->why, "%s before the plugin was called", lt_status_text(cancel->why));
  }
  lt_status status = plugin_call_run_cancellable(call, cancel, err);
  call->has_no_caller = true;
  call->caller = NULL;
  call->options = NULL;
  call->mode_actions = NULL;
  return status;
}

lt_status lt_plugin_call_make(lt_plugin *plugin, const lt_plugin_call_spec *spec, lt_buf *out, lt_err *err) {
  lathe_call *call = NULL;
  LT_TRY(lt_plugin_call_new(plugin, spec, &call, err));
  lt_status status = lt_plugin_call_run(call, err);
  if (status == LT_OK) {
    status = lt_plugin_call_outcome(call, out, err);
  }
  lt_plugin_call_unref(call);
  return status;
}
