#include "store/sqlite/call_rows.h"

#include <inttypes.h>

#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

/* *ret_id is 0 when the call of that run and seq has ended, or is another call. */
static lt_status call_rows_put(struct sqlite3 *sql, const lt_call_begin *begin, int64_t *ret_id, lt_err *err) {
  const lt_journal_call *call = &begin->call;
  lt_query query =
      lt_query_prepare(sql,
                       "INSERT INTO calls(run, user, tool, input, repeatable, started_at, seq, hash, edited_input)"
                       " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT(run, seq) WHERE seq > 0 DO UPDATE SET started_at = excluded.started_at,"
                       " edited_input = excluded.edited_input"
                       " WHERE finished_at IS NULL AND hash = excluded.hash RETURNING id");
  lt_query_text(&query, call->run);
  lt_query_text(&query, call->user);
  lt_query_text(&query, call->tool);
  lt_query_text(&query, call->input);
  lt_query_int(&query, call->repeatable);
  lt_query_text(&query, lt_str_of(begin->started_at));
  lt_query_int(&query, (int64_t)call->seq);
  lt_query_int(&query, (int64_t)call->hash);
  lt_query_text(&query, call->edited_input);
  *ret_id = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  lt_query_row(&query); /* to its end: then SQLite counts the statement as done */
  return lt_query_end(&query, err);
}

lt_status lt_call_rows_insert(struct sqlite3 *sql, const lt_call_begin *begin, int64_t *ret_id, lt_err *err) {
  LT_TRY(call_rows_put(sql, begin, ret_id, err));
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
