/* What the tests of the MCP client share: a client of the fake server (tests/fakes/mcp_server.mjs) on a real loop. */
#ifndef LT_TESTS_MCP_FIX_H
#define LT_TESTS_MCP_FIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/mcp_client.h"

#define ARGS_MAX 8

/* One client under test, and what it has told us. */
typedef struct fix {
  lt_mcp *mcp;
  size_t listings;     /* calls of on_tools */
  lt_secrets *secrets; /* for its next start; may be NULL */
  size_t warned;
  char warnings[16384];
} fix;

static lt_loop *loop;
static fix f;

/* --- Running on the loop ------------------------------------------------------------------------------------------ */

typedef void (*body_fn)(void);

static inline void run_body(void *arg) {
  body_fn *body = arg;
  (*body)();
}

static inline void run(body_fn body) {
  f = (fix){0};
  assert_int_equal(lt_loop_new(&loop, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(loop, run_body, &body, NULL), LT_OK);
  lt_loop_run(loop);
  lt_loop_free(loop);
}

static inline void on_tools(void *arg, lt_mcp *mcp) {
  fix *x = arg;
  (void)mcp;
  x->listings++;
}

static inline void on_warning(void *arg, lt_mcp *mcp, lt_str message) {
  fix *x = arg;
  (void)mcp;
  size_t used = strlen(x->warnings);
  snprintf(x->warnings + used, sizeof x->warnings - used, "%.*s\n", LT_STR_ARG(message));
  x->warned++;
}

static inline lt_mcp_options fake_options(const char **args, const char *first, va_list more) {
  size_t n = 0;
  args[n++] = "tests/fakes/mcp_server.mjs";
  for (const char *arg = first; arg && n < ARGS_MAX - 1; arg = va_arg(more, const char *)) {
    args[n++] = arg;
  }
  args[n] = NULL;
  return (lt_mcp_options){
      .name = LT_STR("fake"),
      .command = "node",
      .args = args,
      .start_timeout_ms = 20000,
      .call_timeout_ms = 20000,
      .on_tools = on_tools,
      .on_warning = on_warning,
      .arg = &f,
  };
}

static inline void open_with(const lt_mcp_options *options) {
  assert_int_equal(lt_mcp_open(loop, options, &f.mcp, NULL), LT_OK);
}

/* Opens the fake with these arguments, NULL last, without waiting for it. */
static inline void open_fake(const char *first, ...) {
  const char *args[ARGS_MAX];
  va_list more;
  va_start(more, first);
  lt_mcp_options options = fake_options(args, first, more);
  va_end(more);
  open_with(&options);
}

static inline void expect_ready(void) {
  lt_err err = LT_ERR_INIT;
  if (lt_mcp_wait_ready(f.mcp, &err) != LT_OK) {
    fail_msg("not ready: %s", err.msg);
  }
  assert_int_equal(lt_mcp_state_of(f.mcp), LT_MCP_READY);
  assert_int_equal(lt_mcp_reason(f.mcp).n, 0);
}

static inline void expect_in(const char *text, const char *part) {
  if (!strstr(text, part)) {
    fail_msg("\"%s\" is not in: %s", part, text);
  }
}

static inline void expect_not_in(const char *text, const char *part) {
  if (strstr(text, part)) {
    fail_msg("\"%s\" is in: %s", part, text);
  }
}

/* The server must have gone down with this status, saying this. */
static inline void expect_down(lt_status status, const char *part) {
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_mcp_wait_ready(f.mcp, &err), status);
  assert_int_equal(lt_mcp_state_of(f.mcp), LT_MCP_DOWN);
  expect_in(err.msg, part);
  expect_in(err.msg, "MCP server \"fake\"");
  assert_string_equal(lt_mcp_reason(f.mcp).p, err.msg);
}

/* --- Calling ------------------------------------------------------------------------------------------------------ */

static inline lt_status call_with(const char *tool, const char *args, const lt_mcp_call_options *options, lt_buf *out,
                                  lt_err *err) {
  lt_mcp_result result;
  lt_status status = lt_mcp_call(f.mcp, lt_str_of(tool), lt_str_of(args), options, &result, err);
  if (status == LT_OK) {
    assert_ptr_equal(result.result.doc, &result.doc);
    lt_buf_add(out, lt_json_text(result.result));
    lt_mcp_result_release(&result);
  }
  return status;
}

/* Calls and expects `part` in the result's JSON text. */
static inline void expect_result(const char *tool, const char *args, const char *part) {
  lt_err err = LT_ERR_INIT;
  lt_buf out;
  lt_buf_init(&out, 256 * LT_MIB);
  if (call_with(tool, args, NULL, &out, &err) != LT_OK) {
    fail_msg("%s failed: %s", tool, err.msg);
  }
  expect_in(out.p, part);
  lt_buf_release(&out);
}

static inline void expect_failure_with(const char *tool, const char *args, const lt_mcp_call_options *options,
                                       lt_status status, const char *part) {
  lt_err err = LT_ERR_INIT;
  lt_buf out;
  lt_buf_init(&out, 256 * LT_MIB);
  lt_status got = call_with(tool, args, options, &out, &err);
  if (got != status) {
    fail_msg("%s: %s instead of %s: %s %.300s", tool, lt_status_name(got), lt_status_name(status), err.msg,
             out.p ? out.p : "");
  }
  expect_in(err.msg, part);
  lt_buf_release(&out);
}

static inline void expect_failure(const char *tool, const char *args, lt_status status, const char *part) {
  expect_failure_with(tool, args, NULL, status, part);
}

static inline void close_it(void) {
  lt_mcp_close(f.mcp);
  f.mcp = NULL;
}

static inline size_t tool_count(void) {
  size_t n;
  lt_mcp_tools(f.mcp, &n);
  return n;
}

static inline const lt_mcp_tool *find_tool(const char *name) {
  size_t n;
  const lt_mcp_tool *tools = lt_mcp_tools(f.mcp, &n);
  for (size_t i = 0; i < n; i++) {
    if (lt_str_eqc(tools[i].name, name)) {
      return &tools[i];
    }
  }
  fail_msg("no tool \"%s\"", name);
  return NULL;
}

static inline void expect_str(lt_str s, const char *want) {
  if (!lt_str_eqc(s, want)) {
    fail_msg("\"%.*s\" instead of \"%s\"", LT_STR_ARG(s), want);
  }
}

/* --- Several fibers ----------------------------------------------------------------------------------------------- */

typedef struct job {
  const char *tool;
  char args[64];
  const lt_mcp_call_options *options;
  lt_status status;
  lt_err err;
  char text[256];
  bool done;
} job;

static size_t jobs_open;
static lt_wait jobs_done;

static inline void run_job(void *arg) {
  job *j = arg;
  lt_buf out;
  lt_buf_init(&out, 256 * LT_MIB);
  j->status = call_with(j->tool, j->args, j->options, &out, &j->err);
  snprintf(j->text, sizeof j->text, "%s", out.p ? out.p : "");
  lt_buf_release(&out);
  j->done = true;
  jobs_open--;
  lt_wait_wake(&jobs_done, LT_OK);
}

static inline void start_jobs(job *jobs, size_t n) {
  lt_wait_init(&jobs_done, loop);
  jobs_open = n;
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(lt_loop_spawn(loop, run_job, &jobs[i], NULL), LT_OK);
  }
}

static inline void await_jobs(void) {
  while (jobs_open > 0) {
    lt_wait_on(&jobs_done, UINT64_MAX);
  }
}

/* Until the condition holds, or the test fails. */
static inline void await_listings(size_t n) {
  for (int i = 0; i < 1000 && f.listings < n; i++) {
    lt_loop_sleep(loop, 5);
  }
  assert_int_equal(f.listings, n);
}

/* A test whose body runs on a fiber. */
#define FLOW(name)                        \
  static void test_##name(void **state) { \
    (void)state;                          \
    run(body_##name);                     \
  }

#endif
