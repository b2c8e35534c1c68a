/* What the plugin host's tests share: a loop, a door, a database in memory's stead, a host, bodies on a fiber. */
#ifndef FAKES_HOST_FIX_H
#define FAKES_HOST_FIX_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#undef fail /* cmocka's macro; the host has a function of that name */
#define FAIL_WITH(...) (print_error(__VA_ARGS__), _fail(__FILE__, __LINE__))

#include "base/mem.h"
#include "json/json.h"
#include "tool/masked_records.h"
#include "plugin/host.h"
#include "runner/quickjs/quickjs.h"
#include "sandbox/box_trap.h"

typedef struct host_fix {
  lt_loop *loop;
  lt_door *door;
  char path[64]; /* of the database */
  lt_store *db;
  lt_artifacts *stored_artifacts;
  lt_masked_artifacts masked_artifacts;
  lt_artifacts *artifacts;
  lt_secrets *secrets;
  lt_quickjs *quickjs;
  lt_host *host;
  lt_caller caller;
  lt_policy *policy;
  char lines[16384]; /* what on_line was told, a line each; warnings begin with "! " */
  unsigned warnings;
  lt_buf out; /* of the last call */
  lt_err err;
  void (*body)(struct host_fix *f);
  bool turning; /* still true after a test: it failed on a fiber, which will never end */
} host_fix;

static inline void host_fix_line(void *arg, bool warning, lt_str line) {
  host_fix *f = arg;
  size_t n = strlen(f->lines);
  snprintf(f->lines + n, sizeof f->lines - n, "%s%.*s\n", warning ? "! " : "", LT_STR_ARG(line));
  f->warnings += warning;
}

static inline lt_runner *host_fix_runner(void *arg, lt_lang lang, lt_err *err) {
  (void)lang;
  host_fix *f = arg;
  if (f->quickjs == NULL && lt_quickjs_new(f->loop, f->door, 2, &f->quickjs, err) != LT_OK) {
    return NULL;
  }
  return lt_quickjs_runner(f->quickjs);
}

static inline bool host_fix_is_reserved(lt_str id) {
  return lt_str_eqc(id, "classic");
}

static inline void host_fix_open(host_fix *f) {
  const lt_host_options options = {.loop = f->loop,
                                   .door = f->door,
                                   .db = f->db,
                                   .is_mode_reserved = host_fix_is_reserved,
                                   .artifacts = f->artifacts,
                                   .secrets = f->secrets,
                                   .runner = host_fix_runner,
                                   .on_line = host_fix_line,
                                   .arg = f};
  assert_int_equal(lt_host_new(&options, &f->host, &f->err), LT_OK);
}

static inline int host_fix_setup(void **state) {
  host_fix *f = calloc(1, sizeof *f);
  assert_non_null(f);
  assert_int_equal(lt_loop_new(&f->loop, NULL), LT_OK);
  assert_int_equal(lt_door_new(f->loop, NULL, &f->door, NULL), LT_OK);
  strcpy(f->path, "/tmp/lathe-host-XXXXXX");
  assert_non_null(mkdtemp(f->path));
  strcat(f->path, "/lathe.db");
  assert_int_equal(lt_store_new(f->loop, f->path, &f->db, NULL), LT_OK);
  f->stored_artifacts = lt_store_artifacts_new(f->db);
  f->secrets = lt_secrets_new();
  assert_non_null(f->stored_artifacts);
  assert_int_equal(lt_secrets_add(f->secrets, LT_STR("hunter2-hunter2")), LT_OK);
  f->artifacts = lt_masked_records_artifacts(&f->masked_artifacts, f->stored_artifacts, f->secrets);
  lt_buf_init(&f->out, LT_JSON_MAX_BYTES);
  f->caller = (lt_caller){.user = LT_STR("ann"), .run = LT_STR("run-1")};
  host_fix_open(f);
  *state = f;
  return 0;
}

static inline void host_fix_enter(void *arg) {
  host_fix *f = arg;
  f->body(f);
}

/* cmocka puts its own handlers in place for every test; the boxes of programs need theirs. */
static inline void host_fix_take_faults_back(void) {
  static struct sigaction on_segv, on_bus;
  static bool known;
  if (!known) {
    assert_int_equal(lt_box_thread_init(NULL), LT_OK);
    sigaction(SIGSEGV, NULL, &on_segv);
    sigaction(SIGBUS, NULL, &on_bus);
    known = true;
  }
  sigaction(SIGSEGV, &on_segv, NULL);
  sigaction(SIGBUS, &on_bus, NULL);
}

/* Runs `body` on a fiber of the loop, and all that it starts there. */
static inline void host_fix_run(host_fix *f, void (*body)(host_fix *f)) {
  f->body = body;
  host_fix_take_faults_back();
  if (lt_loop_spawn(f->loop, host_fix_enter, f, &f->err) != LT_OK) {
    FAIL_WITH("%s\n", lt_err_msg(&f->err));
  }
  f->turning = true;
  lt_loop_run(f->loop);
  f->turning = false;
}

static inline void host_fix_close_host(host_fix *f) {
  lt_host_free(f->host);
  f->host = NULL;
}

static inline void host_fix_close(host_fix *f) {
  host_fix_close_host(f);
  lt_quickjs_free(f->quickjs);
  lt_store_artifacts_free(f->stored_artifacts);
  lt_store_close(f->db);
}

static inline void host_fix_remove(const char *path) {
  static const char *const tails[] = {"", "-wal", "-shm"};
  char name[96];
  for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
    snprintf(name, sizeof name, "%s%s", path, tails[i]);
    unlink(name);
  }
  snprintf(name, sizeof name, "%s", path);
  *strrchr(name, '/') = '\0';
  rmdir(name);
}

static inline int host_fix_teardown(void **state) {
  host_fix *f = *state;
  if (!f->turning) {
    host_fix_run(f, host_fix_close);
    lt_door_free(f->door);
    lt_loop_free(f->loop);
    lt_secrets_free(f->secrets);
    lt_policy_free(f->policy);
    lt_buf_release(&f->out);
  }
  host_fix_remove(f->path);
  if (!f->turning) {
    free(f);
  }
  return 0;
}

/* --- Loading and calling, on a fiber ------------------------------------------------------------------------------ */
static inline void host_fix_add(host_fix *f, lathe_plugin_entry_fn *entry) {
  if (lt_host_add(f->host, entry, LT_STR(""), &f->err) != LT_OK) {
    FAIL_WITH("%s\n", lt_err_msg(&f->err));
  }
}

static inline lt_status host_fix_call_with(host_fix *f, const char *tool, const char *input,
                                           const lt_invoke_options *options) {
  return lt_door_call(f->door, lt_str_of(tool), lt_str_of(input), options, &f->out, &f->err);
}

static inline lt_status host_fix_call(host_fix *f, const char *tool, const char *input) {
  const lt_invoke_options options = {.caller = &f->caller};
  return host_fix_call_with(f, tool, input, &options);
}

#define assert_out(f, text) assert_string_equal((f)->out.p != NULL ? (f)->out.p : "", text)

static inline void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    FAIL_WITH("no \"%s\" in: %s\n", part, text);
  }
}

#define TEST_WITH(fixture_setup, fixture_teardown, name) \
  cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define HOST_TEST(name) TEST_WITH(host_fix_setup, host_fix_teardown, name)

#endif
