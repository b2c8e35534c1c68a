/* How long after its deadline a program is gone that never asks whether it should end: loops inside the engine. */
#include "bench/bench.h"
#include "bench/rig.h"

enum { RUNS = 8, TIMEOUT_MS = 200 };

static const struct {
  const char *what;
  const char *code;
} programs[] = {
    {"a sort of 300,000 numbers by their text, again and again",
     "const a = Array.from({ length: 300000 }, (_, i) => (i * 7919) % 300007); for (;;) a.reverse().sort();"},
    {"JSON.stringify, 100,000 deep",
     "let a = []; for (let i = 0; i < 100000; i++) a = [a]; for (;;) JSON.stringify(a);"},
    {"a power of a BigInt", "7n ** 20000000n"},
    {"a regular expression that tries everything", "/^(a+)+$/.test('a'.repeat(40) + 'b')"},
    {"a huge array filled and joined", "for (;;) new Array(2000000).fill(0).join();"},
    {"an endless loop, which is asked", "for (;;);"},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static void measure_one(lt_rig *rig, const char *what, const char *code) {
  lt_measure m;
  lt_measure_init(&m);
  for (int i = 0; i < RUNS; i++) {
    lt_run_request request = {.code = lt_str_of(code), .timeout_ms = TIMEOUT_MS};
    lt_run_result result;
    double ns = lt_rig_program(rig, &request, &result);
    if (result.status == LT_E_TIMEOUT) {
      lt_measure_add(&m, ns - TIMEOUT_MS * 1e6);
    } else if (i == RUNS - 1 && m.count == 0) {
      lt_measure_skip(what, "it ended before its deadline: %s, %.*s", lt_status_text(result.status),
                      LT_STR_ARG(lt_buf_view(&result.error)));
    }
    lt_run_result_release(&result);
  }
  if (m.count > 0) {
    lt_measure_print_ns(what, &m, 0);
  }
}

static void measure(lt_rig *rig, void *arg) {
  (void)arg;
  for (unsigned i = 0; i < PROGRAMS; i++) {
    measure_one(rig, programs[i].what, programs[i].code);
  }
}

void lt_bench_stop(void) {
  lt_rig_run(50, measure, NULL);
}
