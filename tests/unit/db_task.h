/* A job for the database, as tests run it: on a new fiber (start), or on the one that calls (run). */
#ifndef LT_TEST_DB_TASK_H
#define LT_TEST_DB_TASK_H

#include "unit/db_fix.h"

typedef struct task {
  db_fix *fix;
  const char *text; /* SQL */
  lt_db_sync sync;
  lt_status status;
  lt_err err;
  int runs;    /* how often the job has run */
  bool fails;  /* after its SQL */
  bool done;   /* lt_db_run has returned */
  bool undoes; /* ends the transaction, as SQLite does in need */
} task;

static inline lt_status work(struct sqlite3 *sql, void *arg, lt_err *err) {
  task *t = arg;
  t->runs++;
  int rc = sqlite3_exec(sql, t->text, NULL, NULL, NULL);
  if (rc != SQLITE_OK) {
    return lt_fail(err, LT_E_INVALID, "%s", sqlite3_errmsg(sql));
  }
  if (t->undoes) {
    sqlite3_exec(sql, "ROLLBACK", NULL, NULL, NULL);
  }
  return t->fails || t->undoes ? lt_fail(err, LT_E_TOOL, "as it was told") : LT_OK;
}

static inline void run_task(void *arg) {
  task *t = arg;
  t->err = LT_ERR_INIT;
  t->status = lt_db_run(t->fix->db, t->sync, work, t, &t->err);
  t->done = true;
}

static inline void start(db_fix *fix, task *t) {
  t->fix = fix;
  lt_err err = LT_ERR_INIT;
  if (lt_loop_spawn(fix->loop, run_task, t, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
}

static inline void run(db_fix *fix, task *t) {
  t->fix = fix;
  run_task(t);
}

static inline void make_table(db_fix *fix) {
  task create = {.text = "CREATE TABLE x__t(a UNIQUE)"};
  run(fix, &create);
  assert_int_equal(create.status, LT_OK);
}

#endif
