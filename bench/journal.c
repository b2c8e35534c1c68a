/* What it costs to record a call: begin and finish, one after the other and a hundred at once, in memory, in a file
 * that survives the process (lazily), and in one that survives the power's going (durably, which waits for the disk).
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/measure.h"
#include "store/store.h"

enum { RUNS = 500, DURABLE_RUNS = 100, CROWD = 100, CROWDS = 30 };

typedef struct desk {
  lt_loop *loop;
  lt_journal *journal;
  size_t at_work;
  lt_wait done;
  bool repeatable;
  char folder[32];
} desk;

static void record(desk *d) {
  lt_journal_call call = {.user = LT_STR("local"),
                          .run = LT_STR("bench"),
                          .tool = LT_STR("files.read"),
                          .input = LT_STR("{\"path\":\"a/file/of/some/length.txt\"}"),
                          .repeatable = d->repeatable};
  int64_t id = 0;
  LT_CHECK(d->journal->begin(d->journal, &call, &id, NULL) == LT_OK);
  LT_CHECK(d->journal->finish(d->journal, id, LT_OK, LT_STR("{\"content\":\"what was in it\"}"), NULL) == LT_OK);
}

static void one_by_one(desk *d, const char *what, bool repeatable, int runs) {
  lt_measure times;
  lt_measure_init(&times);
  d->repeatable = repeatable;
  record(d); /* opens the file */
  for (int i = 0; i < runs; i++) {
    double start = lt_measure_now();
    record(d);
    lt_measure_add(&times, lt_measure_now() - start);
  }
  lt_measure_print_ns(what, &times, 0);
}

static void record_among_others(void *arg) {
  desk *d = arg;
  record(d);
  if (--d->at_work == 0) {
    lt_wait_wake(&d->done, LT_OK);
  }
}

static void at_once(desk *d, const char *what, bool repeatable) {
  lt_measure times;
  lt_measure_init(&times);
  d->repeatable = repeatable;
  for (int i = 0; i < CROWDS; i++) {
    lt_wait_init(&d->done, d->loop);
    d->at_work = CROWD;
    double start = lt_measure_now();
    for (int k = 0; k < CROWD; k++) {
      LT_CHECK(lt_loop_spawn(d->loop, record_among_others, d, NULL) == LT_OK);
    }
    lt_wait_on(&d->done, UINT64_MAX);
    lt_measure_add(&times, (lt_measure_now() - start) / CROWD);
  }
  lt_measure_print_ns(what, &times, 0);
}

static void open_desk(desk *d, const char *path, lt_store **ret_db) {
  LT_CHECK(lt_store_new(d->loop, path, ret_db, NULL) == LT_OK);
  d->journal = lt_store_journal_new(*ret_db);
  LT_CHECK(d->journal != NULL);
}

static void close_desk(desk *d, lt_store *db) {
  lt_store_journal_free(d->journal);
  lt_store_close(db);
}

static void measure(void *arg) {
  desk *d = arg;
  lt_store *db = NULL;
  char path[64];
  open_desk(d, ":memory:", &db);
  one_by_one(d, "a call recorded, begin and finish: in memory", true, RUNS);
  close_desk(d, db);
  snprintf(path, sizeof path, "%s/lathe.db", d->folder);
  open_desk(d, path, &db);
  one_by_one(d, "... in a file, lazily", true, RUNS);
  one_by_one(d, "... in a file, durably", false, DURABLE_RUNS);
  at_once(d, "100 calls at once, each: lazily", true);
  at_once(d, "100 calls at once, each: durably", false);
  close_desk(d, db);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
  (void)st;
  (void)type;
  (void)at;
  return remove(path);
}

void lt_bench_journal(void) {
  desk d = {.folder = "/var/tmp/lathe-bench-XXXXXX"}; /* on a disk, where /tmp may be memory */
  if (mkdtemp(d.folder) == NULL) {
    lt_measure_skip("journal", "no folder could be made in /var/tmp");
    return;
  }
  LT_CHECK(lt_loop_new(&d.loop, NULL) == LT_OK);
  LT_CHECK(lt_loop_spawn(d.loop, measure, &d, NULL) == LT_OK);
  lt_loop_run(d.loop);
  lt_loop_free(d.loop);
  nftw(d.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
