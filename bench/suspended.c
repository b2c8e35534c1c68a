/* Ten thousand programs that wait in a tool call at the same time: what each costs in time, private memory and
 * mappings of the kernel's (of which a process may have vm.max_map_count). */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/rig.h"

enum { PROGRAMS = 10000, STEP_MS = 1, STALLED_MS = 2000 };

#define TARGET_BYTES (160.0 * 1024)

typedef struct waiter {
  struct crowd *crowd;
  lt_status status; /* of the run as such, then of the program */
  char error[160];
} waiter;

typedef struct crowd {
  lt_rig *rig;
  waiter *all;
  size_t ended;
} crowd;

/* --- What the kernel counts --------------------------------------------------------------------------------------- */
static double private_bytes(void) {
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  double kib = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "Private_Dirty: %lf kB", &kib) == 1) {
      break;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return kib * 1024;
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
  lt_run_request request = {.code = LT_STR("benchWait({}); 1+2"), .timeout_ms = LT_RUN_TIMEOUT_MAX_MS};
  lt_run_result result;
  lt_run_result_init(&result);
  lt_err err = LT_ERR_INIT;
  w->status = lt_quickjs_run(w->crowd->rig->runner, &request, &result, &err);
  if (w->status != LT_OK) {
    snprintf(w->error, sizeof w->error, "%s", lt_err_msg(&err));
  } else if (result.status != LT_OK) {
    w->status = result.status;
    snprintf(w->error, sizeof w->error, "%.*s", LT_STR_ARG(lt_buf_view(&result.error)));
  }
  lt_run_result_release(&result);
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

static void say_so(const crowd *c, size_t suspended, size_t spawned) {
  if (suspended < PROGRAMS) {
    lt_measure_skip("… all 10,000", "%zu came so far; then: %s", suspended, first_error(c, spawned));
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
  lt_measure_print_one("private memory of each", LT_MEASURE_BYTES, bytes, TARGET_BYTES);
  lt_measure_print_one("mappings of each", LT_MEASURE_COUNT, maps, 0);
  lt_measure_print_one("time to start each, up to its call (mean, all cores)", LT_MEASURE_NS, (started - start) / n, 0);
  lt_measure_print_one("time to finish each (mean, all cores)", LT_MEASURE_NS, (ended - opened) / n, 0);
  lt_mem_free(c.all);
}

void lt_bench_suspended(void) {
  lt_rig_run(50, measure, NULL);
}
