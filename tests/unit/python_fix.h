/* What the tests of the Python runner share: the world of run_fix.h with a Python in it. The test program is its own
 * helper: it knows `__jail`. */
#ifndef LT_TESTS_PYTHON_FIX_H
#define LT_TESTS_PYTHON_FIX_H

#include "jail/jail.h"
#include "run_fix.h"
#include "runner/python/python.h"

static lt_python *python; /* of the test that runs */

static inline lt_status py_run(const lt_run_request *request, lt_run_result *result, lt_err *err) {
  lt_runner *runner = lt_python_runner(python);
  lt_run_result_init(result);
  return runner->run(runner, request, result, err);
}

static inline lt_python_options py_options(world *w) {
  return (lt_python_options){.loop = w->loop, .door = w->door};
}

static inline void py_new(const lt_python_options *options) {
  assert_int_equal(lt_python_new(options, &python, NULL), LT_OK);
}

/* Runs it and compares; the program is shown when it is not as expected. */
static inline void py_expect_run(const lt_run_request *request, unsigned what, const char *expected) {
  lt_run_result result;
  lt_err err = LT_ERR_INIT;
  lt_buf text;
  lt_buf_init(&text, LT_GIB);
  if (py_run(request, &result, &err) != LT_OK) {
    fail_msg("could not be run: %s", lt_err_msg(&err));
  }
  tell(&result, what, &text);
  const char *got = text.n > 0 ? text.p : "";
  if (strcmp(got, expected) != 0) {
    print_error("program:\n%.*s\n", LT_STR_ARG(request->code));
    tell(&result, TELL_ALL, &text);
    print_error("all of it: %s\nstack: %.*s\n", text.p, LT_STR_ARG(lt_buf_view(&result.stack)));
    tell(&result, what, &text);
  }
  assert_string_equal(text.n > 0 ? text.p : "", expected);
  lt_buf_release(&text);
  lt_run_result_release(&result);
}

static inline void py_expect(const char *code, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_PYTHON};
  py_expect_run(&request, TELL_END, expected);
}

static inline void py_expect_all(const char *code, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_PYTHON};
  py_expect_run(&request, TELL_ALL, expected);
}

/* The end, and in it a piece of text. */
static inline void py_expect_part(const char *code, const char *part) {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_PYTHON};
  lt_run_result result;
  lt_buf text;
  lt_buf_init(&text, LT_GIB);
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  tell(&result, TELL_ALL, &text);
  if (text.p == NULL || strstr(text.p, part) == NULL) {
    print_error("program:\n%s\n", code);
    assert_string_equal(text.p != NULL ? text.p : "", part);
  }
  lt_buf_release(&text);
  lt_run_result_release(&result);
}

/* A test whose body runs on a fiber of the loop, with a Python that is ended behind it. */
#define IN_PYTHON(name)                        \
  static void name##_python(world *w);         \
  static void name##_on_fiber(world *w) {      \
    lt_python_options options = py_options(w); \
    py_new(&options);                          \
    name##_python(w);                          \
    lt_python_free(python);                    \
  }                                            \
  static void name(void **state) {             \
    (void)state;                               \
    in_world(name##_on_fiber, 1);              \
  }                                            \
  static void name##_python(world *w)

static inline int py_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count) {
  if (argc > 1 && strcmp(argv[1], LT_JAIL_WORD) == 0) {
    return lt_jail_main(argc - 1, argv + 1);
  }
  if (argc > 1 && strcmp(argv[1], "-I") == 0) { /* as a Python that is too old */
    fputs("LATHE-PYTHON-IS-OLD 3.6\n", stderr);
    return 1;
  }
  return run_all_tests(tests, count);
}

#endif
