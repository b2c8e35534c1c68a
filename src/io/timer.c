/* Timers and signals: things that happen to objects, not to fibers. */
#include "base/mem.h"
#include "io/loop_impl.h"

struct lt_timer {
  uv_timer_t uv;
  lt_loop *loop;
  void (*fn)(void *arg);
  void *arg;
  lt_timer *next; /* among the spares */
};

/* NULL: no memory. */
static lt_timer *timer_make(lt_loop *loop) {
  lt_timer *timer = lt_mem_zalloc(1, sizeof *timer);
  if (timer != NULL) {
    timer->loop = loop;
    uv_timer_init(&loop->uv, &timer->uv);
    timer->uv.data = timer;
  }
  return timer;
}

static lt_timer *timer_take_spare(lt_loop *loop) {
  lt_timer *timer = loop->spare_timers;
  if (timer != NULL) {
    loop->spare_timers = timer->next;
    loop->spare_timer_count--;
  }
  return timer;
}

lt_status lt_timer_new(lt_loop *loop, void (*fn)(void *arg), void *arg, lt_timer **ret_timer, lt_err *err) {
  lt_timer *timer = timer_take_spare(loop);
  timer = timer != NULL ? timer : timer_make(loop);
  if (timer == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a timer");
  }
  timer->fn = fn;
  timer->arg = arg;
  loop->objects++;
  *ret_timer = timer;
  return LT_OK;
}

lt_status lt_timer_new_background(lt_loop *loop, void (*fn)(void *arg), void *arg, lt_timer **ret_timer, lt_err *err) {
  LT_TRY(lt_timer_new(loop, fn, arg, ret_timer, err));
  uv_unref((uv_handle_t *)&(*ret_timer)->uv);
  return LT_OK;
}

static void timer_on_timer(uv_timer_t *handle) {
  lt_timer *timer = handle->data;
  timer->fn(timer->arg);
}

void lt_timer_start(lt_timer *timer, uint64_t ms) {
  uv_update_time(&timer->loop->uv);
  uv_timer_start(&timer->uv, timer_on_timer, ms, 0);
}

void lt_timer_stop(lt_timer *timer) {
  uv_timer_stop(&timer->uv);
}

static void timer_on_timer_closed(uv_handle_t *handle) {
  lt_mem_free(handle->data);
}

static void timer_close(lt_timer *timer) {
  uv_close((uv_handle_t *)&timer->uv, timer_on_timer_closed);
}

/* A handle is closed in another turn of the loop, for which its thread would have to wake up. */
void lt_timer_free(lt_timer *timer) {
  if (timer == NULL) {
    return;
  }
  lt_loop *loop = timer->loop;
  loop->objects--;
  if (loop->spare_timer_count >= LT_LOOP_TIMERS_KEEP) {
    timer_close(timer);
    return;
  }
  uv_timer_stop(&timer->uv);
  uv_ref((uv_handle_t *)&timer->uv); /* again, if it was for the background */
  timer->next = loop->spare_timers;
  loop->spare_timers = timer;
  loop->spare_timer_count++;
}

void lt_loop_close_spare_timers(lt_loop *loop) {
  for (lt_timer *timer; (timer = timer_take_spare(loop)) != NULL;) {
    timer_close(timer);
  }
}

/* --- Signals ------------------------------------------------------------------------------------------------------ */

struct lt_signal {
  uv_signal_t uv;
  lt_signal *next;
  int signum;
  void (*fn)(void *arg, int signum);
  void *arg;
};

static void timer_on_signal(uv_signal_t *handle, int signum) {
  lt_signal *sig = handle->data;
  sig->fn(sig->arg, signum);
}

static void timer_on_signal_closed(uv_handle_t *handle) {
  lt_mem_free(handle->data);
}

lt_status lt_loop_on_signal(lt_loop *loop, int signum, void (*fn)(void *arg, int signum), void *arg, lt_err *err) {
  for (lt_signal *s = loop->signals; s != NULL; s = s->next) {
    if (s->signum == signum) {
      return lt_fail(err, LT_E_INVALID, "signal %d has a handler already", signum);
    }
  }
  lt_signal *sig = lt_mem_zalloc(1, sizeof *sig);
  if (sig == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a signal's handler");
  }
  sig->signum = signum;
  sig->fn = fn;
  sig->arg = arg;
  uv_signal_init(&loop->uv, &sig->uv);
  sig->uv.data = sig;
  int rc = uv_signal_start(&sig->uv, timer_on_signal, signum);
  if (rc != 0) {
    uv_close((uv_handle_t *)&sig->uv, timer_on_signal_closed);
    return lt_fail(err, lt_loop_status(rc), "cannot handle signal %d: %s", signum, uv_strerror(rc));
  }
  uv_unref((uv_handle_t *)&sig->uv);
  sig->next = loop->signals;
  loop->signals = sig;
  return LT_OK;
}

void lt_loop_close_signals(lt_loop *loop) {
  while (loop->signals != NULL) {
    lt_signal *sig = loop->signals;
    loop->signals = sig->next;
    uv_close((uv_handle_t *)&sig->uv, timer_on_signal_closed);
  }
}
