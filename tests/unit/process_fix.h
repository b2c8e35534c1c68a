/* What the tests of child processes share: a loop for each test, a check that the test has closed its files, and
 * functions that start a child, read from it, write to it and wait for the end of a process. */
#ifndef LT_TESTS_PROCESS_FIX_H
#define LT_TESTS_PROCESS_FIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "io/process.h"
#include "unit/open_files.h"

static lt_loop *loop;
static size_t fds_before;
static bool turning; /* still true after a test: it failed on a fiber, which will never end */

static inline int open_loop(void **state) {
  (void)state;
  fds_before = count_fds();
  return lt_loop_new(&loop, NULL);
}

static inline int close_loop(void **state) {
  (void)state;
  if (turning) {
    turning = false;
    return 0;
  }
  lt_loop_free(loop);
  return count_fds() == fds_before ? 0 : -1;
}

static inline void turn(void) {
  turning = true;
  lt_loop_run(loop);
  turning = false;
}

static inline void run(lt_fiber_fn fn) {
  assert_int_equal(lt_loop_spawn(loop, fn, NULL, NULL), LT_OK);
  turn();
}

static inline lt_process *start(const lt_process_options *options) {
  lt_err err = LT_ERR_INIT;
  lt_process *p = NULL;
  if (lt_process_open(loop, options, &p, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
  return p;
}

static inline lt_process *start_shell(const char *script) {
  const char *argv[] = {"sh", "-c", script, NULL};
  return start(&(lt_process_options){.file = "sh", .argv = argv, .line_max = 64 * LT_MIB});
}

static inline lt_process *start_cat(size_t line_max) {
  const char *argv[] = {"cat", NULL};
  return start(&(lt_process_options){.file = "/bin/cat", .argv = argv, .line_max = line_max});
}

static inline void expect_line(lt_process *p, const char *want) {
  lt_str line;
  lt_err err = LT_ERR_INIT;
  if (lt_process_read_line(p, &line, &err) != LT_OK) {
    fail_msg("wanted \"%s\", got: %s", want, lt_err_msg(&err));
  }
  if (!lt_str_eqc(line, want)) {
    fail_msg("wanted \"%s\", got \"%.*s\"", want, LT_STR_ARG(line));
  }
}

static inline void expect_failure(lt_process *p, lt_status want, const char *msg) {
  lt_str line;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_process_read_line(p, &line, &err), want);
  assert_string_equal(lt_err_msg(&err), msg);
}

static inline void write_all(lt_process *p, lt_str bytes) {
  lt_err err = LT_ERR_INIT;
  if (lt_process_write(p, bytes, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
}

/* Whether the process ends within so long; it need not be our child. */
static inline bool ends_within(int pid, int timeout_ms) {
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) {
    return true;
  }
  struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
  int n;
  do {
    n = poll(&poll_fd, 1, timeout_ms);
  } while (n < 0); /* SIGCHLD */
  close(fd);
  return n == 1;
}

static inline int read_pid(lt_process *p) {
  lt_str line;
  char copy[16] = "";
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK);
  assert_true(line.n < sizeof copy);
  memcpy(copy, line.p, line.n);
  return atoi(copy);
}

/* What started this test may have left files open or signals ignored. */
static inline void clean_up(void) {
  for (int fd = 3; fd < 1024; fd++) {
    close(fd);
  }
  struct rlimit limit = {.rlim_cur = 256, .rlim_max = 256};
  setrlimit(RLIMIT_NOFILE, &limit);
}

#define LOOP_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_loop, close_loop)

#endif
