/* What the tests of the loop share: a loop that each test opens and closes, fibers on it, a wait, a trace of what has
 * run, and the clock. */
#ifndef LT_TESTS_LOOP_FIX_H
#define LT_TESTS_LOOP_FIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "io/loop.h"

static lt_loop *loop;
static bool turning; /* still true after a test: it failed on a fiber, which will never end */

static inline int open_loop(void **state) {
  (void)state;
  return lt_loop_new(&loop, NULL);
}

static inline int close_loop(void **state) {
  (void)state;
  if (!turning) {
    lt_loop_free(loop);
  }
  turning = false;
  return 0;
}

static inline void turn(void) {
  turning = true;
  lt_loop_run(loop);
  turning = false;
}

static inline void spawn(lt_fiber_fn fn, void *arg) {
  lt_err err = LT_ERR_INIT;
  if (lt_loop_spawn(loop, fn, arg, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
}

static inline uint64_t clock_us(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

#define LOOP_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_loop, close_loop)

static char trace[64];

static inline void note(void *arg) {
  strcat(trace, arg);
}

static lt_wait one;

#endif
