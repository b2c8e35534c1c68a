/* Asks all questions, or those named on the command line, and prints one table. Exit code 0 whatever happens: a figure
 * is no test. With LATHE_BENCH_MD set, the table goes to that file as markdown, too. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/measure.h"
#include "io/exec.h"
#include "jail/jail.h"
#include "store/store.h"

static const struct {
  const char *name;
  const char *title;
  void (*measure)(void);
} questions[] = {
    {"start", "A program starts", lt_bench_start},
    {"calls", "A program calls", lt_bench_calls},
    {"neighbours", "100 calls of a tool, with little room", lt_bench_neighbours},
    {"burst", "Programs that begin at the same moment, each with a tool that takes 10 ms", lt_bench_burst},
    {"suspended", "Programs that wait in a tool call", lt_bench_suspended},
    {"process", "Whole processes, started in turn", lt_bench_process},
    {"python", "Python programs", lt_bench_python},
    {"deno", "TypeScript in Deno", lt_bench_deno},
    {"types", "TypeScript", lt_bench_types},
    {"typecheck", "TypeScript, its types checked", lt_bench_typecheck},
    {"find", "Finding tools", lt_bench_find},
    {"json", "JSON, 1 MB", lt_bench_json},
    {"stop", "From the deadline to the end of a program, 200 ms after its start", lt_bench_stop},
    {"intl", "Programs that name Intl", lt_bench_intl},
    {"compute", "The same script in other engines, in turn", lt_bench_compute},
    {"mcp", "An MCP server", lt_bench_mcp},
    {"gateway", "Lathe as an MCP server", lt_bench_gateway},
    {"serve", "lathe serve under load", lt_bench_serve},
    {"library", "liblathe in a process of Python", lt_bench_library},
    {"model", "A language model", lt_bench_model},
    {"agent", "The agent", lt_bench_agent},
    {"journal", "The journal of calls", lt_bench_journal},
    {"replay", "A program run again by its record", lt_bench_replay},
    {"fiber", "Underneath", lt_bench_fiber},
};
enum { QUESTIONS = sizeof questions / sizeof questions[0], SECONDS_MAX = 240 };

static void ask(unsigned i) {
  lt_measure_title(questions[i].title);
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(SECONDS_MAX);
    questions[i].measure();
    fflush(NULL);
    _exit(0);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) < 0) {
    lt_measure_skip(questions[i].name, "no process could be started for it");
  } else if (WIFSIGNALED(status)) {
    int signum = WTERMSIG(status);
    lt_measure_skip(questions[i].name, "%s",
                    signum == SIGALRM ? "the rest took longer than four minutes" : strsignal(signum));
  }
}

static int wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], name) == 0) {
      return 1;
    }
  }
  return argc < 2;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : ""; /* children, and processes of programs, are started through us */
  if (strcmp(name, LT_EXEC_WORD) == 0) {
    return lt_exec_main(argc - 1, argv + 1);
  }
  if (strcmp(name, LT_JAIL_WORD) == 0) {
    return lt_jail_main(argc - 1, argv + 1);
  }
  lt_store_set_process_own(); /* as the program does */
  const char *path = getenv("LATHE_BENCH_MD");
  lt_measure_begin(path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1);
  for (unsigned i = 0; i < QUESTIONS; i++) {
    if (wanted(questions[i].name, argc, argv)) {
      ask(i);
    }
  }
  return 0;
}
