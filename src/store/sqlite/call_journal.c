/* The journal of calls. Notes are in note_queue.c, reading is in run_record.c. */

#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/note_queue.h"
#include "store/sqlite/prompt_owner.h"
#include "store/sqlite/run_record.h"
#include "store/store.h"

#define JOURNAL_QUEUED_ID (INT64_C(1) << 62) /* above the ids of rows */

/* An open call that was queued, so that the id of its row is not known. Its id is its address + JOURNAL_QUEUED_ID. */
typedef struct journal_queued_call {
  struct journal_queued_call *next, **place;
  uint64_t seq;
  size_t run_bytes;
  char run[];
} journal_queued_call;

typedef struct sqlite_journal {
  lt_journal base; /* first */
  lt_store *db;
  lt_note_queue *notes;
  journal_queued_call *queued;
} sqlite_journal;

/* --- A fiber waits ------------------------------------------------------------------------------------------------ */
typedef struct journal_begin_job {
  lt_call_begin begin;
  lt_note_queue *notes;
  int64_t id;
} journal_begin_job;

static lt_status journal_insert_call(struct sqlite3 *sql, void *arg, lt_err *err) {
  journal_begin_job *job = arg;
  if (job->begin.call.seq > 0) {
    LT_TRY(lt_note_queue_check(job->notes, job->begin.call.run, err));
    LT_TRY(lt_prompt_owner_check_own(sql, job->begin.call.run, err));
  }
  return lt_call_rows_insert(sql, &job->begin, &job->id, err);
}

static lt_status journal_begin_waiting(sqlite_journal *self, const lt_call_begin *begin, int64_t *ret_id,
                                       lt_err *err) LT_YIELDS {
  journal_begin_job job = {.begin = *begin, .notes = self->notes};
  lt_journal_call *call = &job.begin.call;
  lt_str *texts[] = {&call->run, &call->user, &call->tool, &call->input, &call->edited_input};
  lt_db_sync sync = call->repeatable ? LT_DB_LAZY : LT_DB_DURABLE;
  LT_TRY(lt_db_job_run(self->db, sync, journal_insert_call, &job, texts, sizeof texts / sizeof texts[0], err));
  *ret_id = job.id;
  return LT_OK;
}

static lt_status journal_end_call(struct sqlite3 *sql, void *arg, lt_err *err) {
  return lt_call_rows_end(sql, arg, err);
}

static lt_status journal_finish_waiting(sqlite_journal *self, lt_call_end *end, lt_err *err) LT_YIELDS {
  lt_str *texts[] = {&end->run, &end->answer};
  return lt_db_job_run(self->db, LT_DB_LAZY, journal_end_call, end, texts, sizeof texts / sizeof texts[0], err);
}

/* --- No fiber waits: calls that only read ------------------------------------------------------------------------- */
static journal_queued_call *journal_find_queued(int64_t id) {
  return id < JOURNAL_QUEUED_ID ? NULL : (journal_queued_call *)(intptr_t)(id - JOURNAL_QUEUED_ID);
}

static journal_queued_call *journal_keep_queued(sqlite_journal *self, const lt_journal_call *call) {
  journal_queued_call *queued = lt_mem_alloc(sizeof *queued + call->run.n);
  if (queued == NULL) {
    return NULL;
  }
  *queued =
      (journal_queued_call){.next = self->queued, .place = &self->queued, .seq = call->seq, .run_bytes = call->run.n};
  memcpy(queued->run, call->run.p, call->run.n);
  if (queued->next != NULL) {
    queued->next->place = &queued->next;
  }
  self->queued = queued;
  return queued;
}

static void journal_drop_queued(journal_queued_call *queued) {
  *queued->place = queued->next;
  if (queued->next != NULL) {
    queued->next->place = queued->place;
  }
  lt_mem_free(queued);
}

static lt_status journal_begin_queued(sqlite_journal *self, const lt_call_begin *begin, int64_t *ret_id, lt_err *err) {
  journal_queued_call *queued = journal_keep_queued(self, &begin->call);
  if (queued == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to record a call");
  }
  lt_status status = lt_note_queue_add_begin(self->notes, begin, err);
  if (status != LT_OK) {
    journal_drop_queued(queued);
    return status;
  }
  *ret_id = JOURNAL_QUEUED_ID + (int64_t)(intptr_t)queued;
  return LT_OK;
}

/* What waits to be written is a copy, so a long answer is waited for. */
static lt_status journal_finish_queued(sqlite_journal *self, journal_queued_call *queued, lt_call_end *end,
                                       lt_err *err) LT_YIELDS {
  end->run = lt_str_from(queued->run, queued->run_bytes);
  end->seq = queued->seq;
  end->id = 0;
  bool is_queued =
      end->answer.n <= LT_CALL_INLINE_BYTES && lt_note_queue_has_room(self->notes, 2 * LT_CALL_INLINE_BYTES);
  lt_status status = is_queued ? lt_note_queue_add_end(self->notes, end, err) : journal_finish_waiting(self, end, err);
  journal_drop_queued(queued);
  return status;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
/* Nothing is lost with a call that only reads: it is made again. */
static bool journal_may_queue(const sqlite_journal *self, const lt_journal_call *call) {
  return call->read_only && call->seq > 0 && call->input.n <= LT_CALL_INLINE_BYTES &&
         lt_note_queue_has_room(self->notes, 4 * LT_CALL_INLINE_BYTES);
}

static lt_status journal_begin(lt_journal *base, const lt_journal_call *call, int64_t *ret_id, lt_err *err) LT_YIELDS {
  sqlite_journal *self = (sqlite_journal *)base;
  lt_call_begin begin = {.call = *call};
  lt_clock_stamp(begin.started_at);
  return journal_may_queue(self, call) ? journal_begin_queued(self, &begin, ret_id, err)
                                       : journal_begin_waiting(self, &begin, ret_id, err);
}

static lt_status journal_finish(lt_journal *base, int64_t id, lt_status status, lt_str answer, lt_err *err) LT_YIELDS {
  sqlite_journal *self = (sqlite_journal *)base;
  journal_queued_call *queued = journal_find_queued(id);
  lt_call_end end = {.id = id, .status = status, .answer = answer};
  lt_clock_stamp(end.finished_at);
  return queued != NULL ? journal_finish_queued(self, queued, &end, err) : journal_finish_waiting(self, &end, err);
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
  sqlite_journal *journal = (sqlite_journal *)self;
  while (journal != NULL && journal->queued != NULL) {
    journal_drop_queued(journal->queued); /* an agent that leaves does not end its calls */
  }
  if (journal != NULL) {
    lt_note_queue_free(journal->notes);
  }
  lt_mem_free(journal);
}
