/* The loop on one thread, with real time; no test waits longer than it must. */
#include "unit/loop_fix.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"

/* --- Fibers ------------------------------------------------------------------------------------------------------- */

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
      LOOP_TEST(a_loop_tells_when_it_sleeps),
      LOOP_TEST(timers_fire_once_per_start),
      LOOP_TEST(signals_arrive_and_keep_nothing_alive),
      LOOP_TEST(stacks_of_a_rush_go_when_they_are_not_needed),
      cmocka_unit_test(everything_gives_back_when_memory_ends),
  };
  return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
