/* One call of a plugin's function: made on the loop, run by the plugin's thread or right here, waited for, judged. */
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/host_impl.h"

uint64_t lt_host_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* --- Life --------------------------------------------------------------------------------------------------------- */
static const lt_prompt *prompt_of(const lt_caller *caller) {
  return caller != NULL ? caller->prompt : NULL;
}

static bool keep(lt_arena *arena, lt_str text, lt_str *ret) {
  *ret = lt_arena_dup(arena, text);
  return ret->p != NULL;
}

static bool copy_texts(lathe_call *call, const lt_call_how *how) {
  const lt_prompt *prompt = prompt_of(how->caller);
  lt_str user = how->caller != NULL && how->caller->user.n > 0 ? how->caller->user : LT_STR("local");
  lt_str conversation = prompt != NULL ? prompt->conversation : LT_STR("");
  return keep(&call->arena, how->name, &call->name) && keep(&call->arena, how->in, &call->in) &&
         keep(&call->arena, user, &call->user) && keep(&call->arena, conversation, &call->conversation);
}

/* By somebody who wants something of the plugin; else it is a hook. */
static bool is_made(lt_call_kind kind) {
  return kind == LT_CALL_TOOL || kind == LT_CALL_FUNCTION || kind == LT_CALL_MODE;
}

static bool may_register(lt_call_kind kind) {
  return kind == LT_CALL_SETUP || kind == LT_CALL_READY || kind == LT_CALL_PREPARE;
}

static void call_free(lathe_call *call) {
  lt_registry_free(call->registered);
  lt_buf_release(&call->answer);
  lt_buf_release(&call->failure);
  lt_buf_release(&call->error);
  lt_arena_release(&call->arena);
  lt_mem_free(call);
}

lt_status lt_call_new(lt_plugin *plugin, const lt_call_how *how, lathe_call **ret_call, lt_err *err) {
  lathe_call *call = lt_mem_zalloc(1, sizeof *call);
  if (call == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to call plugin \"%s\"", plugin->is.id);
  }
  atomic_init(&call->refs, 1);
  call->plugin = plugin;
  call->kind = how->kind;
  call->fn = how->fn;
  call->arg = how->arg;
  call->caller = how->caller;
  call->options = how->options;
  call->world = how->world;
  call->asks = how->asks;
  bool asked_for = how->options != NULL && how->options->timeout_ms > 0;
  call->timeout_ms = asked_for ? how->options->timeout_ms : how->timeout_ms;
  call->hard_timeout = asked_for || !is_made(how->kind);
  lt_arena_init(&call->arena, LT_PLUGIN_CALL_MAX_BYTES);
  lt_buf_init(&call->answer, LT_JSON_MAX_BYTES);
  lt_buf_init(&call->failure, LT_RUN_ERROR_BYTES);
  lt_buf_init(&call->error, LT_RUN_ERROR_BYTES);
  lt_wait_init(&call->wait, plugin->host->options.loop);
  lt_cancel_init(&call->cancel);
  call->registered = may_register(how->kind) ? lt_registry_new() : NULL;
  if (!copy_texts(call, how) || (may_register(how->kind) && call->registered == NULL)) {
    call_free(call);
    return lt_fail(err, LT_E_NOMEM, "no memory to call plugin \"%s\"", plugin->is.id);
  }
  *ret_call = call;
  return LT_OK;
}

lathe_call *lt_call_ref(lathe_call *call) {
  atomic_fetch_add(&call->refs, 1);
  return call;
}

void lt_call_unref(lathe_call *call) {
  if (call != NULL && atomic_fetch_sub(&call->refs, 1) == 1) {
    call_free(call);
  }
}

/* --- The clock ---------------------------------------------------------------------------------------------------- */
void lt_call_pause(lathe_call *call) {
  if (call->paused++ == 0) {
    call->paused_at_ms = lt_host_now_ms();
  }
}

void lt_call_resume(lathe_call *call) {
  if (--call->paused == 0) {
    call->deadline_ms += lt_host_now_ms() - call->paused_at_ms;
  }
}

uint64_t lt_call_left_ms(const lathe_call *call) {
  uint64_t now = lt_host_now_ms();
  if (call->paused > 0) {
    return UINT64_MAX;
  }
  return call->deadline_ms > now ? call->deadline_ms - now : 0;
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
static const char *what_it_did(lt_call_kind kind) {
  return is_made(kind) ? "answered" : "come back from";
}

typedef struct late {
  lt_status why;
  bool begun;        /* the plugin had begun with it */
  bool own_deadline; /* it was the call's own time that was up, not its caller's */
} late;

static lt_status say_late(lathe_call *call, const late *l, lt_err *err) {
  const char *id = call->plugin->is.id;
  lt_str other;
  uint64_t since_ms;
  bool unwanted;
  if (!l->begun && lt_thread_busy(call->plugin, &call->arena, &other, &since_ms, &unwanted)) {
    return lt_fail(err, l->why, "plugin \"%s\" is busy with \"%.*s\" since %llu s", id, LT_STR_ARG(other),
                   (unsigned long long)((lt_host_now_ms() - since_ms) / 1000));
  }
  if (l->own_deadline) {
    return lt_fail(err, l->why, "plugin \"%s\" has not %s \"%.*s\" within %llu ms", id, what_it_did(call->kind),
                   LT_STR_ARG(call->name), (unsigned long long)call->timeout_ms);
  }
  return lt_fail(err, l->why, "plugin \"%s\" had not %s \"%.*s\" when the call was %s", id, what_it_did(call->kind),
                 LT_STR_ARG(call->name), l->why == LT_E_TIMEOUT ? "out of time" : "cancelled");
}

/* LT_OK: it has returned. */
static lt_status wait_for(lathe_call *call) LT_YIELDS {
  while (!call->returned) {
    uint64_t left_ms = lt_call_left_ms(call);
    if (left_ms == 0) {
      return LT_E_TIMEOUT;
    }
    lt_wait_on(&call->wait, left_ms);
    if (!call->returned && call->cancel.why != LT_OK) {
      return call->cancel.why;
    }
  }
  return LT_OK;
}

/* The plugin goes on; what it does by the caller's leave ends before that goes. */
static bool leave(lathe_call *call, lt_status why) LT_YIELDS {
  call->left = true;
  atomic_store(&call->unwanted, true);
  lt_cancel_fire(&call->cancel, why);
  bool begun = !lt_thread_drop(call);
  while (call->borrowers > 0) {
    lt_wait_on(&call->wait, UINT64_MAX);
  }
  return begun;
}

static lt_status run_there(lathe_call *call, lt_err *err) LT_YIELDS {
  lt_cancel_node node;
  LT_TRY(lt_thread_submit(call, err));
  lt_call_open(call);
  lt_cancel_add(&call->cancel, &node, &call->wait);
  late l = {.why = wait_for(call)};
  lt_cancel_remove(&call->cancel, &node);
  if (l.why != LT_OK) {
    l.own_deadline = call->cancel.why == LT_OK;
    l.begun = leave(call, l.why);
  }
  lt_call_close(call);
  return l.why == LT_OK ? LT_OK : say_late(call, &l, err);
}

/* Here it cannot be left alone; what it waits for ends when it is cancelled, and then it does. */
static lt_status run_here(lathe_call *call, lt_err *err) LT_YIELDS {
  /* LT_YIELDS: the plugin calls host functions */
  call->fn(&lt_host_api, call, lt_to_text(call->in), call->arg);
  call->returned = true;
  if (call->failed && call->cancel.why != LT_OK) {
    return say_late(call, &(late){.why = call->cancel.why, .begun = true}, err);
  }
  return LT_OK;
}

/* A plugin on its own thread that waits for itself would wait for ever, and so would two that wait for each other. */
static lt_status check_circle(const lathe_call *call, lt_err *err) {
  lt_plugin *plugin = call->plugin;
  if (lt_plugin_on_loop(plugin)) {
    return LT_OK;
  }
  if (lt_caller_is_within(call->caller, plugin)) {
    return lt_fail(err, LT_E_INVALID,
                   "plugin \"%s\" called itself (\"%.*s\") while its only thread was busy with the call that did so: "
                   "it has to call its own functions in C, or be a LATHE_ON_LOOP plugin",
                   plugin->is.id, LT_STR_ARG(call->name));
  }
  if (lt_call_would_circle(call)) {
    return lt_fail(err, LT_E_INVALID,
                   "\"%.*s\" was not called: plugin \"%s\" is busy with a call that waits for this one's caller, so "
                   "that both would wait for ever; one of the plugins has to be a LATHE_ON_LOOP plugin",
                   LT_STR_ARG(call->name), plugin->is.id);
  }
  return LT_OK;
}

/* With an eye on the caller's cancel, and on Lathe's end. */
static lt_status run_watched(lathe_call *call, lt_cancel *cancel, lt_err *err) LT_YIELDS {
  lt_plugin *plugin = call->plugin;
  lt_cancel_node above, end;
  lt_cancel_follow(cancel, &above, &call->cancel);
  lt_cancel_follow(&plugin->ending, &end, &call->cancel);
  plugin->open++;
  call->deadline_ms = lt_host_now_ms() + call->timeout_ms;
  lt_status status = lt_plugin_on_loop(plugin) ? run_here(call, err) : run_there(call, err);
  plugin->open--;
  lt_cancel_remove(&plugin->ending, &end);
  lt_cancel_remove(cancel, &above);
  if (plugin->ending.why != LT_OK) {
    lt_wait_wake(&plugin->thread.ending_wait, LT_OK);
  }
  return status;
}

lt_status lt_call_run(lathe_call *call, lt_err *err) {
  lt_cancel *cancel = call->options != NULL ? call->options->cancel : NULL;
  if (call->plugin->ending.why != LT_OK) {
    return lt_fail(err, LT_E_CLOSED, "Lathe is ending");
  }
  LT_TRY(check_circle(call, err));
  if (cancel != NULL && cancel->why != LT_OK) {
    return lt_fail(err, cancel->why, "%s before the plugin was called", lt_status_text(cancel->why));
  }
  lt_status status = run_watched(call, cancel, err);
  call->left = true;
  call->caller = NULL;
  call->options = NULL;
  call->world = NULL;
  return status;
}

lt_status lt_call_outcome(const lathe_call *call, lt_buf *out, lt_err *err) {
  lt_str said = lt_buf_view(&call->failure);
  if (call->divergence.n > 0) {
    return lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(call->divergence));
  }
  if (call->failed && call->failed_as != LT_E_TOOL) {
    return lt_fail(err, call->failed_as, "%.*s", LT_STR_ARG(said));
  }
  if (call->failed) {
    lt_buf_add(out, said);
    return lt_fail(err, LT_E_TOOL, "%.*s", LT_STR_ARG(said));
  }
  if (call->answered) {
    lt_buf_add(out, lt_buf_view(&call->answer));
  }
  return LT_OK;
}

/* --- For the host's functions ------------------------------------------------------------------------------------- */
int lt_call_error(lathe_call *call, lt_str why) {
  lt_buf_clear(&call->error);
  lt_buf_add(&call->error, lt_str_sub(why, 0, LT_RUN_ERROR_BYTES));
  return -1;
}

bool lt_call_keep(lathe_call *call, lt_str text, lathe_text *ret) {
  lt_str copy = lt_arena_dup(&call->arena, text);
  if (copy.p == NULL) {
    lt_call_error(call, LT_STR("no memory left in this call for the answer"));
    return false;
  }
  *ret = lt_to_text(copy);
  return true;
}
