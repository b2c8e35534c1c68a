/* How a child process is started: the helper, the search for the command, the child's surroundings, and starts
 * that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/exec.h"
#include "io/open_files.h"
#include "io/process.h"
#include "process_fix.h"

static char self[4096]; /* this program: a memory checker's /proc/self/exe would be the checker, for a child */

static void expect_no_start(const lt_process_options *options, lt_status want, const char *msg) {
  lt_err err = LT_ERR_INIT;
  lt_process *p = NULL;
  assert_int_equal(lt_process_open(loop, options, &p, &err), want);
  assert_null(p);
  assert_string_equal(lt_err_msg(&err), msg);
}

/* --- The helper --------------------------------------------------------------------------------------------------- */

static void with_helper(void *arg) {
  (void)arg;
  const char *argv[] = {"my name", "-c", "echo \"$0\" \"$@\"", "a b", "", "c", NULL};
  lt_process_options options = {.file = "sh", .argv = argv, .line_max = 100, .helper = self};
  lt_process *p = start(&options);
  expect_line(p, "a b  c");
  expect_failure(p, LT_E_CLOSED, "\"sh\" exited with code 0");
  lt_process_close(p);
}

static void the_helper_hands_everything_on(void **state) {
  (void)state;
  run(with_helper);
}

static void with_few_files(void *arg) {
  (void)arg;
  struct rlimit limit, now;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const struct rlimit few = {.rlim_cur = 200, .rlim_max = limit.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  lt_open_files_raise();
  getrlimit(RLIMIT_NOFILE, &now);
  assert_int_equal(now.rlim_cur, limit.rlim_max < LT_OPEN_FILES_MAX ? limit.rlim_max : LT_OPEN_FILES_MAX);
  const char *argv[] = {"sh", "-c", "ulimit -Sn; ulimit -Hn", NULL};
  char hard[32];
  snprintf(hard, sizeof hard, "%llu", (unsigned long long)limit.rlim_max);
  lt_process *p = start(&(lt_process_options){.file = "sh", .argv = argv, .line_max = 100, .helper = self});
  expect_line(p, "200");
  expect_line(p, hard);
  lt_process_close(p);
  lt_open_files_restore("many");
  lt_open_files_restore("");
  getrlimit(RLIMIT_NOFILE, &limit);
  assert_int_equal(limit.rlim_cur, now.rlim_cur);
  lt_open_files_restore("200");
  lt_open_files_raise(); /* as often as one likes */
  assert_string_equal(lt_open_files_before(), "200");
}

static void files_are_many_for_us_and_as_before_for_children(void **state) {
  (void)state;
  run(with_few_files);
}

/* The other side of the next test: starts a child and waits to be killed. */
static void be_a_parent(void *arg) {
  (void)arg;
  const char *argv[] = {"sleep", "30", NULL};
  lt_process_options options = {.file = "sleep", .argv = argv, .line_max = 100, .helper = self};
  lt_process *p = start(&options);
  printf("%d\n", lt_process_pid(p));
  fflush(stdout);
  lt_loop_sleep(loop, 30000);
}

static void kill_the_parent(void *arg) {
  (void)arg;
  const char *argv[] = {"test_process", "__parent", NULL};
  lt_process *p = start(&(lt_process_options){.file = self, .argv = argv, .line_max = 100});
  int grandchild = read_pid(p);
  assert_false(ends_within(grandchild, 0));
  lt_process_signal(p, SIGKILL); /* not the grandchild: it is in another process group */
  assert_true(ends_within(grandchild, 5000));
  lt_process_close(p);
}

static void a_helped_child_dies_with_its_parent(void **state) {
  (void)state;
  run(kill_the_parent);
}

static void helper_failures(void *arg) {
  (void)arg;
  /* as if the parent had died before the child could ask: the number is not that of its parent */
  const char *orphan[] = {"x", LT_EXEC_WORD, "1", "", "/bin/echo", "echo", "never", NULL};
  lt_process *p = start(&(lt_process_options){.file = self, .argv = orphan, .line_max = 100});
  lt_str line;
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_E_CLOSED);
  assert_string_equal(lt_process_exit_text(p), "exited with code 126");
  lt_process_close(p);
  char path[] = "/tmp/lathe-test-XXXXXX"; /* executable, but its interpreter is missing */
  int fd = mkstemp(path);
  assert_int_equal(write(fd, "#!/no/such\n", 11), 11);
  fchmod(fd, 0700);
  close(fd);
  const char *argv[] = {"x", NULL};
  lt_process_options options = {.file = path, .argv = argv, .line_max = 100, .helper = self};
  p = start(&options);
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_E_CLOSED);
  assert_string_equal(lt_process_exit_text(p), "exited with code 127");
  assert_true(lt_str_ends(lt_process_stderr(p), LT_STR("No such file or directory\n")));
  lt_process_close(p);

  char msg[256];
  options.helper = NULL;
  snprintf(msg, sizeof msg, "cannot start \"%s\": the interpreter that its first line names, or its loader, is missing",
           path);
  expect_no_start(&options, LT_E_NOTFOUND, msg);
  unlink(path);
}

static void what_cannot_be_executed_is_told(void **state) {
  (void)state;
  run(helper_failures);
}

/* --- Finding and environment -------------------------------------------------------------------------------------- */

static void commands_that_are_missing_are_named(void **state) {
  (void)state;
  const char *argv[] = {"x", NULL};
  const char *env[] = {"A=1", "PATH=/no/such/folder:/proc/self", NULL};
  const char *no_path[] = {NULL};
  lt_process_options o = {.file = "no-such-command", .argv = argv, .line_max = 100};
  expect_no_start(&o, LT_E_NOTFOUND,
                  "cannot start \"no-such-command\": no such command in PATH (install it, or give its full path)");
  o.env = env; /* the child's PATH counts, not ours */
  o.file = "sh";
  expect_no_start(&o, LT_E_NOTFOUND,
                  "cannot start \"sh\": no such command in PATH (install it, or give its full path)");
  o.file = "status";
  expect_no_start(&o, LT_E_DENIED,
                  "cannot start \"status\": /proc/self/status is not executable for this user (chmod +x it)");
  o.file = "./sh";
  expect_no_start(&o, LT_E_NOTFOUND, "cannot start \"./sh\": no such file");
  o.file = "/bin";
  expect_no_start(&o, LT_E_DENIED, "cannot start \"/bin\": it is a folder, not a program");
  o.file = "";
  expect_no_start(&o, LT_E_NOTFOUND, "cannot start a program: the command is empty");
  o.file = "sh";
  o.env = no_path;
  o.cwd = "/no/such";
  expect_no_start(&o, LT_E_NOTFOUND, "cannot start \"sh\": its folder \"/no/such\" does not exist");
  o.cwd = "/bin/sh";
  expect_no_start(&o, LT_E_NOTFOUND, "cannot start \"sh\": \"/bin/sh\" is not a folder");
  turn();
}

static void relative_places(void *arg) {
  (void)arg;
  const char *argv[] = {"cat", "meminfo", NULL};
  const char *env[] = {"PATH=../bin", NULL}; /* from the child's folder */
  lt_process *p =
      start(&(lt_process_options){.file = "cat", .argv = argv, .env = env, .cwd = "/proc", .line_max = 999});
  lt_str line;
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK);
  assert_true(lt_str_starts(line, LT_STR("MemTotal:")));
  lt_process_close(p);
  p = start(&(lt_process_options){.file = "../bin/cat", .argv = argv, .cwd = "/proc", .line_max = 999, .helper = self});
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK);
  assert_true(lt_str_starts(line, LT_STR("MemTotal:")));
  lt_process_close(p);
}

static void commands_are_found_from_the_child_s_folder(void **state) {
  (void)state;
  run(relative_places);
}

static void surroundings(void *arg) {
  (void)arg;
  const char *argv[] = {"env", NULL};
  const char *env[] = {"B=2", "A=one two", NULL};
  lt_process *p = start(&(lt_process_options){.file = "env", .argv = argv, .env = env, .line_max = 100});
  expect_line(p, "B=2");
  expect_line(p, "A=one two");
  expect_failure(p, LT_E_CLOSED, "\"env\" exited with code 0");
  /* while that one's pipes are open: the next child has only its own, and what the loop ignores it does not */
  lt_process *other = start_cat(100);
  /* but for signals 32 and 33: they are libc's own, and glibc's posix_spawn (make uses it) hands them on as ignored */
  lt_process *q = start_shell(
      "ls /proc/self/fd; echo $((0x$(sed -n 's/^SigIgn:.//p' /proc/self/status) & ~0x180000000)); cat /dev/stdin");
  expect_line(q, "0");
  expect_line(q, "1");
  expect_line(q, "2");
  expect_line(q, "3"); /* ls's own */
  expect_line(q, "0");
  write_all(q, LT_STR("by name\n"));
  expect_line(q, "by name");
  lt_process_close(q);
  lt_process_close(other);
  lt_process_close(p);
}

static void a_child_gets_its_surroundings_and_no_more(void **state) {
  (void)state;
  run(surroundings);
}

/* --- Without memory and files ------------------------------------------------------------------------------------- */

static bool swept;

static void session(void *arg) {
  (void)arg;
  static char big[20000];
  memset(big, 'z', sizeof big);
  big[sizeof big - 1] = '\n';
  const char *argv[] = {"cat", NULL};
  lt_process_options options = {.file = "cat", .argv = argv, .line_max = 100000, .helper = self};
  lt_process *p = NULL;
  lt_str line;
  lt_status status = lt_process_open(loop, &options, &p, NULL);
  if (status == LT_OK) {
    status = lt_process_write(p, lt_str_from(big, sizeof big), NULL);
  }
  if (status == LT_OK) {
    status = lt_process_read_line(p, &line, NULL);
    if (status == LT_E_NOMEM) { /* nothing is lost: asking again is enough */
      assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK);
      assert_int_equal(line.n, sizeof big - 1);
    }
  }
  swept = !lt_mem_failed();
  lt_mem_fail_at(-1);
  assert_int_equal(status, swept ? LT_OK : LT_E_NOMEM);
  lt_process_close(p);
}

static void everything_gives_back_when_memory_ends(void **state) {
  (void)state;
  swept = false;
  for (long at = 0; !swept; at++) {
    assert_true(at < 50);
    assert_int_equal(lt_loop_spawn(loop, session, NULL, NULL), LT_OK);
    lt_mem_fail_at(at);
    turn();
  }
}

static void without_files(void **state) {
  (void)state;
  int fds[1024];
  size_t n = 0;
  while (n < 1024 && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) {
    n++;
  }
  const char *argv[] = {"cat", NULL};
  lt_process_options options = {.file = "/bin/cat", .argv = argv, .line_max = 100};
  for (size_t free_fds = 0; free_fds < 7; free_fds++) { /* three pipes are six, and the child's own is one */
    lt_process *p = NULL;
    lt_err err = LT_ERR_INIT;
    assert_int_equal(lt_process_open(loop, &options, &p, &err), LT_E_IO);
    assert_non_null(strstr(lt_err_msg(&err), "ulimit -n"));
    close(fds[--n]);
  }
  while (n > 0) {
    close(fds[--n]);
  }
  turn();
}

static int main_of_parent(void) {
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
    return 1;
  }
  if (lt_loop_new(&loop, NULL) != LT_OK || lt_loop_spawn(loop, be_a_parent, NULL, NULL) != LT_OK) {
    return 1;
  }
  lt_loop_run(loop);
  return 1;
}

/* This program is its own helper (`__exec`), and with `__parent` a parent to be killed. */
int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], LT_EXEC_WORD) == 0) {
    return lt_exec_main(argc - 1, argv + 1);
  }
  if (argc > 1 && strcmp(argv[1], "__parent") == 0) {
    return main_of_parent();
  }
  clean_up();
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
    perror("/proc/self/exe (in a chroot: mount -t proc proc /proc)");
    return 1;
  }
  const struct CMUnitTest tests[] = {
      LOOP_TEST(the_helper_hands_everything_on),
      LOOP_TEST(files_are_many_for_us_and_as_before_for_children),
      LOOP_TEST(a_helped_child_dies_with_its_parent),
      LOOP_TEST(what_cannot_be_executed_is_told),
      LOOP_TEST(commands_that_are_missing_are_named),
      LOOP_TEST(commands_are_found_from_the_child_s_folder),
      LOOP_TEST(a_child_gets_its_surroundings_and_no_more),
      LOOP_TEST(everything_gives_back_when_memory_ends),
      LOOP_TEST(without_files),
  };
  return cmocka_run_group_tests_name("process_start", tests, warm_up, NULL);
}
