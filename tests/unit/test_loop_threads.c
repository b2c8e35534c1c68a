/* The loop among real threads: posts, work on other threads, and work that its own thread steps out for. */
#include "unit/loop_fix.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

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

/* Work that takes long. Nothing calls lt_loop_stand_in: another thread turns the loop all the same. */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      LOOP_TEST(busy_fibers_hold_up_neither_timers_nor_posts),
      LOOP_TEST(posts_of_many_threads_all_arrive_in_order),
      LOOP_TEST(post_before_run),
      LOOP_TEST(no_wake_is_lost_between_threads),
      LOOP_TEST(an_idle_loop_costs_nothing),
      LOOP_TEST(offloaded_work_does_not_hold_the_loop_up),
      LOOP_TEST(work_is_done_on_the_own_thread),
      LOOP_TEST(no_other_thread_gives_work),
      LOOP_TEST(another_thread_turns_the_loop_meanwhile),
      LOOP_TEST(a_late_stand_in_does_no_harm),
      LOOP_TEST(a_fiber_waits_for_work_outside),
      LOOP_TEST(work_that_takes_long_is_seen),
      LOOP_TEST(a_ready_fiber_is_no_quiet),
  };
  return cmocka_run_group_tests_name("loop_threads", tests, NULL, NULL);
}
