/* What the tests of workers and of their watchdog share: programs as tasks of workers, and a yard in which they report
 * and wait. Nothing in these tests is decided by how long it takes. */
#ifndef LT_TESTS_WORKERS_FIX_H
#define LT_TESTS_WORKERS_FIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "fakes/engine_fix.h"
#include "sandbox/workers.h"

#define MS        1000000ULL
#define PATIENCE  120 /* seconds until a test gives up waiting: far more than any machine needs */
#define PROG_NAME LT_STR("program.js")

/* --- Programs on workers ------------------------------------------------------------------------------------------ */
typedef struct prog {
  lt_workers_task task; /* first: a task is a prog */
  lt_workers *workers;
  lt_workers *elsewhere; /* where it goes on after each call, in turn with `workers` */
  const char *code;
  lt_program program;
  lt_guest_host host;
  lt_fiber fiber;
  lt_workers_step step;
  lt_engine_result result;
  lt_trap trap;
  bool done;
  bool parked;
  unsigned steps;
  unsigned calls;
  char answer[16];
  unsigned moves; /* steps on another thread than the one before */
  pthread_t thread;
  uint64_t done_ns;
  struct prog *next; /* among the parked */
} prog;

/* What the workers tell the test. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t told;
  unsigned done;
  unsigned parked;
  bool hold; /* parked programs wait for resume_all; else they go on at once */
  prog *held;
} yard = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};

static inline bool on_poll(void *arg) {
  prog *p = arg;
  if (lt_workers_task_should_stop(&p->task)) {
    return true;
  }
  if (lt_workers_task_should_yield(p->workers, &p->task, false)) {
    p->step = LT_STEP_AGAIN;
    lt_fiber_yield();
    return lt_workers_task_should_stop(&p->task);
  }
  return false;
}

static inline bool on_start(void *arg, lt_str tool, lt_str input, bool is_object, lt_outcome *ret) {
  (void)arg, (void)tool, (void)input, (void)is_object;
  ret->id = 1;
  return true;
}

/* Every call waits for the test. */
static inline bool on_call(void *arg, uint32_t id, lt_outcome *ret) {
  prog *p = arg;
  if (id == 0) {
    return false; /* no other call is open */
  }
  p->step = LT_STEP_PARK;
  lt_fiber_yield();
  p->calls++;
  int n = snprintf(p->answer, sizeof p->answer, "%u", p->calls);
  *ret = (lt_outcome){.ok = true, .text = lt_str_from(p->answer, (size_t)n)};
  return true;
}

static inline void on_output(void *arg, lt_str text) {
  (void)arg, (void)text;
}

static inline void run_prog(void *arg) {
  prog *p = arg;
  lt_engine_run(p->task.box, &p->program, &p->host, &p->result);
  p->step = LT_STEP_DONE;
}

static inline lt_workers_step on_step(lt_workers_task *task) {
  prog *p = (prog *)task;
  if (p->steps++ > 0 && !pthread_equal(p->thread, pthread_self())) {
    p->moves++;
  }
  p->thread = pthread_self();
  p->step = LT_STEP_DONE;
  return lt_fiber_resume(&p->fiber) ? p->step : LT_STEP_DONE;
}

static inline void finish(prog *p) {
  p->done_ns = lt_workers_now();
  lt_box *box = p->task.box;
  p->trap = box->trap;
  lt_fiber_release(&p->fiber);
  lt_pool_give(&engine_pool, box);
  pthread_mutex_lock(&yard.lock);
  p->done = true;
  yard.done++;
  pthread_cond_broadcast(&yard.told);
  pthread_mutex_unlock(&yard.lock);
}

/* Under the lock: who waits for the program's end may free the workers, and they must be left by then. */
static inline void go_on(prog *p) {
  pthread_mutex_lock(&yard.lock);
  lt_workers *to = p->elsewhere;
  p->elsewhere = p->workers;
  p->workers = to;
  lt_workers_submit(to, &p->task);
  pthread_mutex_unlock(&yard.lock);
}

static inline void after_step(lt_workers_task *task, lt_workers_step step) {
  prog *p = (prog *)task;
  if (step == LT_STEP_DONE) {
    finish(p);
    return;
  }
  pthread_mutex_lock(&yard.lock);
  bool hold = yard.hold;
  if (hold) {
    p->parked = true;
    p->next = yard.held;
    yard.held = p;
    yard.parked++;
    pthread_cond_broadcast(&yard.told);
  }
  pthread_mutex_unlock(&yard.lock);
  if (!hold) {
    go_on(p);
  }
}

static inline void prog_init(prog *p, lt_workers *workers, const char *code) {
  *p = (prog){.workers = workers,
              .elsewhere = workers,
              .code = code,
              .program = {.code = lt_str_of(code), .file = PROG_NAME, .bindings = LT_STR("{\"call\":\"call\"}")},
              .task = {.step = on_step, .after = after_step}};
  p->host = (lt_guest_host){.arg = p, .start = on_start, .wait = on_call, .poll = on_poll, .output = on_output};
  lt_engine_result_init(&p->result);
  lt_box *box = NULL;
  assert_int_equal(lt_pool_take(&engine_pool, &box, NULL), LT_OK);
  p->task.box = box;
  lt_fiber_init(&p->fiber, box->stack, lt_box_stack_bytes(box), run_prog, p);
}

static inline void prog_start(prog *p, lt_workers *workers, const char *code, uint64_t deadline_ms) {
  prog_init(p, workers, code);
  if (deadline_ms > 0) {
    atomic_store(&p->task.deadline_ns, lt_workers_now() + deadline_ms * MS);
  }
  lt_workers_submit(workers, &p->task);
}

static inline void prog_end(prog *p) {
  assert_true(p->done);
  lt_engine_result_release(&p->result);
}

/* --- Waiting for them --------------------------------------------------------------------------------------------- */
static inline void yard_reset(bool hold) {
  pthread_mutex_lock(&yard.lock);
  yard.done = yard.parked = 0;
  yard.held = NULL;
  yard.hold = hold;
  pthread_mutex_unlock(&yard.lock);
}

static inline void wait_until(const unsigned *counter, unsigned wanted) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE;
  pthread_mutex_lock(&yard.lock);
  int waited = 0;
  while (*counter < wanted && waited == 0) {
    waited = pthread_cond_timedwait(&yard.told, &yard.lock, &until);
  }
  bool reached = *counter >= wanted;
  pthread_mutex_unlock(&yard.lock);
  assert_true(reached);
}

static inline bool is_done(prog *p) {
  pthread_mutex_lock(&yard.lock);
  bool done = p->done;
  pthread_mutex_unlock(&yard.lock);
  return done;
}

static inline void resume_all(void) {
  pthread_mutex_lock(&yard.lock);
  prog *p = yard.held;
  yard.held = NULL;
  yard.hold = false;
  pthread_mutex_unlock(&yard.lock);
  while (p != NULL) {
    prog *next = p->next;
    go_on(p);
    p = next;
  }
}

static inline lt_workers *open_workers(unsigned count) {
  lt_workers *workers = NULL;
  assert_int_equal(lt_workers_new(count, &workers, NULL), LT_OK);
  yard_reset(false);
  return workers;
}

static inline void expect_text(prog *p, lt_ending ending, const char *text) {
  assert_int_equal(p->result.ending, ending);
  assert_string_equal(p->result.text.p, text);
}

#endif
