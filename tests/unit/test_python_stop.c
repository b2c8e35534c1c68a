/* The Python runner: programs that do not end by themselves, that fight, or that are many; an interpreter that is
 * killed, missing or old; and what is left behind afterwards. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "python_fix.h"
#include "runner/thread_limit.h"

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void expect_in(uint64_t timeout_ms, const char *code, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_PYTHON, .timeout_ms = timeout_ms};
  py_expect_run(&request, TELL_END, expected);
}

/* --- The deadline, and cancelling --------------------------------------------------------------------------------- */
IN_PYTHON(test_deadline) {
  (void)w;
  uint64_t began = now_ms();
  expect_in(100, "while True: pass", "E_TIMEOUT Execution timed out after 100ms");
  expect_in(100, "import time\ntime.sleep(100)", "E_TIMEOUT Execution timed out after 100ms");
  expect_in(100, "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
            "E_TIMEOUT Execution timed out after 100ms");
  expect_in(100, "import threading\nthreading.Event().wait()", "E_TIMEOUT Execution timed out after 100ms");
  expect_in(100, "import threading, time\nthreading.Thread(target=time.sleep, args=(100,)).start()",
            "E_TIMEOUT Execution timed out after 100ms");
  expect_in(100,
            "import signal\nfor s in range(1, 65):\n    try:\n        signal.signal(s, signal.SIG_IGN)\n"
            "    except (OSError, ValueError):\n        pass\nwhile True: pass",
            "E_TIMEOUT Execution timed out after 100ms");
  assert_true(now_ms() - began < 8000);
  lt_run_request request = {
      .code = LT_STR("print('said')\nset_result(1)\nwhile True: pass"), .lang = LT_LANG_PYTHON, .timeout_ms = 200};
  lt_run_result result;
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  assert_int_equal(result.status, LT_E_TIMEOUT);
  assert_string_equal(result.value.p, "1");
  assert_non_null(result.texts);
  lt_run_result_release(&result);
}

IN_PYTHON(test_a_call_at_the_deadline_is_cancelled) {
  lt_run_request request = {.code = LT_STR("t_hang()"), .lang = LT_LANG_PYTHON, .timeout_ms = 2000};
  py_expect_run(&request, TELL_ALL, "E_TIMEOUT Execution timed out after 2000ms t.hang{}?");
  assert_int_equal(w->tools.cancelled, 1);
  py_expect("set_result(1)", "json 1");
}

typedef struct later {
  lt_run_request request;
  lt_run_result result;
  lt_status status;
  lt_wait done;
} later;

static void on_later(void *arg) {
  later *l = arg;
  l->status = py_run(&l->request, &l->result, NULL);
  lt_wait_wake(&l->done, LT_OK);
}

static void start_later(world *w, later *l, const char *code, lt_cancel *cancel) {
  *l = (later){.request = {.code = lt_str_of(code), .lang = LT_LANG_PYTHON, .cancel = cancel}};
  lt_wait_init(&l->done, w->loop);
  assert_int_equal(lt_loop_spawn(w->loop, on_later, l, NULL), LT_OK);
}

static void end_later(later *l, const char *expected) {
  lt_buf text;
  lt_buf_init(&text, LT_MIB);
  assert_int_equal(lt_wait_on(&l->done, 20000), LT_OK);
  assert_int_equal(l->status, LT_OK);
  tell(&l->result, TELL_END, &text);
  assert_string_equal(text.p, expected);
  lt_buf_release(&text);
  lt_run_result_release(&l->result);
}

/* Comes back when the program hangs in a tool. */
static void start_until_hang(world *w, later *l, const char *code, lt_cancel *cancel) {
  lt_wait begun;
  lt_wait_init(&begun, w->loop);
  w->tools.waiting = &begun;
  start_later(w, l, code, cancel);
  assert_int_equal(lt_wait_on(&begun, 20000), LT_OK);
  w->tools.waiting = NULL;
}

IN_PYTHON(test_cancel) {
  lt_cancel cancel;
  later l, other;
  lt_cancel_init(&cancel);
  start_until_hang(w, &l, "t_hang()", &cancel);
  start_later(w, &other, "set_result(t_slow(ms=300)['ms'])", NULL);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  end_later(&l, "E_CANCELLED Execution was cancelled");
  end_later(&other, "json 300");
  start_later(w, &l, "set_result(1)", &cancel); /* before it began */
  end_later(&l, "E_CANCELLED Execution was cancelled");
}

/* --- Programs that fight ------------------------------------------------------------------------------------------ */
IN_PYTHON(test_programs_that_end_themselves) {
  (void)w;
  py_expect("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "E_PROGRAM the program was killed by SIGKILL");
  py_expect("import os, signal\nset_result(1)\nos.abort()", "E_PROGRAM the program was killed by SIGABRT");
  py_expect_part("import ctypes\nctypes.string_at(0)", "E_PROGRAM the program was killed by SIGSEGV");
  py_expect("import os, signal\nsignal.raise_signal(signal.SIGINT)",
            "E_PROGRAM 2:1 KeyboardInterrupt "
            "[signal.raise_signal(signal.SIGINT)]");
  py_expect("set_result(1)", "json 1");
}

IN_PYTHON(test_writes_to_the_connection) {
  (void)w;
  const char *broken =
      "E_PROGRAM the program wrote to Lathe's own connection (a file descriptor that is not its own), or "
      "sent more than 64 MiB at once";
  py_expect(
      "import os, time\nfor fd in range(3, 256):\n    try:\n        os.write(fd, b'hello, hello, hello\\n')\n"
      "    except OSError:\n        pass\ntime.sleep(10)",
      broken);
  py_expect(
      "import os, time\nfor fd in range(3, 256):\n    try:\n        os.write(fd, b'x' * (1 << 20))\n"
      "    except OSError:\n        pass\ntime.sleep(10)",
      broken);
  py_expect("import os, time\nos.write(100, b'\\xff\\xff\\xff\\xff\\0\\0\\0\\0\\0\\0\\x11\\xa7')\ntime.sleep(10)",
            broken);
  py_expect("import os\nn = os.write(100, b'\\0\\0\\0\\2\\0\\0\\0\\1\\0\\0\\x11\\xa7{x')",
            "E_PROGRAM set_result: the result is not JSON, or nested too deeply (64 MiB)");
  py_expect("import os\nos.closerange(3, 256)\ntry:\n    t_echo()\nexcept ToolError as e:\n    print(e)\n",
            "undefined");
  py_expect_part("import os\nos.closerange(3, 256)\nt_echo()", "");
  py_expect("import os\nos.closerange(0, 256)\nprint('x')", "E_PROGRAM the program exited with code 1");
  py_expect("set_result(1)", "json 1");
}

IN_PYTHON(test_floods) {
  (void)w;
  py_expect_part(
      "import sys\nfor i in range(50000):\n    print('x' * 50)\n    print('y' * 50, file=sys.stderr)\n"
      "set_result('end')",
      "string end");
  py_expect_part("print('x' * 50_000_000)\nset_result('end')", "log-cut");
  py_expect_part("import os\nos.write(1, b'x' * 100)\nwhile os.write(1, b'x' * 65536) < 0: pass\nset_result(1)",
                 "json 1");
  lt_run_request request = {.code = LT_STR("while True: print('x' * 1000)"), .lang = LT_LANG_PYTHON, .timeout_ms = 300};
  lt_run_result result;
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  assert_int_equal(result.status, LT_E_TIMEOUT);
  assert_true(result.log_cut);
  size_t bytes = 0;
  for (const lt_run_text *t = result.texts; t != NULL; t = t->next) {
    bytes += t->text.n;
  }
  assert_true(bytes > LT_RUN_LOG_MAX_BYTES - 2000 && bytes <= LT_RUN_LOG_MAX_BYTES);
  lt_run_result_release(&result);
}

IN_PYTHON(test_large_things) {
  (void)w;
  lt_run_request request = {.code = LT_STR("set_result('x' * 50_000_000)"), .lang = LT_LANG_PYTHON};
  lt_run_result result;
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  assert_int_equal(result.status, LT_OK);
  assert_int_equal(result.value.n, 50000000);
  lt_run_result_release(&result);
  py_expect("set_result(len(t_big(bytes=20_000_000)))", "json 20000000");
  py_expect("set_result(len(t_echo(s='y' * 20_000_000)['s']))", "json 20000000");
  py_expect_part("set_result(['x' * 1_000_000] * 70)", "E_PROGRAM");
}

IN_PYTHON(test_memory) {
  (void)w;
  lt_run_request request = {.code = LT_STR("x = bytearray(400_000_000)\nset_result(1)"), .lang = LT_LANG_PYTHON};
  py_expect_run(&request, TELL_END, "json 1");
  request.memory_bytes = 64 * LT_MIB;
  py_expect_run(&request, TELL_END,
                "E_NOMEM 1:5 out of memory: the program needed more than its 64 MiB; work on smaller pieces, or allow "
                "more (--memory, sandbox.memoryMb) [x = bytearray(400_000_000)]");
  request.code = LT_STR("x = []\nwhile True: x.append('x' * 1000)");
  lt_run_result result;
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  assert_int_equal(result.status, LT_E_NOMEM);
  lt_run_result_release(&result);
  request.code = LT_STR("import mmap\nx = mmap.mmap(-1, 1 << 30)\nx.write(bytes(1000))");
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  assert_int_equal(result.status, LT_E_PROGRAM);
  lt_run_result_release(&result);
}

/* It can start threads, and not take all the numbers that there are. */
IN_PYTHON(test_threads_without_end) {
  (void)w;
  char code[400];
  unsigned long most = (unsigned long)lt_thread_limit() + 500;
  snprintf(code, sizeof code,
           "import threading\nthreading.stack_size(32768)\ne = threading.Event()\nn = 0\ntry:\n"
           "    while n < %lu:\n        threading.Thread(target=e.wait).start()\n        n += 1\n"
           "except RuntimeError:\n    pass\ne.set()\nset_result([n > 500, n < %lu])",
           most, most);
  py_expect(code, "json [true,true]");
}

/* After its last word a program is killed, whatever it does. */
IN_PYTHON(test_programs_that_go_on_behind_their_end) {
  lt_run_request request = {
      .code = LT_STR("import os, time\nset_result(os.getpid())\nos.write(100, b'\\0' * 10 + b'\\x12\\xa7')\n"
                     "while True: time.sleep(1)"),
      .lang = LT_LANG_PYTHON};
  lt_run_result result;
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  assert_int_equal(result.status, LT_OK);
  int pid = atoi(result.value.p);
  lt_run_result_release(&result);
  for (int i = 0; i < 1000 && kill(pid, 0) == 0; i++) {
    lt_loop_sleep(w->loop, 10);
  }
  assert_int_equal(kill(pid, 0), -1);
}

#define NAMELESS                                                                             \
  "import ctypes, os, time\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n" \
  "def nameless():\n    f = os.open('f', os.O_RDWR | os.O_CREAT)\n    os.unlink('f')\n"      \
  "    os.posix_fallocate(f, 0, 200_000_000)\n    return f\n"                                \
  "def mmap(f):\n    assert libc.mmap(None, 4096, 1, 2, f, ctypes.c_long(0)) > 0\n"

IN_PYTHON(test_full_folders) {
  (void)w;
  const char *full =
      "E_PROGRAM the program wrote too much into its folder: at most 1024 MiB in 20000 files; give the data "
      "to a tool, or set python.workspace";
  py_expect(
      "import os\nfor i in range(12):\n    with open(f'f{i}', 'wb') as f:\n        os.posix_fallocate(f.fileno(), 0, "
      "200_000_000)\nwhile True: pass",
      full);
  /* Without a name: mapped, and open while the process's first thread has ended. */
  py_expect(NAMELESS "for i in range(40):\n    f = nameless()\n    mmap(f)\n    os.close(f)\nwhile True: pass", full);
  py_expect(
      NAMELESS
      "import threading\ndef last():\n    time.sleep(0.1)\n    for i in range(40): nameless()\n    time.sleep(60)\n"
      "threading.Thread(target=last).start()\nlibc.pthread_exit(None)",
      full);
  py_expect("import os\nos.makedirs('a/b')\nn = 0\nwhile True:\n    n += 1\n    os.symlink('x', f'a/b/{n}')", full);
  py_expect_part("f = open('f', 'wb')\nb = bytes(1 << 20)\nwhile True: f.write(b)",
                 "OSError: [Errno 27] File too large");
}

/* --- What is left behind ------------------------------------------------------------------------------------------ */
static unsigned count_in(const char *folder) {
  unsigned count = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir)) {
    count += e->d_name[0] != '.';
  }
  if (dir != NULL) {
    closedir(dir);
  }
  return count;
}

static char own_tmp[] = "/tmp/lathe-test-XXXXXX";

/* What a Lathe that was killed has left is removed by the next one, what one uses that lives is not. */
static void expect_left_folders_go(world *w) {
  char left[64], used[64];
  snprintf(left, sizeof left, "%s/lathe-python-left", own_tmp);
  snprintf(used, sizeof used, "%s/lathe-python-used", own_tmp);
  const struct timespec old[2] = {{.tv_sec = time(NULL) - 3600}, {.tv_sec = time(NULL) - 3600}};
  char *folders[] = {left, used};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(mkdir(folders[i], 0700), 0);
    assert_int_equal(geteuid() == 0 ? chown(folders[i], LT_JAIL_UID, LT_JAIL_UID) : 0, 0);
    assert_int_equal(utimensat(AT_FDCWD, folders[i], old, 0), 0);
  }
  int fd = open(used, O_RDONLY | O_DIRECTORY);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  lt_python_options options = py_options(w);
  py_new(&options);
  py_expect("set_result(1)", "json 1");
  lt_python_free(python);
  assert_int_equal(access(left, F_OK), -1);
  assert_int_equal(access(used, F_OK), 0);
  close(fd);
  assert_int_equal(rmdir(used), 0);
}

static void test_folders_are_removed_on_fiber(world *w) {
  lt_python_options options = py_options(w);
  py_new(&options);
  char base[200];
  lt_run_request request = {.code = LT_STR("import os\nset_result(os.path.dirname(os.getcwd()))"),
                            .lang = LT_LANG_PYTHON};
  lt_run_result result;
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  snprintf(base, sizeof base, "%.*s", LT_STR_ARG(lt_buf_view(&result.value)));
  lt_run_result_release(&result);
  py_expect(
      "import os\nfor i in range(5):\n    os.makedirs(f'a{i}/b/c/d')\n    open(f'a{i}/b/f', 'w').write('x')\n"
      "os.symlink('/', 'a0/root')\n",
      "undefined");
  /* Where it takes long it is stopped: so deep a folder cannot be measured. */
  py_expect_part("import os\nfor i in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\nset_result(1)", "");
  py_expect("import os\nos.makedirs('x/y')\nfd = os.open('x', 0)\nos.fchmod(fd, 0)\nset_result(1)", "json 1");
  py_expect("for i in range(500):\n    open(f'f{i}', 'w').close()\n", "undefined");
  for (int i = 0; i < 4000 && count_in(base) > 1; i++) { /* that of the spare; the others go behind the run */
    lt_loop_sleep(w->loop, 5);
  }
  assert_true(count_in(base) <= 1);
  lt_python_free(python);
  assert_int_equal(access(base, F_OK), -1);
  expect_left_folders_go(w);
  assert_int_equal(count_in(own_tmp), 0);
}

static void test_folders_are_removed(void **state) {
  (void)state;
  assert_non_null(mkdtemp(own_tmp));
  assert_int_equal(chmod(own_tmp, 0755), 0);
  setenv("TMPDIR", own_tmp, 1);
  in_world(test_folders_are_removed_on_fiber, 1);
  unsetenv("TMPDIR");
  assert_int_equal(rmdir(own_tmp), 0);
}

/* --- The interpreter ---------------------------------------------------------------------------------------------- */
static int zygote_pid(void) {
  lt_run_request request = {.code = LT_STR("import os\nset_result(os.getppid())"), .lang = LT_LANG_PYTHON};
  lt_run_result result;
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  int pid = atoi(result.value.p);
  lt_run_result_release(&result);
  return pid;
}

IN_PYTHON(test_the_interpreter_is_killed) {
  later l;
  int first = zygote_pid();
  start_until_hang(w, &l, "t_hang()", NULL);
  assert_int_equal(kill(first, SIGKILL), 0);
  end_later(&l, "E_PROGRAM the interpreter that Python programs are forked from has ended");
  py_expect("set_result(1)", "json 1");
  assert_int_not_equal(zygote_pid(), first);
}

IN_PYTHON(test_the_interpreter_hangs) {
  (void)w;
  int first = zygote_pid();
  assert_int_equal(kill(first, SIGSTOP), 0);
  expect_in(100, "while True: pass", "E_TIMEOUT Execution timed out after 100ms"); /* in the spare */
  py_expect("set_result(1)", "json 1");
  assert_int_not_equal(zygote_pid(), first);
}

IN_PYTHON(test_programs_cannot_reach_the_interpreter) {
  (void)w;
  int first = zygote_pid();
  py_expect_part("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", "PermissionError");
  py_expect_part("import os\nos.fork()", "PermissionError");
  assert_int_equal(zygote_pid(), first);
}

static void expect_failure(const lt_python_options *options, lt_status status, const char *part) {
  lt_err err = LT_ERR_INIT;
  lt_run_result result;
  lt_run_request request = {.code = LT_STR("set_result(1)"), .lang = LT_LANG_PYTHON};
  py_new(options);
  lt_status got = py_run(&request, &result, &err);
  if (got != status || strstr(lt_err_msg(&err), part) == NULL) {
    fail_msg("got %s: %s", lt_status_name(got), lt_err_msg(&err));
  }
  lt_run_result_release(&result);
  assert_int_equal(lt_python_warm(python, &err), status);
  lt_python_free(python);
}

static char *write_script(const char *text) {
  static char path[64];
  snprintf(path, sizeof path, "/tmp/lathe-script-XXXXXX");
  int fd = mkstemp(path);
  assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, 0755) == 0);
  close(fd);
  return path;
}

static void expect_old(world *w);

static void test_interpreters_that_are_none_on_fiber(world *w) {
  lt_python_options options = py_options(w);
  options.path = "no-such-python";
  expect_failure(&options, LT_E_NOTFOUND, "\"no-such-python\" cannot be started: install it, or say where");
  options.path = "/bin/true";
  expect_failure(&options, LT_E_IO, "\"/bin/true\" could not be started");
  char *script = write_script("#!/bin/sh\necho this is no python\n");
  options.path = script;
  expect_failure(&options, LT_E_NOTFOUND, "it is a script that does not start a Python");
  unlink(script);
  expect_old(w);
  script = write_script("#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n"); /* as version managers have it */
  options.path = script;
  py_new(&options);
  py_expect("set_result(1)", "json 1");
  lt_python_free(python);
  unlink(script);
}

#if !defined(__SANITIZE_ADDRESS__) && !UNDER_TSAN /* which do not start behind walls */
/* This program plays one (py_main), from a place that everybody can reach. */
static void expect_old(world *w) {
  char path[] = "/tmp/lathe-old-XXXXXX";
  char bytes[65536];
  int from = open("/proc/self/exe", O_RDONLY), to = mkstemp(path);
  assert_true(from >= 0 && to >= 0);
  for (ssize_t n = read(from, bytes, sizeof bytes); n > 0; n = read(from, bytes, sizeof bytes)) {
    assert_int_equal(write(to, bytes, (size_t)n), n);
  }
  assert_int_equal(fchmod(to, 0755), 0);
  close(from);
  close(to);
  lt_python_options options = py_options(w);
  options.path = path;
  expect_failure(&options, LT_E_UNSUPPORTED, "is Python 3.6, and Python programs need 3.9 or newer");
  unlink(path);
}
#else
static void expect_old(world *w) {
  (void)w;
}
#endif

static void test_interpreters_that_are_none(void **state) {
  (void)state;
  in_world(test_interpreters_that_are_none_on_fiber, 1);
}

static void test_workspaces_on_fiber(world *w) {
  lt_python_options options = py_options(w);
  char folder[] = "/tmp/lathe-fixed-XXXXXX";
  options.workspace = "/no/such/folder";
  expect_failure(&options, LT_E_CONFIG, "python.workspace: /no/such/folder: No such file or directory");
  options.workspace = "/etc/passwd";
  expect_failure(&options, LT_E_CONFIG, "is no folder");
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chmod(folder, 0), 0);
  options.workspace = folder;
  expect_failure(&options, LT_E_CONFIG, "is not writable");
  assert_int_equal(chmod(folder, 0777), 0);
  py_new(&options);
  py_expect("open('kept', 'w').write('x')", "json 1");
  py_expect("set_result(open('kept').read())", "string x");
  lt_python_free(python);
  char file[64];
  snprintf(file, sizeof file, "%s/kept", folder);
  assert_int_equal(unlink(file), 0);
  assert_int_equal(rmdir(folder), 0);
}

static void test_workspaces(void **state) {
  (void)state;
  in_world(test_workspaces_on_fiber, 1);
}

static void test_environment_on_fiber(world *w) {
  lt_python_options options = py_options(w);
  const char *env[] = {"MINE=1", "LANG=C", NULL};
  setenv("LATHE_TEST_SECRET", "x", 1);
  options.env = env;
  py_new(&options);
  py_expect("import os\nset_result([os.environ.get('MINE'), os.environ['LANG'], os.environ.get('LATHE_TEST_SECRET')])",
            "json [\"1\",\"C\",null]");
  lt_python_free(python);
  options.env_passthrough = true;
  py_new(&options);
  py_expect("import os\nset_result([os.environ.get('MINE'), os.environ.get('LATHE_TEST_SECRET')])",
            "json [\"1\",\"x\"]");
  lt_python_free(python);
}

static void test_environment(void **state) {
  (void)state;
  in_world(test_environment_on_fiber, 1);
}

/* --- Many --------------------------------------------------------------------------------------------------------- */
IN_PYTHON(test_many_at_once) {
  enum { MANY = 200 }; /* more than may have a process at a time */
  static later runs[MANY];
  for (int i = 0; i < MANY; i++) {
    start_later(w, &runs[i], "set_result(t_slow(ms=5)['ms'])", NULL);
  }
  for (int i = 0; i < MANY; i++) {
    end_later(&runs[i], "json 5");
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_deadline),
      cmocka_unit_test(test_a_call_at_the_deadline_is_cancelled),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_programs_that_end_themselves),
      cmocka_unit_test(test_writes_to_the_connection),
      cmocka_unit_test(test_floods),
      cmocka_unit_test(test_large_things),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_threads_without_end),
      cmocka_unit_test(test_programs_that_go_on_behind_their_end),
      cmocka_unit_test(test_full_folders),
      cmocka_unit_test(test_folders_are_removed),
      cmocka_unit_test(test_the_interpreter_is_killed),
      cmocka_unit_test(test_the_interpreter_hangs),
      cmocka_unit_test(test_programs_cannot_reach_the_interpreter),
      cmocka_unit_test(test_interpreters_that_are_none),
      cmocka_unit_test(test_workspaces),
      cmocka_unit_test(test_environment),
      cmocka_unit_test(test_many_at_once),
  };
  return py_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
