/* Rows of the table `calls`, for jobs. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_CALL_ROWS_H
#define LT_STORE_SQLITE_CALL_ROWS_H

#include "base/clock.h"
#include "tool/journal.h"

struct sqlite3;

typedef struct lt_call_begin {
  lt_journal_call call;
  char started_at[LT_CLOCK_STAMP_BYTES];
} lt_call_begin;

typedef struct lt_call_end {
  int64_t id; /* the row; 0: the call `seq` of `run` */
  lt_str run;
  uint64_t seq;
  bool has_effect; /* of the call; lt_note_queue_has_effect */
  lt_status status;
  lt_str answer;
  char finished_at[LT_CLOCK_STAMP_BYTES];
} lt_call_end;

/* An unfinished call of the same run and seq keeps its row. Errors: LT_E_INTERNAL: that row has ended, or is another
 * call; the database's. */
lt_status lt_call_rows_insert(struct sqlite3 *sql, const lt_call_begin *begin, int64_t *ret_id, lt_err *err);
/* Errors: LT_E_NOTFOUND: there is no such open call; the database's. */
lt_status lt_call_rows_end(struct sqlite3 *sql, const lt_call_end *end, lt_err *err);

#endif
