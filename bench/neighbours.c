/* A hundred tool calls in a row, as a caller of liblathe sees them, with one processor for all threads, and with others
 * that compute all the time. There a thread that watches for work, instead of sleeping, only holds up the other one. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/measure.h"
#include "bench/peer.h"

enum { RUNS = 300, ANSWER_BYTES = 16 * 1024 };

#define TARGET_ALONE_NS  0.3e6
#define TARGET_OTHERS_NS 1e6

/* "ok", then the nanoseconds of each run. */
static void neighbours_measure(const char *what, double target) {
  const char *const argv[] = {lt_peer_find_beside("lt_bench_host"), NULL};
  static char answer[ANSWER_BYTES];
  char line[64], *at = answer + strlen("ok");
  snprintf(line, sizeof line, "calls %d 4950", RUNS);
  lt_measure m;
  lt_measure_init(&m);
  lt_peer peer;
  bool is_well = lt_peer_start(&peer, argv) && lt_peer_ask(&peer, line, answer, sizeof answer) &&
                 lt_peer_ask(&peer, line, answer, sizeof answer) && strncmp(answer, "ok ", 3) == 0;
  lt_peer_close(&peer);
  for (int i = 0; is_well && i < RUNS; i++) {
    lt_measure_add(&m, strtod(at, &at));
  }
  if (is_well) {
    lt_measure_print_ns(what, &m, target);
  } else {
    lt_measure_skip(what, "lt_bench_host did not answer");
    lt_measure_release(&m);
  }
}

/* Computes until this process kills it, or ends. */
static pid_t neighbours_start(void) {
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned i = 0;; i++) {
    }
  }
  return pid;
}

static void neighbours_stop(pid_t pid) {
  if (pid > 0) {
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
  }
}

void lt_bench_neighbours(void) {
  cpu_set_t all, one;
  neighbours_measure("100 calls in a row, nobody else", TARGET_ALONE_NS);
  pid_t neighbour = neighbours_start();
  neighbours_measure("… beside a process that computes", TARGET_OTHERS_NS);
  neighbours_stop(neighbour);
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof all, &all) != 0) {
    return;
  }
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
    if (CPU_ISSET(cpu, &all)) {
      CPU_SET(cpu, &one);
    }
  }
  (void)sched_setaffinity(0, sizeof one, &one); /* this process and those that it starts */
  neighbours_measure("… on one processor", TARGET_OTHERS_NS);
}
