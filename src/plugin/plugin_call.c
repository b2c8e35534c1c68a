/* A call of a plugin's function: memory, result, clock. plugin_call_run.c runs it. */
#include "plugin/plugin_call.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "plugin/abi.h"
#include "plugin/host_state.h"

/* --- Creating and releasing a call -------------------------------------------------------------------------------- */
static bool plugin_call_copy(lt_arena *arena, lt_str text, lt_str *ret) {
  *ret = lt_arena_dup(arena, text);
  return ret->p != NULL;
}

static bool plugin_call_copy_texts(lathe_call *call, const lt_plugin_call_spec *spec) {
  const lt_plugin_prompt *prompt = spec->caller != NULL ? spec->caller->prompt : NULL;
  lt_str user = spec->caller != NULL && spec->caller->user.n > 0 ? spec->caller->user : LT_STR("local");
  lt_str conversation = prompt != NULL ? prompt->conversation : LT_STR("");
  return plugin_call_copy(&call->arena, spec->name, &call->name) &&
         plugin_call_copy(&call->arena, spec->in, &call->in) && plugin_call_copy(&call->arena, user, &call->user) &&
         plugin_call_copy(&call->arena, conversation, &call->conversation);
}

bool lt_plugin_call_is_request(lt_plugin_call_kind kind) {
  return kind == LT_CALL_TOOL || kind == LT_CALL_FUNCTION || kind == LT_CALL_MODE;
}

static bool plugin_call_may_register(lt_plugin_call_kind kind) {
  return kind == LT_CALL_SETUP || kind == LT_CALL_READY || kind == LT_CALL_PREPARE;
}

static void plugin_call_free(lathe_call *call) {
  lt_registry_free(call->registered);
  lt_buf_release(&call->answer);
  lt_buf_release(&call->failure);
  lt_buf_release(&call->error);
  lt_arena_release(&call->arena);
  lt_mem_free(call);
}

lt_status lt_plugin_call_new(lt_plugin *plugin, const lt_plugin_call_spec *spec, lathe_call **ret_call, lt_err *err) {
  lathe_call *call = lt_mem_zalloc(1, sizeof *call);
  if (call == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to call plugin \"%s\"", plugin->definition.id);
  }
  bool has_own_timeout = spec->options != NULL && spec->options->timeout_ms > 0;
  atomic_init(&call->refs, 1);
  call->plugin = plugin;
  call->kind = spec->kind;
  call->fn = spec->fn;
  call->arg = spec->arg;
  call->caller = spec->caller;
  call->options = spec->options;
  call->mode_actions = spec->mode_actions;
  call->is_approval_check = spec->is_approval_check;
  call->timeout_ms = has_own_timeout ? spec->options->timeout_ms : spec->timeout_ms;
  call->has_hard_timeout = has_own_timeout || !lt_plugin_call_is_request(spec->kind);
  lt_arena_init(&call->arena, LT_PLUGIN_CALL_MAX_BYTES);
  lt_buf_init(&call->answer, LT_JSON_MAX_BYTES);
  lt_buf_init(&call->failure, LT_RUN_ERROR_BYTES);
  lt_buf_init(&call->error, LT_RUN_ERROR_BYTES);
  lt_wait_init(&call->wait, plugin->host->options.loop);
  lt_cancel_init(&call->cancel);
  call->registered = plugin_call_may_register(spec->kind) ? lt_registry_new() : NULL;
  if (!plugin_call_copy_texts(call, spec) || (plugin_call_may_register(spec->kind) && call->registered == NULL)) {
    plugin_call_free(call);
    return lt_fail(err, LT_E_NOMEM, "no memory to call plugin \"%s\"", plugin->definition.id);
  }
  *ret_call = call;
  return LT_OK;
}

lathe_call *lt_plugin_call_ref(lathe_call *call) {
  atomic_fetch_add(&call->refs, 1);
  return call;
}

void lt_plugin_call_unref(lathe_call *call) {
  if (call != NULL && atomic_fetch_sub(&call->refs, 1) == 1) {
    plugin_call_free(call);
  }
}

/* --- The clock ---------------------------------------------------------------------------------------------------- */
void lt_plugin_call_pause(lathe_call *call) {
  if (call->pause_count++ == 0) {
    call->paused_at_ms = lt_clock_monotonic_ms();
  }
}

void lt_plugin_call_resume(lathe_call *call) {
  if (--call->pause_count == 0) {
    call->deadline_ms += lt_clock_monotonic_ms() - call->paused_at_ms;
  }
}

uint64_t lt_plugin_call_left_ms(const lathe_call *call) {
  uint64_t now = lt_clock_monotonic_ms();
  if (call->pause_count > 0) {
    return UINT64_MAX;
  }
  return call->deadline_ms > now ? call->deadline_ms - now : 0;
}

/* --- The result --------------------------------------------------------------------------------------------------- */
lt_status lt_plugin_call_outcome(const lathe_call *call, lt_buf *out, lt_err *err) {
  lt_str failure = lt_buf_view(&call->failure);
  if (call->divergence.n > 0) {
    return lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(call->divergence));
  }
  if (call->has_failed && call->failure_status == LT_E_TOOL) {
    lt_buf_add(out, failure);
  }
  if (call->has_failed) {
    return lt_fail(err, call->failure_status, "%.*s", LT_STR_ARG(failure));
  }
  if (call->has_answer) {
    lt_buf_add(out, lt_buf_view(&call->answer));
  }
  return LT_OK;
}

/* --- Results of host functions ------------------------------------------------------------------------------------ */
int lt_plugin_call_set_error(lathe_call *call, lt_str why) {
  lt_buf_clear(&call->error);
  lt_buf_add(&call->error, lt_str_sub(why, 0, LT_RUN_ERROR_BYTES));
  return -1;
}

int lt_plugin_call_set_err(lathe_call *call, const lt_err *err) {
  return lt_plugin_call_set_error(call, lt_str_of(lt_err_msg(err)));
}

bool lt_plugin_call_copy_text(lathe_call *call, lt_str text, lathe_text *ret) {
  lt_str copy = lt_arena_dup(&call->arena, text);
  if (copy.p == NULL) {
    lt_plugin_call_set_error(call, LT_STR("no memory left in this call for the answer"));
    return false;
  }
  *ret = lt_abi_to_text(copy);
  return true;
}

int lt_plugin_call_return_text(lathe_call *call, int rc, const lt_buf *out, lathe_text *ret) {
  return rc == 0 && lt_plugin_call_copy_text(call, lt_buf_view(out), ret) ? 0 : -1;
}
