/* What is on record of a run, read. For store/ only. */
#ifndef LT_STORE_RECALL_H
#define LT_STORE_RECALL_H

#include "store/db.h"
#include "tool/journal.h"

/* As lt_journal.recall says. */
lt_status lt_recall_run(lt_db *db, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS;

#endif
