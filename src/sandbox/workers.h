/* Workers: threads that run programs, one step at a time, and the watchdog over them.
 *
 * A step runs until the program finishes, until it waits (the task is parked, and submitted again with the answer), or
 * until its time slice ends while other tasks are queued. A step that never polls does not delay the others: another
 * worker takes over the queue. A task whose deadline has passed, or that was stopped, learns it when it polls. When it
 * does not poll, the watchdog revokes its box's memory, and sends a signal if the guest runs on without accessing
 * memory.
 */
#ifndef LT_SANDBOX_WORKERS_H
#define LT_SANDBOX_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/box.h"

typedef enum lt_workers_step {
  LT_STEP_AGAIN, /* the slice is used up: back into the queue */
  LT_STEP_PARK,  /* waits; `after` may hand the task to the thread that will submit it again */
  LT_STEP_DONE,  /* finished */
} lt_workers_step;

typedef enum lt_stop {
  LT_STOP_NOT,
  LT_STOP_TIMEOUT,
  LT_STOP_CANCEL,
} lt_stop;

/* One program as the workers see it; embedded in the caller's own structure. */
typedef struct lt_workers_task {
  struct lt_workers_task *next;
  /* Runs a step on a worker's thread. */
  lt_workers_step (*step)(struct lt_workers_task *task);
  /* After PARK or DONE: the worker's last access to the task, on the worker's thread. As soon as this function has
   * handed the task on, the task may be freed or run on another thread. */
  void (*after)(struct lt_workers_task *task, lt_workers_step step);
  _Atomic(lt_box *) box;        /* the box that the watchdog may revoke during a step; NULL: none. Set it in a step, or
                                   when there is none */
  _Atomic uint64_t deadline_ns; /* lt_workers_now; 0: none. May be moved while parked. */
  _Atomic int stop;             /* lt_stop */
  _Atomic uint64_t slice_ns;    /* when the running step should give way */
  bool is_helped;               /* the running step is that of a thread that helps */
  bool is_brief;                /* the running step is one of lt_workers_step_own: it gives way even if nobody waits */
} lt_workers_task;

typedef struct lt_workers lt_workers;

/* Starts a worker and the watchdog. Up to `count` workers (0: one per core) are there when tasks are queued for them.
 * Errors: LT_E_NOMEM. */
lt_status lt_workers_new(unsigned count, lt_workers **ret_workers, lt_err *err);
/* Waits for the threads, for what they do later, and for a step of lt_workers_step_own on another thread; no task may
 * be queued or running. NULL is allowed. */
void lt_workers_free(lt_workers *workers);

/* Queues a task for its next step. Any thread. */
void lt_workers_submit(lt_workers *workers, lt_workers_task *task);
/* The same for a parked task that has what it waited for. Such tasks come before the others, except for one in
 * LT_WORKER_RESUMED_MAX: programs that have begun end, and make room, before others begin. */
void lt_workers_resume(lt_workers *workers, lt_workers_task *task);
/* Says whether the thread that queues most tasks is awake. While it is, it takes a processor: one worker fewer is
 * woken, but at least one that has no long step. Another is woken when it falls asleep, or when no task was taken
 * between two ticks. Never called: it counts as asleep. One call at a time. */
void lt_workers_note_queuer(lt_workers *workers, bool is_awake);

/* A thread that is not a worker needs a signal stack for a step, and SIGSEGV and SIGBUS not blocked. While it has them,
 * it is on a visit; to begin and to end one takes system calls. Zeroed, it has not begun. The members are private to
 * workers.c. */
typedef struct lt_workers_visit {
  struct lt_worker_guest *guest;
  lt_box_thread_loan loan;
} lt_workers_visit;
/* Gives the thread its signal stack and mask back as they were. By that thread, unless it has not begun. */
void lt_workers_end_visit(lt_workers_visit *visit);

/* Runs a step on the thread that calls this, and begins its visit unless it has begun; there is none inside the step of
 * another task. The step has no slice of time, or what is left of it inside the step of another task; `after` is not
 * called. Errors: LT_E_UNSUPPORTED: the thread is in a handler of a signal; LT_E_NOMEM. Then nothing was run. */
lt_status lt_workers_run_here(lt_workers *workers, lt_workers_task *task, lt_workers_visit *visit,
                              lt_workers_step *ret_step, lt_err *err);

/* Tells whom to call when a step of lt_workers_step_own does not poll for LT_WORKER_LATE_MS; then again at each tick,
 * on the watchdog's thread. Before the first such step. */
void lt_workers_on_late(lt_workers *workers, void (*on_late)(void *arg), void *arg);
/* Runs a step as a worker does, `after` included, on the one thread that calls this: a thread of our own, which has a
 * signal stack from then on (lt_box_thread_init). The step is brief: after LT_WORKER_BRIEF_US the task is queued for
 * the workers. So it is at once where the thread gets no signal stack. */
void lt_workers_step_own(lt_workers *workers, lt_workers_task *task);

/* A thread is about to help, and may be wanted back from now on. */
void lt_workers_begin_help(lt_workers *workers);
/* It runs the next queued step. False: there is none, or the thread cannot run one. A thread that has helped is
 * expected to come again: until it does, one queued task wakes no worker, or only after LT_WATCHDOG_TICK_MS. */
bool lt_workers_help(lt_workers *workers);
/* Has all threads that help come back as soon as their steps poll. Any thread. */
void lt_workers_end_help(lt_workers *workers);

/* Work that nobody waits for: a worker does it when it has no step to run. `fn` owns the chore. */
typedef struct lt_workers_chore {
  struct lt_workers_chore *next;
  void (*fn)(struct lt_workers_chore *chore);
} lt_workers_chore;
/* Any thread. False: LT_WORKER_CHORES_MAX wait already, so do it yourself. */
bool lt_workers_do_later(lt_workers *workers, lt_workers_chore *chore);
/* Does one of the chores that wait, if there is one, for a caller that needs it done now. Any thread. */
void lt_workers_do_one_now(lt_workers *workers);

/* Stops a task: at its next poll, or by force LT_WATCHDOG_GRACE_MS later. A parked task must also be submitted. The
 * first reason counts. Any thread; the caller keeps the task alive. */
void lt_workers_task_stop(lt_workers_task *task, lt_stop why);

/* From inside a step: whether to end now; also looks at the deadline. */
bool lt_workers_task_should_stop(lt_workers_task *task);
/* From inside a step: whether the slice has ended and other tasks are queued, or a thread that helps should come back.
 * `is_waited_for`: others wait who are not queued. */
bool lt_workers_task_should_yield(const lt_workers *workers, const lt_workers_task *task, bool is_waited_for);

/* Nanoseconds, CLOCK_MONOTONIC. */
uint64_t lt_workers_now(void);

#endif
