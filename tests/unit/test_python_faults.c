/* The Python runner without memory: whatever allocation fails, the run ends in an error or in its result, nothing is
 * left, and the next one works. */
#include "python_fix.h"

static bool run_with_fault(long n, const char *code) {
  lt_run_request request = {
      .code = lt_str_of(code), .lang = LT_LANG_PYTHON, .timeout_ms = 10000, .input = LT_STR("[1]")};
  lt_run_result result;
  lt_err err = LT_ERR_INIT;
  lt_run_result_init(&result);
  lt_mem_fail_at(n);
  lt_status status = lt_python_runner(python)->run(lt_python_runner(python), &request, &result, &err);
  bool failed = lt_mem_failed();
  lt_mem_fail_at(-1);
  if (status != LT_OK) {
    assert_true(lt_err_msg(&err)[0] != '\0');
  } else if (result.status != LT_OK) {
    assert_true(result.error.n > 0);
    assert_int_not_equal(result.status, LT_E_TIMEOUT);
  }
  lt_run_result_release(&result);
  return failed;
}

static void sweep(const char *code) {
  for (long n = 0; n < 4000; n++) {
    if (!run_with_fault(n, code)) {
      return;
    }
  }
  fail_msg("it never succeeded");
}

IN_PYTHON(test_warm_runs) {
  (void)w;
  sweep("print('a')\nset_result([call_tool('t.echo', {'a': 1}), t_slow(ms=1)])");
  sweep("call_tools_parallel(['t.echo', 't.fail'])");
  sweep("def f():\n    boom\nf()");
  py_expect("set_result(1)", "json 1");
}

static void test_cold_starts_on_fiber(world *w) {
  for (long n = 0; n < 4000; n += n < 40 ? 1 : 7) {
    lt_python_options options = py_options(w);
    const char *env[] = {"A=1", NULL};
    options.env = env;
    lt_mem_fail_at(n);
    lt_status status = lt_python_new(&options, &python, NULL);
    if (status == LT_OK) {
      lt_python_warm(python, NULL);
    }
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (status == LT_OK) {
      py_expect("set_result(1)", "json 1");
      lt_python_free(python);
    }
    if (!failed) {
      return;
    }
  }
  fail_msg("it never succeeded");
}

static void test_cold_starts(void **state) {
  (void)state;
  in_world(test_cold_starts_on_fiber, 1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_warm_runs),
      cmocka_unit_test(test_cold_starts),
  };
  return py_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
