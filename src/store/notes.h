/* Notes of runs on their way to the database: many small ones that come together are one job. For store/ only. */
#ifndef LT_STORE_NOTES_H
#define LT_STORE_NOTES_H

#include "store/db.h"
#include "tool/journal.h"

typedef struct lt_notes lt_notes;

/* Borrows: the database. Owns: the caller, lt_notes_free; what is queued is still written then. NULL: no memory. */
lt_notes *lt_notes_new(lt_db *db);
/* NULL is allowed. */
void lt_notes_free(lt_notes *notes);

/* As lt_journal.note says. */
void lt_notes_add(lt_notes *notes, lt_str run, const lt_note *note, void (*on_failure)(void *arg, const lt_err *err),
                  void *arg);
/* LT_E_IO when a note of that run could not be kept: what comes after it must not be on record. For jobs too, which run
 * in the order of the queue: a note before them has been written then, or is lost. */
lt_status lt_notes_check(lt_notes *notes, lt_str run, lt_err *err);

#endif
