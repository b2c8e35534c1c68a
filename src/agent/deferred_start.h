/* Prompts that are stored at their first effect or wait, not before. Internal to agent/.
 *
 * Until then the prompt's record (notes, read-only calls and their ends) is kept in memory, in order, and its outputs
 * are in the outbox only. lt_deferred_start_store writes all of it: the prompt with its lease, the record, the outputs.
 * A prompt that ends before leaves nothing in the store.
 */
#ifndef LT_AGENT_DEFERRED_START_H
#define LT_AGENT_DEFERRED_START_H

#include "io/loop.h"
#include "store/store_prompts.h"
#include "tool/journal.h"

typedef struct lt_turn_state lt_turn_state;
typedef struct lt_deferred_record lt_deferred_record;

typedef struct lt_deferred_start {
  bool is_open;    /* the store knows nothing of the prompt yet ... */
  bool is_storing; /* ... and a fiber is storing it */
  lt_deferred_record *first, **last;
  size_t bytes;       /* of all records */
  int64_t call_count; /* number of calls that were kept; the n-th has the id -n */
  int64_t *ids;       /* the journal's ids of these calls, once they are stored */
  lt_cancel stored;   /* fired when the fiber that stores has finished */
  size_t fibers;      /* that are in lt_deferred_start_store */
  lt_wait left;       /* woken when the last of them leaves */
  lt_err err;         /* why the record has a gap: the prompt makes no further call; last, as that of the outbox */
} lt_deferred_start;

void lt_deferred_start_init(lt_deferred_start *deferred, lt_loop *loop);
void lt_deferred_start_release(lt_deferred_start *deferred);
/* Whether nothing of the prompt is in the store. */
bool lt_deferred_start_is_open(const lt_turn_state *turn_state);
/* Stores the prompt, unless it is stored. LT_YIELDS. Errors: the store's: what should follow must not happen. */
lt_status lt_deferred_start_store(lt_turn_state *turn_state, lt_err *err) LT_YIELDS;
/* Waits until no fiber stores the prompt. LT_YIELDS. */
void lt_deferred_start_settle(lt_turn_state *turn_state) LT_YIELDS;

/* Keeps the beginning of a call. False: the call must be recorded in the store, which has the prompt or gets it now. */
bool lt_deferred_start_keep_call(lt_turn_state *turn_state, const lt_journal_call *call, int64_t *ret_id);
/* Keeps the end of a kept call. False: `*id` is now the journal's id of the call, and the end must be recorded there.
 */
bool lt_deferred_start_keep_end(lt_turn_state *turn_state, int64_t *id, lt_status status, lt_str answer);
/* Keeps a note. False: it must be recorded in the store. */
bool lt_deferred_start_keep_note(lt_turn_state *turn_state, lt_str run, const lt_note *note);

#endif
