/* Lanes: fibers of a loop that another thread than the loop's own turns.
 *
 * A loop that is shared (lt_lane_share) belongs to whoever holds it. Its own thread lets go of it while it sleeps, and
 * between its turns. A thread that has opened a lane may then hold it, and turns the fibers and posts of that lane, and
 * no others: it carries out one program without waking anybody, and sleeps when there is nothing to do for it.
 *
 * A fiber always runs on the thread of its lane. For some things a fiber goes to the loop's own thread
 * (lt_lane_go_home): starting a process, which would end with the thread that has started it; writing to a descriptor,
 * for which the thread may get a signal; and a job of the store, because other jobs wait for it, and the lane may stand
 * still.
 * Timers and work for the pool start on any lane.
 *
 * docs/internals/lanes.md.
 */
#ifndef LT_IO_LANE_H
#define LT_IO_LANE_H

#include <semaphore.h>
#include <stdatomic.h>

#include "io/loop.h"

/* In the frame of the thread that turns it, or in the loop. The members are private to io/. */
typedef struct lt_lane {
  lt_loop *loop;
  _Atomic(lt_post *) posts;              /* newest first */
  atomic_bool asleep;                    /* its thread sleeps, or is about to: who has something for it wakes it */
  atomic_bool has_news;                  /* something has come since its last turn began */
  atomic_bool has_moved;                 /* lt_lane_move_home: what is queued on it goes to the loop's own thread */
  void (*on_left)(struct lt_lane *lane); /* of such a lane, when its last fiber has ended */
  uint64_t due_ns;                       /* when its thread wants to look at something else; UINT64_MAX: never */
  sem_t wake;                            /* of a lane whose thread is not the loop's */
  void (*on_wake)(struct lt_lane *lane); /* of a lane without a thread */
  struct lt_loop_task *ready_head, *ready_tail;
  unsigned fibers;             /* begun on it, and not ended */
  void (*step_out)(void *arg); /* what the fiber that has just yielded wants done; NULL: nothing */
  void *step_out_arg;
  struct lt_loop_task *stepping; /* that fiber */
} lt_lane;

/* Lets other threads open lanes from now on. On the loop's thread, which holds the loop until lt_loop_run sleeps, and
 * again when lt_loop_run has returned. */
void lt_lane_share(lt_loop *loop);

/* --- A thread and its lane ---------------------------------------------------------------------------------------- */
/* Opens a lane, and holds the loop. The thread holds no loop, and is not on a fiber. */
void lt_lane_open(lt_lane *lane, lt_loop *loop);
/* Lets go of the loop. No fiber of the lane is left, and nobody posts to it. */
void lt_lane_close(lt_lane *lane);
/* The same, without holding the loop: for a lane that threads enter one after the other. */
void lt_lane_init(lt_lane *lane, lt_loop *loop);
void lt_lane_release(lt_lane *lane);
/* Such a lane with nobody who sleeps for it: `on_wake` is called when something has come, also while it is turned; by
 * any thread, and perhaps while that holds the loop. */
void lt_lane_init_without_thread(lt_lane *lane, lt_loop *loop, void (*on_wake)(lt_lane *lane));

/* Lets go of the loop, and holds it again: in between the thread touches nothing that belongs to the loop. */
void lt_lane_leave(lt_lane *lane);
void lt_lane_enter(lt_lane *lane);

/* Starts a fiber on the lane. The thread holds the loop. Errors: as lt_loop_spawn. */
lt_status lt_lane_spawn(lt_lane *lane, lt_fiber_fn fn, void *arg, lt_err *err);
/* Runs what is ready on the lane now. False: nothing was. */
bool lt_lane_turn(lt_lane *lane);
/* Whether something is ready on the lane. The thread holds the loop. */
bool lt_lane_has_work(const lt_lane *lane);
/* Sleeps until something is ready on the lane, or lt_lane_wake, or it is due; lets go of the loop meanwhile. */
void lt_lane_sleep(lt_lane *lane);
/* In so many milliseconds (-1: never) the lane is due: a program on it yields, and the sleep ends, also when a signal
 * was handled. */
void lt_lane_set_due(lt_lane *lane, int ms);
bool lt_lane_is_due(const lt_lane *lane);
/* The loop's own thread goes on with what there is on the lane, which is at home from now on (lt_lane_is_home). Owns:
 * the lane, until on_left(lane). By who holds the loop, outside of lt_lane_turn. */
void lt_lane_move_home(lt_lane *lane, void (*on_left)(lt_lane *lane));
/* As lt_lane_leave, when the lane has moved. */
void lt_lane_let_go(lt_loop *loop);

/* --- Others and a lane -------------------------------------------------------------------------------------------- */
/* As lt_loop_post, to the thread of the lane. */
void lt_lane_post(lt_lane *lane, lt_post *post);
/* Says that there is something to look at: ends the lane's sleep. By who holds the loop. */
void lt_lane_wake(lt_lane *lane);

/* The lane that is turned now, by who holds the loop. The loop's own thread has one, too. */
lt_lane *lt_lane_current(lt_loop *loop);
/* Whether it is that of the loop's own thread, or has moved there. Any thread. */
bool lt_lane_is_home(const lt_lane *lane);
/* Whether a thread that is not the loop's waits with what is on it. */
bool lt_lane_has_thread(const lt_lane *lane);

/* --- A fiber and its lane ----------------------------------------------------------------------------------------- */
/* Has the lane's thread run `fn(arg)`, which does not touch the loop, on its own stack, while others may hold the loop.
 * The fiber is on its lane. */
void lt_lane_step_out(lt_lane *lane, void (*fn)(void *arg), void *arg) LT_YIELDS;
/* Whether something has come for the lane, or it is due: lt_lane_step_out should return soon. On the lane's thread. */
bool lt_lane_has_news(const lt_lane *lane);
/* Carries out the posts that have come, inside this call. */
void lt_lane_run_posts(lt_lane *lane);
/* The fiber goes on on the loop's own thread. False: it is there. */
bool lt_lane_go_home(lt_loop *loop) LT_YIELDS;
/* The fiber goes on on its own lane. `has_gone`: what lt_lane_go_home has returned; false: it stays where it is. */
void lt_lane_go_back(lt_loop *loop, bool has_gone) LT_YIELDS;

#endif
