/* The queue of jobs, and groups of them as transactions. */
#include "store/sqlite/db.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "io/lane.h"
#include "store/sqlite/connection_cache.h"
#include "store/sqlite/db_open.h"
#include "store/sqlite/log_file.h"
#include "store/sqlite/query.h"
#include "store/store_upkeep.h"
#include "store/sqlite/sqlite_open.h"

/* A job lies in the frame of the fiber that waits for it, or belongs to a post. */
struct lt_store {
  lt_loop *loop;
  char *path;
  bool make_folders;
  uint64_t commits;

  lt_db_job *head, *tail; /* waiting for the next group ... */
  unsigned waiting;       /* ... so many */
  bool led;               /* a group is under way, or about to be ... */
  lt_wait *rest;          /* ... and its leader waits here for more jobs; or NULL ... */
  lt_db_job *gatherer;    /* ... or lets the other ready fibers add theirs; or NULL */
  unsigned apart;         /* so many groups more run on the pool */
  bool closing;
  lt_wait closer;

  /* On the thread that runs the group. */
  struct sqlite3 *sql; /* NULL: not opened yet */
  bool is_read_only;   /* the file could not be written when it was opened */
};

/* The unit of lt_loop_offload. */
typedef struct db_group {
  lt_store *db;
  lt_db_job *jobs;
  uint64_t commits;
} db_group;

/* --- A group, on a thread of the pool ----------------------------------------------------------------------------- */

static void db_fail_rest(lt_db_job *jobs, const lt_err *why) {
  for (lt_db_job *j = jobs; j != NULL; j = j->next) {
    if (j->status == LT_OK) {
      j->status = lt_fail(j->err, why->status, "%s", lt_err_msg(why));
    }
  }
}

static bool db_is_lazy(const lt_db_job *jobs) {
  while (jobs != NULL && (jobs->sync != LT_DB_DURABLE || jobs->status != LT_OK)) {
    jobs = jobs->next;
  }
  return jobs == NULL;
}

static bool db_may_write(const lt_db_job *jobs) {
  while (jobs != NULL && (jobs->sync == LT_DB_READ || jobs->status != LT_OK)) {
    jobs = jobs->next;
  }
  return jobs != NULL;
}

/* Prepared once. */
static lt_status db_run_text(struct sqlite3 *sql, const char *text, lt_err *err) {
  lt_query query = lt_query_prepare(sql, text);
  return lt_query_run(&query, err);
}

static bool db_in_transaction(lt_store *db) {
  return lt_sqlite.get_autocommit(db->sql) == 0;
}

/* Runs one job. Its savepoint keeps a failure to itself. When no savepoint can be made, the whole group fails: later
 * jobs must not run, because they may depend on the job that was not called (note_queue.c). */
static lt_status db_run_job_apart(lt_store *db, lt_db_job *j, lt_err *err) {
  LT_TRY(db_run_text(db->sql, "SAVEPOINT job", err));
  j->status = j->work(db->sql, j->arg, j->err);
  if (!db_in_transaction(db)) {
    return LT_OK;
  }
  if (j->status != LT_OK) {
    lt_connection_cache_forget(db->sql); /* what the job has noted: SQLite tells its hook of whole transactions only */
    if (db_run_text(db->sql, "ROLLBACK TO job", NULL) != LT_OK) {
      lt_sqlite.exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
      return LT_OK;
    }
  }
  return db_run_text(db->sql, "RELEASE job", err);
}

static lt_status db_run_job(lt_store *db, lt_db_job *j, bool is_apart, lt_err *err) {
  if (is_apart) {
    return db_run_job_apart(db, j, err);
  }
  j->status = j->work(db->sql, j->arg, j->err);
  return LT_OK;
}

/* Runs the jobs that have not failed yet. `ret_all` false: one job has failed and the whole transaction is undone, and
 * the others have not run. SQLite undoes a transaction when it runs out of memory or room in the middle, or is
 * interrupted while it writes; without savepoints each failure undoes it. */
static lt_status db_run_jobs(lt_store *db, lt_db_job *jobs, bool is_apart, bool *ret_all, lt_err *err) {
  for (lt_db_job *j = jobs; j != NULL; j = j->next) {
    if (j->status == LT_OK) {
      LT_TRY(db_run_job(db, j, is_apart, err));
      bool is_undone = !db_in_transaction(db);
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

static bool db_any_left(const lt_db_job *jobs) {
  while (jobs != NULL && jobs->status != LT_OK) {
    jobs = jobs->next;
  }
  return jobs != NULL;
}

/* A lazy commit is left to the kernel, so it survives the process. Another waits until the disk has it and all earlier
 * commits: `synchronous` is FULL (sqlite.org/pragma.html#pragma_synchronous). */
static lt_status db_commit(db_group *g, lt_err *err) {
  lt_log_file *log = db_may_write(g->jobs) ? lt_log_file_begin_commit(g->db->sql, db_is_lazy(g->jobs)) : NULL;
  lt_status status = db_run_text(g->db->sql, "COMMIT", err);
  lt_log_file_end_commit(log);
  if (status == LT_OK) {
    g->commits++;
  } else {
    lt_sqlite.exec(g->db->sql, "ROLLBACK", NULL, NULL, NULL);
  }
  return status;
}

static bool db_all_spare(const lt_db_job *jobs) {
  while (jobs != NULL && jobs->sync == LT_DB_SPARE) {
    jobs = jobs->next;
  }
  return jobs == NULL;
}

static lt_status db_begin_writing(lt_store *db, const lt_db_job *jobs, lt_err *err) {
  bool is_spare = db_all_spare(jobs);
  if (is_spare) {
    lt_sqlite.busy_timeout(db->sql, 0);
  }
  lt_status status = db_run_text(db->sql, "BEGIN IMMEDIATE", err);
  if (is_spare) {
    lt_sqlite.busy_timeout(db->sql, LT_DB_BUSY_MS);
  }
  return status;
}

/* Only a transaction that may write keeps other processes from writing, and waits for them. */
static lt_status db_begin(lt_store *db, const lt_db_job *jobs, lt_err *err) {
  if (!db_may_write(jobs)) {
    return db_run_text(db->sql, "BEGIN", err);
  }
  int64_t version = 0;
  LT_TRY(db_begin_writing(db, jobs, err));
  LT_TRY(lt_query_number(db->sql, "PRAGMA data_version", &version, err));
  lt_connection_cache_see_version(db->sql, version);
  return LT_OK;
}

static void db_roll_back(lt_store *db) {
  if (db_in_transaction(db)) {
    lt_sqlite.exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
  }
}

/* Each turn of the loop takes out one job at least. Hardly a job ever fails, and a savepoint for each takes as long as
 * a small job: the first turn does without. */
static lt_status db_run_transaction(db_group *g, lt_err *err) {
  lt_store *db = g->db;
  for (bool is_apart = false; db_any_left(g->jobs); is_apart = true) {
    bool all = false;
    lt_status status = db_begin(db, g->jobs, err);
    if (status == LT_OK) {
      status = db_run_jobs(db, g->jobs, is_apart, &all, err);
    }
    if (status == LT_OK && all) {
      return db_commit(g, err);
    }
    db_roll_back(db);
    LT_TRY(status);
  }
  return LT_OK;
}

/* Jobs that write fail with `why`. Whether others are left. */
static bool db_refuse_writers(lt_db_job *jobs, const lt_err *why) {
  bool has_readers = false;
  for (lt_db_job *j = jobs; j != NULL; j = j->next) {
    if (j->sync != LT_DB_READ) {
      j->status = lt_fail(j->err, why->status, "%s", lt_err_msg(why));
    }
    has_readers = has_readers || j->sync == LT_DB_READ;
  }
  return has_readers;
}

static bool db_has_writers(const lt_db_job *jobs) {
  while (jobs != NULL && jobs->sync == LT_DB_READ) {
    jobs = jobs->next;
  }
  return jobs != NULL;
}

/* A file that cannot be written can be read. Before each group that writes, it is tried again. */
static lt_status db_open(lt_store *db, lt_db_job *jobs, lt_err *err) {
  if (db->sql != NULL && db->is_read_only && db_has_writers(jobs)) {
    lt_db_close_file(db->sql);
    db->sql = NULL;
  }
  if (db->sql != NULL) {
    return LT_OK;
  }
  db->is_read_only = false;
  lt_status status = lt_db_open_file(db->path, db->make_folders, &db->sql, err);
  if (status != LT_E_IO || !db_refuse_writers(jobs, err) || lt_db_open_read_only(db->path, &db->sql, NULL) != LT_OK) {
    return status;
  }
  db->is_read_only = true;
  return LT_OK;
}

static void db_run_group(void *arg) {
  db_group *g = arg;
  lt_store *db = g->db;
  LT_ERR_VAR(err);
  lt_status status = db_open(db, g->jobs, &err);
  if (status == LT_OK) {
    status = db_run_transaction(g, &err);
  }
  if (status != LT_OK) {
    db_fail_rest(g->jobs, &err);
  }
}

/* --- The queue, on the loop --------------------------------------------------------------------------------------- */

/* Not inlined: gcc would warn that the job's address stays in the queue. It leaves the queue before its frame ends. */
static __attribute__((noinline)) void db_enqueue(lt_store *db, lt_db_job *j) {
  if (db->tail != NULL) {
    db->tail->next = j;
  } else {
    db->head = j;
  }
  db->tail = j;
  db->waiting++;
}

static lt_db_job *db_take_group(lt_store *db) {
  lt_db_job *first = db->head, *last = first;
  unsigned count = 1;
  for (; last->next != NULL && count < LT_DB_GROUP_MAX; count++) {
    last = last->next;
  }
  db->waiting -= count;
  db->head = last->next;
  if (db->head == NULL) {
    db->tail = NULL;
  }
  last->next = NULL;
  return first;
}

static void db_finish_job(lt_db_job *j, const lt_db_job *own) {
  if (j->done != NULL) {
    j->done(j->arg, j->status, j->err);
  } else if (j != own) {
    lt_wait_wake(&j->wait, LT_OK);
  }
}

/* A group of one conversation is a tenth of a millisecond, and to wake a thread and to be woken takes as long. So the
 * loop's own thread runs a group while nothing else waits for it. When something came meanwhile, or the disk was slow,
 * the next groups run on the pool. The first one opens the file. */
static bool db_run_here(lt_store *db, db_group *g) LT_YIELDS {
  if (db->apart > 0 || db->sql == NULL || !lt_loop_is_quiet(db->loop)) {
    db->apart -= db->apart > 0;
    return false;
  }
  uint64_t since_ms = lt_clock_monotonic_ms();
  if (!lt_loop_step_out_and_wait(db->loop, db_run_group, g)) {
    return false;
  }
  bool is_slow = lt_clock_monotonic_ms() - since_ms > LT_WORKER_LATE_MS;
  db->apart = is_slow || !lt_loop_is_quiet(db->loop) ? LT_DB_GROUPS_APART : 0;
  return true;
}

/* Runs the next group. Its fibers still wait: db_finish_jobs. */
static lt_db_job *db_carry_out(lt_store *db) LT_YIELDS {
  db_group g = {.db = db, .jobs = db_take_group(db)};
  LT_ERR_VAR(err);
  if (!db_run_here(db, &g) && lt_loop_offload(db->loop, db_run_group, &g, &err) != LT_OK) {
    db_fail_rest(g.jobs, &err);
  }
  db->commits += g.commits;
  return g.jobs;
}

/* `own` is the leader's job or NULL. */
static void db_finish_jobs(lt_db_job *jobs, const lt_db_job *own) {
  for (lt_db_job *j = jobs, *next; j != NULL; j = next) {
    next = j->next;
    db_finish_job(j, own);
  }
}

static void db_lead_for_posted(void *arg);

/* Makes the first job that has come meanwhile lead the next group. False: no fiber waits for that job, and there is
 * no new fiber for it. */
static bool db_hand_over(lt_store *db) {
  lt_db_job *first = db->head;
  if (first != NULL && first->done != NULL) {
    return lt_loop_spawn(db->loop, db_lead_for_posted, db, NULL) == LT_OK;
  }
  db->led = first != NULL;
  if (first != NULL) {
    first->leads = true;
    lt_wait_wake(&first->wait, LT_OK);
  } else if (db->closing) {
    lt_wait_wake(&db->closer, LT_OK);
  }
  return true;
}

static bool db_group_has(const lt_db_job *jobs, const lt_db_job *own) {
  while (jobs != NULL && jobs != own) {
    jobs = jobs->next;
  }
  return jobs != NULL;
}

/* Runs groups until the caller's own job is done; NULL: it has none. When less than a whole group waits, the fibers of
 * the last one run first, and their next jobs join the next one. A whole group does not wait for them: the pool writes
 * it while the loop's thread runs those fibers. */
static void db_lead(lt_store *db, const lt_db_job *own) LT_YIELDS {
  bool is_done = own == NULL, is_handed_over = false;
  db->gatherer = NULL;
  do {
    lt_db_job *jobs = db_carry_out(db);
    is_done = is_done || db_group_has(jobs, own);
    is_handed_over = is_done && db->waiting >= LT_DB_GROUP_MAX && db_hand_over(db);
    db_finish_jobs(jobs, own);
  } while (!is_done || (!is_handed_over && !db_hand_over(db)));
}

/* No fiber waits for the posted job, so it rests a little: the next job that a fiber waits for carries it out, too. */
static void db_lead_for_posted(void *arg) {
  lt_store *db = arg;
  lt_wait rest;
  lt_wait_init(&rest, db->loop);
  db->rest = db->head->next == NULL ? &rest : NULL; /* with other jobs there is no need to rest */
  if (db->rest != NULL) {
    (void)lt_wait_on(&rest, LT_DB_REST_MS);
    if (db->rest != &rest) {
      return;
    }
    db->rest = NULL;
  }
  db_lead(db, NULL);
}

/* Wakes a leader that only rested. False: there is none. */
static bool db_wake_resting(lt_store *db) {
  lt_wait *rest = db->rest;
  db->rest = NULL;
  if (rest != NULL) {
    lt_wait_wake(rest, LT_OK);
  }
  return rest != NULL;
}

static lt_status db_check_open(const lt_store *db, lt_err *err) {
  return db->closing ? lt_fail(err, LT_E_CLOSED, "the database %s is being closed", db->path) : LT_OK;
}

/* The last job of a whole group leads it, if its leader still gathers others. */
static bool db_take_over(lt_store *db) {
  if (db->gatherer == NULL || db->waiting < LT_DB_GROUP_MAX) {
    return false;
  }
  db->gatherer->leads = false;
  db->gatherer = NULL;
  return true;
}

/* The fiber is at home. */
static void db_run_queued(lt_store *db, lt_db_job *j) LT_YIELDS {
  bool has_taken_over = !j->leads && db_take_over(db);
  if (j->leads) {
    db->led = true;
    db->gatherer = j;
    lt_loop_sleep(db->loop, 0); /* other fibers that are ready add their jobs first */
  }
  if (!j->leads && !has_taken_over) {
    lt_wait_on(&j->wait, UINT64_MAX);
  }
  if (j->leads || has_taken_over) {
    db_lead(db, j);
  }
  if (has_taken_over) { /* the other fibers of the group come first, as their jobs did */
    lt_loop_sleep(db->loop, 0);
  }
}

/* A lane is not always turned (io/lane.h). If its fiber led a group then, all others would wait: it goes home first. */
lt_status lt_db_run(lt_store *db, lt_db_sync sync, lt_db_work work, void *arg, lt_err *err) {
  lt_loop *loop = db->loop; /* once the job has ended the store may be closed */
  bool has_gone = lt_lane_go_home(loop);
  lt_status status = db_check_open(db, err);
  if (status == LT_OK) {
    lt_db_job j = {.work = work, .arg = arg, .sync = sync, .err = err, .leads = !db->led};
    j.leads = db_wake_resting(db) || j.leads;
    lt_wait_init(&j.wait, db->loop);
    db_enqueue(db, &j);
    db_run_queued(db, &j);
    status = j.status;
  }
  lt_lane_go_back(loop, has_gone);
  return status;
}

lt_status lt_db_post_job(lt_store *db, lt_db_post *post, lt_db_sync sync, lt_db_work work, void *arg,
                         void (*done)(void *arg, lt_status status, const lt_err *err), lt_err *err) {
  LT_TRY(db_check_open(db, err));
  if (!db->led) {
    LT_TRY(lt_loop_spawn(db->loop, db_lead_for_posted, db, err));
    db->led = true;
  }
  *post = (lt_db_post){.job = {.work = work, .arg = arg, .sync = sync, .done = done}, .err = LT_ERR_INIT};
  post->job.err = &post->err;
  db_enqueue(db, &post->job);
  return LT_OK;
}

bool lt_db_post_is_last(const lt_store *db, const lt_db_post *post) {
  return db->tail == &post->job;
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

static lt_status db_choose_path(const char *path, char **ret_path, lt_err *err) {
  LT_AUTO_BUF(buf, LT_PROC_PATH_MAX_BYTES);
  if (path == NULL) {
    LT_TRY(lt_store_default_path(&buf, err));
  } else if (path[0] == '\0') {
    return lt_fail(err, LT_E_CONFIG, "the database's path is empty: name a file, or leave it out");
  } else {
    lt_buf_addc(&buf, path);
    LT_TRY(lt_buf_check(&buf, err, "the database's path is too long"));
  }
  *ret_path = lt_buf_take(&buf, NULL);
  return LT_OK;
}

lt_status lt_store_new(lt_loop *loop, const char *path, lt_store **ret_db, lt_err *err) {
  char *chosen = NULL;
  LT_TRY(db_choose_path(path, &chosen, err));
  lt_store *db = lt_mem_zalloc(1, sizeof *db);
  if (db == NULL) {
    lt_mem_free(chosen);
    return lt_fail(err, LT_E_NOMEM, "no memory for a database");
  }
  *db = (lt_store){.loop = loop, .path = chosen, .make_folders = path == NULL};
  lt_wait_init(&db->closer, loop);
  *ret_db = db;
  return LT_OK;
}

static void db_close_file(void *arg) {
  lt_db_close_file(arg);
}

void lt_store_close(lt_store *db) {
  if (db == NULL) {
    return;
  }
  db->closing = true;
  if (db->led) {
    lt_wait_on(&db->closer, UINT64_MAX);
  }
  if (db->sql != NULL && lt_loop_offload(db->loop, db_close_file, db->sql, NULL) != LT_OK) {
    db_close_file(db->sql);
  }
  lt_mem_free(db->path);
  lt_mem_free(db);
}

const char *lt_store_path(const lt_store *db) {
  return db->path;
}

lt_loop *lt_db_loop(const lt_store *db) {
  return db->loop;
}

bool lt_store_is_open(const lt_store *db) {
  return db->sql != NULL;
}

/* --- Compacting --------------------------------------------------------------------------------------------------- */
/* VACUUM wants a connection without a transaction. */
typedef struct db_compact_job {
  const char *path;
  lt_status status;
  lt_err *err;
} db_compact_job;

static void db_compact(void *arg) {
  db_compact_job *job = arg;
  struct sqlite3 *sql = NULL;
  job->status = lt_db_open_file(job->path, false, &sql, job->err);
  if (job->status == LT_OK) {
    lt_sqlite.limit(sql, SQLITE_LIMIT_ATTACHED, 1); /* the new file */
    job->status = lt_query_exec(sql, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", job->err);
    lt_db_close_file(sql);
  }
}

lt_status lt_store_compact(lt_store *db, lt_err *err) {
  db_compact_job job = {.path = db->path, .err = err};
  LT_TRY(db_check_open(db, err));
  LT_TRY(lt_loop_offload(db->loop, db_compact, &job, err));
  return job.status;
}

uint64_t lt_db_commits(const lt_store *db) {
  return db->commits;
}
