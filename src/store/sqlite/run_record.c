/* Reading a run's record as a whole, and finding runs by their names. */
#include "store/sqlite/run_record.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store.h"
#include "store/sqlite/sqlite_open.h"

typedef struct run_record_job {
  lt_str run;
  lt_record record;
} run_record_job;

/* --- Into the record's arena -------------------------------------------------------------------------------------- */

static lt_status run_record_fail_room(const lt_record *record, lt_err *err) {
  if (record->arena.used + LT_JSON_MAX_BYTES < record->arena.max) {
    return lt_fail(err, LT_E_NOMEM, "no memory for what is on record of the run");
  }
  return lt_fail(err, LT_E_LIMIT, "more than %lu MiB are on record of the run: it cannot be run again",
                 LT_RECORD_MAX_BYTES / LT_MIB);
}

static lt_status run_record_keep_text(lt_record *record, lt_str text, lt_str *ret_text, lt_err *err) {
  if (text.n == 0) {
    *ret_text = LT_STR_NULL;
    return LT_OK;
  }
  lt_str kept = lt_arena_dup(&record->arena, text);
  if (kept.p == NULL) {
    return run_record_fail_room(record, err);
  }
  *ret_text = kept;
  return LT_OK;
}

/* Makes room for as many items as `text` counts, a query. */
static lt_status run_record_make_room(struct sqlite3 *sql, const char *text, run_record_job *job, size_t size,
                                      void **ret_room, size_t *ret_count, lt_err *err) {
  lt_query query = lt_query_prepare(sql, text);
  lt_query_text(&query, job->run);
  size_t count = lt_query_row(&query) ? (size_t)lt_query_get_int(&query, 0) : 0;
  LT_TRY(lt_query_end(&query, err));
  *ret_room = lt_arena_zalloc(&job->record.arena, count, size);
  *ret_count = count;
  return *ret_room != NULL ? LT_OK : run_record_fail_room(&job->record, err);
}

/* --- Notes -------------------------------------------------------------------------------------------------------- */

static lt_status run_record_read_note(lt_record *record, const lt_query *query, lt_err *err) {
  lt_note *note = &record->notes[record->note_count++];
  note->kind = (uint32_t)lt_query_get_int(query, 0);
  note->number = (uint64_t)lt_query_get_int(query, 1);
  note->time_us = (uint64_t)lt_query_get_int(query, 2);
  return run_record_keep_text(record, lt_query_get(query, 3), &note->text, err);
}

static lt_status run_record_read_notes(struct sqlite3 *sql, run_record_job *job, lt_err *err) {
  void *room = NULL;
  size_t count = 0;
  LT_TRY(
      run_record_make_room(sql, "SELECT count(*) FROM notes WHERE run = ?", job, sizeof(lt_note), &room, &count, err));
  job->record.notes = room;
  lt_status status = LT_OK;
  lt_query query = lt_query_prepare(sql, "SELECT kind, what, time_us, text FROM notes WHERE run = ? ORDER BY number");
  lt_query_text(&query, job->run);
  while (status == LT_OK && job->record.note_count < count && lt_query_row(&query)) {
    status = run_record_read_note(&job->record, &query, err);
  }
  lt_status read = lt_query_end(&query, status == LT_OK ? err : NULL);
  return lt_status_first(status, read);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

static lt_status run_record_status_by_name(lt_str name) {
#define LOOK(status, text, http, rpc, retry) \
  if (lt_str_eq(name, LT_STR(#status))) {    \
    return LT_##status;                      \
  }
  LT_STATUS_MAP(LOOK)
#undef LOOK
  return LT_E_INTERNAL;
}

static lt_status run_record_read_call(lt_record *record, const lt_query *query, lt_err *err) {
  lt_recorded_call *call = &record->calls[record->call_count++];
  call->id = lt_query_get_int(query, 0);
  call->seq = (uint64_t)lt_query_get_int(query, 1);
  call->hash = (uint64_t)lt_query_get_int(query, 2);
  call->repeatable = lt_query_get_int(query, 3) != 0;
  call->finished = lt_query_get_int(query, 4) != 0;
  LT_TRY(run_record_keep_text(record, lt_query_get(query, 7), &call->tool, err));
  LT_TRY(run_record_keep_text(record, lt_utf8_cut(lt_query_get(query, 8), LT_RECORD_SHOWN_BYTES), &call->input, err));
  LT_TRY(run_record_keep_text(record, lt_query_get(query, 9), &call->edited_input, err));
  if (!call->finished) {
    return LT_OK;
  }
  call->status = run_record_status_by_name(lt_query_get(query, 5));
  return run_record_keep_text(record, lt_query_get(query, 6), &call->answer, err);
}

static lt_status run_record_read_calls(struct sqlite3 *sql, run_record_job *job, lt_err *err) {
  void *room = NULL;
  size_t count = 0;
  LT_TRY(run_record_make_room(sql, "SELECT count(*) FROM calls WHERE run = ? AND seq > 0", job,
                              sizeof(lt_recorded_call), &room, &count, err));
  job->record.calls = room;
  lt_status status = LT_OK;
  lt_query query = lt_query_prepare(sql,
                                    "SELECT id, seq, hash, repeatable, finished_at IS NOT NULL, status, answer, tool,"
                                    " substr(input, 1, 100), edited_input FROM calls"
                                    " WHERE run = ? AND seq > 0 ORDER BY seq");
  lt_query_text(&query, job->run);
  while (status == LT_OK && job->record.call_count < count && lt_query_row(&query)) {
    status = run_record_read_call(&job->record, &query, err);
  }
  lt_status read = lt_query_end(&query, status == LT_OK ? err : NULL);
  return lt_status_first(status, read);
}

static lt_status run_record_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  run_record_job *job = arg;
  lt_record_release(&job->record);
  lt_arena_init(&job->record.arena, LT_RECORD_MAX_BYTES);
  LT_TRY(run_record_read_notes(sql, job, err));
  return run_record_read_calls(sql, job, err);
}

lt_status lt_run_record_read(lt_store *db, lt_str run, lt_record *ret_record, lt_err *err) {
  run_record_job job = {.run = run};
  lt_str *texts[] = {&job.run};
  lt_arena_init(&job.record.arena, LT_RECORD_MAX_BYTES);
  lt_status status = lt_db_job_run(db, LT_DB_READ, run_record_select, &job, texts, 1, err);
  if (status == LT_OK) {
    *ret_record = job.record;
  } else {
    lt_record_release(&job.record);
  }
  return status;
}

/* --- Names of runs ------------------------------------------------------------------------------------------------ */

/* The first name that is not before `key`: two look-ups in an index, whatever the number of records. */
static lt_status run_record_find_run(struct sqlite3 *sql, lt_str key, lt_buf *name, bool *ret_found, lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "SELECT min(run) FROM (SELECT min(run) AS run FROM calls WHERE run >= ?1"
                                    " UNION ALL SELECT min(run) FROM notes WHERE run >= ?1)");
  lt_query_text(&query, key);
  lt_buf_clear(name);
  *ret_found = lt_query_row(&query) && lt_sqlite.column_type(query.stmt, 0) != SQLITE_NULL;
  if (*ret_found) {
    lt_buf_add(name, lt_query_get(&query, 0));
  }
  return lt_query_end(&query, err);
}

static lt_status run_record_put_runs(struct sqlite3 *sql, const lt_db_read_job *job, lt_buf *key, lt_buf *name,
                                     lt_json_writer *w, lt_err *err) {
  bool found = true;
  lt_buf_add(key, job->id);
  while (key->status == LT_OK && name->status == LT_OK) {
    LT_TRY(run_record_find_run(sql, lt_buf_view(key), name, &found, err));
    if (!found || !lt_str_starts(lt_buf_view(name), job->id)) {
      return LT_OK;
    }
    lt_json_put_str(w, lt_buf_view(name));
    lt_buf_clear(key);
    lt_buf_add(key, lt_buf_view(name));
    lt_buf_byte(key, '\0'); /* no name is between the two */
  }
  return lt_fail(err, LT_E_NOMEM, "no memory for the names of runs");
}

static lt_status run_record_select_runs(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  LT_AUTO_BUF(key, LT_MIB);
  LT_AUTO_BUF(name, LT_MIB);
  lt_db_job_rewind(job->out, job->start);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  LT_TRY(run_record_put_runs(sql, job, &key, &name, &w, err));
  lt_json_end_array(&w);
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_runs_below(lt_store *db, lt_str prefix, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.id = prefix, .out = out};
  return lt_db_job_read(db, run_record_select_runs, &job, err);
}
