/* A watchdog for fuzz targets that run guests, as workers.c has one: a thread that takes the memory of a guest away
 * when it has run for too long, and then nudges it until it ends. Were it a timer's signal, libFuzzer would lose its
 * own timeout, which tells of a guest that does not end for all that, and ThreadSanitizer would keep the signal back.
 */
#ifndef FUZZ_WATCHDOG_H
#define FUZZ_WATCHDOG_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "sandbox/box.h"

enum { WATCH_TICK_MS = 10, WATCH_REVOKE_TICKS = 5 };

static struct {
  pthread_mutex_t lock;
  pthread_t thread; /* that runs the guests */
  lt_box *box;      /* NULL: none runs */
  unsigned ticks;   /* since it began */
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void watch_tick(void) {
  pthread_mutex_lock(&watch.lock);
  if (watch.box != NULL && ++watch.ticks >= WATCH_REVOKE_TICKS) {
    lt_box_revoke(watch.box);
    if (watch.ticks > WATCH_REVOKE_TICKS) {
      lt_box_nudge(watch.thread);
    }
  }
  pthread_mutex_unlock(&watch.lock);
}

static void *watch_for_ever(void *arg) {
  for (;;) {
    usleep(WATCH_TICK_MS * 1000);
    watch_tick();
  }
  return arg;
}

/* Once, on the thread that runs the guests. */
static inline void watch_init(void) {
  pthread_t thread;
  watch.thread = pthread_self();
  if (lt_box_thread_init(NULL) != LT_OK || pthread_create(&thread, NULL, watch_for_ever, NULL) != 0 ||
      pthread_detach(thread) != 0) {
    abort();
  }
}

static inline void watch_begin(lt_box *box) {
  pthread_mutex_lock(&watch.lock);
  watch.box = box;
  watch.ticks = 0;
  pthread_mutex_unlock(&watch.lock);
}

/* Whether the last guest was told to end. */
static inline bool watch_revoked(void) {
  return watch.ticks >= WATCH_REVOKE_TICKS;
}

/* However the guest ended, this thread can take the next fault, and whoever was revoked was so for a reason. */
static inline void watch_end(const lt_box *box) {
  sigset_t blocked;
  pthread_mutex_lock(&watch.lock);
  watch.box = NULL;
  pthread_mutex_unlock(&watch.lock);
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  if (sigismember(&blocked, SIGSEGV) || sigismember(&blocked, SIGBUS)) {
    abort();
  }
  if (box->frame != NULL || (box->trap == LT_TRAP_REVOKED && !watch_revoked())) {
    abort();
  }
}

#endif
