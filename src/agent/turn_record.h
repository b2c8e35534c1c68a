/* What is on record of a prompt itself, beside its outputs: the model's replies, people's decisions, artifacts.
 * Internal to agent/.
 *
 * Kept as notes of the run that has the prompt's id (tool/journal.h); each program and each call has a run of its own
 * (docs/internals/replay.md). While a prompt is carried out again, the mode's questions are answered from here as long
 * as there are answers; then the prompt goes on for real.
 */
#ifndef LT_AGENT_TURN_RECORD_H
#define LT_AGENT_TURN_RECORD_H

#include "agent/turn.h"
#include "replay/notes.h"
#include "tool/remembered_decisions.h"

typedef struct lt_turn_record {
  bool is_recalled;        /* the prompt is carried out again, from `all` */
  lt_record all;           /* used notes have kind LT_NOTE_USED */
  uint64_t reply_count;    /* completions so far */
  size_t search_from;      /* the note at which the search for the next completion begins */
  bool has_other_question; /* a request's messages differed from the record */
  uint64_t other_question; /* zero-based index of the first such reply */
  bool has_other_tools;    /* the tools differ from those on record */
  lt_str begun_with;       /* the version of the Lathe that began the prompt; empty: this process did */
} lt_turn_record;

/* LT_YIELDS. Errors: the store's. */
lt_status lt_turn_record_recall(lt_turn *turn, lt_err *err) LT_YIELDS;
void lt_turn_record_release(lt_turn *turn);

/* LT_E_DIVERGED: the prompt has outputs, but no record of how it began. */
lt_status lt_turn_record_check(lt_turn *turn, lt_err *err);
/* Whether the prompt's beginning is to be noted: it has a record, which does not begin yet. */
bool lt_turn_record_wants_start(const lt_turn *turn);
/* Notes the beginning: a hash of the tools, and JSON text, which is taken. */
void lt_turn_record_put_start(lt_turn *turn, uint64_t tools, lt_buf *text);

/* The recorded tools of a round (recorded_tools.h), as the note's text; empty: the round is not on record. */
lt_str lt_turn_record_tools(const lt_turn *turn, uint64_t round);
void lt_turn_record_put_tools(lt_turn *turn, uint64_t round, lt_str tools);

/* Whether the next completion is on record. */
bool lt_turn_record_has_reply(const lt_turn *turn);
/* Takes the next completion from the record; false: the record has no more, and the caller asks the model. `hash`: of
 * the request's messages. */
bool lt_turn_record_take(lt_turn *turn, uint64_t hash, lt_completion *completion, lt_status *ret_status, lt_err *err);
/* Notes the model's reply. */
void lt_turn_record_put(lt_turn *turn, uint64_t hash, const lt_completion *completion, lt_status status,
                        const lt_err *err);
void lt_turn_record_put_llm(lt_turn *turn, const lt_completion *completion);

/* A decision about a call, as it is noted. */
typedef struct lt_turn_decision {
  lt_str id;     /* of the call's output */
  uint64_t hash; /* lt_journal_hash of the shown call */
  int64_t row;   /* of the stored decision (store/store_decisions.h); 0: none */
  lt_str tool;
  lt_str asked; /* the shown input; empty: it has secrets */
  lt_str at;    /* when it was made, a stamp of base/clock.h; empty: an older Lathe noted it */
  lt_decision decision;
} lt_turn_decision;

/* Takes the next recorded decision about the output with that id, if it was about the same call; false: none. Its texts
 * are in the arena. Of `ret_noted` decision, row and time are filled. */
bool lt_turn_record_decision(lt_turn *turn, lt_str id, uint64_t hash, lt_arena *arena, lt_turn_decision *ret_noted);
void lt_turn_record_decide(lt_turn *turn, const lt_turn_decision *decision);
/* Adds the recorded decisions that hold for later calls. */
void lt_turn_record_remember(lt_turn *turn, lt_remembered_decisions *memory);
/* Notes that the prompt is cancelled. When the process ends before the prompt, the next process ends the prompt as
 * cancelled. */
void lt_turn_record_cancel(lt_turn *turn);

/* What the model was told of a cell (modes/cell.h). */
typedef struct lt_turn_cell_note {
  uint64_t items; /* how many of them */
  uint64_t took_ms;
  bool has_ended;
} lt_turn_cell_note;
/* The answer with that number; false: it is not on record. */
bool lt_turn_record_cell(const lt_turn *turn, uint64_t number, lt_turn_cell_note *ret_note);
void lt_turn_record_put_cell(lt_turn *turn, uint64_t number, const lt_turn_cell_note *note);

/* Finds the id of a recorded artifact with the same content; false: none. */
bool lt_turn_record_artifact(lt_turn *turn, const lt_artifact *artifact, lt_buf *ret_id);
void lt_turn_record_put_aside(lt_turn *turn, const lt_artifact *artifact, lt_str id);

#endif
