/* The box's last resort, the signal: it ends a guest that loops without touching its memory, and hurts nobody else,
 * wherever it comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fakes/engine_fix.h"
#include "fakes/madness.h"
#include "fakes/sanitizer.h"
#include "sandbox/guest.h"
#include "sandbox/qjs_abi.h"

#define WILD 0xf0000000u /* an address far above what any program here has */

/* --- A program on a box of its own, and somebody who watches it --------------------------------------------------- */
typedef struct visit {
  lt_box *box;
  const char *code;
  pthread_t thread;
  atomic_bool called; /* the program has called its tool at least once */
  atomic_bool ended;
  bool outlived; /* it went on after its memory was gone */
  unsigned revoke_after_us;
  bool mad;
  unsigned entered; /* the tool: how often it began, and how often it came to its end */
  unsigned left;
} visit;

static bool on_start(void *arg, lt_str tool, lt_str input, bool is_object, lt_outcome *ret) {
  (void)arg, (void)tool, (void)input, (void)is_object;
  ret->id = 1;
  return true;
}

static bool on_call(void *arg, uint32_t id, lt_outcome *ret) {
  visit *v = arg;
  (void)id;
  v->entered++;
  if (v->mad && !madden(v->box)) {
    lt_box_stop(v->box);
  }
  atomic_store(&v->called, true);
  v->left++;
  *ret = (lt_outcome){.ok = true, .text = LT_STR("1")};
  return true;
}

static bool on_resolve(void *arg, lt_str name, lt_outcome *ret) {
  (void)arg;
  ret->text = name;
  return true;
}

static void eval(void *arg) {
  visit *v = arg;
  lt_guest guest;
  lt_guest_host host = {.arg = v, .start = on_start, .wait = on_call, .resolve = on_resolve};
  lt_guest_init(&guest, v->box, &host);
  lt_guest_eval(&guest, lt_str_of(v->code), LT_STR("code.js"), false);
}

static void wild(void *arg) {
  visit *v = arg;
  LT_BOX_ENTER(v->box, Z_qjsZ_memcpy(v->box->instance, 16, WILD, 8));
}

static void on_stack(visit *v, lt_fiber_fn fn) {
  lt_fiber fiber;
  lt_fiber_init(&fiber, v->box->stack, lt_box_stack_bytes(v->box), fn, v);
  assert_false(lt_fiber_resume(&fiber));
  lt_fiber_release(&fiber);
  atomic_store(&v->ended, true);
}

static void take(visit *v) {
  *v = (visit){.thread = pthread_self()};
  assert_int_equal(lt_pool_take(&engine_pool, &v->box, NULL), LT_OK);
}

static void expect_nothing_blocked(void) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  for (int signum = 1; signum < SIGRTMIN; signum++) {
    assert_int_not_equal(sigismember(&blocked, signum), 1);
  }
}

/* --- What it is for ----------------------------------------------------------------------------------------------- */
static void *end_by_force(void *arg) {
  visit *v = arg;
  while (!atomic_load(&v->called)) {
    usleep(100);
  }
  usleep(5000);
  lt_box_revoke(v->box);
  usleep(20000);
  v->outlived = !atomic_load(&v->ended);
  while (!atomic_load(&v->ended)) {
    lt_box_nudge(v->thread);
    usleep(1000);
  }
  return NULL;
}

static void ends_a_loop_without_memory(void **state) {
  (void)state;
  engine_traps();
  unsigned outlived = 0;
  for (int i = 0; i < 10; i++) {
    pthread_t watchdog;
    visit v;
    take(&v);
    v.mad = true;
    v.code = "tools['mad'](); " MAD_CODE;
    assert_int_equal(pthread_create(&watchdog, NULL, end_by_force, &v), 0);
    on_stack(&v, eval);
    pthread_join(watchdog, NULL);
    assert_int_equal(v.box->trap, LT_TRAP_REVOKED);
    assert_null(v.box->frame);
    assert_false(lt_box_clean(v.box));
    expect_nothing_blocked();
    lt_pool_give(&engine_pool, v.box);
    outlived += v.outlived;
    ENGINE_EXPECT("String(0.1)", "'0.1'");
  }
  assert_true(outlived > 0); /* or nothing but the memory was needed, and this proves nothing */
}

/* --- Wherever it comes -------------------------------------------------------------------------------------------- */
static void *nudge_without_end(void *arg) {
  visit *v = arg;
  while (!atomic_load(&v->ended)) {
    lt_box_nudge(v->thread);
    usleep(50);
  }
  return NULL;
}

/* In the guest, in host code, between programs, and while a trap unwinds. */
static void hurts_nobody_else(void **state) {
  (void)state;
  engine_traps();
  pthread_t nudger;
  visit all = {.thread = pthread_self()};
  assert_int_equal(pthread_create(&nudger, NULL, nudge_without_end, &all), 0);
  for (int i = 0; i < 200; i++) {
    ENGINE_EXPECT("let n = 0; for (let i = 0; i < 2000; i++) n += JSON.stringify([i]).length; output('x'); n", "10890");
    visit v;
    take(&v);
    on_stack(&v, wild);
    assert_int_equal(v.box->trap, LT_TRAP_MEMORY);
    expect_nothing_blocked();
    lt_pool_give(&engine_pool, v.box);
  }
  atomic_store(&all.ended, true);
  pthread_join(nudger, NULL);
}

static void *revoke_and_nudge(void *arg) {
  visit *v = arg;
  while (!atomic_load(&v->called)) {
  }
  for (volatile unsigned i = 0; i < v->revoke_after_us * 100; i++) {
  }
  lt_box_revoke(v->box);
  while (!atomic_load(&v->ended)) {
    lt_box_nudge(v->thread);
    usleep(10); /* or it may get nothing done but being nudged */
  }
  return NULL;
}

/* A program that is in and out of host code all the time: however a nudge meets it, host code comes to its end. */
static void jumps_over_no_host_code(void **state) {
  (void)state;
  engine_traps();
  if (TSAN) {
    skip(); /* its runtime has locks, and is called at the border, too: in the first lines of an import */
  }
  for (unsigned i = 0; i < 200; i++) {
    pthread_t watchdog;
    visit v;
    take(&v);
    v.code = "for (;;) { try { tools['t']() } catch {} }";
    v.revoke_after_us = i;
    assert_int_equal(pthread_create(&watchdog, NULL, revoke_and_nudge, &v), 0);
    on_stack(&v, eval);
    pthread_join(watchdog, NULL);
    assert_int_equal(v.box->trap, LT_TRAP_REVOKED);
    assert_null(v.box->frame);
    assert_true(v.entered > 0);
    assert_int_equal(v.entered, v.left);
    expect_nothing_blocked();
    lt_pool_give(&engine_pool, v.box);
  }
}

/* --- Other threads' masks ----------------------------------------------------------------------------------------- */
static void *trap_on_a_thread(void *arg) {
  visit *v = arg;
  if (lt_box_thread_init(NULL) == LT_OK) {
    lt_fiber fiber;
    lt_fiber_init(&fiber, v->box->stack, lt_box_stack_bytes(v->box), wild, v);
    lt_fiber_resume(&fiber);
    lt_fiber_release(&fiber);
    lt_box_thread_release();
  }
  return NULL;
}

/* Whoever starts us may have blocked everything; a fault that is blocked would end the process. */
static void traps_where_signals_are_blocked(void **state) {
  (void)state;
  engine_traps();
  pthread_t thread;
  sigset_t every;
  sigset_t before;
  visit v;
  take(&v);
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  int created = pthread_create(&thread, NULL, trap_on_a_thread, &v);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  assert_int_equal(created, 0);
  pthread_join(thread, NULL);
  assert_int_equal(v.box->trap, LT_TRAP_MEMORY);
  lt_pool_give(&engine_pool, v.box);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ends_a_loop_without_memory),
      cmocka_unit_test(hurts_nobody_else),
      cmocka_unit_test(jumps_over_no_host_code),
      cmocka_unit_test(traps_where_signals_are_blocked),
  };
  return cmocka_run_group_tests(tests, engine_open, engine_close);
}
