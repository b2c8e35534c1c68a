/* Errors and the status table. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"

static lt_status positive(int n, lt_err *err) {
  if (n <= 0) {
    return lt_fail(err, LT_E_INVALID, "%d is not positive", n);
  }
  return LT_OK;
}

static lt_status both_positive(int a, int b, lt_err *err) {
  LT_TRY(positive(a, err));
  LT_TRY(positive(b, err));
  return LT_OK;
}

static void fail_says_what_and_where(void **state) {
  (void)state;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(positive(-3, &err), LT_E_INVALID);
  assert_int_equal(err.status, LT_E_INVALID);
  assert_string_equal(lt_err_msg(&err), "-3 is not positive");
  assert_non_null(strstr(err.file, "test_err.c"));
  assert_true(err.line > 0 && err.line < __LINE__);
}

static void fail_if_changes_nothing_without_a_failure(void **state) {
  (void)state;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_fail_if(&err, LT_OK, "%d tools are too many", 3), LT_OK);
  assert_int_equal(err.status, LT_OK);
  assert_int_equal(lt_fail_if(NULL, LT_E_LIMIT, "%d tools are too many", 3), LT_E_LIMIT);
  assert_int_equal(lt_fail_if(&err, lt_status_first(LT_OK, LT_E_LIMIT), "%d tools are too many", 3), LT_E_LIMIT);
  assert_string_equal(err.msg, "3 tools are too many");
  assert_int_equal(lt_status_first(LT_E_IO, LT_E_LIMIT), LT_E_IO);
}

static void no_err_still_gives_the_status(void **state) {
  (void)state;
  assert_int_equal(positive(-3, NULL), LT_E_INVALID);
  assert_int_not_equal(lt_err_prefix(NULL, "while %s", "testing"), LT_OK);
}

static void try_stops_at_the_first_failure(void **state) {
  (void)state;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(both_positive(1, 2, &err), LT_OK);
  assert_int_equal(err.status, LT_OK);
  assert_int_equal(both_positive(-1, -2, &err), LT_E_INVALID);
  assert_string_equal(err.msg, "-1 is not positive");
  assert_int_equal(both_positive(1, -2, &err), LT_E_INVALID);
  assert_string_equal(err.msg, "-2 is not positive");
}

static void msg_falls_back_to_the_status(void **state) {
  (void)state;
  lt_err err = LT_ERR_INIT;
  err.status = LT_E_TIMEOUT;
  assert_string_equal(lt_err_msg(&err), "timed out");
  lt_err_prefix(&err, "server '%s'", "git");
  assert_string_equal(lt_err_msg(&err), "server 'git': timed out");
}

static void prefixes_stack(void **state) {
  (void)state;
  lt_err err = LT_ERR_INIT;
  lt_fail(&err, LT_E_IO, "no such file");
  int line = err.line;
  assert_int_equal(lt_err_prefix(&err, "cannot read %s", "a.yaml"), LT_E_IO);
  assert_int_equal(lt_err_prefix(&err, "configuration"), LT_E_IO);
  assert_string_equal(err.msg, "configuration: cannot read a.yaml: no such file");
  assert_int_equal(err.line, line);
}

static void message_may_quote_the_old_one(void **state) {
  (void)state;
  lt_err err = LT_ERR_INIT;
  lt_fail(&err, LT_E_IO, "inner");
  lt_fail(&err, LT_E_CONFIG, "outer (%s)", err.msg);
  assert_string_equal(err.msg, "outer (inner)");
  lt_err_prefix(&err, "%s again", err.msg);
  assert_string_equal(err.msg, "outer (inner) again: outer (inner)");
}

/* `pre` bytes of 'x' and then characters of `unit`, far too many. */
static void fill(char *text, size_t size, size_t pre, const char *unit) {
  size_t len = strlen(unit);
  memset(text, 'x', pre);
  size_t n = pre;
  for (; n + len < size; n += len) {
    memcpy(text + n, unit, len);
  }
  text[n] = '\0';
}

/* The message is a prefix of `text` that ends between characters, with "..." behind it. */
static void assert_cut(const char *msg, const char *text, size_t unit_len, size_t pre, size_t max) {
  size_t n = strlen(msg);
  assert_true(n < max);
  assert_true(n + unit_len >= max); /* not more is lost than one character */
  assert_string_equal(msg + n - 3, "...");
  assert_memory_equal(msg, text, n - 3);
  assert_int_equal((n - 3 - pre) % unit_len, 0);
}

static void long_messages_are_cut_at_a_character(void **state) {
  (void)state;
  static const char *const units[] = {"a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  for (size_t u = 0; u < 4; u++) {
    for (size_t pre = 0; pre < 8; pre++) {
      char text[3 * LT_ERR_MSG_MAX];
      fill(text, sizeof(text), pre, units[u]);
      lt_err err = LT_ERR_INIT;
      lt_fail(&err, LT_E_TOOL, "%s", text);
      assert_cut(err.msg, text, u + 1, pre, LT_ERR_MSG_MAX);
    }
  }
}

static void exact_fit_is_not_cut(void **state) {
  (void)state;
  char text[LT_ERR_MSG_MAX + 1];
  memset(text, 'a', sizeof(text));
  text[LT_ERR_MSG_MAX - 1] = '\0';
  lt_err err = LT_ERR_INIT;
  lt_fail(&err, LT_E_TOOL, "%s", text);
  assert_string_equal(err.msg, text);
  lt_fail(&err, LT_E_TOOL, "%sa", text);
  assert_int_equal(strlen(err.msg), LT_ERR_MSG_MAX - 1);
  assert_string_equal(err.msg + LT_ERR_MSG_MAX - 4, "...");
}

static void what_is_not_utf8_is_cut_anyway(void **state) {
  (void)state;
  char text[2 * LT_ERR_MSG_MAX];
  memset(text, 0x80, sizeof(text));
  text[sizeof(text) - 1] = '\0';
  lt_err err = LT_ERR_INIT;
  lt_fail(&err, LT_E_TOOL, "%s", text);
  assert_int_equal(strlen(err.msg), LT_ERR_MSG_MAX - 1);
  assert_string_equal(err.msg + LT_ERR_MSG_MAX - 4, "...");
}

static void long_prefix_keeps_the_cause(void **state) {
  (void)state;
  char text[3 * LT_ERR_MSG_MAX];
  fill(text, sizeof(text), 1, "\xE2\x82\xAC");
  lt_err err = LT_ERR_INIT;
  lt_fail(&err, LT_E_IO, "the cause");
  lt_err_prefix(&err, "%s", text);
  assert_true(strlen(err.msg) < LT_ERR_MSG_MAX);
  assert_non_null(strstr(err.msg, "...: the cause"));
}

static void prefix_of_a_long_message_cuts_its_end(void **state) {
  (void)state;
  char text[3 * LT_ERR_MSG_MAX];
  fill(text, sizeof(text), 0, "\xC3\xA4");
  for (int i = 0; i < 2; i++) { /* an odd and an even place */
    lt_err err = LT_ERR_INIT;
    lt_fail(&err, LT_E_IO, "%s", text);
    lt_err_prefix(&err, i == 0 ? "p" : "pp");
    size_t n = strlen(err.msg);
    assert_true(n == LT_ERR_MSG_MAX - 1 || n == LT_ERR_MSG_MAX - 2);
    assert_memory_equal(err.msg, i == 0 ? "p: \xC3" : "pp: ", 4);
    assert_string_equal(err.msg + n - 5, "\xC3\xA4...");
  }
}

static void prefix_that_just_fits_is_not_cut(void **state) {
  (void)state;
  char text[LT_ERR_MSG_MAX];
  memset(text, 'a', sizeof(text));
  text[LT_ERR_MSG_MAX - 1 - 3] = '\0'; /* room for "p: " */
  lt_err err = LT_ERR_INIT;
  lt_fail(&err, LT_E_IO, "%s", text);
  lt_err_prefix(&err, "p");
  assert_int_equal(strlen(err.msg), LT_ERR_MSG_MAX - 1);
  assert_string_equal(err.msg + 3, text);
  lt_fail(&err, LT_E_IO, "%s", text);
  lt_err_prefix(&err, "pp"); /* one byte too many */
  assert_int_equal(strlen(err.msg), LT_ERR_MSG_MAX - 1);
  assert_string_equal(err.msg + LT_ERR_MSG_MAX - 4, "...");
}

/* Runs `fn` in a child; returns its wait status and what it wrote to stderr. */
static int in_child(void (*fn)(void), char *out, size_t size) {
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    signal(SIGABRT, SIG_DFL);
    dup2(fds[1], STDERR_FILENO);
    fn();
    _exit(0);
  }
  close(fds[1]);
  size_t n = 0;
  ssize_t got;
  while (n < size - 1 && (got = read(fds[0], out + n, size - 1 - n)) > 0) {
    n += (size_t)got;
  }
  out[n] = '\0';
  close(fds[0]);
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return status;
}

static void check_false(void) {
  int one = 1;
  LT_CHECK(one == 2);
}

static void fail_with_ok(void) {
  lt_fail(NULL, LT_OK, "not a failure");
}

static void check_aborts_and_says_where(void **state) {
  (void)state;
  char out[2048];
  int status = in_child(check_false, out, sizeof(out));
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGABRT);
  assert_non_null(strstr(out, "test_err.c:"));
  assert_non_null(strstr(out, "one == 2"));
}

static void failing_with_ok_is_a_bug(void **state) {
  (void)state;
  char out[2048];
  int status = in_child(fail_with_ok, out, sizeof(out));
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void check_lets_the_truth_pass(void **state) {
  (void)state;
  int evaluated = 0;
  LT_CHECK(++evaluated == 1);
  assert_int_equal(evaluated, 1);
}

static void statuses_have_their_columns(void **state) {
  (void)state;
  assert_int_equal(LT_OK, 0);
  assert_string_equal(lt_status_name(LT_OK), "OK");
  assert_string_equal(lt_status_name(LT_E_TIMEOUT), "E_TIMEOUT");
  assert_string_equal(lt_status_text(LT_E_NOMEM), "out of memory");
  assert_int_equal(lt_status_http(LT_E_NOTFOUND), 404);
  assert_int_equal(lt_status_rpc(LT_E_SYNTAX), -32700);
  assert_true(lt_status_retryable(LT_E_TIMEOUT));
  assert_false(lt_status_retryable(LT_E_INVALID));
  assert_string_equal(lt_status_name(LT_E_INTERNAL), "E_INTERNAL"); /* the last one */
}

static void unknown_status_is_an_internal_error(void **state) {
  (void)state;
  static const int numbers[] = {LT_E_INTERNAL + 1, 100000, -1};
  for (size_t i = 0; i < 3; i++) {
    lt_status odd = (lt_status)numbers[i];
    assert_string_equal(lt_status_name(odd), "E_INTERNAL");
    assert_int_equal(lt_status_http(odd), 500);
  }
}

static void copies_keep_message_and_place(void **state) {
  (void)state;
  lt_err from = LT_ERR_INIT, to = LT_ERR_INIT;
  assert_int_equal(lt_err_copy(&to, &from), LT_OK);
  assert_int_equal(to.status, LT_OK);
  lt_fail(&from, LT_E_IO, "the disk is full");
  assert_int_equal(lt_err_copy(&to, &from), LT_E_IO);
  assert_string_equal(lt_err_msg(&to), "the disk is full");
  assert_int_equal(to.line, from.line);
  assert_int_equal(lt_err_copy(NULL, &from), LT_E_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fail_says_what_and_where),
      cmocka_unit_test(fail_if_changes_nothing_without_a_failure),
      cmocka_unit_test(no_err_still_gives_the_status),
      cmocka_unit_test(try_stops_at_the_first_failure),
      cmocka_unit_test(msg_falls_back_to_the_status),
      cmocka_unit_test(prefixes_stack),
      cmocka_unit_test(message_may_quote_the_old_one),
      cmocka_unit_test(long_messages_are_cut_at_a_character),
      cmocka_unit_test(exact_fit_is_not_cut),
      cmocka_unit_test(what_is_not_utf8_is_cut_anyway),
      cmocka_unit_test(long_prefix_keeps_the_cause),
      cmocka_unit_test(prefix_of_a_long_message_cuts_its_end),
      cmocka_unit_test(prefix_that_just_fits_is_not_cut),
      cmocka_unit_test(check_aborts_and_says_where),
      cmocka_unit_test(failing_with_ok_is_a_bug),
      cmocka_unit_test(check_lets_the_truth_pass),
      cmocka_unit_test(statuses_have_their_columns),
      cmocka_unit_test(unknown_status_is_an_internal_error),
      cmocka_unit_test(copies_keep_message_and_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
