/* A hundred thousand programs that wait in a tool call at the same time: what each costs in time, memory and mappings
 * of the kernel's (of which a process may have vm.max_map_count) when it has waited for more than a second. Then all of
 * them get their answers, and each must end with the value that it would have had without waiting. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/memory.h"
#include "bench/rig.h"

enum { PROGRAMS = 100000, STEP_MS = 1, STALLED_MS = 5000, PATIENCE_MS = 3000 };

#define TARGET_BYTES (40.0 * 1024)

/* What it has computed before it waits is needed afterwards. */
#define CODE                                                                                                \
  "const a = [1, 2, 3].map(n => n * 2), t = new Float64Array([0.5]), later = () => a[2] + t[0] + x.length;" \
  "let x = 'some text'; benchWait({}); later()"
#define VALUE "15.5"

typedef struct waiter {
  struct crowd *crowd;
  bool has_ended;
  lt_status status; /* of the run as such, then of the program */
  char error[80];
} waiter;

typedef struct crowd {
  lt_rig *rig;
  waiter *all;
  size_t ended;
} crowd;

/* --- What the kernel counts --------------------------------------------------------------------------------------- */
/* The heap is among the private pages; so are pages that were written and are in the swap. */
static double private_bytes(void) {
  return (double)(lt_memory_kib(getpid(), "Private") + lt_memory_kib(getpid(), "Swap:")) * 1024;
}

static double mappings(void) {
  FILE *file = fopen("/proc/self/maps", "r");
  double lines = 0;
  for (int c; file != NULL && (c = fgetc(file)) != EOF;) {
    lines += c == '\n';
  }
  if (file != NULL) {
    fclose(file);
  }
  return lines;
}

/* --- The programs ------------------------------------------------------------------------------------------------- */
static void one_program(void *arg) {
  waiter *w = arg;
  lt_run_request request = {.code = LT_STR(CODE), .timeout_ms = LT_RUN_TIMEOUT_MAX_MS};
  lt_run_result result;
  lt_run_result_init(&result);
  lt_err err = LT_ERR_INIT;
  w->status = lt_quickjs_run(w->crowd->rig->runner, &request, &result, &err);
  if (w->status != LT_OK) {
    snprintf(w->error, sizeof w->error, "%s", lt_err_msg(&err));
  } else if (result.status != LT_OK) {
    w->status = result.status;
    snprintf(w->error, sizeof w->error, "%.*s", LT_STR_ARG(lt_buf_view(&result.error)));
  } else if (!lt_str_eqc(lt_buf_view(&result.value), VALUE)) {
    w->status = LT_E_INTERNAL;
    snprintf(w->error, sizeof w->error, "a wrong result: %.*s", LT_STR_ARG(lt_buf_view(&result.value)));
  }
  lt_run_result_release(&result);
  w->has_ended = true;
  w->crowd->ended++;
}

/* Until each of them waits or has failed, or until nothing goes forward any more. */
static void wait_for_all(crowd *c, size_t spawned) {
  size_t seen = 0;
  for (int idle_ms = 0; c->rig->waiting + c->ended < spawned && idle_ms < STALLED_MS; idle_ms += STEP_MS) {
    lt_loop_sleep(c->rig->loop, STEP_MS);
    idle_ms = c->rig->waiting + c->ended != seen ? 0 : idle_ms;
    seen = c->rig->waiting + c->ended;
  }
}

static size_t spawn_all(crowd *c) {
  size_t n = 0;
  while (n < PROGRAMS) {
    c->all[n].crowd = c;
    if (lt_loop_spawn(c->rig->loop, one_program, &c->all[n], NULL) != LT_OK) {
      break;
    }
    n++;
  }
  return n;
}

static const char *first_error(const crowd *c, size_t spawned) {
  for (size_t i = 0; i < spawned; i++) {
    if (c->all[i].status != LT_OK) {
      return c->all[i].error;
    }
  }
  return spawned < PROGRAMS ? "no stack for another fiber" : "the others never got as far as their call";
}

static size_t count_right(const crowd *c) {
  size_t right = 0;
  for (size_t i = 0; i < PROGRAMS; i++) {
    right += c->all[i].has_ended && c->all[i].status == LT_OK;
  }
  return right;
}

static void say_so(const crowd *c, size_t suspended, size_t spawned) {
  size_t right = count_right(c);
  lt_measure_print_one("... of them answered, and ended with the right value", LT_MEASURE_COUNT, (double)right, 0);
  if (suspended < PROGRAMS || right < PROGRAMS) {
    lt_measure_skip("... all 100,000", "%zu waited, %zu were right; then: %s", suspended, right,
                    first_error(c, spawned));
  }
}

static void measure(lt_rig *rig, void *arg) {
  (void)arg;
  crowd c = {.rig = rig, .all = lt_mem_zalloc(PROGRAMS, sizeof *c.all)};
  LT_CHECK(c.all != NULL);
  lt_rig_time(rig, LT_STR("1+2"), LT_LANG_JAVASCRIPT);
  double bytes = private_bytes();
  double maps = mappings();
  double start = lt_measure_now();
  size_t spawned = spawn_all(&c);
  wait_for_all(&c, spawned);
  double started = lt_measure_now();
  lt_loop_sleep(rig->loop, PATIENCE_MS);
  size_t suspended = rig->waiting;
  double n = suspended > 0 ? (double)suspended : 1;
  bytes = (private_bytes() - bytes) / n;
  maps = (mappings() - maps) / n;
  double opened = lt_measure_now();
  lt_cancel_fire(&rig->gate, LT_E_CANCELLED);
  while (c.ended < spawned) {
    lt_loop_sleep(rig->loop, STEP_MS);
  }
  double ended = lt_measure_now();
  lt_measure_print_one("programs suspended at once, one process", LT_MEASURE_COUNT, (double)suspended, 0);
  say_so(&c, suspended, spawned);
  lt_measure_print_one("private memory of each, heap and swap included", LT_MEASURE_BYTES, bytes, TARGET_BYTES);
  lt_measure_print_one("mappings of each", LT_MEASURE_COUNT, maps, 0);
  lt_measure_print_one("time to start each, up to its call (mean, all cores)", LT_MEASURE_NS, (started - start) / n, 0);
  lt_measure_print_one("time to finish each (mean, all cores)", LT_MEASURE_NS, (ended - opened) / n, 0);
  lt_mem_free(c.all);
}

void lt_bench_suspended(void) {
  lt_rig_run(50, measure, NULL);
}
