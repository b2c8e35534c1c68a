/* Steps that do not give way by themselves: the watchdog, deadlines, cancels and traps. */
#include <stdlib.h>
#include <unistd.h>

#include "fakes/madness.h"
#include "workers_fix.h"

/* --- Steps that are stuck ----------------------------------------------------------------------------------------- */
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

/* With LT_TEST_TIMES set, this test and the next one print how late the watchdog was. */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stuck_step_starves_nobody), cmocka_unit_test(many_stuck_steps_starve_nobody),
      cmocka_unit_test(deadlines_by_poll),           cmocka_unit_test(deadlines_by_force),
      cmocka_unit_test(deadlines_by_signal),         cmocka_unit_test(deadlines_that_move),
      cmocka_unit_test(cancel_while_parked),         cmocka_unit_test(cancel_before_it_begins),
      cmocka_unit_test(cancels_at_any_moment),       cmocka_unit_test(traps_on_many_threads),
  };
  return cmocka_run_group_tests_name("workers_watchdog", tests, engine_open, engine_close);
}
