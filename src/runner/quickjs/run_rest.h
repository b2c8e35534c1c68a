/* Which programs rest: those that have waited for LT_BOX_REST_MS leave their boxes (run_box.h), and so do those that
 * wait while others need a box. */
#ifndef LT_RUNNER_QUICKJS_RUN_REST_H
#define LT_RUNNER_QUICKJS_RUN_REST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/fiber.h"
#include "io/loop.h"

typedef struct lt_run lt_run;

/* The programs of a runner that may be in a box. */
typedef struct lt_run_rests {
  lt_loop *loop;
  void (*on_tick)(void *arg); /* called after each look at the programs */
  void *arg;
  lt_timer *timer;
  bool is_ticking; /* the loop's */
  lt_post hurry;
  atomic_bool is_hurrying; /* it has been posted */
  pthread_mutex_t lock;    /* for the list; a run's own lock comes after it */
  lt_run *first;
  unsigned beginning; /* programs that will be listed when they have a box */
} lt_run_rests;

/* A run among them. */
typedef struct lt_run_rest_link {
  _Atomic(lt_run_rests *) rests; /* NULL: its program never rests. Of a program that was turned by a thread of the host
                                  * it is set at any time, while a worker has the program, too: last of these members */
  lt_run *prev;
  lt_run *next;
  bool is_listed;
  bool is_beginning;
  lt_fiber *fiber; /* the run's own on the loop */
} lt_run_rest_link;

lt_status lt_run_rests_init(lt_run_rests *rests, lt_loop *loop, void (*on_tick)(void *arg), void *arg, lt_err *err);
/* Every run must have been removed. */
void lt_run_rests_release(lt_run_rests *rests);

/* On the loop: a program begins, and ends. */
void lt_run_rests_add(lt_run *run, lt_run_rests *rests);
void lt_run_rests_remove(lt_run *run);
/* On a worker: it has its first box. */
void lt_run_rests_list(lt_run *run);
/* On the loop: a program that was parked, and may have been at rest, continues. */
void lt_run_rests_wake(lt_run *run);
/* Any thread: somebody waits for a box. `rests` outlives all programs and workers. */
void lt_run_rests_hurry(lt_run_rests *rests);

#endif
