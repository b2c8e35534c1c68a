/* A watchdog for fuzz targets that run guests: what workers.c does from outside, a timer's signal does here.
 *
 * After REVOKE_AFTER_MS the box's memory is taken away, after that each tick is a nudge, for a guest that loops without
 * touching it. The timer counts what the process computes; SIGALRM is left to libFuzzer, whose own timeout tells when a
 * guest does not end for all that.
 */
#ifndef FUZZ_WATCHDOG_H
#define FUZZ_WATCHDOG_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "sandbox/box.h"

enum { REVOKE_AFTER_MS = 50, NUDGE_EVERY_MS = 10 };

static lt_box *volatile watched;
static volatile sig_atomic_t watch_ticks;
static pthread_t watched_thread;

static void on_watch_tick(int signum) {
  (void)signum;
  lt_box *box = watched;
  if (box == NULL) {
    return;
  }
  if (watch_ticks++ == 0) {
    lt_box_revoke(box);
  } else {
    lt_box_nudge(watched_thread);
  }
}

/* Once, on the thread that runs the guests. A nudge waits until the tick's handler has returned: who jumped out of that
 * would leave its signal blocked. */
static inline void watch_init(void) {
  struct sigaction action = {.sa_handler = on_watch_tick, .sa_flags = SA_ONSTACK | SA_RESTART};
  sigaddset(&action.sa_mask, SIGSEGV);
  if (lt_box_thread_init(NULL) != LT_OK || sigaction(SIGVTALRM, &action, NULL) != 0) {
    abort();
  }
  watched_thread = pthread_self();
}

static inline void watch_timer(long after_ms, long every_ms) {
  setitimer(ITIMER_VIRTUAL,
            &(struct itimerval){.it_value.tv_usec = after_ms * 1000, .it_interval.tv_usec = every_ms * 1000}, NULL);
}

static inline void watch_begin(lt_box *box) {
  watch_ticks = 0;
  watched = box;
  watch_timer(REVOKE_AFTER_MS, NUDGE_EVERY_MS);
}

/* However the guest ended, this thread can take the next fault, and whoever was revoked was so for a reason. */
static inline void watch_end(const lt_box *box) {
  sigset_t blocked;
  watch_timer(0, 0);
  watched = NULL;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  if (sigismember(&blocked, SIGSEGV) || sigismember(&blocked, SIGBUS) || sigismember(&blocked, SIGVTALRM)) {
    abort();
  }
  if (box->frame != NULL || (box->trap == LT_TRAP_REVOKED && watch_ticks == 0)) {
    abort();
  }
}

#endif
