/* The journal of calls. Notes are in note_queue.c, reading is in run_record.c. */
#include <inttypes.h>
#include <sqlite3.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/sqlite/note_queue.h"
#include "store/sqlite/prompt_owner.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/run_record.h"
#include "store/sqlite/query.h"
#include "store/store.h"

typedef struct sqlite_journal {
  lt_journal base; /* first */
  lt_store *db;
  lt_note_queue *notes;
} sqlite_journal;

typedef struct journal_begin_job {
  lt_journal_call call;
  lt_note_queue *notes;
  char started_at[LT_CLOCK_STAMP_BYTES];
  int64_t id;
} journal_begin_job;

/* job->id is 0 when a call of that run and seq has ended, or is another call. */
static lt_status journal_insert_call(struct sqlite3 *sql, journal_begin_job *job, lt_err *err) {
  lt_query query =
      lt_query_prepare(sql,
                       "INSERT INTO calls(run, user, tool, input, repeatable, started_at, seq, hash, edited_input)"
                       " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT(run, seq) WHERE seq > 0 DO UPDATE SET started_at = excluded.started_at,"
                       " edited_input = excluded.edited_input"
                       " WHERE finished_at IS NULL AND hash = excluded.hash RETURNING id");
  lt_query_text(&query, job->call.run);
  lt_query_text(&query, job->call.user);
  lt_query_text(&query, job->call.tool);
  lt_query_text(&query, job->call.input);
  lt_query_int(&query, job->call.repeatable);
  lt_query_text(&query, lt_str_of(job->started_at));
  lt_query_int(&query, (int64_t)job->call.seq);
  lt_query_int(&query, (int64_t)job->call.hash);
  lt_query_text(&query, job->call.edited_input);
  job->id = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  lt_query_row(&query); /* to its end: then SQLite counts the statement as done */
  return lt_query_end(&query, err);
}

static lt_status journal_begin_job_run(struct sqlite3 *sql, void *arg, lt_err *err) {
  journal_begin_job *job = arg;
  if (job->call.seq > 0) {
    LT_TRY(lt_note_queue_check(job->notes, job->call.run, err));
    LT_TRY(lt_prompt_owner_check_own(sql, job->call.run, err));
  }
  LT_TRY(journal_insert_call(sql, job, err));
  if (job->id == 0) {
    return lt_fail(err, LT_E_INTERNAL, "call %" PRIu64 " of the run %.*s is on record: it has ended, or is another one",
                   job->call.seq, LT_STR_ARG(job->call.run));
  }
  return LT_OK;
}

static lt_status journal_begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) LT_YIELDS {
  journal_begin_job job = {.call = *call, .notes = ((sqlite_journal *)self)->notes};
  lt_str *texts[] = {&job.call.run, &job.call.user, &job.call.tool, &job.call.input, &job.call.edited_input};
  lt_clock_stamp(job.started_at);
  lt_db_sync sync = call->repeatable ? LT_DB_LAZY : LT_DB_DURABLE;
  lt_status status = lt_db_job_run(((sqlite_journal *)self)->db, sync, journal_begin_job_run, &job, texts,
                                   sizeof texts / sizeof texts[0], err);
  if (status == LT_OK) {
    *ret_id = job.id;
  }
  return status;
}

typedef struct journal_finish_job {
  int64_t id;
  const char *status;
  lt_str answer;
  char finished_at[LT_CLOCK_STAMP_BYTES];
} journal_finish_job;

static lt_status journal_update_call(struct sqlite3 *sql, void *arg, lt_err *err) {
  const journal_finish_job *job = arg;
  lt_query query = lt_query_prepare(
      sql, "UPDATE calls SET status = ?, answer = ?, finished_at = ? WHERE id = ? AND finished_at IS NULL");
  lt_query_text(&query, lt_str_of(job->status));
  lt_query_text(&query, job->answer);
  lt_query_text(&query, lt_str_of(job->finished_at));
  lt_query_int(&query, job->id);
  LT_TRY(lt_query_run(&query, err));
  if (sqlite3_changes(sql) == 0) {
    return lt_fail(err, LT_E_NOTFOUND, "the journal has no open call %" PRId64, job->id);
  }
  return LT_OK;
}

static lt_status journal_finish(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) LT_YIELDS {
  journal_finish_job job = {.id = id, .status = lt_status_name(status), .answer = answer};
  lt_str *texts[] = {&job.answer};
  lt_clock_stamp(job.finished_at);
  return lt_db_job_run(((sqlite_journal *)self)->db, LT_DB_LAZY, journal_update_call, &job, texts, 1, err);
}

static void journal_note(lt_journal *self, lt_str run, const lt_note *what,
                         void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  lt_note_queue_add(((sqlite_journal *)self)->notes, run, what, on_failure, arg);
}

static lt_status journal_recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS {
  return lt_run_record_read(((sqlite_journal *)self)->db, run, ret_record, err);
}

lt_journal *lt_store_journal_new(lt_store *db) {
  sqlite_journal *self = lt_mem_zalloc(1, sizeof *self);
  lt_note_queue *notes = lt_note_queue_new(db);
  if (self == NULL || notes == NULL) {
    lt_mem_free(self);
    lt_note_queue_free(notes);
    return NULL;
  }
  *self = (sqlite_journal){
      .base = {.begin = journal_begin, .finish = journal_finish, .note = journal_note, .recall = journal_recall},
      .db = db,
      .notes = notes};
  return &self->base;
}

void lt_store_journal_free(lt_journal *self) {
  if (self != NULL) {
    lt_note_queue_free(((sqlite_journal *)self)->notes);
  }
  lt_mem_free(self);
}
