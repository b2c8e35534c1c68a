/* The compiler's process, which is a fake one here (tests/fakes/lsp_fake.c): what a check says when it goes wrong, and
 * that nothing is left of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "runner/typecheck/tsc_server.h"
#include "unit/open_files.h"

enum { SHORT_MS = 200, LONG_MS = 60000, LARGE = 4 * 1024 * 1024 };

typedef struct attempt {
  const char *how; /* the fake goes wrong */
  unsigned wait_ms;
  size_t tools_bytes;
  unsigned checks; /* in a row, while they succeed */
  bool is_cancelled;
  lt_status status; /* of the last check */
  unsigned done;
  bool has_items; /* in every reply */
  char message[LT_ERR_MSG_MAX];
} attempt;

static lt_loop *loop;
static size_t fds_before;

static int open_loop(void **state) {
  (void)state;
  fds_before = count_fds();
  return lt_loop_new(&loop, NULL) == LT_OK ? 0 : -1;
}

static int close_loop(void **state) {
  (void)state;
  lt_loop_free(loop);
  bool has_no_child = waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD;
  return has_no_child && count_fds() == fds_before ? 0 : -1;
}

static void check(attempt *a, lt_tsc_server *server, lt_str tools) LT_YIELDS {
  lt_cancel cancel;
  lt_str reply;
  lt_err err = LT_ERR_INIT;
  lt_cancel_init(&cancel);
  if (a->is_cancelled) {
    lt_cancel_fire(&cancel, LT_E_CANCELLED);
  }
  a->has_items = true;
  do {
    a->status = lt_tsc_server_check(server, tools, LT_STR("const n = 1;"), &cancel, &reply, &err);
    a->has_items = a->has_items && a->status == LT_OK && lt_str_find(reply, LT_STR("\"items\":[]"), 0) != SIZE_MAX;
    a->done += a->status == LT_OK;
  } while (a->status == LT_OK && a->done < a->checks);
  snprintf(a->message, sizeof a->message, "%s", lt_err_msg(&err));
}

static void on_fiber(void *arg) {
  attempt *a = arg;
  char path[64];
  snprintf(path, sizeof path, "/nowhere/%s", a->how);
  const lt_tsc_server_options options = {.loop = loop,
                                         .tsc = path,
                                         .helper = LSP_FAKE,
                                         .without_walls = true,
                                         .globals = LT_STR("declare const x: number;"),
                                         .wait_ms = a->wait_ms};
  lt_tsc_server *server = NULL;
  LT_AUTO_BUF(tools, 2 * LARGE);
  char *room = lt_buf_reserve(&tools, a->tools_bytes + 1);
  assert_non_null(room);
  memset(room, ' ', a->tools_bytes);
  lt_buf_commit(&tools, a->tools_bytes);
  assert_int_equal(lt_tsc_server_open(&options, &server, NULL), LT_OK);
  check(a, server, lt_buf_view(&tools));
  lt_tsc_server_close(server);
}

static void run(attempt *a) {
  assert_int_equal(lt_loop_spawn(loop, on_fiber, a, NULL), LT_OK);
  lt_loop_run(loop);
}

static void expect(attempt a, lt_status status, unsigned done, const char *message) {
  run(&a);
  assert_string_equal(a.message, message);
  assert_int_equal(a.status, status);
  assert_int_equal(a.done, done);
}

static void expect_success(attempt a) {
  run(&a);
  assert_int_equal(a.status, LT_OK);
  assert_int_equal(a.done, a.checks);
  assert_true(a.has_items);
}

static void test_checks_in_a_row(void **state) {
  (void)state;
  expect_success((attempt){.how = "right", .wait_ms = LONG_MS, .checks = 5});
  expect_success((attempt){.how = "right", .wait_ms = LONG_MS, .checks = 2, .tools_bytes = LARGE});
}

static void test_messages_byte_by_byte(void **state) {
  (void)state;
  expect_success((attempt){.how = "bytes", .wait_ms = LONG_MS, .checks = 3});
}

static void test_no_language_server(void **state) {
  (void)state;
  const char *const ways[] = {"garbage", "long-header", "no-json"};
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    expect((attempt){.how = ways[i], .wait_ms = LONG_MS, .checks = 1}, LT_E_CLOSED, 0,
           "tsc does not answer as a language server does");
  }
}

static void test_crash_in_an_answer(void **state) {
  (void)state;
  expect((attempt){.how = "crash", .wait_ms = LONG_MS, .checks = 1}, LT_E_CLOSED, 0, "tsc was killed by SIGTERM");
}

static void test_hang(void **state) {
  (void)state;
  expect((attempt){.how = "hang", .wait_ms = SHORT_MS, .checks = 1}, LT_E_TIMEOUT, 0,
         "tsc did not answer within 0.2 s");
}

/* More than the pipe and the queue hold: the write itself would wait for ever. */
static void test_input_not_read(void **state) {
  (void)state;
  expect((attempt){.how = "deaf", .wait_ms = SHORT_MS, .checks = 1, .tools_bytes = LARGE}, LT_E_TIMEOUT, 0,
         "tsc did not answer within 0.2 s");
}

static void test_cancelled(void **state) {
  (void)state;
  attempt a = {.how = "hang", .wait_ms = LONG_MS, .checks = 1, .is_cancelled = true};
  run(&a);
  assert_int_equal(a.status, LT_E_CANCELLED);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_loop, close_loop)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(test_checks_in_a_row),
      CASE(test_messages_byte_by_byte),
      CASE(test_no_language_server),
      CASE(test_crash_in_an_answer),
      CASE(test_hang),
      CASE(test_input_not_read),
      CASE(test_cancelled),
  };
  return cmocka_run_group_tests(tests, warm_up, NULL);
}
