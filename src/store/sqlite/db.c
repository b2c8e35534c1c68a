/* The queue of jobs, and the thread that runs them in groups. */
#include "store/sqlite/db.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "io/lane.h"
#include "store/sqlite/db_group.h"
#include "store/sqlite/db_open.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"
#include "store/store_upkeep.h"

/* A job lies in the frame of the fiber that waits for it, or belongs to a post. */
struct lt_store {
  lt_loop *loop;
  char *path;
  bool closing;
  bool is_held;      /* the loop, while there are jobs */
  bool is_gathering; /* a fiber is about to have a group begin (db_gather) */
  unsigned inside;   /* such fibers, until they have ended */
  unsigned apart;    /* so many groups more do not run on the loop's own thread */
  lt_timer *rest;    /* of posted jobs, which wait for others to join; NULL: not needed yet */
  bool rests;
  bool has_thread, has_ended;
  pthread_t thread;
  lt_post told; /* has the loop look at the jobs that have ended */
  lt_post over; /* the thread's last one */
  lt_wait closer;

  pthread_mutex_t lock; /* of what follows, up to `ended` */
  pthread_cond_t news;  /* the thread waits for it */
  lt_db_job *head, *tail;
  unsigned waiting; /* so many */
  bool is_wanted;   /* a fiber waits for one of these jobs, or they have rested */
  bool is_running;  /* a group */
  bool has_failed;  /* a job, and the loop has not looked. Until then no group begins: a later job may depend on it */
  bool is_told;     /* `told` is posted */
  bool is_ending;   /* the thread, once there are no jobs */
  lt_db_job *ended, *ended_last;

  atomic_bool is_open; /* the file */
  _Atomic uint64_t commits;
  lt_db_file file; /* of who runs a group */
};

/* --- The queue, with the lock ------------------------------------------------------------------------------------- */

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

static bool db_may_begin(const lt_store *db) {
  return db->head != NULL && db->is_wanted && !db->is_running && !db->has_failed;
}

static lt_db_job *db_begin_group(lt_store *db) {
  lt_db_job *first = db->head, *last = first;
  unsigned count = 1;
  for (; last->next != NULL && count < LT_DB_GROUP_MAX; count++) {
    last = last->next;
  }
  db->waiting -= count;
  db->head = last->next;
  if (db->head == NULL) {
    db->tail = NULL;
    db->is_wanted = false;
  }
  last->next = NULL;
  db->is_running = true;
  return first;
}

static void db_end_group(lt_store *db, lt_db_job *jobs) {
  if (db->ended == NULL) {
    db->ended = jobs;
  } else {
    db->ended_last->next = jobs;
  }
  for (lt_db_job *j = jobs; j != NULL; j = j->next) {
    db->has_failed = db->has_failed || j->status != LT_OK;
    db->ended_last = j;
  }
  db->is_running = false;
}

/* Lets go of the lock while the group runs. False: there is none. */
static bool db_run_group(lt_store *db) {
  if (!db_may_begin(db)) {
    return false;
  }
  lt_db_job *jobs = db_begin_group(db);
  pthread_mutex_unlock(&db->lock);
  db->commits += lt_db_group_run(&db->file, jobs);
  db->is_open = db->file.sql != NULL;
  pthread_mutex_lock(&db->lock);
  db_end_group(db, jobs);
  return true;
}

/* --- The thread --------------------------------------------------------------------------------------------------- */

/* Has the loop look, unless it is about to. Lets go of the lock meanwhile. */
static void db_thread_tell(lt_store *db) {
  bool is_told = db->is_told;
  db->is_told = true;
  pthread_mutex_unlock(&db->lock);
  if (!is_told) {
    lt_loop_post(db->loop, &db->told);
  }
  pthread_mutex_lock(&db->lock);
}

static void *db_thread(void *arg) {
  lt_store *db = arg;
  pthread_mutex_lock(&db->lock);
  while (!db->is_ending || db->head != NULL || db->is_running) {
    if (db_run_group(db)) {
      db_thread_tell(db);
    } else {
      pthread_cond_wait(&db->news, &db->lock);
    }
  }
  pthread_mutex_unlock(&db->lock);
  if (db->file.sql != NULL) {
    lt_db_close_file(db->file.sql); /* which may take the disk its time */
  }
  lt_loop_post(db->loop, &db->over);
  return NULL;
}

/* Signals are for other threads. */
static bool db_has_thread(lt_store *db) {
  if (!db->has_thread) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    db->has_thread = pthread_create(&db->thread, NULL, db_thread, db) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  return db->has_thread;
}

/* --- The loop ----------------------------------------------------------------------------------------------------- */

static void db_finish_jobs(lt_db_job *jobs) {
  for (lt_db_job *j = jobs, *next; j != NULL; j = next) {
    next = j->next;
    if (j->done != NULL) {
      j->done(j->arg, j->status, j->err);
    } else {
      lt_wait_wake(&j->wait, LT_OK);
    }
  }
}

/* With the lock. */
static bool db_is_idle(const lt_store *db) {
  return db->head == NULL && !db->is_running && db->ended == NULL;
}

/* Sees to the jobs that have ended. */
static void db_look(lt_store *db) {
  pthread_mutex_lock(&db->lock);
  lt_db_job *jobs = db->ended;
  bool had_failed = db->has_failed;
  db->ended = NULL;
  pthread_mutex_unlock(&db->lock);
  db_finish_jobs(jobs);
  pthread_mutex_lock(&db->lock);
  db->has_failed = db->has_failed && !had_failed;
  bool is_idle = db_is_idle(db);
  if (db_may_begin(db) || db->is_ending) {
    pthread_cond_signal(&db->news);
  }
  pthread_mutex_unlock(&db->lock);
  if (is_idle && db->is_held) {
    db->is_held = false;
    lt_loop_unhold(db->loop);
  }
}

static void db_on_told(void *arg) {
  lt_store *db = arg;
  pthread_mutex_lock(&db->lock);
  db->is_told = false; /* its post may be used again */
  pthread_mutex_unlock(&db->lock);
  db_look(db);
}

static void db_on_over(void *arg) {
  lt_store *db = arg;
  db->has_ended = true;
  lt_wait_wake(&db->closer, LT_OK);
}

/* No thread for them. */
static void db_fail_all(lt_store *db) {
  LT_ERR_VAR(err);
  (void)lt_fail(&err, LT_E_NOMEM, "no thread could be started for the database %s: is there a limit of processes?",
                db->path);
  pthread_mutex_lock(&db->lock);
  while (db_may_begin(db)) {
    lt_db_job *jobs = db_begin_group(db);
    lt_db_group_fail(jobs, &err);
    db_end_group(db, jobs);
    db->has_failed = false;
  }
  pthread_mutex_unlock(&db->lock);
  db_look(db);
}

/* Has what is queued run by the thread. */
static void db_want(lt_store *db) {
  pthread_mutex_lock(&db->lock);
  bool is_wanted = db->is_wanted = db->head != NULL;
  if (is_wanted || db->is_ending) {
    pthread_cond_signal(&db->news);
  }
  pthread_mutex_unlock(&db->lock);
  if (is_wanted && !db_has_thread(db)) {
    db_fail_all(db);
  }
}

static bool db_is_running(lt_store *db) {
  pthread_mutex_lock(&db->lock);
  bool is_running = db->is_running;
  pthread_mutex_unlock(&db->lock);
  return is_running;
}

static void db_run_group_here(void *arg) {
  lt_store *db = arg;
  pthread_mutex_lock(&db->lock);
  db->is_wanted = db->head != NULL;
  (void)db_run_group(db);
  pthread_mutex_unlock(&db->lock);
}

/* A group of one conversation is a tenth of a millisecond, and to wake a thread and to be woken takes as long. So the
 * loop's own thread runs a group while nothing else waits for it. When something came meanwhile, or the disk was slow,
 * the thread gets the next groups. It gets the first one, too, and opens the file for it. */
static void db_run_here(lt_store *db) LT_YIELDS {
  if (db->apart > 0 || !db->is_open || !lt_loop_is_quiet(db->loop) || db_is_running(db)) {
    db->apart -= db->apart > 0;
    return;
  }
  uint64_t since_ms = lt_clock_monotonic_ms();
  if (lt_loop_step_out_and_wait(db->loop, db_run_group_here, db)) {
    bool is_slow = lt_clock_monotonic_ms() - since_ms > LT_WORKER_LATE_MS;
    db->apart = is_slow || !lt_loop_is_quiet(db->loop) ? LT_DB_GROUPS_APART : 0;
    db_look(db);
  }
}

static lt_status db_check_open(const lt_store *db, lt_err *err) {
  return db->closing ? lt_fail(err, LT_E_CLOSED, "the database %s is being closed", db->path) : LT_OK;
}

/* How many wait. */
static unsigned db_add(lt_store *db, lt_db_job *j) {
  if (!db->is_held) {
    db->is_held = true;
    lt_loop_hold(db->loop);
  }
  pthread_mutex_lock(&db->lock);
  db_enqueue(db, j);
  unsigned waiting = db->waiting;
  pthread_mutex_unlock(&db->lock);
  return waiting;
}

static void db_end_rest(lt_store *db) {
  if (db->rests) {
    lt_timer_stop(db->rest);
    db->rests = false;
  }
}

/* Begins a group, on a fiber of its own. It is queued behind all fibers that are ready, so that these add their jobs
 * first. The fibers that wait for jobs must only wait. Then they go on in the order of their jobs, and who comes after
 * a job that has failed knows of it. */
static void db_gather(void *arg) {
  lt_store *db = arg;
  db->is_gathering = false;
  db_run_here(db);
  db_want(db); /* what is left */
  db->inside--;
  lt_wait_wake(&db->closer, LT_OK);
}

/* Where no fiber can be had, the group begins at once. */
static void db_begin_gathering(lt_store *db) {
  db->is_gathering = lt_loop_spawn(db->loop, db_gather, db, NULL) == LT_OK;
  db->inside += db->is_gathering;
  if (!db->is_gathering) {
    db_want(db);
  }
}

/* A fiber of a lane goes home first: the jobs' ends are told there, and the lane is not always turned (io/lane.h). */
lt_status lt_db_run(lt_store *db, lt_db_sync sync, lt_db_work work, void *arg, lt_err *err) {
  lt_loop *loop = db->loop; /* once the job has ended the store may be closed */
  bool has_gone = lt_lane_go_home(loop);
  lt_status status = db_check_open(db, err);
  if (status == LT_OK) {
    lt_db_job j = {.work = work, .arg = arg, .sync = sync, .err = err};
    lt_wait_init(&j.wait, db->loop);
    unsigned waiting = db_add(db, &j);
    db_end_rest(db); /* it carries along what rests */
    if (waiting >= LT_DB_GROUP_MIN) {
      db_want(db);
    } else if (!db->is_gathering) {
      db_begin_gathering(db);
    }
    (void)lt_wait_on(&j.wait, UINT64_MAX);
    status = j.status;
  }
  lt_lane_go_back(loop, has_gone);
  return status;
}

/* --- Posted jobs -------------------------------------------------------------------------------------------------- */

static void db_on_rested(void *arg) {
  lt_store *db = arg;
  db->rests = false;
  db_want(db);
}

/* No fiber waits for the posted job, so it rests a little: the next job that a fiber waits for carries it along. */
lt_status lt_db_post_job(lt_store *db, lt_db_post *post, lt_db_sync sync, lt_db_work work, void *arg,
                         void (*done)(void *arg, lt_status status, const lt_err *err), lt_err *err) {
  LT_TRY(db_check_open(db, err));
  if (db->rest == NULL) {
    LT_TRY(lt_timer_new(db->loop, db_on_rested, db, &db->rest, err));
  }
  *post = (lt_db_post){.job = {.work = work, .arg = arg, .sync = sync, .done = done}, .err = LT_ERR_INIT};
  post->job.err = &post->err;
  (void)db_add(db, &post->job);
  if (!db->rests) {
    db->rests = true;
    lt_timer_start(db->rest, LT_DB_REST_MS);
  }
  return LT_OK;
}

bool lt_db_post_hold(lt_store *db, const lt_db_post *post) {
  pthread_mutex_lock(&db->lock);
  bool is_last = db->tail == &post->job;
  if (!is_last) {
    pthread_mutex_unlock(&db->lock);
  }
  return is_last;
}

void lt_db_post_let_go(lt_store *db) {
  pthread_mutex_unlock(&db->lock);
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
  *db = (lt_store){.loop = loop, .path = chosen, .file = {.path = chosen, .make_folders = path == NULL}};
  db->told = (lt_post){.fn = db_on_told, .arg = db};
  db->over = (lt_post){.fn = db_on_over, .arg = db};
  lt_wait_init(&db->closer, loop);
  pthread_mutex_init(&db->lock, NULL);
  pthread_cond_init(&db->news, NULL);
  *ret_db = db;
  return LT_OK;
}

/* The thread, if there is one, closes the file when all jobs have ended. */
static void db_end_thread(lt_store *db) LT_YIELDS {
  pthread_mutex_lock(&db->lock);
  db->is_ending = true;
  pthread_mutex_unlock(&db->lock);
  db_want(db);
  while (db->inside > 0 || (db->has_thread && !db->has_ended)) {
    (void)lt_wait_on(&db->closer, UINT64_MAX);
  }
  if (db->has_thread) {
    pthread_join(db->thread, NULL);
  }
}

void lt_store_close(lt_store *db) {
  if (db == NULL) {
    return;
  }
  db->closing = true;
  db_end_thread(db);
  lt_timer_free(db->rest);
  pthread_cond_destroy(&db->news);
  pthread_mutex_destroy(&db->lock);
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
  return db->is_open;
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
