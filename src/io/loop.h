/* The event loop: one thread, libuv, and fibers that wait on it.
 *
 * Callbacks live in io/ and nowhere else. Code above runs on fibers started with lt_loop_spawn and calls functions
 * marked LT_YIELDS, which look blocking: they suspend the fiber while the loop runs on. Everything here must be called
 * on the loop's thread, or by another one that holds the loop (lane.h, lt_loop_stand_in), except where "any thread" is
 * said.
 */
#ifndef LT_IO_LOOP_H
#define LT_IO_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/fiber.h"
#include "base/limits.h"

typedef struct lt_loop lt_loop;

/* Opens a loop for this thread. Blocks SIGPIPE for the thread and those that it starts: a reader that is gone is an
 * error of the write. */
lt_status lt_loop_new(lt_loop **ret_loop, lt_err *err);
/* Closes the loop. Every fiber must have ended and every handle must be closed (LT_CHECK). NULL is allowed. */
void lt_loop_free(lt_loop *loop);

/* Turns the loop until no fiber, running process, started timer or lt_loop_hold keeps it. A fiber whose wait is never
 * woken keeps the loop running for ever. */
void lt_loop_run(lt_loop *loop);

/* Starts a fiber, on LT_LOOP_STACK_BYTES of stack; it first runs from the loop, not from inside this call.
 * Errors: LT_E_LIMIT (LT_LOOP_FIBERS_MAX), LT_E_NOMEM. */
lt_status lt_loop_spawn(lt_loop *loop, lt_fiber_fn fn, void *arg, lt_err *err);

/* Milliseconds on a clock that only goes forward; cheap (the loop's own, updated each turn). */
uint64_t lt_loop_now_ms(lt_loop *loop);

/* Hands `fn(arg)` to the loop's thread. The one function here that any thread may call; never fails, never blocks (the
 * caller owns the node, which must stay alive until fn runs; fn may reuse or free it). Posts of one thread run in
 * order. `fn` must not yield. A thread that posts must be joined before lt_loop_free: it may still be inside this call
 * after fn has run. */
typedef struct lt_post {
  struct lt_post *next;
  void (*fn)(void *arg);
  void *arg;
} lt_post;
void lt_loop_post(lt_loop *loop, lt_post *post);

/* While held (counted), lt_loop_run does not return: something outside (a worker) will post. */
void lt_loop_hold(lt_loop *loop);
void lt_loop_unhold(lt_loop *loop);

/* --- Work of the loop's own thread that may take long ---------------------------------------------------------------
 * Has the loop's own thread run `fn(arg)` before it sleeps next, after what is ready and posted now. `fn` does not
 * touch the loop, which lt_loop_stand_in may give to another thread meanwhile. False: not now, as another `fn` waits or
 * runs, or the caller is on another thread, or lt_loop_run does not turn a loop that is not shared (lane.h). Any
 * thread. docs/internals/workers.md. */
bool lt_loop_step_out(lt_loop *loop, void (*fn)(void *arg), void *arg);
/* `fn` takes long: another thread turns the loop until it returns, if there can be one. By one thread at a time, while
 * `fn` runs. */
void lt_loop_stand_in(lt_loop *loop);
/* The same, for work that the fiber waits for; LT_YIELDS until it is done. The loop watches it by itself: it needs no
 * lt_loop_stand_in. False: not now, and `fn` was not called. */
bool lt_loop_step_out_and_wait(lt_loop *loop, void (*fn)(void *arg), void *arg) LT_YIELDS;
/* Whether nothing waits for the loop (a ready fiber, a post, an event of a file) and few things are going on on it. */
bool lt_loop_is_quiet(lt_loop *loop);
/* Has `fn` called with false before the thread that turns the loop sleeps, and with true when it goes on. That thread
 * holds the loop; it may be the one that stands in. One `fn` for a loop; NULL: no more. */
void lt_loop_on_sleep(lt_loop *loop, void (*fn)(void *arg, bool is_awake), void *arg);

/* --- Waiting --------------------------------------------------------------------------------------------------------
 * An lt_wait is in the waiter's frame or object. One fiber waits on it at a time. lt_wait_wake may come before the wait
 * (it is remembered) and is harmless after it. */
typedef struct lt_wait {
  lt_loop *loop;
  lt_fiber *fiber; /* parked here, or NULL */
  uint64_t token;  /* number of the wait in progress: a timer of an earlier one is stale and dropped */
  bool signalled;
  lt_status status; /* the status of the wake */
} lt_wait;

void lt_wait_init(lt_wait *wait, lt_loop *loop);
/* Waits until woken, and returns the wake's status, or LT_E_TIMEOUT after `timeout_ms` (UINT64_MAX: never; 0: does not
 * yield). Clears the signal, so that the wait can be used again. */
lt_status lt_wait_on(lt_wait *wait, uint64_t timeout_ms) LT_YIELDS;
/* Wakes the waiter, but not inside this call. Without a waiter, the next lt_wait_on returns at once. Of several wakes
 * before the waiter runs, the first failure counts, else the success. */
void lt_wait_wake(lt_wait *wait, lt_status status);

/* --- Cancelling -----------------------------------------------------------------------------------------------------
 * A cancel is fired once, with a reason; everything that waits under it is woken with that reason. */
typedef struct lt_cancel_node {
  struct lt_cancel_node *prev, *next;
  lt_wait *wait; /* a node has a wait, a child or a function */
  struct lt_cancel *child;
  void (*fn)(void *arg);
  void *arg;
} lt_cancel_node;
typedef struct lt_cancel {
  lt_status why; /* LT_OK until fired, then LT_E_CANCELLED or LT_E_TIMEOUT */
  lt_cancel_node *head;
} lt_cancel;
void lt_cancel_init(lt_cancel *cancel);
/* Wakes every wait that is registered now, and makes later registrations wake at once. Later calls do nothing. */
void lt_cancel_fire(lt_cancel *cancel, lt_status why);
/* Registers `wait`: lt_wait_on returns the reason when the cancel fires. Remove the node before its frame goes away.
 * `cancel` may be NULL: then nothing is registered, and removing the node is still allowed. */
void lt_cancel_add(lt_cancel *cancel, lt_cancel_node *node, lt_wait *wait);
void lt_cancel_remove(lt_cancel *cancel, lt_cancel_node *node);
/* Registers `child`: it is fired with the same reason when `cancel` fires. */
void lt_cancel_follow(lt_cancel *cancel, lt_cancel_node *node, lt_cancel *child);

/* Registers a function, which is called in lt_cancel_fire and does not yield. */
void lt_cancel_call(lt_cancel *cancel, lt_cancel_node *node, void (*fn)(void *arg), void *arg);

/* Runs `fn(arg)` on a thread of libuv's pool and LT_YIELDS until it is done: for work that would delay the loop for
 * more than about a millisecond (parsing megabytes, opening a library). `fn` must not use the loop. */
lt_status lt_loop_offload(lt_loop *loop, void (*fn)(void *arg), void *arg, lt_err *err) LT_YIELDS;

/* Suspends the fiber for `ms`. 0: only until the other ready fibers have run. LT_YIELDS. */
void lt_loop_sleep(lt_loop *loop, uint64_t ms) LT_YIELDS;

/* --- Timers for objects that are not fibers (deadlines) --------------------------------------------------------------
 * `fn` runs on the loop, once per start, must not yield; it may start or free its timer. */
typedef struct lt_timer lt_timer;
lt_status lt_timer_new(lt_loop *loop, void (*fn)(void *arg), void *arg, lt_timer **ret_timer, lt_err *err);
/* The same for housekeeping: a timer that has been started does not keep lt_loop_run from returning. */
lt_status lt_timer_new_background(lt_loop *loop, void (*fn)(void *arg), void *arg, lt_timer **ret_timer, lt_err *err);
void lt_timer_start(lt_timer *timer, uint64_t ms);
void lt_timer_stop(lt_timer *timer);
void lt_timer_free(lt_timer *timer); /* NULL is allowed; fn is not called afterwards */

/* --- Signals ------------------------------------------------------------------------------------------------------ */
/* Calls `fn(arg, signum)` on the loop when the process gets `signum`; does not keep the loop alive. At most once per
 * signum per loop. */
lt_status lt_loop_on_signal(lt_loop *loop, int signum, void (*fn)(void *arg, int signum), void *arg, lt_err *err);

#endif
