/* The queue of notes of runs: many small notes are written as one job. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_NOTE_QUEUE_H
#define LT_STORE_SQLITE_NOTE_QUEUE_H

#include "store/sqlite/db.h"
#include "tool/journal.h"

typedef struct lt_note_queue lt_note_queue;

/* Borrows: the database. Owns: the caller, lt_note_queue_free; queued notes are still written. NULL: no memory.
 */
lt_note_queue *lt_note_queue_new(lt_store *db);
/* NULL is allowed. */
void lt_note_queue_free(lt_note_queue *notes);

/* As lt_journal.note says. */
void lt_note_queue_add(lt_note_queue *notes, lt_str run, const lt_note *note,
                       void (*on_failure)(void *arg, const lt_err *err), void *arg);
/* LT_E_IO: a note of that run was lost, and nothing later of the run may be recorded. Jobs may call this function, too:
 * jobs run in the order of the queue, so every earlier note has been written or lost. */
lt_status lt_note_queue_check(lt_note_queue *notes, lt_str run, lt_err *err);

#endif
