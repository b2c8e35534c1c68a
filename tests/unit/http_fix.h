/* What the tests of HTTP and of models share: the fake server (tests/fakes/model_server.mjs), a loop, fibers. */
#ifndef LT_TESTS_HTTP_FIX_H
#define LT_TESTS_HTTP_FIX_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/http.h"

typedef struct fake_server {
  pid_t pid;
  int hold; /* its input: it ends with it */
  int port;
} fake_server;

static fake_server server;
static lt_loop *loop;
static lt_http *http;

static inline void start_server(fake_server *s, const char *option) {
  int in[2], out[2];
  assert_int_equal(pipe(in), 0);
  assert_int_equal(pipe(out), 0);
  s->pid = fork();
  assert_true(s->pid >= 0);
  if (s->pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    close(in[1]);
    close(out[0]);
    execlp("node", "node", "tests/fakes/model_server.mjs", option, (char *)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  s->hold = in[1];
  FILE *f = fdopen(out[0], "r");
  assert_non_null(f);
  if (fscanf(f, "PORT %d", &s->port) != 1) {
    fail_msg("tests/fakes/model_server.mjs did not start: it needs Node.js 18 or newer");
  }
  fclose(f);
}

static inline void stop_server(fake_server *s) {
  close(s->hold);
  kill(s->pid, SIGTERM);
  waitpid(s->pid, NULL, 0);
}

static inline int setup_server(void **state) {
  (void)state;
  const char *proxies[] = {"http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"};
  for (size_t i = 0; i < sizeof proxies / sizeof proxies[0]; i++) {
    unsetenv(proxies[i]); /* this machine's own: hosts that do not exist would be asked of it */
  }
  start_server(&server, NULL);
  return 0;
}

static inline int teardown_server(void **state) {
  (void)state;
  stop_server(&server);
  return 0;
}

/* --- Running on the loop ------------------------------------------------------------------------------------------ */

typedef void (*body_fn)(void);

static inline void run_body(void *arg) {
  body_fn *body = arg;
  assert_int_equal(lt_http_new(loop, &http, NULL), LT_OK);
  (*body)();
  lt_http_free(http);
}

static inline void run(body_fn body) {
  assert_int_equal(lt_loop_new(&loop, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(loop, run_body, &body, NULL), LT_OK);
  lt_loop_run(loop);
  lt_loop_free(loop);
}

/* Many fibers of the same, and until all have ended. */
static size_t fibers_open;
static lt_wait fibers_done;

typedef struct fiber_job {
  void (*fn)(size_t i);
  size_t i;
} fiber_job;

static inline void run_job(void *arg) {
  fiber_job *job = arg;
  job->fn(job->i);
  lt_mem_free(job);
  fibers_open--;
  lt_wait_wake(&fibers_done, LT_OK);
}

static inline void run_many(size_t n, void (*fn)(size_t i)) {
  lt_wait_init(&fibers_done, loop);
  fibers_open = n;
  for (size_t i = 0; i < n; i++) {
    fiber_job *job = lt_mem_alloc(sizeof *job);
    assert_non_null(job);
    *job = (fiber_job){fn, i};
    assert_int_equal(lt_loop_spawn(loop, run_job, job, NULL), LT_OK);
  }
  while (fibers_open > 0) {
    lt_wait_on(&fibers_done, UINT64_MAX);
  }
}

/* Fires `cancel` after so long. */
typedef struct later {
  lt_cancel *cancel;
  uint64_t ms;
  lt_status why;
} later;

static inline void fire_later(void *arg) {
  later *l = arg;
  lt_loop_sleep(loop, l->ms);
  lt_cancel_fire(l->cancel, l->why);
}

static inline void cancel_after(later *l) {
  assert_int_equal(lt_loop_spawn(loop, fire_later, l, NULL), LT_OK);
}

static inline void expect_in(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    fail_msg("\"%s\" is not in: %s", part, text);
  }
}

static inline void expect_not_in(const char *text, const char *part) {
  if (strstr(text, part) != NULL) {
    fail_msg("\"%s\" is in: %s", part, text);
  }
}

/* A test whose body runs on a fiber. */
#define FLOW(name)                        \
  static void test_##name(void **state) { \
    (void)state;                          \
    run(body_##name);                     \
  }

#endif
