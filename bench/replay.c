/* A program with a thousand calls on record, run again: by its tape from the store's file, and the same calls made for
 * the first time beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/rig.h"
#include "store/store.h"

enum { CALLS = 1000, RUNS = 30, FIRST_RUNS = 5 };

#define TARGET_NS 20e6

static const char one_by_one[] = "let sum = 0; for (let i = 0; i < 1000; i++) { sum += benchEcho({ i }).i } sum";
static const char at_once[] = "(await Promise.all(Array.from({ length: 1000 }, (_, i) => benchEcho({ i })))).length";

/* The store's journal, without the note of a program's end: so that it runs. */
typedef struct desk {
  lt_journal journal; /* first */
  lt_journal *store;
} desk;

static lt_status begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) LT_YIELDS {
  return ((desk *)self)->store->begin(((desk *)self)->store, call, ret_id, err);
}

static lt_status finish(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) LT_YIELDS {
  return ((desk *)self)->store->finish(((desk *)self)->store, id, status, answer, err);
}

static void note(lt_journal *self, lt_str run, const lt_note *what, void (*on_failure)(void *arg, const lt_err *err),
                 void *arg) {
  if (!lt_str_starts(what->text, LT_STR("{\"status\""))) {
    ((desk *)self)->store->note(((desk *)self)->store, run, what, on_failure, arg);
  }
}

static lt_status recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS {
  return ((desk *)self)->store->recall(((desk *)self)->store, run, ret_record, err);
}

/* `name` NULL: nothing is recorded. */
static double run_program(lt_rig *rig, const char *code, desk *d, const char *name, bool again) {
  lt_caller caller = {.user = LT_STR("local"), .journal = &d->journal, .noted = true, .recalled = again};
  lt_run_request request = {.code = lt_str_of(code)};
  if (name != NULL) {
    caller.run = lt_str_of(name);
    request.caller = &caller;
  }
  lt_run_result result;
  double ns = lt_rig_program(rig, &request, &result);
  LT_CHECK(result.status == LT_OK);
  lt_run_result_release(&result);
  return ns;
}

static void measure(lt_rig *rig, desk *d, const char *code, const char *what, const char *first, double target) {
  lt_measure times, again, unrecorded;
  lt_measure_init(&times);
  lt_measure_init(&again);
  lt_measure_init(&unrecorded);
  char name[64] = "";
  for (int i = 0; i < FIRST_RUNS; i++) {
    snprintf(name, sizeof name, "%.20s/%d", what, i);
    lt_measure_add(&times, run_program(rig, code, d, name, false));
  }
  for (int i = 0; i < RUNS; i++) {
    lt_measure_add(&again, run_program(rig, code, d, name, true));
    lt_measure_add(&unrecorded, run_program(rig, code, d, NULL, false));
  }
  lt_measure_print_ns(what, &again, target);
  lt_measure_print_ns(first, &times, 0);
  lt_measure_print_ns("… unrecorded", &unrecorded, 0);
}

static void measure_all(lt_rig *rig, void *arg) {
  lt_store *db;
  LT_CHECK(lt_store_new(rig->loop, arg, &db, NULL) == LT_OK);
  desk d = {.journal = {.begin = begin, .finish = finish, .note = note, .recall = recall}};
  d.store = lt_store_journal_new(db);
  LT_CHECK(d.store != NULL);
  measure(rig, &d, one_by_one, "a program with 1,000 calls run again by its record", "… the first time, recorded",
          TARGET_NS);
  measure(rig, &d, at_once, "1,000 calls at once: run again", "… the first time", 0);
  lt_store_journal_free(d.store);
  lt_store_close(db);
}

void lt_bench_replay(void) {
  char folder[] = "/var/tmp/lathe-bench-XXXXXX"; /* on a disk, where /tmp may be memory */
  char path[64], shared[72], wal[72];
  if (mkdtemp(folder) == NULL) {
    lt_measure_skip("replay", "no folder could be made in /var/tmp");
    return;
  }
  snprintf(path, sizeof path, "%s/lathe.db", folder);
  snprintf(shared, sizeof shared, "%s-shm", path);
  snprintf(wal, sizeof wal, "%s-wal", path);
  lt_rig_run(10, measure_all, path);
  unlink(path);
  unlink(shared);
  unlink(wal);
  rmdir(folder);
}
