/* Many programs that begin at the same moment, each with one call of a tool that takes 10 ms: from the first begin to
 * the last end, and what the process holds afterwards. A fresh runner has no boxes; the bursts after the first find
 * those of the one before. */
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/memory.h"
#include "bench/rig.h"

enum { THOUSAND = 1000, ROUNDS = 5, LATER = 4, MANY = 5000, CROWD = 20000 };

#define TARGET_FIRST_NS  50e6
#define TARGET_SECOND_NS 25e6
#define TARGET_BYTES     (256.0 * 1024 * 1024)

typedef struct burst {
  lt_rig *rig;
  lt_wait ended;
  size_t left;
  size_t failed;
  char error[200];
} burst;

typedef struct figures {
  lt_measure first, second, later;
  lt_measure first_cpu, later_cpu; /* processor time of one burst, which a busy machine does not change much */
  double bytes;                    /* what the process holds beyond what it held before, after the last burst */
} figures;

static void one_program(void *arg) {
  burst *b = arg;
  lt_run_request request = {.code = LT_STR("benchSlow({}); 1+2"), .timeout_ms = LT_RUN_TIMEOUT_MAX_MS};
  lt_run_result result;
  lt_run_result_init(&result);
  lt_err err = LT_ERR_INIT;
  lt_status status = lt_quickjs_run(b->rig->runner, &request, &result, &err);
  if (status != LT_OK || !lt_str_eqc(lt_buf_view(&result.value), "3")) {
    b->failed++;
    snprintf(b->error, sizeof b->error, "%s",
             status != LT_OK ? lt_err_msg(&err) : lt_buf_view_or(&result.error, LT_STR("?")).p);
  }
  lt_run_result_release(&result);
  if (--b->left == 0) {
    lt_wait_wake(&b->ended, LT_OK);
  }
}

/* Returns the time; the burst tells how many failed. */
static double run_burst(burst *b, size_t programs) LT_YIELDS {
  lt_wait_init(&b->ended, b->rig->loop);
  b->left = programs;
  double start = lt_measure_now();
  for (size_t i = 0; i < programs; i++) {
    LT_CHECK(lt_loop_spawn(b->rig->loop, one_program, b, NULL) == LT_OK);
  }
  lt_wait_on(&b->ended, UINT64_MAX);
  return lt_measure_now() - start;
}

static double held_bytes(void) {
  return (double)lt_memory_kib(getpid(), "Private") * 1024;
}

static void measure_thousand(lt_rig *rig, void *arg) {
  figures *f = arg;
  burst b = {.rig = rig};
  lt_rig_time(rig, LT_STR("1+2"), LT_LANG_JAVASCRIPT);
  double before = held_bytes();
  double cpu = lt_memory_cpu(getpid());
  lt_measure_add(&f->first, run_burst(&b, THOUSAND));
  lt_measure_add(&f->first_cpu, lt_memory_cpu(getpid()) - cpu);
  lt_measure_add(&f->second, run_burst(&b, THOUSAND));
  for (unsigned i = 0; i < LATER; i++) {
    cpu = lt_memory_cpu(getpid());
    lt_measure_add(&f->later, run_burst(&b, THOUSAND));
    lt_measure_add(&f->later_cpu, lt_memory_cpu(getpid()) - cpu);
  }
  f->bytes = held_bytes() - before;
  LT_CHECK(b.failed == 0);
}

static void measure_crowd(lt_rig *rig, void *arg) {
  size_t programs = *(size_t *)arg;
  burst b = {.rig = rig};
  char what[80];
  lt_rig_time(rig, LT_STR("1+2"), LT_LANG_JAVASCRIPT);
  double before = held_bytes();
  double ns = run_burst(&b, programs);
  double after = held_bytes() - before;
  snprintf(what, sizeof what, "%zu at once", programs);
  if (b.failed > 0) {
    lt_measure_skip(what, "%zu failed, the last with: %s", b.failed, b.error);
    return;
  }
  lt_measure_print_one(what, LT_MEASURE_NS, ns, 0);
  lt_measure_print_one("... memory of the process after them", LT_MEASURE_BYTES, after, 0);
}

void lt_bench_burst(void) {
  figures f = {.bytes = 0};
  for (unsigned i = 0; i < ROUNDS; i++) {
    lt_rig_run(50, measure_thousand, &f);
  }
  lt_measure_print_ns("1,000 at once, the first burst", &f.first, TARGET_FIRST_NS);
  lt_measure_print_ns("... processor time of it", &f.first_cpu, 0);
  lt_measure_print_ns("1,000 at once, the second burst", &f.second, TARGET_SECOND_NS);
  lt_measure_print_ns("1,000 at once, further bursts", &f.later, TARGET_SECOND_NS);
  lt_measure_print_ns("... processor time of each", &f.later_cpu, 0);
  lt_measure_print_one("... memory of the process after them", LT_MEASURE_BYTES, f.bytes, TARGET_BYTES);
  size_t many = MANY, crowd = CROWD;
  lt_rig_run(50, measure_crowd, &many);
  lt_rig_run(50, measure_crowd, &crowd);
}
