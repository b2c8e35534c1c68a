/* Programs in a real Deno behind real walls, in tests; skipped where Deno is not installed. Each may be run once more
 * in a process that was started ahead. */
#ifndef LT_TEST_DENO_FIX_H
#define LT_TEST_DENO_FIX_H

#include "run_fix.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/jail.h"
#include "runner/deno/deno.h"

static inline lt_deno_options with(const world *w) {
  const char *npm = LT_TEST_NPM;
  static char deno[512], tsc[512];
  snprintf(deno, sizeof deno, "%s/deno", npm);
  snprintf(tsc, sizeof tsc, "%s/tsc", npm);
  return (lt_deno_options){.loop = w->loop, .door = w->door, .path = deno, .typescript_path = tsc};
}

static inline bool is_there(void) {
  return access(LT_TEST_NPM "/deno", X_OK) == 0 && access(LT_TEST_NPM "/tsc", X_OK) == 0;
}

/* Folders of runs that are there. */
static inline unsigned folders(void) {
  unsigned n = 0;
  DIR *dir = opendir(getenv("TMPDIR"));
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    n += strncmp(e->d_name, "lathe-deno-", 11) == 0;
  }
  closedir(dir);
  return n;
}

static void (*deno_body)(world *w);
static lt_deno *deno;

static inline void open_runner(world *w, const lt_deno_options *options) {
  assert_int_equal(lt_deno_new(options, &deno, NULL), LT_OK);
  w->runner = lt_deno_runner(deno);
}

/* --- Ahead -------------------------------------------------------------------------------------------------------- */
static bool primed; /* a program has run, so that a Deno is started ahead */

static inline void await_spare(world *w) {
  for (int tries = 0; folders() == 0; tries++) {
    assert_true(tries < 10000);
    lt_loop_sleep(w->loop, 1);
  }
}

static world *ahead_world;

/* The runner, which finds a Deno that is there already. */
static inline lt_status run_ahead(lt_runner *self, const lt_run_request *request, lt_run_result *result, lt_err *err) {
  (void)self;
  if (primed) {
    await_spare(ahead_world);
  }
  primed = true;
  return lt_deno_runner(deno)->run(lt_deno_runner(deno), request, result, err);
}

static inline void on_deno_ahead(world *w) {
  lt_deno_options options = with(w);
  options.ahead_ms = 60000;
  open_runner(w, &options);
  lt_runner ahead = *w->runner;
  ahead.run = run_ahead;
  ahead_world = w;
  primed = false;
  w->runner = &ahead;
  lt_run_request request = {.code = LT_STR("1"), .lang = LT_LANG_TYPESCRIPT};
  expect_run(w, &request, TELL_END, "undefined");
  deno_body(w);
  lt_deno_free(deno);
  assert_int_equal(folders(), 0); /* nothing is left */
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */
static inline void on_deno(world *w) {
  lt_deno_options options = with(w);
  open_runner(w, &options);
  deno_body(w);
  lt_deno_free(deno);
  assert_int_equal(folders(), 0); /* nothing is left */
}

static inline void in_deno(void (*body)(world *w), void (*on_fiber)(world *w)) {
  if (!is_there()) {
    skip();
  }
  deno_body = body;
  in_world(on_fiber, 1);
}

#define IN_DENO(name)                \
  static void name##_body(world *w); \
  static void name(void **state) {   \
    (void)state;                     \
    in_deno(name##_body, on_deno);   \
  }                                  \
  static void name##_body(world *w)

#define IN_DENO_AND_AHEAD(name)            \
  static void name##_body(world *w);       \
  static void name(void **state) {         \
    (void)state;                           \
    in_deno(name##_body, on_deno);         \
  }                                        \
  static void name##_ahead(void **state) { \
    (void)state;                           \
    in_deno(name##_body, on_deno_ahead);   \
  }                                        \
  static void name##_body(world *w)

static inline void ts(world *w, const char *code, unsigned what, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_TYPESCRIPT};
  expect_run(w, &request, what, expected);
}

static inline void js(world *w, const char *code, unsigned what, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_JAVASCRIPT};
  expect_run(w, &request, what, expected);
}

static inline int run_deno_tests(int argc, char **argv, const struct CMUnitTest *tests, size_t count) {
  if (argc > 1 && strcmp(argv[1], LT_JAIL_WORD) == 0) {
    return lt_jail_main(argc - 1, argv + 1);
  }
  char tmp[] = "/tmp/lathe-test-XXXXXX"; /* others run programs here, too */
  assert_non_null(mkdtemp(tmp));
  assert_int_equal(chmod(tmp, 0755), 0);
  setenv("TMPDIR", tmp, 1);
  int failed = run_all_tests(tests, count);
  return rmdir(tmp) == 0 ? failed : 1;
}

#endif
