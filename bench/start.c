/* How long a program takes to start and end: a clean box from the pool, the names of the tools it may use looked up,
 * `1+2` in it; and what cleaning the box costs, and making one without a pool. On one thread, without the loop: what
 * the way through the loop adds has lines of its own. */
#include <stdio.h>

#include "bench/bench.h"
#include "bench/rig.h"
#include "runner/quickjs/host_functions.h"
#include "runner/quickjs/run.h"

enum { RUNS = 3000, MAPPED = 1000, WHOLE = 3000, MEMORY = 64 * 1024 * 1024 };

#define TEXT(literal) \
  { .p = literal, .n = sizeof literal - 1 }

#define TARGET_TAKEN_NS   4e3
#define TARGET_CLEANED_NS 40e3

typedef struct ground {
  lt_image image;
  lt_pool pool;
  lt_workers *workers; /* idle: a program asks them whether others wait */
  lt_catalog *catalog;
} ground;

/* What one round took: [0] to the result, [1] from there to a clean box. */
typedef struct round_times {
  double to_result;
  double to_clean;
} round_times;

static lt_catalog *catalog_of(size_t tools) {
  lt_arena arena;
  lt_arena_init(&arena, MEMORY);
  lt_catalog_source source = {.ns = LT_STR("bench"), .tools = lt_rig_specs(&arena, tools), .count = tools};
  lt_catalog *catalog = NULL;
  LT_CHECK(lt_catalog_new(&source, 1, &catalog, NULL) == LT_OK);
  lt_arena_release(&arena);
  return catalog;
}

static void ground_init(ground *g, lt_image_kind kind) {
  LT_CHECK(lt_box_thread_init(NULL) == LT_OK);
  LT_CHECK(lt_image_open_built_in(&g->image, kind, NULL) == LT_OK);
  LT_CHECK(lt_workers_new(1, &g->workers, NULL) == LT_OK);
  lt_pool_init(&g->pool, &g->image, &(lt_pool_limits){.most = 1});
}

static void ground_release(ground *g) {
  lt_pool_release(&g->pool);
  lt_workers_free(g->workers);
  lt_image_close(&g->image);
  lt_box_thread_release();
}

static void run_init(lt_run *run, const ground *g, const lt_run_request *request, lt_run_result *result) {
  *run = (lt_run){.workers = g->workers, .request = request, .result = result, .catalog = g->catalog};
  lt_said_texts_init(run);
  lt_program_text_init(&run->text);
  lt_buf_init(&run->reply, LT_JSON_MAX_BYTES);
  lt_engine_result_init(&run->engine);
}

static void run_release(lt_run *run) {
  LT_CHECK(run->engine.ending == LT_END_VALUE && lt_str_eqc(lt_buf_view(&run->engine.text), "3"));
  lt_program_text_release(&run->text);
  lt_buf_release(&run->reply);
  lt_engine_result_release(&run->engine);
}

static void body(void *arg) {
  lt_run *run = arg;
  lt_guest_host host;
  lt_host_functions_fill(run, &host);
  lt_engine_run(run->box.box, &run->text.program, &host, &run->engine);
}

static void turn(lt_run *run) {
  lt_fiber_init(&run->box.fiber, run->box.box->stack, lt_box_stack_bytes(run->box.box), body, run);
  while (lt_fiber_resume(&run->box.fiber)) {
  }
}

static round_times pooled(ground *g, lt_str code) {
  lt_run_request request = {.code = code};
  lt_run_result result = {0};
  lt_run run;
  double start = lt_measure_now();
  run_init(&run, g, &request, &result);
  LT_CHECK(lt_program_text_prepare(&run, code, NULL) == LT_OK);
  LT_CHECK(lt_pool_take(&g->pool, &run.box.box, NULL) == LT_OK);
  lt_page_watch_enter(&run.box.box->watch);
  turn(&run);
  double done = lt_measure_now();
  lt_fiber_release(&run.box.fiber);
  lt_pool_give(&g->pool, run.box.box);
  double clean = lt_measure_now();
  run_release(&run);
  return (round_times){.to_result = done - start, .to_clean = clean - done};
}

/* [0] a box mapped and the program run in it, [1] the box unmapped. */
static round_times mapped(ground *g, lt_str code) {
  lt_run_request request = {.code = code};
  lt_run_result result = {0};
  lt_run run;
  double start = lt_measure_now();
  run_init(&run, g, &request, &result);
  LT_CHECK(lt_program_text_prepare(&run, code, NULL) == LT_OK);
  LT_CHECK(lt_box_new(&g->image, &run.box.box, NULL) == LT_OK);
  turn(&run);
  double done = lt_measure_now();
  lt_fiber_release(&run.box.fiber);
  lt_box_free(run.box.box);
  double gone = lt_measure_now();
  run_release(&run);
  return (round_times){.to_result = done - start, .to_clean = gone - done};
}

/* Lines for the time to the result and, where they have names, for that to a clean box and what comes in between. */
static void measure(ground *g, lt_str code, const char *result, double target, const char *both, const char *clean) {
  lt_measure to_result, to_clean, sum;
  lt_measure_init(&to_result);
  lt_measure_init(&to_clean);
  lt_measure_init(&sum);
  for (int i = 0; i < RUNS + RUNS / 10; i++) {
    round_times t = pooled(g, code);
    if (i < RUNS / 10) {
      continue; /* warming up */
    }
    lt_measure_add(&to_result, t.to_result);
    lt_measure_add(&to_clean, t.to_clean);
    lt_measure_add(&sum, t.to_result + t.to_clean);
  }
  lt_measure_print_ns(result, &to_result, target);
  if (clean != NULL) {
    lt_measure_print_ns(both, &sum, TARGET_CLEANED_NS);
    lt_measure_print_ns(clean, &to_clean, 0);
  }
  lt_measure_release(&to_clean);
  lt_measure_release(&sum);
}

static void measure_mapped(ground *g) {
  lt_measure to_result, to_gone;
  lt_measure_init(&to_result);
  lt_measure_init(&to_gone);
  for (int i = 0; i < MAPPED; i++) {
    round_times t = mapped(g, LT_STR("1+2"));
    lt_measure_add(&to_result, t.to_result);
    lt_measure_add(&to_gone, t.to_clean);
  }
  lt_measure_print_ns("without a pool: box mapped from the image → 1+2", &to_result, 0);
  lt_measure_print_ns("… and unmapped", &to_gone, 0);
}

/* A program, and how long its whole runs took: the first one, which opens the image that it needs, and later ones. */
typedef struct whole_program {
  const char *title;
  lt_str code;
  double first;
  lt_measure later;
} whole_program;

static whole_program whole_programs[] = {
    {.title = "the whole run, from the loop to a worker and back, 5,000 tools known", .code = TEXT("1+2")},
    {.title = "… of a program that names URL", .code = TEXT("new URL('https://a.example/bc').pathname.length")},
    {.title = "… of a program that names Intl", .code = TEXT("new Intl.NumberFormat('en-US').format(1234).length")},
};
enum { WHOLE_PROGRAMS = sizeof whole_programs / sizeof whole_programs[0] };

static void whole(lt_rig *rig, void *arg) {
  (void)arg;
  for (int p = 0; p < WHOLE_PROGRAMS; p++) {
    whole_program *it = &whole_programs[p];
    it->first = lt_rig_time(rig, it->code, LT_LANG_JAVASCRIPT);
    for (int i = 0; i < WHOLE + WHOLE / 10; i++) {
      double ns = lt_rig_time(rig, it->code, LT_LANG_JAVASCRIPT);
      if (i >= WHOLE / 10) {
        lt_measure_add(&it->later, ns);
      }
    }
  }
}

static void measure_whole(void) {
  for (int p = 0; p < WHOLE_PROGRAMS; p++) {
    lt_measure_init(&whole_programs[p].later);
  }
  lt_rig_run(5000, whole, NULL);
  for (int p = 0; p < WHOLE_PROGRAMS; p++) {
    whole_program *it = &whole_programs[p];
    lt_measure_print_ns(it->title, &it->later, 0);
    if (p > 0) { /* the plain image is open before */
      lt_measure_print_one("… the first time, its image opened", LT_MEASURE_NS, it->first, 0);
    }
  }
}

void lt_bench_start(void) {
  ground g = {0};
  ground_init(&g, LT_IMAGE_BASE);
  g.catalog = catalog_of(50);
  measure(&g, LT_STR("1+2"), "clean box taken → 1+2, 50 tools known", TARGET_TAKEN_NS, NULL, NULL);
  lt_catalog_unref(g.catalog);
  g.catalog = catalog_of(5000);
  measure(&g, LT_STR("1+2"), "clean box taken → 1+2, 5,000 tools known", TARGET_TAKEN_NS,
          "… and the box cleaned: what one core can do, sustained", "cleaning alone");
  measure(&g, LT_STR("[benchLookUp00100, benchLookUp04000]; 1+2"), "… with two of the 5,000 tools named in the program",
          0, NULL, NULL);
  measure_mapped(&g);
  lt_catalog_unref(g.catalog);
  ground_release(&g);
  measure_whole();
}
