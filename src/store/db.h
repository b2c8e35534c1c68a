/* The database: one SQLite file (WAL), opened when it is first needed, written in groups.
 *
 * A job is a function that runs SQL on a thread of the pool. Jobs that are asked for while others run wait and go
 * together, as one transaction: a hundred calls at once cost one or two commits. Each job is a savepoint of its own, so
 * that one that fails takes nothing of the others with it. A group is flushed to the disk (fsync) when one of its jobs
 * asks for it; all of them survive the process. A group that only reads takes no lock that others wait for.
 *
 * Tables: tables.c, migrated forward when the file is opened; a file of a newer Lathe is refused. Loop thread only.
 */
#ifndef LT_STORE_DB_H
#define LT_STORE_DB_H

#include "base/err.h"
#include "io/loop.h"

typedef struct lt_db lt_db;
struct sqlite3;

/* `path`: a file, ":memory:", or NULL for $XDG_STATE_HOME/lathe/lathe.db (else ~/.local/state/lathe/lathe.db), whose
 * folders are made when they are missing. Nothing is opened or created yet. Errors: LT_E_NOMEM; LT_E_CONFIG when there
 * is no home to find the default in. Owns: the caller, lt_db_close. */
lt_status lt_db_new(lt_loop *loop, const char *path, lt_db **ret_db, lt_err *err);
/* Waits for what is under way or posted and closes the file. LT_YIELDS. NULL is allowed. */
void lt_db_close(lt_db *db) LT_YIELDS;
/* Where it is, for messages. Borrows. */
const char *lt_db_path(const lt_db *db);

/* Runs `work` in a transaction, on the pool; opens and migrates the file first if nobody has. LT_YIELDS until it is
 * committed. `work` may use what `arg` points to and `sql`, nothing of the loop's; it fails through `err`, and then
 * nothing of it is kept. It is called again, from its beginning, when another job has undone the group's transaction:
 * it starts its outputs afresh each time. Not stopped by a cancel. Errors: work's own; LT_E_IO with what is wrong with
 * the file and what to do (full, read-only, not a database, locked by another process for longer than LT_DB_BUSY_MS);
 * LT_E_UNSUPPORTED: made by a newer Lathe. */
typedef lt_status (*lt_db_work)(struct sqlite3 *sql, void *arg, lt_err *err);
typedef enum lt_db_sync { LT_DB_LAZY, LT_DB_DURABLE, LT_DB_READ /* writes nothing */ } lt_db_sync;
lt_status lt_db_run(lt_db *db, lt_db_sync sync, lt_db_work work, void *arg, lt_err *err) LT_YIELDS;
/* --- Jobs that nobody waits for ----------------------------------------------------------------------------------- */

/* A job in the queue; db.c's. */
typedef struct lt_db_job {
  struct lt_db_job *next;
  lt_db_work work;
  void *arg;
  lt_db_sync sync;
  void (*done)(void *arg, lt_status status, const lt_err *err); /* NULL: a fiber waits */
  lt_err *err;
  lt_status status;
  bool leads; /* woken to carry out the next group, with this job at its head */
  lt_wait wait;
} lt_db_job;

/* Somewhere in what `arg` points to, as a rule: both stay until `done`, which may free them. */
typedef struct lt_db_post {
  lt_db_job job;
  lt_err err;
} lt_db_post;

/* Puts a job into the queue and returns; it is carried out before everything that is asked for later, or with it.
 * `done(arg, status, err)` is called on the loop afterwards, on some fiber, and must not yield; it may ask for more.
 * Errors, and then `done` is never called: LT_E_CLOSED, and what lt_loop_spawn says. Does not yield. */
lt_status lt_db_post_job(lt_db *db, lt_db_post *post, lt_db_sync sync, lt_db_work work, void *arg,
                         void (*done)(void *arg, lt_status status, const lt_err *err), lt_err *err);
/* Whether the job still waits, and nothing was asked for after it: its `arg` may be given more to do. `post` may be one
 * that is done. */
bool lt_db_post_is_last(const lt_db *db, const lt_db_post *post);

/* How many transactions have been committed, for figures and tests. */
uint64_t lt_db_commits(const lt_db *db);

#endif
