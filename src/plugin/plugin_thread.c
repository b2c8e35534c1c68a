/* A plugin's own thread: a queue of calls, run one after another. */
#include "plugin/plugin_thread.h"

#include <signal.h>

#include "base/clock.h"
#include "base/limits.h"
#include "plugin/abi.h"
#include "plugin/host_state.h"
#include "plugin/plugin_call.h"

/* --- The thread --------------------------------------------------------------------------------------------------- */
static void plugin_thread_on_returned(void *arg) {
  lathe_call *call = arg;
  call->has_returned = true;
  lt_wait_wake(&call->wait, LT_OK);
  lt_plugin_call_unref(call);
}

static void plugin_thread_on_ended(void *arg) {
  lt_plugin *plugin = arg;
  plugin->thread.has_ended = true;
  lt_wait_wake(&plugin->thread.end_wait, LT_OK);
}

/* Call it under the lock. */
static lathe_call *plugin_thread_take_call(lt_plugin_thread *t) {
  lathe_call *call = t->queue;
  if (call != NULL) {
    t->queue = call->next;
    if (t->queue == NULL) {
      t->last = &t->queue;
    }
    t->queued_count--;
    t->running = call;
    t->running_since_ms = lt_clock_monotonic_ms();
  }
  return call;
}

/* Call it under the lock. The waiting fiber is on the loop, if the loop still exists. */
static void plugin_thread_give_back(lt_plugin_thread *t, lathe_call *call) {
  t->running = NULL;
  if (t->loop != NULL) {
    call->returned_post = (lt_post){.fn = plugin_thread_on_returned, .arg = call};
    lt_loop_post(t->loop, &call->returned_post);
  } else {
    lt_plugin_call_unref(call);
  }
}

static void *plugin_thread_run(void *arg) {
  lt_plugin *plugin = arg;
  lt_plugin_thread *t = &plugin->thread;
  pthread_mutex_lock(&t->lock);
  for (;;) {
    lathe_call *call = plugin_thread_take_call(t);
    if (call != NULL) {
      pthread_mutex_unlock(&t->lock);
      call->fn(plugin->functions, call, lt_abi_to_text(call->in), call->arg);
      pthread_mutex_lock(&t->lock);
      plugin_thread_give_back(t, call);
    } else if (t->should_end || t->loop == NULL) {
      break;
    } else {
      pthread_cond_wait(&t->changed, &t->lock);
    }
  }
  if (t->loop != NULL) {
    t->ended_post = (lt_post){.fn = plugin_thread_on_ended, .arg = plugin};
    lt_loop_post(t->loop, &t->ended_post);
  }
  pthread_mutex_unlock(&t->lock);
  lt_plugin_unref(plugin);
  return NULL;
}

/* Blocks all signals, because the process's signals are for the loop. */
static int plugin_thread_create(pthread_t *id, void *arg) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int rc = pthread_create(id, NULL, plugin_thread_run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc;
}

lt_status lt_plugin_thread_start(lt_plugin *plugin, lt_err *err) {
  lt_plugin_thread *t = &plugin->thread;
  t->loop = plugin->host->options.loop;
  lt_wait_init(&t->end_wait, t->loop);
  atomic_fetch_add(&plugin->refs, 1);
  if (plugin_thread_create(&t->id, plugin) != 0) {
    atomic_fetch_sub(&plugin->refs, 1);
    return lt_fail(err, LT_E_LIMIT, "there is no room for another thread");
  }
  t->has_started = true;
  return LT_OK;
}

lt_status lt_plugin_thread_submit(lathe_call *call, lt_err *err) {
  lt_plugin_thread *t = &call->plugin->thread;
  lt_status status = LT_OK;
  pthread_mutex_lock(&t->lock);
  if (t->queued_count >= LT_PLUGIN_QUEUE_MAX) {
    status = lt_fail(err, LT_E_LIMIT, "plugin \"%s\" has %d calls waiting already: make fewer at once, or try later",
                     call->plugin->definition.id, LT_PLUGIN_QUEUE_MAX);
  } else {
    lt_plugin_call_ref(call);
    call->next = NULL;
    *t->last = call;
    t->last = &call->next;
    t->queued_count++;
    pthread_cond_signal(&t->changed);
  }
  pthread_mutex_unlock(&t->lock);
  return status;
}

bool lt_plugin_thread_drop(lathe_call *call) {
  lt_plugin_thread *t = &call->plugin->thread;
  pthread_mutex_lock(&t->lock);
  lathe_call **place = &t->queue;
  while (*place != NULL && *place != call) {
    place = &(*place)->next;
  }
  bool found = *place == call;
  if (found) {
    *place = call->next;
    if (call->next == NULL) {
      t->last = place;
    }
    t->queued_count--;
  }
  pthread_mutex_unlock(&t->lock);
  if (found) {
    lt_plugin_call_unref(call);
  }
  return found;
}

bool lt_plugin_thread_busy(lt_plugin *plugin, lt_arena *arena, lt_plugin_thread_activity *ret_activity) {
  lt_plugin_thread *t = &plugin->thread;
  pthread_mutex_lock(&t->lock);
  const lathe_call *call = t->running;
  if (call != NULL) {
    *ret_activity = (lt_plugin_thread_activity){.name = lt_arena_dup(arena, call->name),
                                                .since_ms = t->running_since_ms,
                                                .is_abandoned = atomic_load(&call->is_abandoned)};
  }
  pthread_mutex_unlock(&t->lock);
  return call != NULL;
}

lathe_call *lt_plugin_thread_running(lt_plugin *plugin) {
  lt_plugin_thread *t = &plugin->thread;
  pthread_mutex_lock(&t->lock);
  lathe_call *call = t->running != NULL ? t->running : t->queue;
  pthread_mutex_unlock(&t->lock);
  return call;
}

/* --- Ending ------------------------------------------------------------------------------------------------------- */
static void plugin_thread_on_marker(void *arg) {
  lt_wait_wake(arg, LT_OK);
}

/* Posts run in order: when this one has run, all earlier posts have run. */
static void plugin_thread_run_earlier_posts(lt_loop *loop) LT_YIELDS {
  lt_wait wait;
  lt_wait_init(&wait, loop);
  lt_post marker = {.fn = plugin_thread_on_marker, .arg = &wait};
  lt_loop_post(loop, &marker);
  lt_wait_on(&wait, UINT64_MAX);
}

/* The thread posts under the lock only, so it cannot be inside lt_loop_post afterwards. */
static void plugin_thread_leave_behind(lt_plugin *plugin) LT_YIELDS {
  lt_plugin_thread *t = &plugin->thread;
  pthread_mutex_lock(&t->lock);
  lt_loop *loop = t->loop;
  t->loop = NULL;
  pthread_detach(t->id);
  pthread_mutex_unlock(&t->lock);
  plugin_thread_run_earlier_posts(loop);
}

void lt_plugin_thread_end(lt_plugin *plugin, uint64_t timeout_ms) {
  lt_plugin_thread *t = &plugin->thread;
  if (t->has_started) {
    pthread_mutex_lock(&t->lock);
    t->should_end = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    uint64_t until_ms = lt_clock_monotonic_ms() + timeout_ms;
    for (uint64_t now = lt_clock_monotonic_ms(); !t->has_ended && now < until_ms; now = lt_clock_monotonic_ms()) {
      lt_wait_on(&t->end_wait, until_ms - now);
    }
    if (t->has_ended) {
      pthread_join(t->id, NULL);
    } else {
      plugin_thread_leave_behind(plugin);
    }
  }
  while (plugin->request_count > 0 || plugin->call_count > 0) {
    lt_wait_on(&t->end_wait, UINT64_MAX);
  }
}
