/* Reads the record of a run. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_RUN_RECORD_H
#define LT_STORE_SQLITE_RUN_RECORD_H

#include "store/sqlite/db.h"
#include "tool/journal.h"

/* As lt_journal.recall says. */
lt_status lt_run_record_read(lt_store *db, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS;

#endif
