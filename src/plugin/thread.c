/* A plugin's own thread: a queue of calls, run one after another, and what they ask of the loop. */
#include <signal.h>

#include "base/limits.h"
#include "plugin/host_impl.h"

/* --- The thread --------------------------------------------------------------------------------------------------- */
static void on_returned(void *arg) {
  lathe_call *call = arg;
  call->returned = true;
  lt_wait_wake(&call->wait, LT_OK);
  lt_call_unref(call);
}

static void on_ended(void *arg) {
  lt_plugin *plugin = arg;
  plugin->thread.ended = true;
  lt_wait_wake(&plugin->thread.ending_wait, LT_OK);
}

/* Under the lock. */
static lathe_call *take_call(lt_plugin_thread *t) {
  lathe_call *call = t->queue;
  if (call != NULL) {
    t->queue = call->next;
    if (t->queue == NULL) {
      t->last = &t->queue;
    }
    t->queued--;
    t->running = call;
    t->running_since_ms = lt_host_now_ms();
  }
  return call;
}

/* Under the lock: whoever waits is on the loop, if that is still there. */
static void give_back(lt_plugin_thread *t, lathe_call *call) {
  t->running = NULL;
  if (t->loop != NULL) {
    call->returned_post = (lt_post){.fn = on_returned, .arg = call};
    lt_loop_post(t->loop, &call->returned_post);
  } else {
    lt_call_unref(call);
  }
}

static void *run_thread(void *arg) {
  lt_plugin *plugin = arg;
  lt_plugin_thread *t = &plugin->thread;
  pthread_mutex_lock(&t->lock);
  for (;;) {
    lathe_call *call = take_call(t);
    if (call != NULL) {
      pthread_mutex_unlock(&t->lock);
      call->fn(&lt_host_api, call, lt_to_text(call->in), call->arg);
      pthread_mutex_lock(&t->lock);
      give_back(t, call);
    } else if (t->ending || t->loop == NULL) {
      break;
    } else {
      pthread_cond_wait(&t->changed, &t->lock);
    }
  }
  if (t->loop != NULL) {
    t->ended_post = (lt_post){.fn = on_ended, .arg = plugin};
    lt_loop_post(t->loop, &t->ended_post);
  }
  pthread_mutex_unlock(&t->lock);
  lt_plugin_unref(plugin);
  return NULL;
}

/* The process's signals are the loop's business. */
static int start_without_signals(pthread_t *id, void *arg) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int rc = pthread_create(id, NULL, run_thread, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc;
}

lt_status lt_thread_start(lt_plugin *plugin, lt_err *err) {
  lt_plugin_thread *t = &plugin->thread;
  t->loop = plugin->host->options.loop;
  lt_wait_init(&t->ending_wait, t->loop);
  atomic_fetch_add(&plugin->refs, 1);
  if (start_without_signals(&t->id, plugin) != 0) {
    atomic_fetch_sub(&plugin->refs, 1);
    return lt_fail(err, LT_E_LIMIT, "there is no room for another thread");
  }
  t->started = true;
  return LT_OK;
}

lt_status lt_thread_submit(lathe_call *call, lt_err *err) {
  lt_plugin_thread *t = &call->plugin->thread;
  lt_status status = LT_OK;
  pthread_mutex_lock(&t->lock);
  if (t->queued >= LT_PLUGIN_QUEUE_MAX) {
    status = lt_fail(err, LT_E_LIMIT, "plugin \"%s\" has %d calls waiting already: make fewer at once, or try later",
                     call->plugin->is.id, LT_PLUGIN_QUEUE_MAX);
  } else {
    lt_call_ref(call);
    call->next = NULL;
    *t->last = call;
    t->last = &call->next;
    t->queued++;
    pthread_cond_signal(&t->changed);
  }
  pthread_mutex_unlock(&t->lock);
  return status;
}

bool lt_thread_drop(lathe_call *call) {
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
    t->queued--;
  }
  pthread_mutex_unlock(&t->lock);
  if (found) {
    lt_call_unref(call);
  }
  return found;
}

bool lt_thread_busy(lt_plugin *plugin, lt_arena *arena, lt_str *ret_name, uint64_t *ret_since_ms, bool *ret_unwanted) {
  lt_plugin_thread *t = &plugin->thread;
  pthread_mutex_lock(&t->lock);
  const lathe_call *call = t->running;
  if (call != NULL) {
    *ret_name = lt_arena_dup(arena, call->name);
    *ret_since_ms = t->running_since_ms;
    *ret_unwanted = atomic_load(&call->unwanted);
  }
  pthread_mutex_unlock(&t->lock);
  return call != NULL;
}

lathe_call *lt_thread_running(lt_plugin *plugin) {
  lt_plugin_thread *t = &plugin->thread;
  pthread_mutex_lock(&t->lock);
  lathe_call *call = t->running != NULL ? t->running : t->queue;
  pthread_mutex_unlock(&t->lock);
  return call;
}

/* --- Ending ------------------------------------------------------------------------------------------------------- */
static void on_marker(void *arg) {
  lt_wait_wake(arg, LT_OK);
}

/* Posts run in order: when ours has, all that were there before it have. */
static void run_earlier_posts(lt_loop *loop) LT_YIELDS {
  lt_wait wait;
  lt_wait_init(&wait, loop);
  lt_post marker = {.fn = on_marker, .arg = &wait};
  lt_loop_post(loop, &marker);
  lt_wait_on(&wait, UINT64_MAX);
}

/* Who posts does so under the lock: afterwards the thread cannot be inside lt_loop_post any more. */
static void leave_thread(lt_plugin *plugin) LT_YIELDS {
  lt_plugin_thread *t = &plugin->thread;
  pthread_mutex_lock(&t->lock);
  lt_loop *loop = t->loop;
  t->loop = NULL;
  pthread_detach(t->id);
  pthread_mutex_unlock(&t->lock);
  run_earlier_posts(loop);
}

void lt_thread_end(lt_plugin *plugin, uint64_t timeout_ms) {
  lt_plugin_thread *t = &plugin->thread;
  if (t->started) {
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    uint64_t until_ms = lt_host_now_ms() + timeout_ms;
    for (uint64_t now = lt_host_now_ms(); !t->ended && now < until_ms; now = lt_host_now_ms()) {
      lt_wait_on(&t->ending_wait, until_ms - now);
    }
    if (t->ended) {
      pthread_join(t->id, NULL);
    } else {
      leave_thread(plugin);
    }
  }
  while (plugin->asks > 0 || plugin->open > 0) {
    lt_wait_on(&t->ending_wait, UINT64_MAX);
  }
}

/* --- Asking the loop ---------------------------------------------------------------------------------------------- */
/* The last that happens to an ask: its storage may be gone afterwards. */
static void finish_ask(lt_ask *ask) {
  lt_plugin_thread *t = &ask->call->plugin->thread;
  if (ask->waiter != NULL) {
    ask->done = true;
    lt_wait_wake(ask->waiter, LT_OK);
    return;
  }
  pthread_mutex_lock(&t->lock);
  ask->done = true;
  pthread_cond_signal(&t->changed);
  pthread_mutex_unlock(&t->lock);
}

static void begin_borrowing(const lt_ask *ask) {
  if (ask->borrows) {
    ask->call->borrowers++;
    if (!ask->call->hard_timeout) {
      lt_call_pause(ask->call);
    }
  }
}

static void end_borrowing(const lt_ask *ask) {
  if (ask->borrows) {
    if (!ask->call->hard_timeout) {
      lt_call_resume(ask->call);
    }
    ask->call->borrowers--;
    lt_wait_wake(&ask->call->wait, LT_OK); /* who waits looks at the clock again, or may go */
  }
}

static void carry_out(void *arg) LT_YIELDS {
  lt_ask *ask = arg;
  lt_plugin *plugin = ask->call->plugin;
  ask->status = ask->fn(ask->call, ask->arg, &ask->err);
  end_borrowing(ask);
  plugin->asks--;
  if (plugin->closing) {
    lt_wait_wake(&plugin->thread.ending_wait, LT_OK);
  }
  finish_ask(ask);
}

static lt_status may_begin(lt_ask *ask) {
  if (ask->call->plugin->closing) {
    return lt_fail(&ask->err, LT_E_CLOSED, "Lathe is ending");
  }
  if (ask->borrows && ask->call->left) {
    return lt_fail(&ask->err, LT_E_CANCELLED, "nobody waits for this call any more");
  }
  return LT_OK;
}

static void begin_ask(void *arg) LT_YIELDS {
  lt_ask *ask = arg;
  ask->status = may_begin(ask);
  if (ask->status != LT_OK) {
    finish_ask(ask);
    return;
  }
  ask->call->plugin->asks++;
  begin_borrowing(ask);
  if (ask->at_once) {
    carry_out(ask);
    return;
  }
  ask->status = lt_loop_spawn(ask->call->plugin->host->options.loop, carry_out, ask, &ask->err);
  if (ask->status != LT_OK) {
    end_borrowing(ask);
    ask->call->plugin->asks--;
    finish_ask(ask);
  }
}

static void ask_from_thread(lt_ask *ask) {
  lt_plugin_thread *t = &ask->call->plugin->thread;
  /* no LT_YIELDS: it yields only for lt_ask.at_once, whose functions do not */
  ask->post = (lt_post){.fn = begin_ask, .arg = ask};
  pthread_mutex_lock(&t->lock);
  if (t->loop != NULL) {
    lt_loop_post(t->loop, &ask->post);
    while (!ask->done) {
      pthread_cond_wait(&t->changed, &t->lock);
    }
  } else {
    ask->status = lt_fail(&ask->err, LT_E_CLOSED, "Lathe has ended");
  }
  pthread_mutex_unlock(&t->lock);
}

/* What calls others gets a fiber of its own: they, too, need a stack, and may be such plugins themselves. */
static void ask_from_loop(lt_ask *ask) LT_YIELDS {
  lt_wait wait;
  lt_wait_init(&wait, ask->call->plugin->host->options.loop);
  ask->waiter = &wait;
  ask->at_once = ask->at_once || !ask->borrows;
  begin_ask(ask);
  while (!ask->done) {
    lt_wait_on(&wait, UINT64_MAX);
  }
}

int lt_ask_loop(lathe_call *call, lt_ask *ask) {
  ask->call = call;
  if (lt_plugin_on_loop(call->plugin)) {
    ask_from_loop(ask);
  } else {
    ask_from_thread(ask);
  }
  return ask->status == LT_OK ? 0 : lt_call_error(call, lt_str_of(lt_err_msg(&ask->err)));
}
