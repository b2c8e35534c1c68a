/* A megabyte of JSON: from a tool to a value in the program, from a value to the program's result, and both. */
#include "bench/bench.h"
#include "bench/rig.h"

enum { RUNS = 60 };

static void measure(lt_rig *rig, void *arg) {
  (void)arg;
  lt_measure in, out, through;
  lt_measure_init(&in);
  lt_measure_init(&out);
  lt_measure_init(&through);
  for (int i = 0; i < RUNS; i++) {
    lt_measure_add(&in, lt_rig_time(rig, LT_STR("benchMegabyte({}).length"), LT_LANG_JAVASCRIPT));
    lt_measure_add(&through, lt_rig_time(rig, LT_STR("benchMegabyte({})"), LT_LANG_JAVASCRIPT));
  }
  double least = lt_measure_quantile(&in, 0);
  for (size_t i = 0; i < through.count; i++) {
    lt_measure_add(&out, through.at[i] - least);
  }
  lt_measure_print_ns("in: a tool's answer → value, whole run", &in, 0);
  lt_measure_print_ns("out: value → result (both, less the quickest in)", &out, 0);
  lt_measure_print_ns("both: a tool's answer is the program's result, whole run", &through, 0);
}

void lt_bench_json(void) {
  lt_rig_run(50, measure, NULL);
}
