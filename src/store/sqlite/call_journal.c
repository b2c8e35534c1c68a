/* The journal of calls. Notes are in note_queue.c, reading is in run_record.c. */

#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/note_queue.h"
#include "store/sqlite/prompt_owner.h"
#include "store/sqlite/run_record.h"
#include "store/store.h"

#define JOURNAL_QUEUED_ID (INT64_C(1) << 62) /* above the ids of rows */
enum { JOURNAL_OPEN_PLACES = 256 };

/* An open call of a run, whose end is recorded by run and seq. Where the beginning was queued, the id of its row is not
 * known: its id is its address + JOURNAL_QUEUED_ID. */
typedef struct journal_open_call {
  struct journal_open_call *next, **place;
  int64_t id;
  uint64_t seq;
  bool has_effect;
  size_t run_bytes;
  char run[];
} journal_open_call;

typedef struct sqlite_journal {
  lt_journal base; /* first */
  lt_store *db;
  lt_note_queue *notes;
  journal_open_call *open[JOURNAL_OPEN_PLACES]; /* by the id */
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

/* --- No fiber waits ----------------------------------------------------------------------------------------------- */
static journal_open_call **journal_open_place(sqlite_journal *self, int64_t id) {
  return &self->open[(uint64_t)id % JOURNAL_OPEN_PLACES];
}

static journal_open_call *journal_find_open(sqlite_journal *self, int64_t id) {
  if (id >= JOURNAL_QUEUED_ID) {
    return (journal_open_call *)(intptr_t)(id - JOURNAL_QUEUED_ID);
  }
  journal_open_call *open = *journal_open_place(self, id);
  while (open != NULL && open->id != id) {
    open = open->next;
  }
  return open;
}

static journal_open_call *journal_open_new(const lt_journal_call *call) {
  journal_open_call *open = lt_mem_alloc(sizeof *open + call->run.n);
  if (open != NULL) {
    *open = (journal_open_call){.seq = call->seq, .has_effect = !call->read_only, .run_bytes = call->run.n};
    memcpy(open->run, call->run.p, call->run.n);
  }
  return open;
}

static void journal_add_open(sqlite_journal *self, journal_open_call *open, int64_t id) {
  journal_open_call **place = journal_open_place(self, id);
  open->id = id;
  open->next = *place;
  open->place = place;
  if (open->next != NULL) {
    open->next->place = &open->next;
  }
  *place = open;
}

static void journal_drop_open(journal_open_call *open) {
  *open->place = open->next;
  if (open->next != NULL) {
    open->next->place = open->place;
  }
  lt_mem_free(open);
}

static lt_status journal_begin_queued(sqlite_journal *self, const lt_call_begin *begin, int64_t *ret_id, lt_err *err) {
  journal_open_call *open = journal_open_new(&begin->call);
  if (open == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to record a call");
  }
  lt_status status = lt_note_queue_add_begin(self->notes, begin, err);
  if (status != LT_OK) {
    lt_mem_free(open);
    return status;
  }
  *ret_id = JOURNAL_QUEUED_ID + (int64_t)(intptr_t)open;
  journal_add_open(self, open, *ret_id);
  return LT_OK;
}

/* The end of a call with a number may be queued when it comes. Without memory for that, it is waited for. */
static lt_status journal_begin_recorded(sqlite_journal *self, const lt_call_begin *begin, int64_t *ret_id,
                                        lt_err *err) LT_YIELDS {
  journal_open_call *open = begin->call.seq > 0 ? journal_open_new(&begin->call) : NULL;
  lt_status status = journal_begin_waiting(self, begin, ret_id, err);
  if (open != NULL && status == LT_OK) {
    journal_add_open(self, open, *ret_id);
  } else {
    lt_mem_free(open);
  }
  return status;
}

/* What waits to be written is a copy, so a long answer is waited for. */
static bool journal_may_queue_end(const sqlite_journal *self, const journal_open_call *open, lt_str answer) {
  return answer.n <= (open->has_effect ? LT_NOTES_END_BYTES : LT_CALL_INLINE_BYTES) &&
         lt_note_queue_has_room(self->notes, 2 * LT_CALL_INLINE_BYTES);
}

static lt_status journal_finish_open(sqlite_journal *self, journal_open_call *open, lt_call_end *end,
                                     lt_err *err) LT_YIELDS {
  end->run = lt_str_from(open->run, open->run_bytes);
  end->seq = open->seq;
  end->has_effect = open->has_effect;
  end->id = 0;
  lt_status status = journal_may_queue_end(self, open, end->answer) ? lt_note_queue_add_end(self->notes, end, err)
                                                                    : journal_finish_waiting(self, end, err);
  journal_drop_open(open);
  return status;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
/* Nothing is lost with a call that only reads: it is made again. But its server sees it: what it follows from must be
 * on record before, the end of a call that had an effect. */
static bool journal_may_queue(const sqlite_journal *self, const lt_journal_call *call) {
  return call->read_only && call->seq > 0 && call->input.n <= LT_CALL_INLINE_BYTES &&
         lt_note_queue_has_room(self->notes, 4 * LT_CALL_INLINE_BYTES) &&
         !lt_note_queue_has_effect(self->notes, call->run);
}

static lt_status journal_begin(lt_journal *base, const lt_journal_call *call, int64_t *ret_id, lt_err *err) LT_YIELDS {
  sqlite_journal *self = (sqlite_journal *)base;
  lt_call_begin begin = {.call = *call};
  lt_clock_stamp(begin.started_at);
  return journal_may_queue(self, call) ? journal_begin_queued(self, &begin, ret_id, err)
                                       : journal_begin_recorded(self, &begin, ret_id, err);
}

static lt_status journal_finish(lt_journal *base, int64_t id, lt_status status, lt_str answer, lt_err *err) LT_YIELDS {
  sqlite_journal *self = (sqlite_journal *)base;
  journal_open_call *open = journal_find_open(self, id);
  lt_call_end end = {.id = id, .status = status, .answer = answer};
  lt_clock_stamp(end.finished_at);
  return open != NULL ? journal_finish_open(self, open, &end, err) : journal_finish_waiting(self, &end, err);
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
  for (size_t i = 0; journal != NULL && i < JOURNAL_OPEN_PLACES; i++) {
    while (journal->open[i] != NULL) {
      journal_drop_open(journal->open[i]); /* an agent that leaves does not end its calls */
    }
  }
  if (journal != NULL) {
    lt_note_queue_free(journal->notes);
  }
  lt_mem_free(journal);
}
