/* The loop, with real time and real threads; no test waits longer than it must. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop.h"

static lt_loop *loop;
static bool turning; /* still true after a test: it failed on a fiber, which will never end */

static int open_loop(void **state) {
  (void)state;
  return lt_loop_new(&loop, NULL);
}

static int close_loop(void **state) {
  (void)state;
  if (!turning) {
    lt_loop_free(loop);
  }
  turning = false;
  return 0;
}

static void turn(void) {
  turning = true;
  lt_loop_run(loop);
  turning = false;
}

static void spawn(lt_fiber_fn fn, void *arg) {
  lt_err err = LT_ERR_INIT;
  if (lt_loop_spawn(loop, fn, arg, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
}

static uint64_t clock_us(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* --- Fibers ------------------------------------------------------------------------------------------------------- */

static char trace[64];

static void note(void *arg) {
  strcat(trace, arg);
}

static void note_and_spawn(void *arg) {
  note(arg);
  spawn(note, "c");
}

static void fibers_run_from_the_loop_in_order(void **state) {
  (void)state;
  trace[0] = '\0';
  spawn(note_and_spawn, "a");
  spawn(note, "b");
  assert_string_equal(trace, "");
  turn();
  assert_string_equal(trace, "abc");
  spawn(note, "d"); /* the loop can be run again */
  turn();
  assert_string_equal(trace, "abcd");
}

static void an_empty_loop_returns_at_once(void **state) {
  (void)state;
  turn();
  turn();
}

static unsigned parked;
static lt_wait crowd[2000];

static void park_in_crowd(void *arg) {
  lt_wait *wait = arg;
  lt_wait_init(wait, loop);
  parked++;
  assert_int_equal(lt_wait_on(wait, UINT64_MAX), LT_OK);
  parked--;
}

static void wake_crowd(void *arg) {
  (void)arg;
  assert_int_equal(parked, 2000);
  for (int i = 1999; i >= 0; i--) {
    lt_wait_wake(&crowd[i], LT_OK);
  }
}

static void many_fibers_wait_at_once(void **state) {
  (void)state;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 2000; i++) {
      spawn(park_in_crowd, &crowd[i]);
    }
    spawn(wake_crowd, NULL);
    turn();
    assert_int_equal(parked, 0);
  }
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

static lt_wait one;

static void wake_one(void *arg) {
  lt_loop_sleep(loop, (uint64_t)(uintptr_t)arg);
  lt_wait_wake(&one, LT_E_IO);
}

static void waiting(void *arg) {
  (void)arg;
  lt_wait_init(&one, loop);
  lt_wait_wake(&one, LT_OK); /* a wake before the wait is remembered, once */
  assert_int_equal(lt_wait_on(&one, UINT64_MAX), LT_OK);
  assert_int_equal(lt_wait_on(&one, 0), LT_E_TIMEOUT);
  uint64_t before = clock_us(CLOCK_MONOTONIC);
  assert_int_equal(lt_wait_on(&one, 10), LT_E_TIMEOUT);
  assert_true(clock_us(CLOCK_MONOTONIC) - before >= 9000);
  spawn(wake_one, (void *)(uintptr_t)5);
  assert_int_equal(lt_wait_on(&one, UINT64_MAX), LT_E_IO);
  spawn(wake_one, (void *)(uintptr_t)0);
  assert_int_equal(lt_wait_on(&one, 60000), LT_E_IO);
  lt_wait_wake(&one, LT_OK); /* harmless afterwards */
}

static void waits_and_wakes(void **state) {
  (void)state;
  uint64_t before = clock_us(CLOCK_MONOTONIC);
  spawn(waiting, NULL);
  turn(); /* the timer of 60 s does not keep it */
  assert_true(clock_us(CLOCK_MONOTONIC) - before < 30000000);
}

/* A wait that was woken in time is followed by another one: the first one's timeout must not end that. */
static void timeouts_then_longer(void *arg) {
  (void)arg;
  lt_wait_init(&one, loop);
  for (int i = 0; i < 20; i++) {
    lt_wait_wake(&one, LT_OK);
    assert_int_equal(lt_wait_on(&one, 3), LT_OK);
    spawn(wake_one, (void *)(uintptr_t)3); /* at the same time as the timeout: either may come first */
    lt_status status = lt_wait_on(&one, 3);
    assert_true(status == LT_E_IO || status == LT_E_TIMEOUT);
    if (status == LT_E_TIMEOUT) {
      assert_int_equal(lt_wait_on(&one, 5000), LT_E_IO);
    }
    uint64_t before = clock_us(CLOCK_MONOTONIC);
    lt_loop_sleep(loop, 5);
    assert_true(clock_us(CLOCK_MONOTONIC) - before >= 4000);
  }
}

static void a_stale_timeout_wakes_nobody(void **state) {
  (void)state;
  spawn(timeouts_then_longer, NULL);
  turn();
}

static void several_wakes(void *arg) {
  (void)arg;
  lt_wait_init(&one, loop);
  lt_wait_wake(&one, LT_OK);
  lt_wait_wake(&one, LT_E_CANCELLED); /* a cancel is not lost behind a wake */
  lt_wait_wake(&one, LT_E_TIMEOUT);
  lt_wait_wake(&one, LT_OK);
  assert_int_equal(lt_wait_on(&one, UINT64_MAX), LT_E_CANCELLED);
  assert_int_equal(lt_wait_on(&one, 0), LT_E_TIMEOUT);
}

static void the_first_failure_counts(void **state) {
  (void)state;
  spawn(several_wakes, NULL);
  turn();
}

/* --- Cancelling --------------------------------------------------------------------------------------------------- */

static lt_cancel cancel;
static int cancelled;

static void wait_for_cancel(void *arg) {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, loop);
  lt_cancel_add(&cancel, &node, &wait);
  lt_status want = arg == NULL ? LT_E_TIMEOUT : LT_E_CANCELLED;
  assert_int_equal(lt_wait_on(&wait, arg == NULL ? 2 : UINT64_MAX), want);
  lt_cancel_remove(&cancel, &node);
  lt_cancel_remove(&cancel, &node);
  cancelled++;
}

static void fire(void *arg) {
  (void)arg;
  lt_loop_sleep(loop, 10); /* those with a timeout have removed themselves */
  assert_int_equal(cancelled, 2);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  lt_cancel_fire(&cancel, LT_E_TIMEOUT);
  wait_for_cancel(&cancel); /* too late to register: woken at once, with the first reason */
}

static void a_cancel_wakes_everybody_under_it(void **state) {
  (void)state;
  cancelled = 0;
  lt_cancel_init(&cancel);
  spawn(wait_for_cancel, &cancel);
  spawn(wait_for_cancel, NULL);
  spawn(wait_for_cancel, &cancel);
  spawn(wait_for_cancel, NULL);
  spawn(wait_for_cancel, &cancel);
  spawn(fire, NULL);
  turn();
  assert_int_equal(cancelled, 6);
  assert_null(cancel.head);
}

static void no_cancel_at_all_is_allowed(void **state) {
  (void)state;
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, loop);
  lt_cancel_add(NULL, &node, &wait);
  lt_cancel_remove(NULL, &node);
  assert_false(wait.signalled);
}

/* --- Fairness ----------------------------------------------------------------------------------------------------- */

static bool stop_spinning;
static unsigned long spins;

static void spin(void *arg) {
  (void)arg;
  while (!stop_spinning) {
    spins++;
    lt_loop_sleep(loop, 0);
  }
}

static void stop(void *arg) {
  (void)arg;
  stop_spinning = true;
}

static void *post_stop(void *arg) {
  lt_loop_post(loop, arg);
  return NULL;
}

static void busy_fibers_hold_up_neither_timers_nor_posts(void **state) {
  (void)state;
  lt_timer *timer;
  assert_int_equal(lt_timer_new(loop, stop, NULL, &timer, NULL), LT_OK);
  stop_spinning = false;
  lt_timer_start(timer, 5);
  spawn(spin, NULL);
  spawn(spin, NULL);
  turn();
  assert_true(spins > 100);
  lt_timer_free(timer);

  pthread_t thread;
  lt_post post = {.fn = stop};
  stop_spinning = false;
  spawn(spin, NULL);
  assert_int_equal(pthread_create(&thread, NULL, post_stop, &post), 0);
  turn();
  pthread_join(thread, NULL);
}

/* --- Posts -------------------------------------------------------------------------------------------------------- */

enum { POSTERS = 4, POSTS = 5000 };

typedef struct poster {
  pthread_t thread;
  int seen; /* only touched by the loop */
  struct numbered {
    lt_post post;
    struct poster *poster;
    int number;
  } posts[POSTS];
} poster;

static poster posters[POSTERS];
static int posted_left;

static void got_post(void *arg) {
  struct numbered *n = arg;
  assert_int_equal(n->number, n->poster->seen);
  n->poster->seen++;
  if (--posted_left == 0) {
    lt_loop_unhold(loop);
  }
}

static void *post_many(void *arg) {
  poster *p = arg;
  for (int i = 0; i < POSTS; i++) {
    p->posts[i].number = i;
    p->posts[i].poster = p;
    p->posts[i].post = (lt_post){.fn = got_post, .arg = &p->posts[i]};
    lt_loop_post(loop, &p->posts[i].post);
    if (i % 500 == 0) {
      usleep(200); /* let the loop fall asleep now and then */
    }
  }
  return NULL;
}

static void posts_of_many_threads_all_arrive_in_order(void **state) {
  (void)state;
  posted_left = POSTERS * POSTS;
  lt_loop_hold(loop);
  for (int i = 0; i < POSTERS; i++) {
    posters[i].seen = 0;
    assert_int_equal(pthread_create(&posters[i].thread, NULL, post_many, &posters[i]), 0);
  }
  turn();
  assert_int_equal(posted_left, 0);
  for (int i = 0; i < POSTERS; i++) {
    pthread_join(posters[i].thread, NULL);
  }
}

static void post_before_run(void **state) {
  (void)state;
  lt_post post = {.fn = note, .arg = "p"};
  trace[0] = '\0';
  lt_loop_post(loop, &post);
  turn(); /* nothing keeps it, the post still runs */
  assert_string_equal(trace, "p");
}

/* Back and forth with a worker, as a tool call goes: no wake may be lost. The worker looks out for the question, so
 * that its answer comes at every moment of the loop's way to sleep. */
enum { ROUNDS = 5000 };

static _Atomic int asked;
static int answered; /* by the worker, read by the loop after the post */

static void returned(void *arg) {
  lt_wait_wake(arg, LT_OK);
}

static void *answer(void *arg) {
  static lt_post post; /* outlives this thread */
  post = (lt_post){.fn = returned, .arg = arg};
  for (int i = 1; i <= ROUNDS; i++) {
    for (int looks = 1; atomic_load(&asked) != i; looks++) {
      if (looks % 1000 == 0) {
        sched_yield();
      }
    }
    for (volatile int delay = i % 1000; delay > 0; delay--) {
    }
    answered = i;
    lt_loop_post(loop, &post);
  }
  return NULL;
}

static void ask(void *arg) {
  (void)arg;
  for (int i = 1; i <= ROUNDS; i++) {
    uint64_t before = clock_us(CLOCK_MONOTONIC);
    atomic_store(&asked, i);
    assert_int_equal(lt_wait_on(&one, 20000), LT_OK);
    assert_int_equal(answered, i);
    assert_true(clock_us(CLOCK_MONOTONIC) - before < 10000000); /* it was the post that woke us, not the timeout */
  }
}

static void no_wake_is_lost_between_threads(void **state) {
  (void)state;
  pthread_t thread;
  atomic_store(&asked, 0);
  lt_wait_init(&one, loop);
  assert_int_equal(pthread_create(&thread, NULL, answer, &one), 0);
  spawn(ask, NULL);
  turn();
  pthread_join(thread, NULL);
}

/* Also after a lively exchange of posts, a loop with nothing to do takes no processor time. */
static void an_idle_loop_costs_nothing(void **state) {
  no_wake_is_lost_between_threads(state);
  lt_timer *timer;
  assert_int_equal(lt_timer_new(loop, stop, NULL, &timer, NULL), LT_OK);
  lt_timer_start(timer, 200);
  uint64_t before = clock_us(CLOCK_PROCESS_CPUTIME_ID);
  turn();
  assert_true(clock_us(CLOCK_PROCESS_CPUTIME_ID) - before < 50000);
  lt_timer_free(timer);
}

/* --- Telling of sleep --------------------------------------------------------------------------------------------- */
typedef struct sleeps {
  unsigned count;
  bool is_awake;
} sleeps;

static void on_sleep(void *arg, bool is_awake) {
  sleeps *s = arg;
  s->count += !is_awake;
  s->is_awake = is_awake;
}

static void sleep_and_look(void *arg) {
  sleeps *s = arg;
  for (unsigned i = 0; i < 3; i++) {
    unsigned before = s->count;
    lt_loop_sleep(loop, 5);
    assert_true(s->count > before);
    assert_true(s->is_awake);
  }
  lt_loop_on_sleep(loop, NULL, NULL);
  s->count = 0;
  lt_loop_sleep(loop, 5);
  assert_int_equal(s->count, 0);
}

static void a_loop_tells_when_it_sleeps(void **state) {
  (void)state;
  sleeps s = {.is_awake = true};
  lt_loop_on_sleep(loop, on_sleep, &s);
  spawn(sleep_and_look, &s);
  turn();
}

/* --- Other threads ------------------------------------------------------------------------------------------------ */

typedef struct job {
  pthread_t ran_on;
  int result;
} job;

static void work(void *arg) {
  job *j = arg;
  j->ran_on = pthread_self();
  usleep(20000);
  j->result = 42;
}

static int offloaded;

static void offload_fiber(void *arg) {
  (void)arg;
  job j = {0};
  assert_int_equal(lt_loop_offload(loop, work, &j, NULL), LT_OK);
  assert_int_equal(j.result, 42);
  assert_false(pthread_equal(j.ran_on, pthread_self()));
  offloaded++;
  stop_spinning = true;
}

static void offloaded_work_does_not_hold_the_loop_up(void **state) {
  (void)state;
  offloaded = 0;
  stop_spinning = false;
  spins = 0;
  for (int i = 0; i < 3; i++) {
    spawn(offload_fiber, NULL);
  }
  spawn(spin, NULL);
  turn();
  assert_int_equal(offloaded, 3);
  assert_true(spins > 100);
}

/* --- Timers and signals ------------------------------------------------------------------------------------------- */

static lt_timer *timer_a;
static int fired;

static void fire_thrice(void *arg) {
  (void)arg;
  if (++fired < 3) {
    lt_timer_start(timer_a, 1);
  } else {
    lt_timer_free(timer_a); /* from inside */
  }
}

static void timers_fire_once_per_start(void **state) {
  (void)state;
  lt_timer *stopped, *freed;
  fired = 0;
  assert_int_equal(lt_timer_new(loop, fire_thrice, NULL, &timer_a, NULL), LT_OK);
  assert_int_equal(lt_timer_new(loop, fire_thrice, NULL, &stopped, NULL), LT_OK);
  assert_int_equal(lt_timer_new(loop, fire_thrice, NULL, &freed, NULL), LT_OK);
  lt_timer_start(timer_a, 2);
  lt_timer_start(stopped, 1);
  lt_timer_start(freed, 1);
  lt_timer_stop(stopped);
  lt_timer_free(freed);
  lt_timer_free(NULL);
  turn();
  assert_int_equal(fired, 3);
  lt_timer_free(stopped);
}

static int signals;

static void on_signal(void *arg, int signum) {
  assert_ptr_equal(arg, &signals);
  assert_int_equal(signum, SIGUSR1);
  signals++;
  lt_wait_wake(&one, LT_OK);
}

static void raise_it(void *arg) {
  (void)arg;
  lt_wait_init(&one, loop);
  kill(getpid(), SIGUSR1);
  assert_int_equal(lt_wait_on(&one, 10000), LT_OK);
}

static void signals_arrive_and_keep_nothing_alive(void **state) {
  (void)state;
  signals = 0;
  assert_int_equal(lt_loop_on_signal(loop, SIGUSR1, on_signal, &signals, NULL), LT_OK);
  assert_int_equal(lt_loop_on_signal(loop, SIGUSR1, on_signal, &signals, NULL), LT_E_INVALID);
  assert_int_not_equal(lt_loop_on_signal(loop, SIGKILL, on_signal, &signals, NULL), LT_OK);
  spawn(raise_it, NULL);
  turn();
  assert_int_equal(signals, 1);
}

/* --- Work of the loop's own thread ------------------------------------------------------------------------------- */
typedef struct outing {
  pthread_t thread;
  bool is_taken, is_taken_again;
  sem_t turned; /* the loop goes on while the work does */
  pthread_t turned_by;
  pthread_t after; /* who turns it afterwards */
} outing;

static void note_outside(void *arg) {
  ((outing *)arg)->thread = pthread_self();
  note("o");
}

static void step_out_twice(void *arg) {
  outing *o = arg;
  o->is_taken = lt_loop_step_out(loop, note_outside, o);
  o->is_taken_again = lt_loop_step_out(loop, note_outside, o);
  spawn(note, "a");
}

/* What is ready comes first, and the loop does not sleep before. */
static void work_is_done_on_the_own_thread(void **state) {
  (void)state;
  outing o = {0};
  trace[0] = '\0';
  spawn(step_out_twice, &o);
  turn();
  assert_true(o.is_taken);
  assert_false(o.is_taken_again);
  assert_true(pthread_equal(o.thread, pthread_self()));
  assert_string_equal(trace, "ao");
}

static void *try_from_elsewhere(void *arg) {
  ((outing *)arg)->is_taken = lt_loop_step_out(loop, note_outside, arg);
  return NULL;
}

static void no_other_thread_gives_work(void **state) {
  (void)state;
  outing o = {.is_taken = true};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, try_from_elsewhere, &o), 0);
  pthread_join(thread, NULL);
  assert_false(o.is_taken);
}

/* The compiler takes pthread_self() for the same throughout a function, and the fiber moves. */
__attribute__((noinline)) static bool is_on(pthread_t thread) {
  return pthread_equal(pthread_self(), thread);
}

__attribute__((noinline)) static void note_turner(pthread_t *ret) {
  *ret = pthread_self();
}

static void turn_for_a_while(void *arg) {
  outing *o = arg;
  lt_loop_sleep(loop, 2);
  note_turner(&o->turned_by);
  sem_post(&o->turned);
  while (is_on(o->turned_by)) {
    lt_loop_sleep(loop, 1);
  }
  note_turner(&o->after);
}

/* It never ends unless the loop is turned meanwhile. */
static void work_long(void *arg) {
  outing *o = arg;
  lt_loop_stand_in(loop);
  while (sem_wait(&o->turned) != 0) {
  }
}

static void step_out_long(void *arg) {
  ((outing *)arg)->is_taken = lt_loop_step_out(loop, work_long, arg);
}

static void another_thread_turns_the_loop_meanwhile(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) { /* the same thread each time */
    outing o = {0};
    sem_init(&o.turned, 0, 0);
    spawn(turn_for_a_while, &o);
    spawn(step_out_long, &o);
    turn();
    assert_true(o.is_taken);
    assert_false(pthread_equal(o.turned_by, pthread_self()));
    assert_true(pthread_equal(o.after, pthread_self()));
    sem_destroy(&o.turned);
  }
}

typedef struct short_outing {
  lt_wait back;
  lt_post post;
} short_outing;

static void wake_outing(void *arg) {
  lt_wait_wake(&((short_outing *)arg)->back, LT_OK);
}

static void work_short(void *arg) {
  lt_loop_stand_in(loop);
  lt_loop_post(loop, &((short_outing *)arg)->post);
}

static void step_out_short(void *arg) {
  short_outing *o = arg;
  for (int done = 0; done < 1000;) {
    lt_wait_init(&o->back, loop);
    o->post = (lt_post){.fn = wake_outing, .arg = o};
    if (lt_loop_step_out(loop, work_short, o)) {
      assert_int_equal(lt_wait_on(&o->back, UINT64_MAX), LT_OK);
      done++;
    } else { /* the other thread turns the loop now */
      lt_loop_sleep(loop, 0);
    }
  }
}

/* The thread that stands in wakes after the step has ended. */
static void a_late_stand_in_does_no_harm(void **state) {
  (void)state;
  short_outing o;
  spawn(step_out_short, &o);
  turn();
}

static void step_out_and_wait(void *arg) {
  outing *o = arg;
  o->is_taken = lt_loop_step_out_and_wait(loop, note_outside, o);
  note("b");
}

static void a_fiber_waits_for_work_outside(void **state) {
  (void)state;
  outing o = {0};
  trace[0] = '\0';
  spawn(step_out_and_wait, &o);
  spawn(note, "a");
  turn();
  assert_true(o.is_taken);
  assert_true(pthread_equal(o.thread, pthread_self()));
  assert_string_equal(trace, "aob");
}

/* Nobody calls for another thread. */
static void wait_for_turn(void *arg) {
  while (sem_wait(&((outing *)arg)->turned) != 0) {
  }
}

static void step_out_and_wait_long(void *arg) {
  outing *o = arg;
  o->is_taken = lt_loop_step_out_and_wait(loop, wait_for_turn, o);
  lt_loop_sleep(loop, 2 * LT_LOOP_WATCH_MS); /* the thread that watches stops ticking meanwhile */
}

static void work_that_takes_long_is_seen(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    outing o = {0};
    sem_init(&o.turned, 0, 0);
    spawn(turn_for_a_while, &o);
    spawn(step_out_and_wait_long, &o);
    turn();
    assert_true(o.is_taken);
    assert_false(pthread_equal(o.turned_by, pthread_self()));
    sem_destroy(&o.turned);
  }
}

static void look_for_quiet(void *arg) {
  bool *is_quiet = arg;
  is_quiet[0] = lt_loop_is_quiet(loop);
  spawn(note, "a");
  is_quiet[1] = lt_loop_is_quiet(loop);
}

static void a_ready_fiber_is_no_quiet(void **state) {
  (void)state;
  bool is_quiet[2] = {false, true};
  spawn(look_for_quiet, is_quiet);
  turn();
  assert_true(is_quiet[0]);
  assert_false(is_quiet[1]);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */

static void everything_gives_back_when_memory_ends(void **state) {
  (void)state;
  for (long at = 0;; at++) {
    lt_loop *l = NULL;
    lt_timer *timer = NULL;
    trace[0] = '\0';
    lt_mem_fail_at(at);
    lt_status status = lt_loop_new(&l, NULL);
    if (status == LT_OK) {
      status = lt_timer_new(l, note, "t", &timer, NULL);
    }
    if (status == LT_OK) {
      status = lt_loop_spawn(l, note, "f", NULL);
    }
    if (status == LT_OK) {
      status = lt_loop_on_signal(l, SIGUSR2, on_signal, NULL, NULL);
    }
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    lt_timer_free(timer);
    if (l != NULL) {
      lt_loop_run(l);
    }
    lt_loop_free(l);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_string_equal(trace, "f");
      assert_true(at >= 4);
      return;
    }
    assert_int_equal(status, LT_E_NOMEM);
  }
}

/* --- Stacks after a rush ------------------------------------------------------------------------------------------ */

/* The address space in use, in stacks: a stack need not be a mapping of its own. */
static unsigned count_stacks(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%lu", &pages), 1);
  fclose(file);
  return (unsigned)(pages * (unsigned long)sysconf(_SC_PAGESIZE) / (LT_LOOP_STACK_BYTES + LT_FIBER_GUARD_BYTES));
}

static void rush_and_rest(void *arg) {
  enum { RUSH = LT_LOOP_STACKS_KEEP + 2 * LT_LOOP_STACKS_TRIM };
  unsigned before = count_stacks();
  for (int i = 0; i < RUSH; i++) {
    spawn(note, "");
  }
  lt_loop_sleep(loop, 0); /* all of them have run */
  unsigned kept = count_stacks();
  assert_true(kept >= before + RUSH);
  for (int i = 0; i < RUSH; i++) {
    spawn(note, "");
  }
  lt_loop_sleep(loop, 0);
  assert_true(count_stacks() < kept + LT_LOOP_STACKS_TRIM / 2); /* the same ones again */
  lt_loop_sleep(loop, 4 * LT_LOOP_TRIM_MS);
  *(unsigned *)arg = kept - count_stacks();
}

static void stacks_of_a_rush_go_when_they_are_not_needed(void **state) {
  unsigned gone = 0;
  (void)state;
  spawn(rush_and_rest, &gone);
  turn();
  assert_true(gone >= 2 * LT_LOOP_STACKS_TRIM);
}

#define LOOP_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_loop, close_loop)

int main(void) {
  const struct CMUnitTest tests[] = {
      LOOP_TEST(fibers_run_from_the_loop_in_order),
      LOOP_TEST(an_empty_loop_returns_at_once),
      LOOP_TEST(many_fibers_wait_at_once),
      LOOP_TEST(waits_and_wakes),
      LOOP_TEST(a_stale_timeout_wakes_nobody),
      LOOP_TEST(the_first_failure_counts),
      LOOP_TEST(a_cancel_wakes_everybody_under_it),
      LOOP_TEST(no_cancel_at_all_is_allowed),
      LOOP_TEST(busy_fibers_hold_up_neither_timers_nor_posts),
      LOOP_TEST(posts_of_many_threads_all_arrive_in_order),
      LOOP_TEST(post_before_run),
      LOOP_TEST(no_wake_is_lost_between_threads),
      LOOP_TEST(an_idle_loop_costs_nothing),
      LOOP_TEST(a_loop_tells_when_it_sleeps),
      LOOP_TEST(offloaded_work_does_not_hold_the_loop_up),
      LOOP_TEST(timers_fire_once_per_start),
      LOOP_TEST(signals_arrive_and_keep_nothing_alive),
      LOOP_TEST(stacks_of_a_rush_go_when_they_are_not_needed),
      LOOP_TEST(work_is_done_on_the_own_thread),
      LOOP_TEST(no_other_thread_gives_work),
      LOOP_TEST(another_thread_turns_the_loop_meanwhile),
      LOOP_TEST(a_late_stand_in_does_no_harm),
      LOOP_TEST(a_fiber_waits_for_work_outside),
      LOOP_TEST(work_that_takes_long_is_seen),
      LOOP_TEST(a_ready_fiber_is_no_quiet),
      cmocka_unit_test(everything_gives_back_when_memory_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
