/* A Deno that is started ahead of its program: when there is one, for whom, and that nothing of it stays. */
#include "deno_fix.h"

#include <signal.h>

#include "base/mem.h"

static void reopen(world *w, uint64_t ahead_ms) {
  lt_deno_options options = with(w);
  options.check = LT_DENO_CHECK_NEVER;
  options.ahead_ms = ahead_ms;
  lt_deno_free(deno);
  open_runner(w, &options);
}

/* The name of the folder that the program ran in. */
static void run_where(world *w, const lt_run_request *request, char ret_folder[64]) {
  lt_run_result r;
  run(w, request, &r);
  assert_int_equal(r.status, LT_OK);
  lt_str value = lt_buf_view(&r.value);
  size_t at = lt_str_find(value, LT_STR("lathe-deno-"), 0);
  assert_int_not_equal(at, SIZE_MAX);
  lt_str name = lt_str_sub(value, at, lt_str_find(value, LT_STR("/program"), at));
  snprintf(ret_folder, 64, "%.*s", LT_STR_ARG(name));
  lt_run_result_release(&r);
}

static const lt_run_request where = {.code = TEXT("export default import.meta.url"), .lang = LT_LANG_TYPESCRIPT};

/* The only folder there is. */
static void spare_folder(char ret_folder[64]) {
  DIR *dir = opendir(getenv("TMPDIR"));
  ret_folder[0] = '\0';
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    if (strncmp(e->d_name, "lathe-deno-", 11) == 0) {
      assert_string_equal(ret_folder, "");
      snprintf(ret_folder, 64, "%.63s", e->d_name);
    }
  }
  closedir(dir);
}

/* The first process that one has started; 0: none. */
static long child_of(long pid) {
  char path[64];
  long child = 0;
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", pid, pid);
  FILE *file = fopen(path, "re");
  if (file != NULL && fscanf(file, "%ld", &child) != 1) {
    child = 0;
  }
  if (file != NULL) {
    fclose(file);
  }
  return child;
}

/* Deno itself, below the process that holds its gate; waits until it waits for its program. */
static long spare_process(world *w) {
  char path[64], name[32] = "";
  long pid = 0;
  await_spare(w);
  for (int tries = 0; strcmp(name, "deno\n") != 0; tries++) {
    assert_true(tries < 10000);
    lt_loop_sleep(w->loop, 1);
    pid = child_of(child_of(getpid()));
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    FILE *file = pid != 0 ? fopen(path, "re") : NULL;
    if (file != NULL && fgets(name, sizeof name, file) == NULL) {
      name[0] = '\0';
    }
    if (file != NULL) {
      fclose(file);
    }
  }
  return pid;
}

/* Nanoseconds that all its threads have run. */
static unsigned long long time_of(long pid) {
  char path[300];
  unsigned long long sum = 0;
  snprintf(path, sizeof path, "/proc/%ld/task", pid);
  DIR *dir = opendir(path);
  assert_non_null(dir);
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    unsigned long long ns = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%.20s/schedstat", pid, e->d_name);
    FILE *file = e->d_name[0] != '.' ? fopen(path, "re") : NULL;
    sum += file != NULL && fscanf(file, "%llu", &ns) == 1 ? ns : 0;
    if (file != NULL) {
      fclose(file);
    }
  }
  closedir(dir);
  return sum;
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */
IN_DENO(test_only_where_it_is_wanted) {
  reopen(w, 0);
  js(w, "output(1)", TELL_SAID, " o(1)");
  lt_loop_sleep(w->loop, 30);
  assert_int_equal(folders(), 0);
  reopen(w, 60000);
  lt_loop_sleep(w->loop, 30);
  assert_int_equal(folders(), 0); /* not before the first program */
  js(w, "output(1)", TELL_SAID, " o(1)");
  await_spare(w);
}

IN_DENO(test_each_runs_one_program) {
  char folder[64], before[64] = "";
  reopen(w, 60000);
  js(w, "globalThis.left = 1; try { localStorage.left = 1 } catch {}", TELL_END, "undefined");
  for (int i = 0; i < 3; i++) {
    char spare[64];
    await_spare(w);
    spare_folder(spare);
    run_where(w, &where, folder);
    assert_string_equal(folder, spare); /* it was the one that was there */
    assert_string_not_equal(folder, before);
    strcpy(before, folder);
  }
  await_spare(w);
  js(w, "let kept; try { kept = localStorage.left } catch {}; output([typeof left, kept, performance.now() > 0])",
     TELL_SAID, " o([\"undefined\",null,true])");
}

/* Waits until the only folder is that of a new spare: neither the old one's, nor that of the program that has ended. */
static void await_another(world *w, const char *spare, const char *program, char ret_folder[64]) {
  for (int tries = 0;; tries++) {
    if (folders() == 1) {
      spare_folder(ret_folder); /* empty: it has gone just now */
      if (ret_folder[0] != '\0' && strcmp(ret_folder, spare) != 0 && strcmp(ret_folder, program) != 0) {
        return;
      }
    }
    assert_true(tries < 10000);
    lt_loop_sleep(w->loop, 1);
  }
}

/* What is fixed when it starts must be what the program may have. */
IN_DENO(test_only_what_fits) {
  char spare[64], folder[64], fitting[64];
  const lt_run_module modules[] = {{LT_STR("m"), LT_STR("export default 7")}};
  lt_run_request more = where, longer = where, shorter = where;
  lt_run_request with_module = {.code = LT_STR("import m from 'm'; export default m"),
                                .lang = LT_LANG_TYPESCRIPT,
                                .modules = modules,
                                .module_count = 1};
  more.memory_bytes = 2 * LT_RUN_MEMORY_BYTES;
  longer.timeout_ms = 2 * LT_RUN_TIMEOUT_MS;
  shorter.timeout_ms = LT_RUN_TIMEOUT_MS / 2;
  reopen(w, 60000);
  js(w, "output(1)", TELL_SAID, " o(1)");
  const lt_run_request *const others[] = {&more, &longer};
  for (size_t i = 0; i < 2; i++) {
    await_spare(w);
    spare_folder(spare);
    run_where(w, others[i], folder);
    assert_string_not_equal(folder, spare);
    await_another(w, spare, folder, fitting);
    run_where(w, others[i], folder);
    assert_string_equal(folder, fitting);
  }
  await_spare(w);
  spare_folder(spare);
  expect_run(w, &with_module, TELL_END, "json 7");
  run_where(w, &shorter, folder); /* the spare is for a longer one */
  assert_string_equal(folder, spare);
}

IN_DENO(test_one_that_died_is_replaced) {
  char spare[64], folder[64];
  reopen(w, 60000);
  js(w, "output(1)", TELL_SAID, " o(1)");
  for (int stopped = 0; stopped < 2; stopped++) {
    long pid = spare_process(w);
    spare_folder(spare);
    assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
    if (stopped == 0) { /* it is known that it has ended, or it is not yet */
      lt_loop_sleep(w->loop, 50);
    }
    run_where(w, &where, folder);
    assert_string_not_equal(folder, spare);
  }
  await_spare(w);
  spare_folder(spare);
  char path[128];
  snprintf(path, sizeof path, "%s/%s/lathe.js", getenv("TMPDIR"), spare);
  (void)spare_process(w);
  lt_loop_sleep(w->loop, 100);
  assert_int_equal(unlink(path), 0); /* who tidies up in /tmp takes the folder away */
  snprintf(path, sizeof path, "rm -rf %s/%s", getenv("TMPDIR"), spare);
  assert_int_equal(system(path), 0); /* NOLINT: a test's own folder */
  run_where(w, &where, folder);
  assert_string_not_equal(folder, spare);
}

IN_DENO(test_it_is_idle_and_ends) {
  reopen(w, 3000);
  js(w, "output(1)", TELL_SAID, " o(1)");
  long pid = spare_process(w);
  lt_loop_sleep(w->loop, 500); /* it has started */
  unsigned long long before = time_of(pid);
  lt_loop_sleep(w->loop, 500);
  assert_true(time_of(pid) - before < 1000000);
  for (int tries = 0; folders() > 0; tries++) {
    assert_true(tries < 5000);
    lt_loop_sleep(w->loop, 1);
  }
  assert_int_equal(child_of(getpid()), 0);
  js(w, "output(2)", TELL_SAID, " o(2)");
  await_spare(w);
}

IN_DENO(test_many_at_once) {
  reopen(w, 60000);
  js(w, "output(1)", TELL_SAID, " o(1)");
  await_spare(w);
  js(w, "await sleep(1); output(await tEcho({ a: 1 }))", TELL_SAID | TELL_CALLS,
     " o({\"a\":1}) t.echo{\"a\":1}={\"a\":1}");
  js(w, "output(2)", TELL_SAID, " o(2)"); /* at once: the next one may not be there yet */
  js(w, "output(3)", TELL_SAID, " o(3)");
}

/* Whatever there is no memory for, a program that is told to run says how that went. */
IN_DENO(test_without_memory) {
  bool failed = true;
  reopen(w, 60000);
  js(w, "output(1)", TELL_SAID, " o(1)");
  for (long n = 0; failed; n += n < 12 ? 1 : 7) {
    lt_run_request request = {.code = LT_STR("output(await tEcho({}))"), .lang = LT_LANG_JAVASCRIPT};
    lt_run_result r;
    lt_err err = LT_ERR_INIT;
    lt_run_result_init(&r);
    lt_mem_fail_at(n);
    lt_status status = w->runner->run(w->runner, &request, &r, &err);
    failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_int_equal(r.status, LT_OK);
    } else if (status != LT_OK || r.status != LT_OK) {
      assert_true(r.error.n > 0 || lt_err_msg(&err)[0] != '\0');
    }
    lt_run_result_release(&r);
    lt_loop_sleep(w->loop, 40);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_where_it_is_wanted), cmocka_unit_test(test_each_runs_one_program),
      cmocka_unit_test(test_only_what_fits),          cmocka_unit_test(test_one_that_died_is_replaced),
      cmocka_unit_test(test_it_is_idle_and_ends),     cmocka_unit_test(test_many_at_once),
      cmocka_unit_test(test_without_memory),
  };
  return run_deno_tests(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
