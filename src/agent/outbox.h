/* The outbox of a prompt: outputs, events and states, in order. Each item is stored before it is reported. Internal to
 * agent/.
 *
 * Outputs have the same ids when the prompt runs again in another process (lt_agent_resume). The mode's outputs are
 * numbered from 0 in the order in which they begin. Calls and texts of programs are named after their run. An output
 * that is already stored is claimed by its id, and neither stored nor reported again.
 *
 * Programs put out in callbacks that must not yield. Therefore all items are queued, and a fiber of the outbox stores
 * and reports them in order; lt_outbox_flush waits for that fiber. When an item cannot be stored, neither this item nor
 * any later one is reported, and the prompt is cancelled. The outbox masks secrets; the code before it does not.
 */
#ifndef LT_AGENT_OUTBOX_H
#define LT_AGENT_OUTBOX_H

#include "agent/turn.h"

typedef struct lt_output lt_output;
typedef struct lt_outbox_item lt_outbox_item;
typedef struct lt_outbox_waiter lt_outbox_waiter;

typedef struct lt_outbox {
  lt_turn *turn;
  lt_output **outputs; /* by output number */
  size_t count, room;
  lt_output *open;      /* pending tool outputs */
  uint32_t of_mode;     /* number of outputs that the mode has begun */
  uint32_t unnumbered;  /* number of outputs whose call has no number in its run */
  size_t unclaimed;     /* number of outputs of an earlier process that this process has not claimed */
  size_t claimed_after; /* the last claimed output: the search for the next one begins after it */
  size_t kept_bytes;
  lt_outbox_item *first, **last;
  uint64_t queued, sent, written; /* items, numbered from 1 */
  uint64_t urgent_until;          /* up to this item the fiber that stores them does not wait for more */
  uint64_t changes;               /* changes of outputs that were written, also by an earlier process */
  uint64_t shown;                 /* the last change that a reader has got; 0: none in this process ... */
  uint64_t noted;                 /* ... and the last one that the store was told of */
  bool reporting;                 /* the items of a transaction are being reported */
  size_t queued_bytes;
  bool has_foreign_ids; /* a model has chosen ids */
  bool overflowed;      /* the note about dropped text was put out */
  bool pumping;         /* a fiber stores the items, or is about to */
  lt_wait rest;         /* that fiber waits here for more items */
  lt_outbox_waiter *waiters;
  lt_err err; /* why the outbox cannot store any more; last, as it is not cleared whole */
} lt_outbox;

void lt_outbox_init(lt_outbox *outbox, lt_turn *turn);
/* The queue must be empty, or storing must have failed. */
void lt_outbox_release(lt_outbox *outbox);

/* Whether the prompt has LT_PROMPT_OUTPUTS_MAX outputs. Then further calls of programs are not recorded as outputs.
 * Outputs of modes and approval requests are accepted beyond that limit. */
bool lt_outbox_is_full(const lt_outbox *outbox);

/* No function from here to lt_outbox_end_all yields. Errors: LT_E_NOMEM, and the error of an item that could not be
 * stored. */

/* Puts out a text. `streamed`: the number of its bytes that were sent as prompt.stream events. */
lt_status lt_outbox_text(lt_outbox *outbox, lt_str text, size_t streamed, lt_err *err);
/* Puts out a text that says why there is no whole answer. It is sent as prompt.stream with that reason. */
lt_status lt_outbox_incomplete(lt_outbox *outbox, lt_incomplete reason, lt_str text, lt_err *err);
/* Puts out a text of a program's output(), with this id. Texts beyond LT_PROMPT_OUTPUTS_MAX are dropped, with one
 * note. */
void lt_outbox_say(lt_outbox *outbox, lt_str id, lt_str text);
lt_status lt_outbox_file(lt_outbox *outbox, lt_str artifact, lt_str mime_type, lt_str description, lt_err *err);

typedef struct lt_outbox_tool {
  lt_str id;       /* of a mode: generated when empty or in use; of a program: used unchanged */
  lt_str function; /* the tool's id */
  lt_str input;    /* JSON text, or anything */
  lt_str reason;   /* why it is pending */
  lt_str question; /* names the open question about the call; empty: it waits for no approval */
  uint64_t call;   /* the door's number for the call; 0: none */
  bool inner;      /* called by a program or by a tool, not by the mode */
} lt_outbox_tool;
/* Begins a tool output. An output that ended in an earlier process stays unchanged; one that was pending is pending
 * again, and is reported. LT_E_DIVERGED: the record has another call under this id. */
lt_status lt_outbox_tool_begin(lt_outbox *outbox, const lt_outbox_tool *tool, uint32_t *ret_number, lt_err *err);
/* Changes the reason for which the output is pending, and the question that is open about it; empty: none. */
lt_status lt_outbox_tool_reason(lt_outbox *outbox, uint32_t number, lt_str reason, lt_str question, lt_err *err);
/* Keeps when the question about the call was decided, a stamp of base/clock.h, for the forms of the output that follow.
 * Another question clears it. */
void lt_outbox_tool_decided(lt_outbox *outbox, uint32_t number, lt_str stamp);
/* Whether a question is open about the output, as the store has it. */
bool lt_outbox_has_question(const lt_outbox *outbox, uint32_t number);
/* Stores the input that a person made of the call's own. Does not report it: a change or the end follows. */
lt_status lt_outbox_tool_edited(lt_outbox *outbox, uint32_t number, lt_str input, lt_err *err);
lt_status lt_outbox_tool_logs(lt_outbox *outbox, uint32_t number, lt_str logs, lt_err *err);
/* Stores a program's data for later prompts beside its result ("data", JSON text). Call it before the output's end. */
lt_status lt_outbox_tool_data(lt_outbox *outbox, uint32_t number, lt_str json, lt_err *err);
lt_status lt_outbox_tool_end(lt_outbox *outbox, uint32_t number, lt_status status, lt_str answer, lt_err *err);
/* Fails all pending outputs with the message `why`. */
void lt_outbox_end_all(lt_outbox *outbox, lt_str why);

/* Whether a call is under way: one that waits for an approval is not, and neither is one for the calls that it makes.
 */
bool lt_outbox_has_calls(const lt_outbox *outbox);
/* The number of the pending output of this call; UINT32_MAX: none. */
uint32_t lt_outbox_find_call(const lt_outbox *outbox, uint64_t call);
/* The number of the pending output with this id; UINT32_MAX: none. */
uint32_t lt_outbox_find_open(const lt_outbox *outbox, lt_str id);
/* Whether an earlier process stored the output. */
bool lt_outbox_is_old(const lt_outbox *outbox, uint32_t number);
/* Connects a pending output with the door's number of its call. */
void lt_outbox_set_call(lt_outbox *outbox, uint32_t number, uint64_t call);
/* The id of an output. Borrows: as long as the outbox lives. */
lt_str lt_outbox_id(const lt_outbox *outbox, uint32_t number);

/* Queues an event, after all items so far. Copies `data`. */
lt_status lt_outbox_event(lt_outbox *outbox, const char *event, lt_str data, lt_err *err);
/* Queues a piece of text as a prompt.stream event. */
lt_status lt_outbox_stream(lt_outbox *outbox, lt_str delta, lt_err *err);
/* A piece of a program that the model is writing. */
typedef struct lt_outbox_draft_piece {
  lt_str text;     /* without secrets */
  lt_str function; /* that runs the program; empty: none. Lives as long as the outbox */
  size_t index;    /* which program of the reply */
  bool restarts;   /* all pieces before it do not count */
} lt_outbox_draft_piece;
/* Queues it as such an event. Copies the text. */
lt_status lt_outbox_draft(lt_outbox *outbox, const lt_outbox_draft_piece *piece, lt_err *err);
lt_status lt_outbox_state(lt_outbox *outbox, lt_prompt_state state, lt_err *err);

/* Waits until all items so far were handed to the store, which stores them before, or together with, all later
 * requests. LT_YIELDS. Errors: those of the store. */
lt_status lt_outbox_send(lt_outbox *outbox, lt_err *err) LT_YIELDS;
/* The error because of which the outbox cannot store any more, or LT_OK. */
lt_status lt_outbox_check(const lt_outbox *outbox, lt_err *err);
/* Waits until all items so far are stored and reported. LT_YIELDS. Errors: those of the store. */
lt_status lt_outbox_flush(lt_outbox *outbox, lt_err *err) LT_YIELDS;

/* The id of an output that the mode put out in an earlier process and not in this one; NULL: none. */
const char *lt_outbox_unclaimed(const lt_outbox *outbox);
/* How an output ended in an earlier process. `*ret_ended` false: it was pending. The returned status is LT_E_TOOL for a
 * failure. */
lt_status lt_outbox_old_result(const lt_outbox *outbox, uint32_t number, bool *ret_ended, lt_buf *answer, lt_err *err);
/* Loads the outputs of an earlier process, a JSON array. Call it before anything is put out. Errors: LT_E_NOMEM. */
lt_status lt_outbox_load(lt_outbox *outbox, lt_json outputs, lt_err *err);

/* A reader has got everything up to this change (lt_agent_shown). The store is told once for all items of a
 * transaction. Does not yield. */
void lt_outbox_shown(lt_outbox *outbox, uint64_t change);
/* Reports the loaded outputs that no reader has got, but for pending ones, which are reported when they are begun
 * again. Call it before anything is put out. LT_YIELDS. Errors: those of the store, LT_E_NOMEM. */
lt_status lt_outbox_tell_unshown(lt_outbox *outbox, lt_err *err) LT_YIELDS;

/* Stores all outputs that were written while the prompt was not in the store (deferred_start.h). LT_YIELDS. Errors:
 * LT_E_NOMEM, the store's. */
lt_status lt_outbox_store_all(lt_outbox *outbox, lt_err *err) LT_YIELDS;
/* The size of the mode's outputs, without those of its programs' calls, as they were written. */
size_t lt_outbox_mode_bytes(const lt_outbox *outbox);

/* Appends all outputs as a JSON array. Everything must have been flushed. */
void lt_outbox_put_all(const lt_outbox *outbox, lt_json_writer *w);

#endif
