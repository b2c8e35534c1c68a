/* Child processes, real ones: what they read and write, how they end and are closed, and what they leave behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "io/process.h"
#include "process_fix.h"

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* LT_YIELDS until the child's end was noticed. */
static void await_exit(lt_process *p) {
  for (int i = 0; i < 5000 && !lt_process_exited(p); i++) {
    lt_loop_sleep(loop, 1);
  }
  assert_true(lt_process_exited(p));
}

/* --- Talking ------------------------------------------------------------------------------------------------------ */

static void talk(void *arg) {
  (void)arg;
  lt_process *p = start_cat(1000);
  assert_string_equal(lt_process_exit_text(p), "is still running");
  write_all(p, LT_STR("hello\n"));
  expect_line(p, "hello");
  write_all(p, LT_STR("one\ntwo\r\nthr"));
  write_all(p, LT_STR_NULL);
  write_all(p, LT_STR("ee\n\n"));
  expect_line(p, "one");
  expect_line(p, "two");
  expect_line(p, "three");
  expect_line(p, "");
  write_all(p, LT_STR("a\0b\n"));
  lt_str line;
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK);
  assert_int_equal(line.n, 3);
  assert_memory_equal(line.p, "a\0b", 3);
  uint64_t before = now_ms();
  lt_process_close(p); /* cat ends when its input does */
  assert_true(now_ms() - before < LT_PROC_KILL_AFTER_MS);
  lt_process_close(NULL);
}

static void end_input(void *arg) {
  (void)arg;
  lt_process *p = start_cat(LT_MIB);
  char *half = lt_mem_alloc(LT_MIB / 2); /* more than the pipe holds */
  memset(half, 'x', LT_MIB / 2);
  write_all(p, lt_str_from(half, LT_MIB / 2));
  lt_process_end_input(p);
  assert_int_equal(lt_process_write(p, LT_STR("late"), NULL), LT_E_CLOSED);
  lt_process_end_input(p);
  lt_str line;
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK); /* and cat's end, which this is */
  assert_int_equal(line.n, LT_MIB / 2);
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_E_CLOSED);
  assert_string_equal(lt_process_exit_text(p), "exited with code 0");
  lt_process_end_input(p);
  lt_process_close(p);
  lt_mem_free(half);
}

static void lines_go_in_and_come_out(void **state) {
  (void)state;
  run(talk);
}

static void input_ends_behind_what_was_written(void **state) {
  (void)state;
  run(end_input);
}

static void slow_writer(void *arg) {
  (void)arg;
  lt_process *p = start_shell("printf spl; sleep 0.05; printf 'it\\r'; sleep 0.05; printf '\\nlast'");
  expect_line(p, "split");
  expect_line(p, "last");
  expect_failure(p, LT_E_CLOSED, "\"sh\" exited with code 0");
  expect_failure(p, LT_E_CLOSED, "\"sh\" exited with code 0");
  lt_process_close(p);
}

static void split_and_unfinished_lines_are_whole(void **state) {
  (void)state;
  run(slow_writer);
}

static void too_long(void *arg) {
  (void)arg;
  const char *argv[] = {"sh", "-c", "echo 123456789; head -c 1000000 /dev/zero; echo; echo 1234567890; echo ok", NULL};
  lt_process *p = start(&(lt_process_options){.file = "sh", .argv = argv, .line_max = 9});
  expect_line(p, "123456789");
  expect_failure(p, LT_E_LIMIT, "\"sh\" sent a line of more than 9 bytes");
  expect_failure(p, LT_E_LIMIT, "\"sh\" sent a line of more than 9 bytes");
  expect_line(p, "ok");
  expect_failure(p, LT_E_CLOSED, "\"sh\" exited with code 0");
  lt_process_close(p);
}

static void lines_that_are_too_long_are_dropped(void **state) {
  (void)state;
  run(too_long);
}

static void big_line(void *arg) {
  (void)arg;
  lt_process *p = start_shell("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo after");
  lt_str line;
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK);
  assert_int_equal(line.n, 20000000);
  assert_true(line.p[0] == 'x' && line.p[19999999] == 'x');
  expect_line(p, "after");
  lt_process_close(p);
}

static void a_line_of_20_mb_arrives(void **state) {
  (void)state;
  run(big_line);
}

/* 30 MB in one call, through a queue of 1 MiB, and back. */
static void big_write(void *arg) {
  (void)arg;
  lt_process *p = start_cat(64 * LT_MIB);
  size_t n = 30000000;
  char *bytes = lt_mem_alloc(n);
  memset(bytes, 'y', n);
  bytes[n - 1] = '\n';
  write_all(p, lt_str_from(bytes, n));
  lt_str line;
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK);
  assert_int_equal(line.n, n - 1);
  assert_memory_equal(line.p, bytes, n - 1);
  lt_mem_free(bytes);
  lt_process_close(p);
}

static void a_message_of_30_mb_goes_there_and_back(void **state) {
  (void)state;
  run(big_write);
}

/* --- Many writers ------------------------------------------------------------------------------------------------- */

enum { WRITERS = 1000, LINES = 3 };

static lt_process *shared;
static unsigned written;

static size_t line_length(unsigned writer, unsigned line) {
  return (writer * 31 + line * 1777) % 9000; /* below and above what a pipe takes at once */
}

static void write_lines(void *arg) {
  unsigned writer = (unsigned)(uintptr_t)arg;
  for (unsigned i = 0; i < LINES; i++) {
    lt_buf line;
    lt_buf_init(&line, 20000);
    lt_buf_printf(&line, "%u:%u:", writer, i);
    for (size_t k = line_length(writer, i); k > 0; k--) {
      lt_buf_byte(&line, (char)('a' + writer % 26));
    }
    lt_buf_byte(&line, '\n');
    write_all(shared, lt_buf_view(&line));
    lt_buf_release(&line);
    written++;
  }
}

static void read_lines(void *arg) {
  (void)arg;
  static unsigned next[WRITERS];
  memset(next, 0, sizeof next);
  lt_loop_sleep(loop, 50); /* until the queue is full: more than cat and the pipes hold */
  assert_true(written < WRITERS * LINES);
  for (unsigned n = 0; n < WRITERS * LINES; n++) {
    lt_str line;
    unsigned writer, number;
    int head;
    assert_int_equal(lt_process_read_line(shared, &line, NULL), LT_OK);
    char copy[32] = "";
    memcpy(copy, line.p, line.n < 31 ? line.n : 31);
    assert_int_equal(sscanf(copy, "%u:%u:%n", &writer, &number, &head), 2);
    assert_true(writer < WRITERS);
    assert_int_equal(number, next[writer]++);
    assert_int_equal(line.n, (size_t)head + line_length(writer, number));
    for (size_t k = (size_t)head; k < line.n; k++) {
      assert_int_equal(line.p[k], 'a' + writer % 26);
    }
  }
  lt_process_close(shared);
}

static void start_writers(void *arg) {
  (void)arg;
  shared = start_cat(10000);
  written = 0;
  for (uintptr_t i = 0; i < WRITERS; i++) {
    assert_int_equal(lt_loop_spawn(loop, write_lines, (void *)i, NULL), LT_OK);
  }
  assert_int_equal(lt_loop_spawn(loop, read_lines, NULL, NULL), LT_OK);
}

static void a_thousand_writers_do_not_mix(void **state) {
  (void)state;
  run(start_writers);
  assert_int_equal(written, WRITERS * LINES);
}

/* --- Backpressure and stderr -------------------------------------------------------------------------------------- */

static void reading_slowly(void *arg) {
  (void)arg;
  lt_process *p =
      start_shell("for i in 1 2 3 4 5 6 7 8 9; do head -c 99999 /dev/zero; echo; done; echo done >&2; echo end");
  lt_str line;
  assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK);
  lt_loop_sleep(loop, 100);
  assert_int_equal(line.n, 99999); /* the line we hold did not move */
  assert_int_equal(line.p[99998], 0);
  assert_int_equal(lt_process_stderr(p).n, 0); /* the child waits */
  for (int i = 1; i < 9; i++) {
    assert_int_equal(lt_process_read_line(p, &line, NULL), LT_OK);
    assert_int_equal(line.n, 99999);
  }
  expect_line(p, "end");
  expect_failure(p, LT_E_CLOSED, "\"sh\" exited with code 0");
  assert_true(lt_str_eqc(lt_process_stderr(p), "done\n"));
  lt_process_close(p);
}

static void a_child_that_is_not_read_waits(void **state) {
  (void)state;
  run(reading_slowly);
}

static void flood_stderr(void *arg) {
  (void)arg;
  lt_process *p = start_shell("head -c 3000000 /dev/zero | tr '\\0' e >&2; echo THE END >&2; echo done");
  expect_line(p, "done");
  expect_failure(p, LT_E_CLOSED, "\"sh\" exited with code 0");
  lt_str kept = lt_process_stderr(p);
  assert_int_equal(kept.n, LT_PROC_STDERR_KEEP_BYTES);
  assert_true(lt_str_ends(kept, LT_STR("eeeTHE END\n")));
  lt_process_close(p);
}

static void stderr_never_blocks_and_its_end_is_kept(void **state) {
  (void)state;
  run(flood_stderr);
}

/* --- Ends --------------------------------------------------------------------------------------------------------- */

static void expect_end(const char *script, const char *text, const char *err_text) {
  lt_process *p = start_shell(script);
  char want[128];
  snprintf(want, sizeof want, "\"sh\" %s", text);
  expect_failure(p, LT_E_CLOSED, want);
  assert_true(lt_process_exited(p));
  assert_string_equal(lt_process_exit_text(p), text);
  assert_true(lt_str_eqc(lt_process_stderr(p), err_text));
  lt_process_close(p);
}

static void ends(void *arg) {
  (void)arg;
  expect_end("exit 0", "exited with code 0", "");
  expect_end("echo why >&2; exit 3", "exited with code 3", "why\n");
  expect_end("kill -SEGV $$", "was killed by SIGSEGV", "");
  expect_end("kill -KILL $$", "was killed by SIGKILL", "");
  expect_end("exec >&-; sleep 0.02; echo late >&2; exit 5", "exited with code 5", "late\n");
  lt_process *p = start_shell("exec >&-; exec sleep 20");
  expect_failure(p, LT_E_CLOSED, "\"sh\" closed its output");
  assert_false(lt_process_exited(p));
  lt_process_signal(p, SIGUSR1);
  await_exit(p);
  assert_string_equal(lt_process_exit_text(p), "was killed by SIGUSR1");
  lt_process_signal(p, SIGUSR1);
  lt_process_close(p);
}

static void how_a_child_ended_is_told(void **state) {
  (void)state;
  run(ends);
}

static void write_to_the_dead(void *arg) {
  (void)arg;
  lt_err err = LT_ERR_INIT;
  lt_process *p = start_shell("exit 7");
  await_exit(p);
  assert_int_equal(lt_process_write(p, LT_STR("x\n"), &err), LT_E_CLOSED);
  assert_string_equal(lt_err_msg(&err), "cannot write to \"sh\": it exited with code 7");
  lt_process_close(p);

  p = start_shell("exec <&-; echo ready; exec sleep 20");
  expect_line(p, "ready");
  assert_int_equal(lt_process_write(p, LT_STR("x\n"), &err), LT_E_CLOSED);
  assert_string_equal(lt_err_msg(&err), "cannot write to \"sh\": it closed its input");
  assert_int_equal(lt_process_write(p, LT_STR("x\n"), &err), LT_E_CLOSED);
  lt_process_signal(p, SIGKILL);
  lt_process_close(p);
}

static void writing_to_a_dead_child_fails(void **state) {
  (void)state;
  run(write_to_the_dead);
}

/* What is queued when its reader dies: the writers that wait must not wait for ever. */
static void wait_to_write(void *arg) {
  (void)arg;
  static char bytes[900000];
  for (int i = 0; i < 2; i++) {
    write_all(shared, lt_str_from(bytes, sizeof bytes));
  }
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_process_write(shared, LT_STR("x"), &err), LT_E_CLOSED);
  written++;
}

static void die_unread(void *arg) {
  (void)arg;
  written = 0;
  shared = start_shell("exec sleep 20");
  assert_int_equal(lt_loop_spawn(loop, wait_to_write, NULL, NULL), LT_OK);
  lt_loop_sleep(loop, 20);
  assert_int_equal(written, 0);
  lt_process_signal(shared, SIGKILL);
  await_exit(shared);
  lt_process_close(shared);
}

static void waiting_writers_hear_of_the_end(void **state) {
  (void)state;
  run(die_unread);
  assert_int_equal(written, 1);
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */

static void expect_close(const char *script, uint64_t least_ms, uint64_t most_ms) {
  lt_process *p = start_shell(script);
  expect_line(p, "ready");
  int pid = lt_process_pid(p);
  uint64_t before = now_ms();
  lt_process_close(p);
  uint64_t took = now_ms() - before;
  assert_in_range(took, least_ms, most_ms);
  assert_int_equal(kill(pid, 0), -1);
}

static void closing(void *arg) {
  (void)arg;
  expect_close("echo ready; cat", 0, LT_PROC_KILL_AFTER_MS - 1);
  expect_close("echo ready; exec sleep 20", LT_PROC_KILL_AFTER_MS - 10, 2 * LT_PROC_KILL_AFTER_MS - 20);
  expect_close("trap '' TERM; echo ready; while :; do sleep 20; done", 2 * LT_PROC_KILL_AFTER_MS - 20, 20000);
  /* nobody reads its flood any more: it still gets as far as the end of its input */
  expect_close("echo ready; head -c 5000000 /dev/zero; cat", 0, LT_PROC_KILL_AFTER_MS - 1);
}

static void closing_asks_then_insists(void **state) {
  (void)state;
  run(closing);
}

static bool queue_was_written;

static void close_with_a_queue(void *arg) {
  (void)arg;
  static char bytes[500000];
  memset(bytes, 'q', sizeof bytes);
  char path[] = "/tmp/lathe-test-XXXXXX";
  close(mkstemp(path));
  char script[64];
  snprintf(script, sizeof script, "sleep 0.1; cat >%s", path);
  lt_process *p = start_shell(script);
  write_all(p, lt_str_from(bytes, sizeof bytes));
  lt_process_close(p);
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  unlink(path);
  queue_was_written = st.st_size == sizeof bytes;
}

static void what_was_queued_still_arrives(void **state) {
  (void)state;
  run(close_with_a_queue);
  assert_true(queue_was_written);
}

static void read_until_closed(void *arg) {
  (void)arg;
  lt_str line;
  assert_int_equal(lt_process_read_line(shared, &line, NULL), LT_E_CLOSED);
  written++;
}

static void close_under_others(void *arg) {
  (void)arg;
  written = 0;
  shared = start_shell("exec sleep 20");
  assert_int_equal(lt_loop_spawn(loop, wait_to_write, NULL, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(loop, read_until_closed, NULL, NULL), LT_OK);
  lt_loop_sleep(loop, 10);
  assert_int_equal(written, 0);
  lt_process_signal(shared, SIGSTOP); /* a stopped one can be ended as well */
  lt_process_close(shared);
  assert_int_equal(written, 2);
}

static void readers_and_writers_are_sent_away_first(void **state) {
  (void)state;
  run(close_under_others);
}

/* --- What it leaves behind ---------------------------------------------------------------------------------------- */

static void grandchildren(void *arg) {
  (void)arg;
  uint64_t before = now_ms();
  lt_process *p = start_shell("sleep 20 & echo $!; exit 0"); /* holds stdout and stderr open */
  int pid = read_pid(p);
  assert_true(pid > 0);
  expect_failure(p, LT_E_CLOSED, "\"sh\" exited with code 0");
  assert_true(ends_within(pid, 5000));
  lt_process_close(p);

  p = start_shell("trap '' TERM; sleep 20 & echo $!; cat; sleep 20"); /* one that is closed */
  pid = read_pid(p);
  lt_process_close(p);
  assert_true(ends_within(pid, 5000));

  /* one that left the group goes on, with our pipes, and that is all the same to us */
  p = start_shell("setsid sh -c 'trap \"\" PIPE; echo $$; sleep 30; echo late' & sleep 0.1; echo last");
  pid = read_pid(p);
  expect_line(p, "last");
  expect_failure(p, LT_E_CLOSED, "\"sh\" exited with code 0");
  lt_process_close(p);
  assert_true(now_ms() - before < 25000);
  assert_false(ends_within(pid, 0));
  kill(-pid, SIGKILL);
}

static void grandchildren_neither_survive_nor_hold_us_up(void **state) {
  (void)state;
  run(grandchildren);
}

/* A child outlives the fiber that started it: the loop goes on until it has ended. */
static lt_process *left_open;

static void leave_open(void *arg) {
  (void)arg;
  left_open = start_shell("sleep 0.05; exit 4");
}

static void close_left_open(void *arg) {
  (void)arg;
  lt_process_close(left_open);
}

static void a_running_child_keeps_the_loop(void **state) {
  (void)state;
  run(leave_open);
  assert_string_equal(lt_process_exit_text(left_open), "exited with code 4");
  run(close_left_open);
}

/* --- A process that is somebody else's ---------------------------------------------------------------------------- */

static const char *ending; /* that is expected */

static void end_with_five(void *arg) {
  (void)arg;
  lt_process *p = start_shell("exit 5");
  expect_failure(p, LT_E_CLOSED, ending);
  lt_process_close(p);
}

/* A process is started and ends without a handler of SIGCHLD: one that the host has installed stays installed. */
static void the_signal_of_children_stays_the_host_s(void **state) {
  (void)state;
  struct sigaction now;
  ending = "\"sh\" exited with code 5";
  run(end_with_five);
  assert_int_equal(sigaction(SIGCHLD, NULL, &now), 0);
  assert_true(now.sa_handler == SIG_DFL);
  signal(SIGCHLD, SIG_IGN); /* the kernel reaps */
  ending = "\"sh\" ended, and its exit code was taken by other code";
  run(end_with_five);
  signal(SIGCHLD, SIG_DFL);
}

int main(void) {
  clean_up();
  const struct CMUnitTest tests[] = {
      LOOP_TEST(lines_go_in_and_come_out),
      LOOP_TEST(input_ends_behind_what_was_written),
      LOOP_TEST(split_and_unfinished_lines_are_whole),
      LOOP_TEST(lines_that_are_too_long_are_dropped),
      LOOP_TEST(a_line_of_20_mb_arrives),
      LOOP_TEST(a_message_of_30_mb_goes_there_and_back),
      LOOP_TEST(a_thousand_writers_do_not_mix),
      LOOP_TEST(a_child_that_is_not_read_waits),
      LOOP_TEST(stderr_never_blocks_and_its_end_is_kept),
      LOOP_TEST(how_a_child_ended_is_told),
      LOOP_TEST(writing_to_a_dead_child_fails),
      LOOP_TEST(waiting_writers_hear_of_the_end),
      LOOP_TEST(closing_asks_then_insists),
      LOOP_TEST(what_was_queued_still_arrives),
      LOOP_TEST(readers_and_writers_are_sent_away_first),
      LOOP_TEST(grandchildren_neither_survive_nor_hold_us_up),
      LOOP_TEST(a_running_child_keeps_the_loop),
      LOOP_TEST(the_signal_of_children_stays_the_host_s),
  };
  return cmocka_run_group_tests(tests, warm_up, NULL);
}
