/* Nested callers, for the nested calls of a plugin's call. */
#include "plugin/nested_caller.h"

#include "base/limits.h"
#include "plugin/host_state.h"
#include "replay/recorded_call.h"

static unsigned nested_caller_depth(const lt_caller *caller) {
  unsigned depth = 0;
  for (; caller != NULL; caller = caller->parent) {
    depth++;
  }
  return depth;
}

/* In hooks without a prompt the plugin acts for the host's own caller, if there is one. */
static lt_status nested_caller_find_parent(const lathe_call *call, const lt_caller **ret_parent, lt_err *err) {
  *ret_parent = call->caller;
  if (call->caller != NULL || lt_plugin_call_is_request(call->kind)) {
    return LT_OK;
  }
  *ret_parent = call->plugin->host->options.caller;
  return *ret_parent != NULL
             ? LT_OK
             : lt_fail(err, LT_E_DENIED, "no tools are called in %.*s: there is no prompt yet", LT_STR_ARG(call->name));
}

/* Nested calls of a hook, or of a call without a number, are repeated each time. A mode is the prompt itself. */
static lt_status nested_caller_name_run(lt_nested_caller *n, lathe_call *call, lt_err *err) {
  uint64_t seq = call->options != NULL ? call->options->seq : 0;
  if (call->kind == LT_CALL_MODE) {
    return LT_OK;
  }
  if (seq == 0) {
    n->caller.noted = n->caller.recalled = false;
    return LT_OK;
  }
  n->caller.run = lt_arena_printf(&call->arena, "%.*s/%llu%s", LT_STR_ARG(n->caller.run), (unsigned long long)seq,
                                  call->is_approval_check ? "/ask" : "");
  return n->caller.run.p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the name of a run");
}

lt_status lt_nested_caller_init(lt_nested_caller *n, lathe_call *call, lt_err *err) {
  const lt_caller *parent;
  LT_TRY(nested_caller_find_parent(call, &parent, err));
  if (nested_caller_depth(parent) >= LT_CALLER_DEPTH_MAX) {
    return lt_fail(err, LT_E_LIMIT, "tools and programs call each other more than %d deep", LT_CALLER_DEPTH_MAX);
  }
  *n = (lt_nested_caller){.caller = {.user = call->user}};
  if (parent != NULL) {
    n->caller = *parent;
    n->caller.parent = parent;
    n->prompt = parent->prompt != NULL ? *(const lt_plugin_prompt *)parent->prompt : n->prompt;
  }
  if (call->options != NULL && lt_trace_context_is_set(call->options->trace)) {
    n->caller.trace = *call->options->trace;
  }
  n->prompt.by = call;
  n->caller.prompt = &n->prompt;
  return nested_caller_name_run(n, call, err);
}

void lt_nested_caller_on_approval(void *arg, bool waiting) {
  lathe_call *call = arg;
  if (waiting) {
    lt_plugin_call_pause(call);
  } else {
    lt_plugin_call_resume(call);
  }
  if (call->options != NULL && call->options->on_approval != NULL) {
    call->options->on_approval(call->options->arg, waiting);
  }
  lt_wait_wake(&call->wait, LT_OK); /* wakes the fiber that waits for the call, so that it checks the clock again */
}

uint64_t lt_nested_caller_number(const lt_nested_caller *n, lathe_call *call, size_t count) {
  uint64_t first = call->nested_count + 1;
  call->nested_count += count;
  bool has_number = call->kind == LT_CALL_MODE || (call->options != NULL && call->options->seq > 0);
  return has_number && n->caller.run.n > 0 ? first : 0;
}

lt_status lt_nested_caller_call_tool(const lt_nested_caller *n, lathe_call *call, lt_str id, lt_str input,
                                     const lt_invoke_options *how, lt_buf *out, lt_err *err) {
  lt_invoke_options options = *how;
  options.cancel = &call->cancel;
  options.caller = &n->caller;
  if (call->has_hard_timeout) {
    options.timeout_ms = lt_plugin_call_left_ms(call);
    options.timeout_ms = options.timeout_ms > 0 ? options.timeout_ms : 1; /* 0 means: the default */
  }
  if (call->mode_actions != NULL) {
    return call->mode_actions->call_tool(call->mode_actions->arg, id, input, &options, out, err);
  }
  return lt_recorded_call_make(call->plugin->host->options.door, id, input, &options, out, err);
}
