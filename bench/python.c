/* Python programs, beside the same interpreter started anew for each of them: a file with a prelude and the program is
 * written, python3 runs it, JSON lines go over its pipes. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/memory.h"
#include "bench/peer.h"
#include "bench/rig.h"
#include "runner/python/python.h"

enum {
  ROUNDS = 100,
  COLD_ROUNDS = 8,
  NAIVE_ROUNDS = 15,
  MANY = 100,
  MANY_ROUNDS = 3,
  FILE_BYTES = 16384,
  PAUSE_MS = 20
};

#define TARGET_PLUS_NS 1.5e6
#define TARGET_CALL_NS 2e6

extern char **environ;

static const char plus[] = "set_result(1+2)\n";
static const char call[] = "set_result(call_tool('bench.echo', {'a': 1}))\n";

typedef struct bench {
  lt_rig *rig;
  lt_python *python;
  lt_measure plus, call, in_turn, naive_plus, naive_call;
} bench;

/* --- Ours --------------------------------------------------------------------------------------------------------- */

static lt_status run_one(lt_python *python, const char *code, lt_run_result *result, lt_err *err) LT_YIELDS {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_PYTHON};
  lt_runner *runner = lt_python_runner(python);
  lt_run_result_init(result);
  lt_status status = runner->run(runner, &request, result, err);
  return status == LT_OK && result->status != LT_OK
             ? lt_fail(err, result->status, "%.*s", LT_STR_ARG(lt_buf_view(&result->error)))
             : status;
}

static void must_run(lt_python *python, const char *code) LT_YIELDS {
  lt_run_result result;
  lt_err err = LT_ERR_INIT;
  if (run_one(python, code, &result, &err) != LT_OK) {
    fprintf(stderr, "bench: a program failed: %s\n%s\n", lt_err_msg(&err), code);
    _exit(1);
  }
  lt_run_result_release(&result);
}

static lt_python *open_python(lt_rig *rig) {
  lt_python *python = NULL;
  lt_python_options options = {.loop = rig->loop, .door = rig->door};
  LT_CHECK(lt_python_new(&options, &python, NULL) == LT_OK);
  return python;
}

/* False: there is no Python here. */
static bool measure_cold(bench *b) LT_YIELDS {
  lt_measure m;
  lt_err err = LT_ERR_INIT;
  lt_measure_init(&m);
  for (int i = 0; i < COLD_ROUNDS; i++) {
    lt_python *python = open_python(b->rig);
    lt_run_result result;
    double start = lt_measure_now();
    lt_status status = run_one(python, plus, &result, &err);
    lt_measure_add(&m, lt_measure_now() - start);
    lt_run_result_release(&result);
    lt_python_free(python);
    if (status != LT_OK) {
      lt_measure_skip("Python", "%s", lt_err_msg(&err));
      lt_measure_release(&m);
      return false;
    }
  }
  lt_measure_print_ns("the first program, 1+2, the interpreter's start included", &m, 0);
  return true;
}

static void sample(bench *b, const char *code, lt_measure *m) LT_YIELDS {
  double start = lt_measure_now();
  must_run(b->python, code);
  lt_measure_add(m, lt_measure_now() - start);
}

/* --- The interpreter started for each
 * --------------------------------------------------------------------------------- */

static char prelude[FILE_BYTES];

static bool write_file(char *path, const char *code) {
  int fd = mkstemps(path, 3);
  bool ok = fd >= 0 && write(fd, prelude, strlen(prelude)) > 0 && write(fd, code, strlen(code)) > 0;
  if (fd >= 0) {
    close(fd);
  }
  return ok;
}

/* Answers a call with its arguments; true at the result. */
static bool dialogue(FILE *from, FILE *to) {
  char line[1024];
  while (fgets(line, sizeof line, from) != NULL) {
    if (strstr(line, "\"result\"") != NULL) {
      return true;
    }
    fputs("{\"type\":\"tool_result\",\"id\":\"tc_1\",\"data\":\"{\\\"a\\\":1}\"}\n", to);
    fflush(to);
  }
  return false;
}

static bool start_naive(const char *python, const char *code, double *ret_ns) {
  double start = lt_measure_now();
  char path[] = "/tmp/lathe-bench-XXXXXX.py";
  int in[2], out[2];
  pid_t pid = -1;
  posix_spawn_file_actions_t actions;
  bool ok = write_file(path, code) && pipe(in) == 0 && pipe(out) == 0;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_addclose(&actions, in[1]);
  posix_spawn_file_actions_addclose(&actions, out[0]);
  char name[] = "python3";
  char *argv[] = {name, path, NULL};
  ok = ok && posix_spawn(&pid, python, &actions, NULL, argv, environ) == 0;
  close(in[0]);
  close(out[1]);
  FILE *from = fdopen(out[0], "r"), *to = fdopen(in[1], "w");
  ok = ok && dialogue(from, to);
  fclose(from);
  fclose(to);
  if (pid > 0) {
    waitpid(pid, NULL, 0);
  }
  unlink(path);
  posix_spawn_file_actions_destroy(&actions);
  *ret_ns = lt_measure_now() - start;
  return ok;
}

static bool read_prelude(void) {
  FILE *file = fopen(LT_BENCH_DIR "/peers/prelude.py", "r");
  size_t n = file != NULL ? fread(prelude, 1, sizeof prelude - 1, file) : 0;
  prelude[n] = '\0';
  if (file != NULL) {
    fclose(file);
  }
  return n > 0;
}

static void sample_naive(const char *code, lt_measure *m) {
  const char *python = lt_peer_find("LATHE_BENCH_PYTHON", "python3");
  double ns;
  if (python != NULL && (prelude[0] != '\0' || read_prelude()) && start_naive(python, code, &ns)) {
    lt_measure_add(m, ns);
  }
}

/* --- Many --------------------------------------------------------------------------------------------------------- */

typedef struct many {
  bench *b;
  const char *code;
  unsigned left;
  lt_wait done;
} many;

static void on_one_of_many(void *arg) {
  many *m = arg;
  must_run(m->b->python, m->code);
  if (--m->left == 0) {
    lt_wait_wake(&m->done, LT_OK);
  }
}

static void measure_many(bench *b, const char *what, const char *code) LT_YIELDS {
  lt_measure m;
  lt_measure_init(&m);
  for (int round = 0; round < MANY_ROUNDS; round++) {
    many all = {.b = b, .code = code, .left = MANY};
    lt_wait_init(&all.done, b->rig->loop);
    double start = lt_measure_now();
    for (int i = 0; i < MANY; i++) {
      LT_CHECK(lt_loop_spawn(b->rig->loop, on_one_of_many, &all, NULL) == LT_OK);
    }
    lt_wait_on(&all.done, UINT64_MAX);
    lt_measure_add(&m, lt_measure_now() - start);
  }
  lt_measure_print_ns(what, &m, 0);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static void measure_memory(bench *b) LT_YIELDS {
  lt_run_result result;
  lt_err err = LT_ERR_INIT;
  LT_CHECK(run_one(b->python, "import os\nset_result(os.getppid())", &result, &err) == LT_OK);
  long zygote = strtol(result.value.p, NULL, 10);
  lt_run_result_release(&result);
  lt_loop_sleep(b->rig->loop, 500); /* what many programs import has been loaded */
  must_run(b->python, plus);
  lt_loop_sleep(b->rig->loop, 100);
  lt_memory_print("memory of the interpreter that forks (its share of what is shared)", zygote, "Pss:");
  lt_memory_print("memory of the process that waits for the next program (its share)", lt_memory_child(zygote), "Pss:");
  lt_memory_print("  of this its own", lt_memory_child(zygote), "Private");
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

static void print_beside(const char *what, double target, lt_measure *ours, lt_measure *naive) {
  lt_measure_print(&(lt_measure_line){.what = what,
                                      .samples = ours,
                                      .target = target,
                                      .peer = naive->count > 0 ? naive : NULL,
                                      .peer_name = "python3 started"});
  lt_measure_release(ours);
}

static void measure(lt_rig *rig, void *arg) {
  (void)arg;
  bench b = {.rig = rig};
  if (!measure_cold(&b)) {
    return;
  }
  b.python = open_python(rig);
  must_run(b.python, plus);
  lt_loop_sleep(rig->loop, 500);
  for (int i = 0; i < ROUNDS; i++) {
    lt_loop_sleep(rig->loop, PAUSE_MS);
    sample(&b, plus, &b.plus);
    lt_loop_sleep(rig->loop, PAUSE_MS);
    sample(&b, call, &b.call);
    if (i < NAIVE_ROUNDS) {
      sample_naive(plus, &b.naive_plus);
      sample_naive(call, &b.naive_call);
    }
  }
  print_beside("1+2, warm", TARGET_PLUS_NS, &b.plus, &b.naive_plus);
  print_beside("one tool call, warm", TARGET_CALL_NS, &b.call, &b.naive_call);
  if (b.naive_plus.count > 0) {
    lt_measure_print_ns("1+2, python3 started for it", &b.naive_plus, 0);
    lt_measure_print_ns("one tool call, python3 started for it", &b.naive_call, 0);
  }
  for (int i = 0; i < ROUNDS; i++) {
    sample(&b, plus, &b.in_turn);
  }
  lt_measure_print_ns("1+2, one directly after the other", &b.in_turn, 0);
  measure_many(&b, "100 programs at once: 1+2", plus);
  measure_many(&b, "100 programs at once: a tool of 10 ms", "set_result(call_tool('bench.slow'))");
  measure_memory(&b);
  lt_python_free(b.python);
}

void lt_bench_python(void) {
  lt_rig_run(50, measure, NULL);
}
