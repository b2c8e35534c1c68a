/* Workers and the watchdog: programs that give way and programs that do not, deadlines, cancels, many at once. Nothing
 * here is decided by how long it takes; with LT_TEST_TIMES set, it is told how long the watchdog took. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fakes/engine_fix.h"
#include "fakes/madness.h"
#include "fakes/sanitizer.h"
#include "sandbox/workers.h"

/* TSan's address space holds about 440 boxes; ASan's shadow of so many stacks takes its time. */
#define MANY      (TSAN ? 300 : ASAN ? 1000 : 2000)
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

static bool on_poll(void *arg) {
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

static bool on_start(void *arg, lt_str tool, lt_str input, bool is_object, lt_outcome *ret) {
  (void)arg, (void)tool, (void)input, (void)is_object;
  ret->id = 1;
  return true;
}

/* Every call waits for the test. */
static bool on_call(void *arg, uint32_t id, lt_outcome *ret) {
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

static void on_output(void *arg, lt_str text) {
  (void)arg, (void)text;
}

static void run_prog(void *arg) {
  prog *p = arg;
  lt_engine_run(p->task.box, &p->program, &p->host, &p->result);
  p->step = LT_STEP_DONE;
}

static lt_workers_step on_step(lt_workers_task *task) {
  prog *p = (prog *)task;
  if (p->steps++ > 0 && !pthread_equal(p->thread, pthread_self())) {
    p->moves++;
  }
  p->thread = pthread_self();
  p->step = LT_STEP_DONE;
  return lt_fiber_resume(&p->fiber) ? p->step : LT_STEP_DONE;
}

static void finish(prog *p) {
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
static void go_on(prog *p) {
  pthread_mutex_lock(&yard.lock);
  lt_workers *to = p->elsewhere;
  p->elsewhere = p->workers;
  p->workers = to;
  lt_workers_submit(to, &p->task);
  pthread_mutex_unlock(&yard.lock);
}

static void after_step(lt_workers_task *task, lt_workers_step step) {
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

static void prog_init(prog *p, lt_workers *workers, const char *code) {
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

static void prog_start(prog *p, lt_workers *workers, const char *code, uint64_t deadline_ms) {
  prog_init(p, workers, code);
  if (deadline_ms > 0) {
    atomic_store(&p->task.deadline_ns, lt_workers_now() + deadline_ms * MS);
  }
  lt_workers_submit(workers, &p->task);
}

static void prog_end(prog *p) {
  assert_true(p->done);
  lt_engine_result_release(&p->result);
}

/* --- Waiting for them --------------------------------------------------------------------------------------------- */
static void yard_reset(bool hold) {
  pthread_mutex_lock(&yard.lock);
  yard.done = yard.parked = 0;
  yard.held = NULL;
  yard.hold = hold;
  pthread_mutex_unlock(&yard.lock);
}

static void wait_until(const unsigned *counter, unsigned wanted) {
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

static bool is_done(prog *p) {
  pthread_mutex_lock(&yard.lock);
  bool done = p->done;
  pthread_mutex_unlock(&yard.lock);
  return done;
}

static void resume_all(void) {
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

static lt_workers *open_workers(unsigned count) {
  lt_workers *workers = NULL;
  assert_int_equal(lt_workers_new(count, &workers, NULL), LT_OK);
  yard_reset(false);
  return workers;
}

static void expect_text(prog *p, lt_ending ending, const char *text) {
  assert_int_equal(p->result.ending, ending);
  assert_string_equal(p->result.text.p, text);
}

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

/* These do not poll for seconds at least, most of them for minutes. */
static const char *const never_polls[] = {
    "for (;;) (2n ** 1000000n).toString()",
    "let o = {}; for (let i = 0; i < 100000; i++) o = { o }; for (;;) { try { JSON.stringify(o) } catch {} }",
    "let s = 'x'; for (let i = 0; i < 200000; i++) s = i % 2 ? s + 'y' : 'y' + s; s === s + ''",
    "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "const a = []; a.length = 2 ** 32 - 1; a.reverse()",
    "new Array(2 ** 32 - 1).join('').length",
    "const a = new Array(2 ** 31).sort()",
    "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
    "String.raw({ raw: { length: 1e12 } })",
    "const b = new Uint8Array(4e7); for (;;) b.fill(1).reverse().sort()",
    "const big = 3n ** 300000n; for (;;) big * big",
    "const s = 'a'.repeat(5e6); for (;;) s.indexOf('a'.repeat(2e6) + 'b')",
    "const s = 'ab'.repeat(5e6); for (;;) s.replaceAll('ab', 'c')",
};
enum { NEVER_POLLS = sizeof never_polls / sizeof never_polls[0] };

/* One worker only, and it is held: the others get another, again and again, also after that one has gone to sleep. */
static void a_stuck_step_starves_nobody(void **state) {
  (void)state;
  engine_traps();
  lt_workers *workers = open_workers(1);
  prog stuck;
  prog quick;
  prog_start(&stuck, workers, never_polls[0], 0);
  for (unsigned i = 1; i <= 3; i++) {
    prog_start(&quick, workers, "call() + call()", 0);
    wait_until(&yard.done, i);
    expect_text(&quick, LT_END_VALUE, "3");
    prog_end(&quick);
    assert_false(is_done(&stuck));
    usleep(250000); /* an extra worker without work ends meanwhile */
  }
  lt_workers_task_stop(&stuck.task, LT_STOP_CANCEL);
  wait_until(&yard.done, 4);
  assert_int_equal(stuck.result.ending, LT_END_STOPPED);
  prog_end(&stuck);
  lt_workers_free(workers);
}

static void many_stuck_steps_starve_nobody(void **state) {
  enum { STUCK = 6 };
  (void)state;
  engine_traps();
  lt_workers *workers = open_workers(1);
  prog stuck[STUCK];
  prog quick;
  for (unsigned i = 0; i < STUCK; i++) {
    prog_start(&stuck[i], workers, never_polls[i % 2 * 2], 0);
  }
  prog_start(&quick, workers, "'through'", 0);
  wait_until(&yard.done, 1);
  expect_text(&quick, LT_END_STRING, "through");
  prog_end(&quick);
  for (unsigned i = 0; i < STUCK; i++) {
    lt_workers_task_stop(&stuck[i].task, LT_STOP_CANCEL);
  }
  wait_until(&yard.done, 1 + STUCK);
  for (unsigned i = 0; i < STUCK; i++) {
    assert_int_equal(stuck[i].result.ending, LT_END_STOPPED);
    prog_end(&stuck[i]);
  }
  lt_workers_free(workers);
}

/* --- Ends that come from outside ---------------------------------------------------------------------------------- */
static void deadlines_by_poll(void **state) {
  static const char *const codes[] = {
      "for (;;);",
      "for (;;) { try { for (;;); } catch { } finally { continue } }",
      "function f() { try { f() } finally { f() } } f()",
      "/(a+)+$/.test('a'.repeat(100) + 'b')",
      "await (async () => { for (;;) await 0 })()",
      "[1, 2, 3].sort(() => { for (;;); })",
  };
  enum { COUNT = sizeof codes / sizeof codes[0] };
  (void)state;
  engine_traps();
  lt_workers *workers = open_workers(2);
  prog p[COUNT];
  for (unsigned i = 0; i < COUNT; i++) {
    prog_start(&p[i], workers, codes[i], 30);
  }
  wait_until(&yard.done, COUNT);
  for (unsigned i = 0; i < COUNT; i++) {
    assert_int_equal(p[i].result.ending, LT_END_STOPPED);
    assert_int_equal(atomic_load(&p[i].task.stop), LT_STOP_TIMEOUT);
    prog_end(&p[i]);
  }
  lt_workers_free(workers);
}

static void deadlines_by_force(void **state) {
  (void)state;
  engine_traps();
  bool told = getenv("LT_TEST_TIMES") != NULL;
  unsigned forced = 0;
  lt_workers *workers = open_workers(1);
  for (unsigned i = 0; i < NEVER_POLLS; i++) {
    prog p;
    yard_reset(false);
    prog_start(&p, workers, never_polls[i], 300);
    wait_until(&yard.done, 1);
    uint64_t late = p.done_ns - atomic_load(&p.task.deadline_ns);
    if (told) {
      printf("%7.2f ms after the deadline, %s  %.70s\n", (double)late / 1e6, lt_box_trap_text(p.trap), never_polls[i]);
    }
    assert_int_equal(p.result.ending, LT_END_STOPPED);
    assert_int_equal(atomic_load(&p.task.stop), LT_STOP_TIMEOUT);
    forced += p.trap == LT_TRAP_REVOKED;
    prog_end(&p);
  }
  assert_true(forced >= 5);
  lt_workers_free(workers);
}

/* No program can be made to do this, but a guest gone mad might: neither the interrupt nor the memory stops it. */
static void deadlines_by_signal(void **state) {
  (void)state;
  engine_traps();
  bool told = getenv("LT_TEST_TIMES") != NULL;
  unsigned by_signal = 0;
  lt_workers *workers = open_workers(2);
  for (unsigned i = 0; i < 10; i++) {
    prog mad;
    prog well;
    yard_reset(false);
    prog_init(&mad, workers, MAD_CODE);
    assert_true(madden(mad.task.box));
    atomic_store(&mad.task.deadline_ns, lt_workers_now() + 30 * MS);
    lt_workers_submit(workers, &mad.task);
    prog_start(&well, workers, "let n = 0; for (let i = 0; i < 1e6; i++) n += i; `${n / 7}`", 0);
    wait_until(&yard.done, 2);
    uint64_t late = mad.done_ns - atomic_load(&mad.task.deadline_ns);
    if (told) {
      printf("%7.2f ms after the deadline, by signal\n", (double)late / 1e6);
    }
    assert_int_equal(mad.result.ending, LT_END_STOPPED);
    assert_int_equal(mad.trap, LT_TRAP_REVOKED);
    by_signal += late >= LT_WATCHDOG_NUDGE_MS * MS;
    expect_text(&well, LT_END_STRING, "71428500000");
    prog_end(&mad);
    prog_end(&well);
  }
  assert_true(by_signal > 0); /* or the memory was enough each time */
  lt_workers_free(workers);
}

/* A deadline may be moved while the program waits. */
static void deadlines_that_move(void **state) {
  (void)state;
  engine_traps();
  lt_workers *workers = open_workers(1);
  prog p;
  yard_reset(true);
  prog_start(&p, workers, "call(); 'in time'", 3600000);
  wait_until(&yard.parked, 1);
  atomic_store(&p.task.deadline_ns, 1);
  resume_all();
  wait_until(&yard.done, 1);
  assert_int_equal(p.result.ending, LT_END_STOPPED);
  prog_end(&p);
  lt_workers_free(workers);
}

static void cancel_while_parked(void **state) {
  (void)state;
  engine_traps();
  lt_workers *workers = open_workers(2);
  prog p;
  yard_reset(true);
  prog_start(&p, workers, "try { call() } catch { call() } finally { for (;;); } 'went on'", 0);
  wait_until(&yard.parked, 1);
  lt_workers_task_stop(&p.task, LT_STOP_CANCEL);
  resume_all();
  wait_until(&yard.done, 1);
  assert_int_equal(p.result.ending, LT_END_STOPPED);
  assert_int_equal(p.calls, 1);
  prog_end(&p);
  lt_workers_free(workers);
}

static void cancel_before_it_begins(void **state) {
  (void)state;
  engine_traps();
  lt_workers *workers = open_workers(1);
  prog p;
  prog_init(&p, workers, "for (;;);");
  lt_workers_task_stop(&p.task, LT_STOP_CANCEL);
  lt_workers_submit(workers, &p.task);
  wait_until(&yard.done, 1);
  assert_int_equal(p.result.ending, LT_END_STOPPED);
  prog_end(&p);
  lt_workers_free(workers);
}

/* Stops that come at any moment: while it starts, computes, calls, ends. */
static void cancels_at_any_moment(void **state) {
  static const char *const codes[] = {
      "let n = 0; for (let i = 0; i < 200; i++) n += call(); n",
      "for (;;) JSON.parse('[' + '1,'.repeat(1000) + '1]')",
      "for (;;) [5, 3, 1].sort().map(String).join()",
      "1",
      "for (;;) { try { null.x } catch { } }",
      "const a = []; for (;;) a.push(new Array(1000).fill(a.length))",
  };
  enum { ROUNDS = 150 };
  (void)state;
  engine_traps();
  lt_workers *workers = open_workers(2);
  unsigned seed = 12345;
  for (unsigned i = 0; i < ROUNDS; i++) {
    prog p;
    yard_reset(false);
    prog_start(&p, workers, codes[i % 6], 0);
    seed = seed * 1103515245 + 12345;
    usleep((seed >> 16) % 3000);
    lt_workers_task_stop(&p.task, LT_STOP_CANCEL);
    wait_until(&yard.done, 1);
    assert_true(p.result.ending != LT_END_TRAP);
    prog_end(&p);
  }
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

/* A trap on one thread leaves the others alone. */
static void traps_on_many_threads(void **state) {
  enum { COUNT = 60 };
  (void)state;
  engine_traps();
  lt_workers *workers = open_workers(4);
  prog p[COUNT];
  for (unsigned i = 0; i < COUNT; i++) {
    prog_start(&p[i], workers,
               i % 2 != 0 ? never_polls[4 + i % 3] : "let s = 0; for (let i = 0; i < 50; i++) s += call(); s",
               i % 2 != 0 ? 5 : 0);
  }
  wait_until(&yard.done, COUNT);
  for (unsigned i = 0; i < COUNT; i++) {
    if (i % 2 != 0) {
      assert_int_equal(p[i].result.ending, LT_END_STOPPED);
    } else {
      expect_text(&p[i], LT_END_VALUE, "1275");
    }
    prog_end(&p[i]);
  }
  lt_workers_free(workers);
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
      cmocka_unit_test(a_stuck_step_starves_nobody),
      cmocka_unit_test(many_stuck_steps_starve_nobody),
      cmocka_unit_test(deadlines_by_poll),
      cmocka_unit_test(deadlines_by_force),
      cmocka_unit_test(deadlines_by_signal),
      cmocka_unit_test(deadlines_that_move),
      cmocka_unit_test(cancel_while_parked),
      cmocka_unit_test(cancel_before_it_begins),
      cmocka_unit_test(cancels_at_any_moment),
      cmocka_unit_test(fibers_move_between_threads),
      cmocka_unit_test(many_suspended_at_once),
      cmocka_unit_test(traps_on_many_threads),
      cmocka_unit_test(a_step_of_our_own_is_brief),
      cmocka_unit_test(steps_of_our_own_stay_here),
      cmocka_unit_test(a_late_step_is_told_of),
      cmocka_unit_test(the_end_waits_for_our_own_step),
  };
  return cmocka_run_group_tests(tests, engine_open, engine_close);
}
