#include "store/sqlite/call_rows.h"

#include <inttypes.h>

#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

static lt_status call_rows_put_new(struct sqlite3 *sql, const lt_call_begin *begin, bool *ret_is_new, lt_err *err) {
  const lt_journal_call *call = &begin->call;
  lt_query query =
      lt_query_prepare(sql,
                       "INSERT INTO calls(run, user, tool, input, repeatable, started_at, seq, hash, edited_input)"
                       " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(run, seq) WHERE seq > 0 DO NOTHING");
  lt_query_text(&query, call->run);
  lt_query_text(&query, call->user);
  lt_query_text(&query, call->tool);
  lt_query_text(&query, call->input);
  lt_query_int(&query, call->repeatable);
  lt_query_text(&query, lt_str_of(begin->started_at));
  lt_query_int(&query, (int64_t)call->seq);
  lt_query_int(&query, (int64_t)call->hash);
  lt_query_text(&query, call->edited_input);
  LT_TRY(lt_query_run(&query, err));
  *ret_is_new = lt_sqlite.changes(sql) > 0;
  return LT_OK;
}

/* A call that is on record and has not ended begins again. *ret_id is 0 when it has ended, or is another one. */
static lt_status call_rows_begin_again(struct sqlite3 *sql, const lt_call_begin *begin, int64_t *ret_id, lt_err *err) {
  const lt_journal_call *call = &begin->call;
  lt_query query = lt_query_prepare(sql,
                                    "UPDATE calls SET started_at = ?, edited_input = ? WHERE run = ? AND seq = ?"
                                    " AND seq > 0 AND finished_at IS NULL AND hash = ? RETURNING id");
  lt_query_text(&query, lt_str_of(begin->started_at));
  lt_query_text(&query, call->edited_input);
  lt_query_text(&query, call->run);
  lt_query_int(&query, (int64_t)call->seq);
  lt_query_int(&query, (int64_t)call->hash);
  *ret_id = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  lt_query_row(&query); /* to its end: then SQLite counts the statement as done */
  return lt_query_end(&query, err);
}

/* Nearly every call is new. One statement for both would need RETURNING each time, for which SQLite makes a table. */
lt_status lt_call_rows_insert(struct sqlite3 *sql, const lt_call_begin *begin, int64_t *ret_id, lt_err *err) {
  bool is_new = false;
  LT_TRY(call_rows_put_new(sql, begin, &is_new, err));
  if (is_new) {
    *ret_id = lt_sqlite.last_insert_rowid(sql);
    return LT_OK;
  }
  LT_TRY(call_rows_begin_again(sql, begin, ret_id, err));
  return *ret_id != 0 ? LT_OK
                      : lt_fail(err, LT_E_INTERNAL,
                                "call %" PRIu64 " of the run %.*s is on record: it has ended, or is another one",
                                begin->call.seq, LT_STR_ARG(begin->call.run));
}

lt_status lt_call_rows_end(struct sqlite3 *sql, const lt_call_end *end, lt_err *err) {
  lt_query query = lt_query_prepare(
      sql, end->id != 0
               ? "UPDATE calls SET status = ?, answer = ?, finished_at = ? WHERE finished_at IS NULL AND id = ?"
               : "UPDATE calls SET status = ?, answer = ?, finished_at = ? WHERE finished_at IS NULL AND run = ?"
                 " AND seq = ? AND seq > 0");
  lt_query_text(&query, lt_str_of(lt_status_name(end->status)));
  lt_query_text(&query, end->answer);
  lt_query_text(&query, lt_str_of(end->finished_at));
  if (end->id != 0) {
    lt_query_int(&query, end->id);
  } else {
    lt_query_text(&query, end->run);
    lt_query_int(&query, (int64_t)end->seq);
  }
  LT_TRY(lt_query_run(&query, err));
  if (lt_sqlite.changes(sql) > 0) {
    return LT_OK;
  }
  return end->id != 0 ? lt_fail(err, LT_E_NOTFOUND, "the journal has no open call %" PRId64, end->id)
                      : lt_fail(err, LT_E_NOTFOUND, "the journal has no open call %" PRIu64 " of the run %.*s",
                                end->seq, LT_STR_ARG(end->run));
}
