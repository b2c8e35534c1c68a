/* Programs that name Intl run on an image of their own: what the first one costs, and what formatting costs. */
#include "bench/bench.h"
#include "bench/rig.h"
#include "sandbox/image.h"

enum { RUNS = 200, LOOPS = 20 };

static const struct {
  const char *what;
  const char *code;
  int runs;
} programs[] = {
    {"a program that names none of it: 1+2", "1+2", RUNS},
    {"one currency", "(12345.5).toLocaleString('en-US', {style: 'currency', currency: 'USD'})", RUNS},
    {"one date in a time zone", "new Date(0).toLocaleString('de-DE', {timeZone: 'America/New_York'})", RUNS},
    {"1,000 currencies",
     "for (let i = 0; i < 1000; i++) (i * 1.5).toLocaleString('en-US', {style: 'currency', currency: 'USD'})", LOOPS},
    {"1,000 dates", "for (let i = 0; i < 1000; i++) new Date(i * 864e5).toLocaleDateString('en-US')", LOOPS},
    {"1,000 words sorted by localeCompare",
     "Array.from({length: 1000}, (_, i) => String((i * 7919) % 1000)).sort((a, b) => a.localeCompare(b)).length",
     LOOPS},
};

static void measure_first(lt_rig *rig) {
  lt_str code = lt_str_of(programs[1].code);
  lt_measure_print_one("the first program: image opened, one currency", LT_MEASURE_NS,
                       lt_rig_time(rig, code, LT_LANG_JAVASCRIPT), 0);
}

static void measure(lt_rig *rig, void *arg) {
  (void)arg;
  measure_first(rig);
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    lt_measure m;
    lt_measure_init(&m);
    for (int k = 0; k < programs[i].runs; k++) {
      lt_measure_add(&m, lt_rig_time(rig, lt_str_of(programs[i].code), LT_LANG_JAVASCRIPT));
    }
    lt_measure_print_ns(programs[i].what, &m, 0);
  }
  lt_measure_print_one("the image, packed", LT_MEASURE_BYTES, (double)lt_image_bytes(LT_IMAGE_INTL).n, 0);
}

void lt_bench_intl(void) {
  lt_rig_run(50, measure, NULL);
}
