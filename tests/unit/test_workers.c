/* Workers: tasks in turn, programs that give way, many at once, and steps on a thread that is no worker. */
#include <errno.h>
#include <semaphore.h>
#include <unistd.h>

#include "base/mem.h"
#include "fakes/sanitizer.h"
#include "workers_fix.h"

/* TSan's address space holds about 440 boxes; ASan's shadow of so many stacks takes its time. */
#define MANY (TSAN ? 300 : ASAN ? 1000 : 2000)

/* --- Tasks without a program -------------------------------------------------------------------------------------- */
typedef struct chore {
  lt_workers_task task;
  lt_workers *workers;
  char name;
  unsigned left;
} chore;

static char chores_done[64];

static lt_workers_step chore_step(lt_workers_task *task) {
  chore *c = (chore *)task;
  size_t n = strlen(chores_done);
  chores_done[n] = c->name;
  return --c->left > 0 ? LT_STEP_AGAIN : LT_STEP_DONE;
}

static void chore_after(lt_workers_task *task, lt_workers_step step) {
  (void)task;
  assert_int_equal(step, LT_STEP_DONE);
  pthread_mutex_lock(&yard.lock);
  yard.done++;
  pthread_cond_broadcast(&yard.told);
  pthread_mutex_unlock(&yard.lock);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static lt_workers_step gate_step(lt_workers_task *task) {
  (void)task;
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  return LT_STEP_DONE;
}

/* First come, first served; a step whose slice is used up goes to the end of the queue. */
static void tasks_in_turn(void **state) {
  (void)state;
  lt_workers *workers = open_workers(1);
  memset(chores_done, 0, sizeof chores_done);
  lt_workers_task shut = {.step = gate_step, .after = chore_after};
  chore chores[] = {{.name = 'a', .left = 3}, {.name = 'b', .left = 1}, {.name = 'c', .left = 2}};
  pthread_mutex_lock(&gate); /* so that all are queued before the first runs; an extra worker would not matter */
  lt_workers_submit(workers, &shut);
  for (unsigned i = 0; i < 3; i++) {
    chores[i].task = (lt_workers_task){.step = chore_step, .after = chore_after};
  }
  pthread_mutex_unlock(&gate);
  wait_until(&yard.done, 1);
  for (unsigned i = 0; i < 3; i++) {
    lt_workers_submit(workers, &chores[i].task);
    wait_until(&yard.done, 2 + i);
  }
  assert_string_equal(chores_done, "aaabcc");
  lt_workers_free(workers);
}

typedef struct gated {
  lt_workers_task task;
  sem_t begun;
} gated;

static lt_workers_step begin_gated(lt_workers_task *task) {
  sem_post(&((gated *)task)->begun);
  return gate_step(task);
}

static void submit_gated(lt_workers *workers, gated *g) {
  *g = (gated){.task = {.step = begin_gated, .after = chore_after}};
  sem_init(&g->begun, 0, 0);
  lt_workers_submit(workers, &g->task);
}

static void await_begun(gated *g) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 60;
  int waited;
  while ((waited = sem_timedwait(&g->begun, &until)) != 0 && errno == EINTR) {
  }
  assert_int_equal(waited, 0);
  sem_destroy(&g->begun);
}

/* While the thread that queues is awake, the one worker that is awake is to take what is queued: but not when it has a
 * step that takes long. */
static void a_queuer_that_stays_awake_holds_nothing_up(void **state) {
  (void)state;
  gated both[2];
  lt_workers *workers = open_workers(2);
  lt_workers_note_queuer(workers, true);
  for (unsigned round = 1; round <= 20; round++) { /* in the first one the second worker is started */
    pthread_mutex_lock(&gate);
    for (unsigned i = 0; i < 2; i++) {
      submit_gated(workers, &both[i]);
      await_begun(&both[i]);
    }
    pthread_mutex_unlock(&gate);
    wait_until(&yard.done, 2 * round);
    lt_workers_note_queuer(workers, false);
    lt_workers_note_queuer(workers, round % 2 == 0);
  }
  lt_workers_free(workers);
}

static void reasons_and_flags(void **state) {
  (void)state;
  lt_workers_task task = {.step = chore_step};
  assert_false(lt_workers_task_should_stop(&task));
  atomic_store(&task.deadline_ns, lt_workers_now() + 3600 * 1000 * MS);
  assert_false(lt_workers_task_should_stop(&task));
  lt_workers_task_stop(&task, LT_STOP_CANCEL);
  lt_workers_task_stop(&task, LT_STOP_TIMEOUT);
  assert_true(lt_workers_task_should_stop(&task));
  assert_int_equal(atomic_load(&task.stop), LT_STOP_CANCEL);
  lt_workers_task late = {.step = chore_step};
  atomic_store(&late.deadline_ns, 1);
  assert_true(lt_workers_task_should_stop(&late));
  assert_int_equal(atomic_load(&late.stop), LT_STOP_TIMEOUT);
}

static void start_and_shut_down(void **state) {
  (void)state;
  for (unsigned i = 0; i < 20; i++) {
    lt_workers_free(open_workers(i % 4));
  }
  lt_workers_free(NULL);
  prog p;
  for (unsigned i = 0; i < 20; i++) {
    lt_workers *workers = open_workers(1 + i % 3);
    prog_start(&p, workers, "6 * 7", 0);
    wait_until(&yard.done, 1);
    lt_workers_free(workers);
    expect_text(&p, LT_END_VALUE, "42");
    prog_end(&p);
  }
}

static void no_memory_for_workers(void **state) {
  (void)state;
  lt_workers *workers = NULL;
  lt_mem_fail_at(0);
  assert_int_equal(lt_workers_new(1, &workers, NULL), LT_E_NOMEM);
  lt_mem_fail_at(-1);
  assert_null(workers);
}

/* --- Giving way --------------------------------------------------------------------------------------------------- */
static void endless_loops_starve_nobody(void **state) {
  (void)state;
  engine_traps();
  lt_workers *workers = open_workers(2);
  prog loops[5];
  prog quick[10];
  for (unsigned i = 0; i < 5; i++) {
    prog_start(&loops[i], workers, "for (;;);", 0);
  }
  for (unsigned i = 0; i < 10; i++) {
    prog_start(&quick[i], workers, "call() + call()", 0);
  }
  wait_until(&yard.done, 10);
  for (unsigned i = 0; i < 10; i++) {
    expect_text(&quick[i], LT_END_VALUE, "3");
    prog_end(&quick[i]);
  }
  for (unsigned i = 0; i < 5; i++) {
    assert_false(is_done(&loops[i]));
    lt_workers_task_stop(&loops[i].task, LT_STOP_CANCEL);
  }
  wait_until(&yard.done, 15);
  for (unsigned i = 0; i < 5; i++) {
    assert_int_equal(loops[i].result.ending, LT_END_STOPPED);
    prog_end(&loops[i]);
  }
  lt_workers_free(workers);
}

/* Nobody waits: the whole program is one step. */
static void alone_there_are_no_slices(void **state) {
  (void)state;
  lt_workers *workers = open_workers(1);
  prog p;
  prog_start(&p, workers, "let n = 0; for (let i = 0; i < 3000000; i++) n += i % 7; n", 0);
  wait_until(&yard.done, 1);
  expect_text(&p, LT_END_VALUE, "8999994");
  assert_int_equal(p.steps, 1);
  prog_end(&p);
  lt_workers_free(workers);
}

/* --- Many, and elsewhere ------------------------------------------------------------------------------------------ */
/* Each step on a thread of other workers than the one before. */
static void fibers_move_between_threads(void **state) {
  enum { COUNT = 8 };
  (void)state;
  engine_traps();
  lt_workers *one = open_workers(1);
  lt_workers *two = open_workers(1);
  prog p[COUNT];
  for (unsigned i = 0; i < COUNT; i++) {
    prog_init(&p[i], one,
              "function f(n) { return n ? f(n - 1) + call() : 0 } let s = 0; for (let i = 0; i < 20; i++) "
              "{ s += f(10); try { call(); throw new Error('x') } catch (e) { s += e.message.length } } s");
    p[i].elsewhere = two;
    lt_workers_submit(one, &p[i].task);
  }
  wait_until(&yard.done, COUNT);
  for (unsigned i = 0; i < COUNT; i++) {
    expect_text(&p[i], LT_END_VALUE, "22020"); /* 1 + ... + 220 without every eleventh, and 20 */
    assert_int_equal(p[i].calls, 220);
    assert_true(p[i].moves >= 220);
    prog_end(&p[i]);
  }
  lt_workers_free(one);
  lt_workers_free(two);
}

static void many_suspended_at_once(void **state) {
  (void)state;
  engine_traps();
  prog *p = lt_mem_zalloc(MANY, sizeof *p);
  assert_non_null(p);
  lt_workers *workers = open_workers(0);
  yard_reset(true);
  for (unsigned i = 0; i < MANY; i++) {
    prog_start(&p[i], workers, "const before = { deep: [1, 2, 3] }; const n = call(); before.deep.length + n", 0);
  }
  wait_until(&yard.parked, MANY);
  assert_int_equal(yard.done, 0);
  prog quick;
  prog_start(&quick, workers, "[3, 2, 1].sort()", 0);
  wait_until(&yard.done, 1);
  expect_text(&quick, LT_END_VALUE, "[1,2,3]");
  prog_end(&quick);
  for (unsigned i = 0; i < MANY; i += 10) {
    lt_workers_task_stop(&p[i].task, LT_STOP_CANCEL);
  }
  resume_all();
  wait_until(&yard.done, 1 + MANY);
  for (unsigned i = 0; i < MANY; i++) {
    assert_int_equal(p[i].result.ending, i % 10 == 0 ? LT_END_STOPPED : LT_END_VALUE);
    if (i % 10 != 0) {
      expect_text(&p[i], LT_END_VALUE, "4");
    }
    prog_end(&p[i]);
  }
  lt_workers_free(workers);
  lt_mem_free(p);
}

/* --- On a thread that is no worker -------------------------------------------------------------------------------- */
typedef struct late_task {
  lt_workers_task task; /* first */
  sem_t told;
  bool is_done;
} late_task;

static void note_late(void *arg) {
  sem_post(&((late_task *)arg)->told);
}

/* It ends only when its thread was missed, twice. */
static lt_workers_step wait_until_late(lt_workers_task *task) {
  late_task *late = (late_task *)task;
  for (int told = 0; told < 2;) {
    told += sem_wait(&late->told) == 0;
  }
  return LT_STEP_DONE;
}

static void note_late_end(lt_workers_task *task, lt_workers_step step) {
  ((late_task *)task)->is_done = step == LT_STEP_DONE;
}

/* A long step gives way although nobody waits, and a worker continues it. */
static void a_step_of_our_own_is_brief(void **state) {
  (void)state;
  static prog p;
  lt_workers *workers = open_workers(1);
  prog_init(&p, workers, "for (let i = 0; i < 3000000; i++); 'through'");
  lt_workers_step_own(workers, &p.task);
  wait_until(&yard.done, 1);
  expect_text(&p, LT_END_STRING, "through");
  assert_int_equal(p.moves, 1);
  prog_end(&p);
  lt_workers_free(workers);
}

/* With the answer, the next step is here again. */
static void steps_of_our_own_stay_here(void **state) {
  (void)state;
  static prog p;
  lt_workers *workers = open_workers(1);
  yard_reset(true);
  prog_init(&p, workers, "call() + call()");
  for (unsigned i = 0; i < 3; i++) {
    lt_workers_step_own(workers, &p.task);
  }
  assert_true(p.done);
  expect_text(&p, LT_END_VALUE, "3");
  assert_int_equal(p.moves, 0);
  prog_end(&p);
  lt_workers_free(workers);
}

static void a_late_step_is_told_of(void **state) {
  (void)state;
  late_task late = {.task = {.step = wait_until_late, .after = note_late_end}};
  lt_workers *workers = open_workers(1);
  sem_init(&late.told, 0, 0);
  lt_workers_on_late(workers, note_late, &late);
  lt_workers_step_own(workers, &late.task);
  assert_true(late.is_done);
  lt_workers_free(workers);
  sem_destroy(&late.told);
}

typedef struct last_task {
  lt_workers_task task; /* first */
  lt_workers *workers;
  sem_t handed_on;
  bool is_over;
} last_task;

static lt_workers_step end_at_once(lt_workers_task *task) {
  (void)task;
  return LT_STEP_DONE;
}

static void hand_on_and_stay(lt_workers_task *task, lt_workers_step step) {
  last_task *last = (last_task *)task;
  assert_int_equal(step, LT_STEP_DONE);
  sem_post(&last->handed_on);
  usleep(20000);
  last->is_over = true;
}

static void *free_when_handed_on(void *arg) {
  last_task *last = arg;
  while (sem_wait(&last->handed_on) != 0) {
  }
  lt_workers_free(last->workers);
  assert_true(last->is_over);
  return NULL;
}

/* As when another thread turns the loop, and ends everything. */
static void the_end_waits_for_our_own_step(void **state) {
  (void)state;
  last_task last = {.task = {.step = end_at_once, .after = hand_on_and_stay}, .workers = open_workers(1)};
  pthread_t thread;
  sem_init(&last.handed_on, 0, 0);
  assert_int_equal(pthread_create(&thread, NULL, free_when_handed_on, &last), 0);
  lt_workers_step_own(last.workers, &last.task);
  pthread_join(thread, NULL);
  sem_destroy(&last.handed_on);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tasks_in_turn),
      cmocka_unit_test(a_queuer_that_stays_awake_holds_nothing_up),
      cmocka_unit_test(reasons_and_flags),
      cmocka_unit_test(start_and_shut_down),
      cmocka_unit_test(no_memory_for_workers),
      cmocka_unit_test(endless_loops_starve_nobody),
      cmocka_unit_test(alone_there_are_no_slices),
      cmocka_unit_test(fibers_move_between_threads),
      cmocka_unit_test(many_suspended_at_once),
      cmocka_unit_test(a_step_of_our_own_is_brief),
      cmocka_unit_test(steps_of_our_own_stay_here),
      cmocka_unit_test(a_late_step_is_told_of),
      cmocka_unit_test(the_end_waits_for_our_own_step),
  };
  return cmocka_run_group_tests_name("workers", tests, engine_open, engine_close);
}
