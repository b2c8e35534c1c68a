/* The MCP client and a server that misbehaves, crashes, or has to be closed; and a client without memory. */
#include "unit/mcp_fix.h"

/* --- Servers that misbehave --------------------------------------------------------------------------------------- */

static void body_noise(void) {
  open_fake("--noise=3", NULL);
  expect_ready();
  assert_int_equal(f.warned, 1);
  expect_in(f.warnings, "MCP server \"fake\"");
  expect_in(f.warnings, "skipped: INFO starting up (0)\n");
  expect_result("garbage", "{\"lines\":5}", "done");
  assert_int_equal(f.warned, 1);
  lt_mcp_call_options soon = {.timeout_ms = 100};
  expect_failure_with("broken-json", "{}", &soon, LT_E_TIMEOUT, "has written 9 lines to its stdout");
  close_it();
}

static void body_too_much_noise(void) {
  open_fake("--noise=1001", NULL);
  expect_down(LT_E_PROTOCOL, "more than 1000 lines");
  close_it();
  f = (fix){0};
  open_fake("--noise=1000", NULL);
  expect_ready();
  expect_failure("garbage", "{\"lines\":1}", LT_E_PROTOCOL, "was given up");
  expect_down(LT_E_PROTOCOL, "was given up");
  close_it();
}

static void body_ids(void) {
  open_fake("--string-ids", NULL);
  expect_ready();
  expect_result("add", "{\"a\":1,\"b\":2}", "\"3\"");
  expect_result("duplicate", "{}", "once");
  expect_result("unknown", "{}", "mine");
  expect_result("add", "{\"a\":1,\"b\":2}", "\"3\"");
  close_it();
  assert_int_equal(f.warned, 1);
  expect_in(f.warnings, "no request waits for");
}

static void body_requests(void) {
  open_fake("--ask", NULL);
  expect_ready();
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(call_with("heard", "{}", NULL, &out, NULL), LT_OK);
  expect_in(out.p, "{\"jsonrpc\":\"2.0\",\"id\":\"p\\n1\",\"result\":{}}");
  expect_in(out.p, "{\"jsonrpc\":\"2.0\",\"id\":77,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
  expect_in(out.p, "[{\"jsonrpc\":\"2.0\",\"id\":78,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":79,\"result\":{}}]");
  lt_buf_release(&out);
  close_it();
}

static void body_batch(void) {
  open_fake("--batch", "--blank", "--version=2025-03-26", "--ask", NULL);
  expect_ready();
  expect_result("add", "{\"a\":1,\"b\":2}", "\"3\"");
  expect_result("duplicate", "{}", "once");
  expect_result("heard", "{}", "[{\"jsonrpc\":\"2.0\",\"id\":\"p\\n1\",\"result\":{}}]");
  close_it();
}

/* A server that does not read keeps nobody waiting, and does not keep itself from being closed. */
static void body_deaf(void) {
  open_fake("--deaf", NULL);
  expect_ready();
  lt_buf args;
  lt_buf_init(&args, 8 * LT_MIB);
  lt_buf_addc(&args, "{\"text\":\"");
  memset(lt_buf_reserve(&args, 900000), 'y', 900000);
  lt_buf_commit(&args, 900000);
  lt_buf_addc(&args, "\"}");
  lt_mcp_call_options soon = {.timeout_ms = 60};
  uint64_t since = lt_loop_now_ms(loop);
  for (int i = 0; i < 8; i++) {
    expect_failure_with("echo", args.p, &soon, LT_E_TIMEOUT, "within 60 ms");
  }
  assert_true(lt_loop_now_ms(loop) - since < 5000);
  lt_buf_release(&args);
  close_it();
}

static void body_stubborn(void) {
  open_fake("--stubborn", NULL);
  expect_ready();
  uint64_t since = lt_loop_now_ms(loop);
  close_it();
  uint64_t took = lt_loop_now_ms(loop) - since;
  assert_in_range(took, 2 * LT_PROC_KILL_AFTER_MS - 50, 6 * LT_PROC_KILL_AFTER_MS);
}

/* --- Crashes ------------------------------------------------------------------------------------------------------ */

static void body_crash(void) {
  open_fake(NULL, NULL);
  expect_ready();
  expect_failure("crash", "{\"words\":\"one\\n\\u001b[31mred\\u001b[0m alert\\n\"}", LT_E_CLOSED, "exited with code 3");
  assert_int_equal(lt_mcp_state_of(f.mcp), LT_MCP_STARTING);
  expect_result("add", "{\"a\":1,\"b\":2}", "\"3\""); /* waited for the new process */
  assert_int_equal(f.warned, 1);
  expect_in(f.warnings, "starting it again (1 of 3 within 60 s): the server exited with code 3");
  expect_in(f.warnings, "the end of its stderr: one\nred alert\n");
  expect_failure("crash", "{\"signal\":\"SIGSEGV\"}", LT_E_CLOSED, "was killed by SIGSEGV");
  expect_ready();
  assert_int_equal(f.listings, 1); /* the same tools */
  close_it();
}

/* Everybody who was waiting hears of it, each with the reason. */
static void body_crash_many(void) {
  static job jobs[10];
  memset(jobs, 0, sizeof jobs);
  open_fake(NULL, NULL);
  expect_ready();
  for (size_t i = 0; i < 9; i++) {
    jobs[i].tool = "hang";
    snprintf(jobs[i].args, sizeof jobs[i].args, "{}");
  }
  jobs[9].tool = "crash";
  snprintf(jobs[9].args, sizeof jobs[9].args, "{\"code\":70}");
  start_jobs(jobs, 10);
  await_jobs();
  for (size_t i = 0; i < 10; i++) {
    assert_int_equal(jobs[i].status, LT_E_CLOSED);
    expect_in(jobs[i].err.msg, "exited with code 70");
    expect_in(jobs[i].err.msg, "fake: about to crash");
  }
  close_it();
}

static void body_idle_crash(void) {
  open_fake(NULL, NULL);
  expect_ready();
  expect_result("crash-later", "{}", "soon");
  for (int i = 0; i < 1000 && f.warned == 0; i++) {
    lt_loop_sleep(loop, 5);
  }
  expect_in(f.warnings, "exited with code 4");
  expect_result("add", "{\"a\":1,\"b\":2}", "\"3\"");
  close_it();
}

static void body_crash_too_often(void) {
  open_fake(NULL, NULL);
  for (int i = 0; i <= LT_MCP_RESTARTS_MAX; i++) {
    expect_failure("crash", "{}", LT_E_CLOSED, "exited with code 3");
  }
  expect_down(LT_E_CLOSED, "ended 4 times within 60 s and is left down; the last time: the server exited with code 3");
  assert_int_equal(f.warned, LT_MCP_RESTARTS_MAX);
  expect_failure("add", "{\"a\":1,\"b\":2}", LT_E_CLOSED, "left down");
  assert_true(tool_count() > 0); /* its tools are known, and fail with the reason */
  close_it();
}

static void body_close_stdin(void) {
  open_fake(NULL, NULL);
  expect_ready();
  lt_mcp_call_options options = {.timeout_ms = 1000};
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  call_with("close-stdin", "{}", &options, &out, NULL);
  lt_buf_release(&out);
  expect_ready();
  expect_result("add", "{\"a\":1,\"b\":2}", "\"3\"");
  close_it();
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */

static void body_close_in_flight(void) {
  static job jobs[3];
  memset(jobs, 0, sizeof jobs);
  open_fake(NULL, NULL);
  expect_ready();
  for (size_t i = 0; i < 3; i++) {
    jobs[i].tool = "hang";
    snprintf(jobs[i].args, sizeof jobs[i].args, "{}");
  }
  start_jobs(jobs, 3);
  lt_loop_sleep(loop, 20);
  close_it();
  for (size_t i = 0; i < 3; i++) {
    assert_true(jobs[i].done);
    assert_int_equal(jobs[i].status, LT_E_CLOSED);
    expect_in(jobs[i].err.msg, "being shut down");
  }
}

static void body_close_while_starting(void) {
  static job jobs[1];
  memset(jobs, 0, sizeof jobs);
  open_fake("--never", NULL);
  jobs[0].tool = "echo";
  snprintf(jobs[0].args, sizeof jobs[0].args, "{}");
  start_jobs(jobs, 1);
  lt_loop_sleep(loop, 20);
  close_it();
  assert_true(jobs[0].done);
  assert_int_equal(jobs[0].status, LT_E_CLOSED);
  open_fake(NULL, NULL);
  close_it(); /* before it was even started */
}

static void body_wait_gives_up(void) {
  open_fake("--never", NULL);
  lt_mcp_call_options soon = {.timeout_ms = 50};
  expect_failure_with("echo", "{}", &soon, LT_E_TIMEOUT, "not ready in time");
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  lt_mcp_call_options cancelled = {.cancel = &cancel};
  expect_failure_with("echo", "{}", &cancelled, LT_E_CANCELLED, "before the server was ready");
  close_it();
}

static void close_one(void *arg) {
  lt_mcp_close(arg);
  jobs_open--;
  lt_wait_wake(&jobs_done, LT_OK);
}

static void body_close_several(void) {
  lt_wait_init(&jobs_done, loop);
  lt_mcp *servers[3];
  for (size_t i = 0; i < 3; i++) {
    open_fake("--stubborn", NULL);
    expect_ready();
    servers[i] = f.mcp;
  }
  uint64_t since = lt_loop_now_ms(loop);
  jobs_open = 3;
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(lt_loop_spawn(loop, close_one, servers[i], NULL), LT_OK);
  }
  await_jobs();
  assert_true(lt_loop_now_ms(loop) - since < 4 * LT_PROC_KILL_AFTER_MS);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */

/* A server of a few lines: starts in no time. */
static const char *const small_server[] = {
    "-c",
    "read z; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}';"
    "read a; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
    "{\"tools\":{}},\"instructions\":\"i\"}}'; read b; read c;"
    "echo '{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"n\"}}'; read d;"
    "echo '{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"tools\":[{\"name\":\"b\"}]}}'; read e;"
    "echo '{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"content\":[]}}'; read f",
    NULL};

static bool swept;

static void body_sweep(void) {
  lt_mcp_options options = {.name = LT_STR("small"),
                            .command = "sh",
                            .args = small_server,
                            .start_timeout_ms = 150,
                            .call_timeout_ms = 150,
                            .on_tools = on_tools,
                            .on_warning = on_warning,
                            .arg = &f};
  lt_err err = LT_ERR_INIT;
  lt_status status = lt_mcp_open(loop, &options, &f.mcp, &err);
  if (status != LT_OK) {
    assert_int_equal(status, LT_E_NOMEM);
    return;
  }
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  status = call_with("a", "{}", NULL, &out, &err);
  swept = status == LT_OK && !lt_mem_failed();
  lt_mem_fail_at(-1);
  if (status != LT_OK) {
    assert_true(strlen(err.msg) > 0);
  }
  lt_buf_release(&out);
  lt_mcp_close(f.mcp);
}

static void run_sweep(void *arg) {
  (void)arg;
  body_sweep();
}

/* Whichever allocation fails, the client says so or goes on, never hangs, and gives back what it took. */
static void test_without_memory(void **state) {
  (void)state;
  swept = false;
  long n = 0;
  for (; !swept && n < 2000; n++) {
    f = (fix){0};
    assert_int_equal(lt_loop_new(&loop, NULL), LT_OK);
    assert_int_equal(lt_loop_spawn(loop, run_sweep, NULL, NULL), LT_OK);
    lt_mem_fail_at(n);
    lt_loop_run(loop);
    lt_mem_fail_at(-1);
    lt_loop_free(loop);
  }
  assert_true(swept);
  assert_true(n > 20);
}

FLOW(noise)
FLOW(too_much_noise)
FLOW(ids)
FLOW(requests)
FLOW(batch)
FLOW(deaf)
FLOW(stubborn)
FLOW(crash)
FLOW(crash_many)
FLOW(idle_crash)
FLOW(crash_too_often)
FLOW(close_stdin)
FLOW(close_in_flight)
FLOW(close_while_starting)
FLOW(wait_gives_up)
FLOW(close_several)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_noise),
      cmocka_unit_test(test_too_much_noise),
      cmocka_unit_test(test_ids),
      cmocka_unit_test(test_requests),
      cmocka_unit_test(test_batch),
      cmocka_unit_test(test_deaf),
      cmocka_unit_test(test_stubborn),
      cmocka_unit_test(test_crash),
      cmocka_unit_test(test_crash_many),
      cmocka_unit_test(test_idle_crash),
      cmocka_unit_test(test_crash_too_often),
      cmocka_unit_test(test_close_stdin),
      cmocka_unit_test(test_close_in_flight),
      cmocka_unit_test(test_close_while_starting),
      cmocka_unit_test(test_wait_gives_up),
      cmocka_unit_test(test_close_several),
      cmocka_unit_test(test_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
