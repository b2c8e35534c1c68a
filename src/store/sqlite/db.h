/* The database: one SQLite file (WAL), opened when it is first needed, written in groups.
 *
 * A job is a function that runs SQL, on a thread of the store's own or, while the loop has nothing else to do, on the
 * loop's. Jobs that arrive while others run wait, and go together as one transaction: a hundred calls at once cost a
 * few commits. A job that fails undoes nothing of the others: they run again. A group is flushed to the disk (fsync)
 * when one of its jobs asks for it; all groups survive the process. A group that only reads keeps
 * nobody from writing.
 *
 * The tables are in db_tables.c; they are migrated forward when the file is opened, and a file of a newer Lathe is
 * refused. For sqlite/ only. Loop thread only.
 */
#ifndef LT_STORE_SQLITE_DB_H
#define LT_STORE_SQLITE_DB_H

#include "base/err.h"
#include "io/loop.h"
#include "store/store.h"

struct sqlite3;

/* Runs `work` in a transaction. The first job opens and migrates the file. LT_YIELDS until the transaction
 * is committed. `work` may use `sql` and the data behind `arg`, but nothing of the loop. When it fails through `err`,
 * its changes are undone. `work` is called again when another job has undone the group's transaction: each call must
 * reset its outputs. A cancel does not stop it. Errors: those of `work`; LT_E_IO with what is wrong with the file and
 * what to do (full, read-only, not a database, locked by another process for longer than LT_DB_BUSY_MS);
 * LT_E_UNSUPPORTED: a newer Lathe made the file; LT_E_NOMEM: no thread could be started. */
typedef lt_status (*lt_db_work)(struct sqlite3 *sql, void *arg, lt_err *err);
typedef enum lt_db_sync {
  LT_DB_LAZY,
  LT_DB_DURABLE,
  LT_DB_READ,  /* writes nothing */
  LT_DB_SPARE, /* lazy; alone in its group it does not wait for a process that writes to the file */
} lt_db_sync;
lt_status lt_db_run(lt_store *db, lt_db_sync sync, lt_db_work work, void *arg, lt_err *err) LT_YIELDS;

/* --- Posted jobs, without a waiting fiber ------------------------------------------------------------------------- */

/* A job in the queue; used by db.c and db_group.c only. */
typedef struct lt_db_job {
  struct lt_db_job *next;
  lt_db_work work;
  void *arg;
  lt_db_sync sync;
  void (*done)(void *arg, lt_status status, const lt_err *err); /* NULL: a fiber waits */
  lt_err *err;
  lt_status status;
  lt_wait wait;
} lt_db_job;

/* Usually part of what `arg` points to. Both must stay until `done`, which may free them. */
typedef struct lt_db_post {
  lt_db_job job;
  lt_err err;
} lt_db_post;

/* Puts a job into the queue and returns. The job runs before all later jobs, or together with them.
 * `done(arg, status, err)` is called on the loop afterwards; it must not yield, and may post more jobs.
 * Errors: LT_E_CLOSED, LT_E_NOMEM; after an error `done` is never called. Does not yield. */
lt_status lt_db_post_job(lt_store *db, lt_db_post *post, lt_db_sync sync, lt_db_work work, void *arg,
                         void (*done)(void *arg, lt_status status, const lt_err *err), lt_err *err);
/* Whether the job still waits and is the last one in the queue: then its `arg` may get more work, until
 * lt_db_post_let_go, and no group begins meanwhile. `post` may be done already. */
bool lt_db_post_hold(lt_store *db, const lt_db_post *post);
void lt_db_post_let_go(lt_store *db);

lt_loop *lt_db_loop(const lt_store *db);
/* The number of committed transactions, for statistics and tests. */
uint64_t lt_db_commits(const lt_store *db);

#endif
