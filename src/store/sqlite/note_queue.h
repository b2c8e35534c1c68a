/* The queue of what is recorded without a fiber that waits: notes of runs, calls that only read, and the ends of
 * others. Many small records are written as one job, in order. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_NOTE_QUEUE_H
#define LT_STORE_SQLITE_NOTE_QUEUE_H

#include "store/sqlite/call_rows.h"
#include "store/sqlite/db.h"

typedef struct lt_note_queue lt_note_queue;

/* Borrows: the database. Owns: the caller, lt_note_queue_free; queued notes are still written. NULL: no memory.
 */
lt_note_queue *lt_note_queue_new(lt_store *db);
/* NULL is allowed. */
void lt_note_queue_free(lt_note_queue *notes);

/* As lt_journal.note says. */
void lt_note_queue_add(lt_note_queue *notes, lt_str run, const lt_note *note,
                       void (*on_failure)(void *arg, const lt_err *err), void *arg);
/* Queue the beginning of a call that has a seq, and its end, by its run and seq. Copy. Errors, after which the run is
 * lost: those of lt_note_queue_check; LT_E_LIMIT: there is no room; LT_E_NOMEM. */
lt_status lt_note_queue_add_begin(lt_note_queue *notes, const lt_call_begin *begin, lt_err *err);
lt_status lt_note_queue_add_end(lt_note_queue *notes, const lt_call_end *end, lt_err *err);
/* Whether the end of a call that had an effect waits to be written, in a run of the same prompt (or, rarely, of
 * another). */
bool lt_note_queue_has_effect(const lt_note_queue *notes, lt_str run);
/* Whether so many bytes more may wait to be written. */
bool lt_note_queue_has_room(const lt_note_queue *notes, size_t bytes);
/* LT_E_IO: a note of that run was lost, and nothing later of the run may be recorded. Jobs may call this function, too:
 * jobs run in the order of the queue, so every earlier note has been written or lost. */
lt_status lt_note_queue_check(lt_note_queue *notes, lt_str run, lt_err *err);

#endif
