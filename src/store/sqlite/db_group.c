/* A group of jobs: opens the file, and runs the jobs as one transaction. */
#include "store/sqlite/db_group.h"

#include "base/limits.h"
#include "store/sqlite/connection_cache.h"
#include "store/sqlite/db_open.h"
#include "store/sqlite/log_file.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

void lt_db_group_fail(lt_db_job *jobs, const lt_err *why) {
  for (lt_db_job *j = jobs; j != NULL; j = j->next) {
    if (j->status == LT_OK) {
      j->status = lt_fail(j->err, why->status, "%s", lt_err_msg(why));
    }
  }
}

static bool db_group_is_lazy(const lt_db_job *jobs) {
  while (jobs != NULL && (jobs->sync != LT_DB_DURABLE || jobs->status != LT_OK)) {
    jobs = jobs->next;
  }
  return jobs == NULL;
}

static bool db_group_may_write(const lt_db_job *jobs) {
  while (jobs != NULL && (jobs->sync == LT_DB_READ || jobs->status != LT_OK)) {
    jobs = jobs->next;
  }
  return jobs != NULL;
}

/* Prepared once. */
static lt_status db_group_run_text(struct sqlite3 *sql, const char *text, lt_err *err) {
  lt_query query = lt_query_prepare(sql, text);
  return lt_query_run(&query, err);
}

static bool db_group_in_transaction(const lt_db_file *file) {
  return lt_sqlite.get_autocommit(file->sql) == 0;
}

/* Runs one job. Its savepoint keeps a failure to itself. When no savepoint can be made, the whole group fails: later
 * jobs must not run, because they may depend on the job that was not called (note_queue.c). */
static lt_status db_group_run_job_apart(lt_db_file *file, lt_db_job *j, lt_err *err) {
  LT_TRY(db_group_run_text(file->sql, "SAVEPOINT job", err));
  j->status = j->work(file->sql, j->arg, j->err);
  if (!db_group_in_transaction(file)) {
    return LT_OK;
  }
  if (j->status != LT_OK) {
    /* SQLite tells the cache of whole transactions that were undone, but not of what this job has noted. */
    lt_connection_cache_forget(file->sql);
    if (db_group_run_text(file->sql, "ROLLBACK TO job", NULL) != LT_OK) {
      lt_sqlite.exec(file->sql, "ROLLBACK", NULL, NULL, NULL);
      return LT_OK;
    }
  }
  return db_group_run_text(file->sql, "RELEASE job", err);
}

static lt_status db_group_run_job(lt_db_file *file, lt_db_job *j, bool is_apart, lt_err *err) {
  if (is_apart) {
    return db_group_run_job_apart(file, j, err);
  }
  j->status = j->work(file->sql, j->arg, j->err);
  return LT_OK;
}

/* Runs the jobs that have not failed yet. `ret_all` false: one job has failed and the whole transaction is undone, and
 * the others have not run. SQLite undoes a transaction when it runs out of memory or room in the middle, or is
 * interrupted while it writes; without savepoints each failure undoes it. */
static lt_status db_group_run_jobs(lt_db_file *file, lt_db_job *jobs, bool is_apart, bool *ret_all, lt_err *err) {
  for (lt_db_job *j = jobs; j != NULL; j = j->next) {
    if (j->status == LT_OK) {
      LT_TRY(db_group_run_job(file, j, is_apart, err));
      bool is_undone = !db_group_in_transaction(file);
      if (is_undone && j->status == LT_OK) {
        j->status = lt_fail(j->err, LT_E_INTERNAL, "a job has ended its transaction");
      }
      if (is_undone || (!is_apart && j->status != LT_OK)) {
        *ret_all = false;
        return LT_OK;
      }
    }
  }
  *ret_all = true;
  return LT_OK;
}

static bool db_group_any_left(const lt_db_job *jobs) {
  while (jobs != NULL && jobs->status != LT_OK) {
    jobs = jobs->next;
  }
  return jobs != NULL;
}

/* A lazy commit is left to the kernel, so it survives the process. Another waits until the disk has it and all earlier
 * commits: `synchronous` is FULL (sqlite.org/pragma.html#pragma_synchronous). */
static lt_status db_group_commit(lt_db_file *file, const lt_db_job *jobs, lt_err *err) {
  lt_log_file *log = db_group_may_write(jobs) ? lt_log_file_begin_commit(file->sql, db_group_is_lazy(jobs)) : NULL;
  lt_status status = db_group_run_text(file->sql, "COMMIT", err);
  lt_log_file_end_commit(log);
  if (status != LT_OK) {
    lt_sqlite.exec(file->sql, "ROLLBACK", NULL, NULL, NULL);
  }
  return status;
}

static bool db_group_all_spare(const lt_db_job *jobs) {
  while (jobs != NULL && jobs->sync == LT_DB_SPARE) {
    jobs = jobs->next;
  }
  return jobs == NULL;
}

static lt_status db_group_begin_writing(lt_db_file *file, const lt_db_job *jobs, lt_err *err) {
  bool is_spare = db_group_all_spare(jobs);
  if (is_spare) {
    lt_sqlite.busy_timeout(file->sql, 0);
  }
  lt_status status = db_group_run_text(file->sql, "BEGIN IMMEDIATE", err);
  if (is_spare) {
    lt_sqlite.busy_timeout(file->sql, LT_DB_BUSY_MS);
  }
  return status;
}

/* Only a transaction that may write keeps other processes from writing, and waits for them. */
static lt_status db_group_begin(lt_db_file *file, const lt_db_job *jobs, lt_err *err) {
  if (!db_group_may_write(jobs)) {
    return db_group_run_text(file->sql, "BEGIN", err);
  }
  int64_t version = 0;
  LT_TRY(db_group_begin_writing(file, jobs, err));
  LT_TRY(lt_query_number(file->sql, "PRAGMA data_version", &version, err));
  lt_connection_cache_see_version(file->sql, version);
  return LT_OK;
}

static void db_group_roll_back(lt_db_file *file) {
  if (db_group_in_transaction(file)) {
    lt_sqlite.exec(file->sql, "ROLLBACK", NULL, NULL, NULL);
  }
}

/* Each turn of the loop takes out one job at least. Hardly a job ever fails, and a savepoint for each takes as long as
 * a small job: the first turn does without. */
static lt_status db_group_run_transaction(lt_db_file *file, lt_db_job *jobs, bool *ret_committed, lt_err *err) {
  for (bool is_apart = false; db_group_any_left(jobs); is_apart = true) {
    bool all = false;
    lt_status status = db_group_begin(file, jobs, err);
    if (status == LT_OK) {
      status = db_group_run_jobs(file, jobs, is_apart, &all, err);
    }
    if (status == LT_OK && all) {
      LT_TRY(db_group_commit(file, jobs, err));
      *ret_committed = true;
      return LT_OK;
    }
    db_group_roll_back(file);
    LT_TRY(status);
  }
  return LT_OK;
}

/* Jobs that write fail with `why`. Whether others are left. */
static bool db_group_refuse_writers(lt_db_job *jobs, const lt_err *why) {
  bool has_readers = false;
  for (lt_db_job *j = jobs; j != NULL; j = j->next) {
    if (j->sync != LT_DB_READ) {
      j->status = lt_fail(j->err, why->status, "%s", lt_err_msg(why));
    }
    has_readers = has_readers || j->sync == LT_DB_READ;
  }
  return has_readers;
}

static bool db_group_has_writers(const lt_db_job *jobs) {
  while (jobs != NULL && jobs->sync == LT_DB_READ) {
    jobs = jobs->next;
  }
  return jobs != NULL;
}

/* A file that cannot be written can be read. Before each group that writes, it is tried again. */
static lt_status db_group_open(lt_db_file *file, lt_db_job *jobs, lt_err *err) {
  if (file->sql != NULL && file->is_read_only && db_group_has_writers(jobs)) {
    lt_db_close_file(file->sql);
    file->sql = NULL;
  }
  if (file->sql != NULL) {
    return LT_OK;
  }
  file->is_read_only = false;
  lt_status status = lt_db_open_file(file->path, file->make_folders, &file->sql, err);
  if (status != LT_E_IO || !db_group_refuse_writers(jobs, err) ||
      lt_db_open_read_only(file->path, &file->sql, NULL) != LT_OK) {
    return status;
  }
  file->is_read_only = true;
  return LT_OK;
}

bool lt_db_group_run(lt_db_file *file, lt_db_job *jobs) {
  bool is_committed = false;
  LT_ERR_VAR(err);
  lt_status status = db_group_open(file, jobs, &err);
  if (status == LT_OK) {
    status = db_group_run_transaction(file, jobs, &is_committed, &err);
  }
  if (status != LT_OK) {
    lt_db_group_fail(jobs, &err);
  }
  return is_committed;
}
