/* The loop's structs. Private to loop.c, loop_step_out.c, lane.c, loop_task.c, wait.c, timer.c and loop_handles.c,
 * which share one turn of the loop; other owners of libuv handles include loop_handles.h.
 *
 * A turn of the loop:
 *
 *   timers -> [before_poll: posts, ready fibers] -> poll -> callbacks -> [after_poll: posts, ready fibers] -> closings
 *
 * Callbacks only record events and make fibers ready. Fibers run in the two bracketed phases, at most
 * LT_LOOP_TURN_RESUMES of them before the next poll. While fibers or posts remain, an idle handle makes the poll return
 * at once; otherwise the loop sleeps in the poll.
 *
 * A loop that is shared (lane.h) does not sleep in libuv's poll, but in one of its own before the next turn, without
 * the lock. There is no idle handle then, and no poll that waits.
 *
 * Keeping the loop alive: fibers and holds keep a reference on the `wake` handle, everything else keeps its own.
 */
#ifndef LT_IO_LOOP_IMPL_H
#define LT_IO_LOOP_IMPL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "io/lane.h"
#include "io/loop_handles.h"

/* A fiber on the loop. Its stack and its timer are used again by later fibers (LT_LOOP_STACKS_KEEP). */
typedef struct lt_loop_task {
  lt_fiber fiber; /* first: lt_wait.fiber points here */
  lt_loop *loop;
  lt_lane *lane, *own_lane;  /* where it is queued; where it has begun */
  struct lt_loop_task *next; /* in the ready queue, or among the spares */
  bool is_queued;            /* in the ready queue */
  lt_wait *wait;             /* parked on */
  uint64_t timed;            /* the token of the wait that `timer` is for */
  uv_timer_t timer;
  void *stack;
  size_t stack_size;
} lt_loop_task;

typedef struct lt_signal lt_signal;

struct lt_loop {
  uv_loop_t uv;
  uv_async_t wake;
  uv_idle_t busy;
  uv_prepare_t before_poll;
  uv_check_t after_poll;

  /* Who holds the loop. A thread takes `gate` to wait for `turn`, so that a busy thread cannot take it again first. */
  pthread_mutex_t gate, turn;
  atomic_uint waiting; /* threads at the gate: where there are none, `turn` is taken without it */
  pthread_t holder;
  lt_lane *turned;          /* by the holder */
  lt_lane home;             /* of the loop's own thread; asleep: in the poll, or about to be */
  bool is_shared;           /* there may be other lanes */
  bool is_time_old;         /* libuv's idea of now is from before a lane has taken the loop: lt_loop_now_ms */
  uint64_t sleeps_until_ms; /* while `home` is asleep; UINT64_MAX: without an end */
  uint64_t look_at_ms; /* a lane had a timer then; 0: none. One program after another starts and stops such timers */

  pthread_t own_thread;        /* that has made the loop, and runs it */
  void (*step_out)(void *arg); /* what it runs next without holding the loop; NULL: nothing */
  void *step_out_arg;
  bool runs_steps;           /* lt_loop_run turns it, and would run a step */
  atomic_bool is_out;        /* it does so now */
  atomic_bool is_stood_in;   /* another thread turns the loop meanwhile */
  atomic_bool ends_stand_in; /* that thread, where there is one, ends */
  bool has_stand_in;
  pthread_t stand_in;
  sem_t stand_in_wake;
  atomic_bool is_called_in;    /* to turn the loop */
  atomic_bool is_watched;      /* what lt_loop_step_out_and_wait was given runs ... */
  _Atomic uint64_t watched_ns; /* ... or ran last, since then */
  atomic_bool watch_asleep;    /* there was nothing to be watched for LT_LOOP_WATCH_MS */

  lt_loop_task *spares;
  unsigned spare_count;
  unsigned spare_least; /* fewest spares since the last trim: this many were not needed */
  uv_timer_t trim;      /* runs while there are more than LT_LOOP_STACKS_KEEP spares */
  unsigned fibers;      /* not ended */
  unsigned holds;
  lt_timer *spare_timers;
  unsigned spare_timer_count;
  size_t objects; /* timers and processes not yet closed, for lt_loop_free's check */
  uint64_t waits; /* numbers waits */
  lt_signal *signals;

  void (*on_sleep)(void *arg, bool is_awake); /* NULL: nobody is told */
  void *on_sleep_arg;

  bool may_spin;          /* a poster can run on another core */
  _Atomic int posted_cpu; /* where the last poster to `home` was */
  unsigned spins_left;    /* failed spins before the loop stops spinning */
  uint64_t slept_ns;      /* when the last sleep began */
};

/* Puts a parked or new fiber into the ready queue of its lane, unless it is there. */
void lt_loop_ready(lt_loop *loop, lt_loop_task *task);
/* A fiber that is ready on this lane. Errors: as lt_loop_spawn. */
lt_status lt_loop_spawn_on(lt_lane *lane, lt_fiber_fn fn, void *arg, lt_err *err);
/* Run what has come to a lane; the latter one fiber at a time. False: there was none. */
void lt_loop_run_posts(lt_lane *lane);
bool lt_loop_run_ready(lt_lane *lane);
bool lt_loop_has_work(const lt_lane *lane);
/* Queues at home what is queued on a lane that has moved there. */
void lt_loop_move_work_home(lt_lane *lane);
/* Waits until nobody holds the loop, and holds it, to turn that lane. */
void lt_loop_hold_for(lt_lane *lane);
void lt_loop_let_go(lt_loop *loop);
/* One turn, by who holds a loop that is not shared. False: nothing keeps it. */
bool lt_loop_turn(lt_loop *loop);
/* The loop's own thread lets go of the loop for lt_loop_step_out. False: there is nothing to run. */
bool lt_loop_run_step_out(lt_loop *loop);
void lt_loop_end_stand_in(lt_loop *loop);
/* Closes the timers that are kept for later ones. */
void lt_loop_close_spare_timers(lt_loop *loop);
/* Closes what lt_loop_on_signal opened. */
void lt_loop_close_signals(lt_loop *loop);

/* The running fiber's task. The caller must be on a fiber of a loop. */
lt_loop_task *lt_loop_task_current(void);
/* A task ready to be queued, from the spares or new; NULL without memory (err set). */
lt_loop_task *lt_loop_task_take(lt_loop *loop, lt_fiber_fn fn, void *arg, lt_err *err);
/* Returns a task to the spares. Its fiber has ended. */
void lt_loop_task_give(lt_loop_task *task);
/* Opens the timer that closes unneeded spares. */
void lt_loop_task_open_spares(lt_loop *loop);
/* Closes the spares and their timer. */
void lt_loop_task_close_spares(lt_loop *loop);

#endif
