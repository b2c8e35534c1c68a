/* What a call costs: to a host function answered on the worker, and to a tool in this process, over the loop, through
 * the door and back. */
#include "bench/bench.h"
#include "bench/rig.h"

enum { HOST_CALLS = 20000, HOST_RUNS = 40, TOOL_CALLS = 5000, TOOL_RUNS = 4, PARALLEL_RUNS = 60 };

#define TARGET_HOST_NS     100
#define TARGET_RECALL_NS   150
#define TARGET_DOOR_NS     10e3
#define TARGET_PARALLEL_NS 15e6

/* A program of HOST_CALLS rounds; the quickest with nothing in the loop is taken off. */
static lt_str loop_of(lt_arena *arena, const char *call) {
  return lt_arena_printf(arena, "store('k', 42);\nfor (let i = 0; i < %d; i++) { %s; }", HOST_CALLS, call);
}

static void measure_host(lt_rig *rig, const char *call, const char *what, double target) {
  lt_arena arena;
  lt_arena_init(&arena, LT_MIB);
  lt_str with = loop_of(&arena, call);
  lt_str without = loop_of(&arena, "");
  lt_measure m, empty;
  lt_measure_init(&m);
  lt_measure_init(&empty);
  for (int i = 0; i < HOST_RUNS; i++) {
    lt_measure_add(&empty, lt_rig_time(rig, without, LT_LANG_JAVASCRIPT));
  }
  double least = lt_measure_quantile(&empty, 0);
  for (int i = 0; i < HOST_RUNS; i++) {
    lt_measure_add(&m, (lt_rig_time(rig, with, LT_LANG_JAVASCRIPT) - least) / HOST_CALLS);
  }
  lt_measure_release(&empty);
  lt_measure_print_ns(what, &m, target);
  lt_arena_release(&arena);
}

static void measure_door(lt_rig *rig, const char *call, const char *what) {
  lt_arena arena;
  lt_arena_init(&arena, LT_MIB);
  lt_str code = lt_arena_printf(&arena, "for (let i = 0; i < %d; i++) { %s; }", TOOL_CALLS, call);
  lt_measure m;
  lt_measure_init(&m);
  for (int i = 0; i < TOOL_RUNS; i++) {
    lt_measure stamps;
    lt_measure_init(&stamps);
    rig->stamps = &stamps;
    lt_rig_time(rig, code, LT_LANG_JAVASCRIPT);
    rig->stamps = NULL;
    for (size_t k = 101; k < stamps.count; k++) {
      lt_measure_add(&m, stamps.at[k] - stamps.at[k - 1]);
    }
    lt_measure_release(&stamps);
  }
  lt_measure_print_ns(what, &m, TARGET_DOOR_NS);
  lt_arena_release(&arena);
}

static void measure_parallel(lt_rig *rig, lt_str code, const char *what) {
  lt_measure m;
  lt_measure_init(&m);
  for (int i = 0; i < PARALLEL_RUNS; i++) {
    lt_measure_add(&m, lt_rig_time(rig, code, LT_LANG_JAVASCRIPT));
  }
  lt_measure_print_ns(what, &m, TARGET_PARALLEL_NS);
}

static void measure_all(lt_rig *rig, void *arg) {
  (void)arg;
  measure_host(rig, "done()", "host function answered on the worker: done() (batches of 20,000)", TARGET_HOST_NS);
  measure_host(rig, "recall('k')", "… recall('k') of a number", TARGET_RECALL_NS);
  measure_host(rig, "store('k', i)", "… store('k', i)", 0);
  measure_host(rig, "toolSchema('bench.look-up-00040')", "… toolSchema() of 280 bytes, parsed", 0);
  measure_door(rig, "benchEcho({ i })", "tool in this process: program → loop → door → tool → program");
  measure_door(rig, "await benchEcho({ i }).then((x) => x)", "… in promise style");
  measure_parallel(rig, LT_STR("(await Promise.all(Array.from({ length: 100 }, (_, i) => benchSlow({ i })))).length"),
                   "100 parallel calls of a 10 ms tool, whole run: Promise.all");
  measure_parallel(rig, LT_STR("parallel(Array.from({ length: 100 }, () => ({ tool: 'bench.slow' }))).length"),
                   "… parallel()");
}

void lt_bench_calls(void) {
  lt_rig_run(50, measure_all, NULL);
}
