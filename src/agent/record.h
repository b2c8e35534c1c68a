/* What is on record of a prompt itself, beside its outputs: what the model replied, what people decided, what was put
 * aside. Internal to agent/.
 *
 * Kept as notes of the run that has the prompt's id (tool/journal.h); each program and each call has a run of its own
 * (docs/internals/replay.md). While a prompt is carried out again, the mode's questions are answered from here as long
 * as there are answers; then it goes on for real.
 */
#ifndef LT_AGENT_RECORD_H
#define LT_AGENT_RECORD_H

#include "agent/turn.h"
#include "replay/notes.h"

typedef struct lt_turn_record {
  bool again;        /* the prompt is carried out again, by `all` */
  lt_record all;     /* used notes have kind 0 */
  uint64_t asked;    /* completions so far */
  size_t looked;     /* at notes, for the next completion */
  bool differs;      /* the messages of this completion ... */
  uint64_t differed; /* ... were others than those on record: the first such */
  bool other_tools;  /* the tools are others than they were */
} lt_turn_record;

/* LT_YIELDS. Errors: the store's. */
lt_status lt_turn_record_recall(lt_turn *turn, lt_err *err) LT_YIELDS;
void lt_turn_record_release(lt_turn *turn);

/* LT_E_DIVERGED: the prompt was begun with another Lathe. */
lt_status lt_turn_record_check(lt_turn *turn, lt_err *err);
/* Notes how it begins, or compares. `tools` may be NULL. LT_YIELDS. */
void lt_turn_record_start(lt_turn *turn, lt_catalog *tools) LT_YIELDS;

/* The next completion from the record; false: there is none, the model is to be asked. `hash`: of the messages that it
 * is asked with. */
bool lt_turn_record_take(lt_turn *turn, uint64_t hash, lt_completion *completion, lt_status *ret_status, lt_err *err);
/* Notes what the model gave. */
void lt_turn_record_put(lt_turn *turn, uint64_t hash, const lt_completion *completion, lt_status status,
                        const lt_err *err);
void lt_turn_record_put_llm(lt_turn *turn, const lt_completion *completion);

/* What was decided about the output of that id, when the same was asked about (`hash`: lt_journal_hash of what was
 * shown); false: nothing. The reason is appended. */
bool lt_turn_record_decision(lt_turn *turn, lt_str id, uint64_t hash, bool *ret_approved, lt_buf *reason);
void lt_turn_record_decide(lt_turn *turn, lt_str id, uint64_t hash, bool approved, lt_str reason);
/* Somebody wants the prompt to end: where the process does first, the next one does not go on with it. */
void lt_turn_record_cancel(lt_turn *turn);

/* The id that the same thing was put aside under; false: it was not. */
bool lt_turn_record_artifact(lt_turn *turn, const lt_artifact *artifact, lt_buf *ret_id);
void lt_turn_record_put_aside(lt_turn *turn, const lt_artifact *artifact, lt_str id);

#endif
