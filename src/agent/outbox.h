/* What a prompt puts out: outputs, events and states, in order, each stored before it is reported. Internal to agent/.
 *
 * Outputs have the same ids when the prompt is carried out again in another process (lt_agent_resume): those of the
 * mode count from 0 in the order it begins them, those of calls and texts of programs have the name of their run. An
 * output that exists already is claimed by its id, and neither stored nor reported again.
 *
 * Programs put out in callbacks that must not yield. So everything is queued, and a fiber of the outbox stores and
 * reports one item after the other; lt_outbox_flush waits for it. When an item cannot be stored, neither it nor any
 * later one is reported, and the prompt is cancelled. Secrets are masked here, and nowhere before.
 */
#ifndef LT_AGENT_OUTBOX_H
#define LT_AGENT_OUTBOX_H

#include "agent/turn.h"

typedef struct lt_output lt_output;
typedef struct lt_outbox_item lt_outbox_item;
typedef struct lt_outbox_waiter lt_outbox_waiter;

typedef struct lt_outbox {
  lt_turn *turn;
  lt_output **outputs; /* by number */
  size_t count, room;
  lt_output *open;      /* tool outputs that are pending */
  uint32_t of_mode;     /* outputs that the mode has begun */
  uint32_t unnumbered;  /* outputs of calls that have no number in their run */
  size_t unclaimed;     /* outputs of an earlier process that have not been put out by this one (yet) ... */
  size_t claimed_after; /* ... the next of them is probably behind this one */
  size_t kept_bytes;
  lt_outbox_item *first, **last;
  uint64_t queued, sent, written; /* items, numbered from 1 */
  size_t queued_bytes;
  bool has_foreign_ids; /* ids that models gave */
  bool overflowed;      /* the note about dropped text is out */
  bool pumping;         /* a fiber stores the items, or is about to ... */
  bool urgent;          /* ... without waiting for more items */
  lt_wait rest;         /* while it waits for more */
  lt_outbox_waiter *waiters;
  lt_err err; /* why nothing can be stored any more */
} lt_outbox;

void lt_outbox_init(lt_outbox *outbox, lt_turn *turn);
/* Everything must have been written, or never will be. */
void lt_outbox_release(lt_outbox *outbox);

/* Whether there are LT_PROMPT_OUTPUTS_MAX outputs: further calls of programs are not recorded. What modes put out, and
 * what a person is asked about, has room all the same. */
bool lt_outbox_is_full(const lt_outbox *outbox);

/* None of these yields. Errors: LT_E_NOMEM, whatever could not be stored before. */

/* `streamed`: so many bytes of it have gone out as prompt.stream events. */
lt_status lt_outbox_text(lt_outbox *outbox, lt_str text, size_t streamed, lt_err *err);
/* Text of a program's output(), under an id of its own. Over LT_PROMPT_OUTPUTS_MAX it is dropped, with one note. */
void lt_outbox_say(lt_outbox *outbox, lt_str id, lt_str text);
lt_status lt_outbox_file(lt_outbox *outbox, lt_str artifact, lt_str mime_type, lt_str description, lt_err *err);

typedef struct lt_outbox_tool {
  lt_str id;       /* a mode's: made up where it is empty or taken; a program's: taken over */
  lt_str function; /* the tool's id */
  lt_str input;    /* JSON text, or anything */
  lt_str reason;   /* why it is pending */
  uint64_t call;   /* the door's number for the call; 0: none */
  bool inner;      /* not the mode's own: of a program, or of whatever a tool calls */
} lt_outbox_tool;
/* An output of an earlier process that had ended stays unchanged; one that was pending is pending again, and reported.
 * LT_E_DIVERGED: on record it is another call. */
lt_status lt_outbox_tool_begin(lt_outbox *outbox, const lt_outbox_tool *tool, uint32_t *ret_number, lt_err *err);
/* Another reason why it is pending. */
lt_status lt_outbox_tool_reason(lt_outbox *outbox, uint32_t number, lt_str reason, lt_err *err);
lt_status lt_outbox_tool_logs(lt_outbox *outbox, uint32_t number, lt_str logs, lt_err *err);
/* What a program leaves to the conversation, kept beside its result ("data", JSON text); before the end. */
lt_status lt_outbox_tool_data(lt_outbox *outbox, uint32_t number, lt_str json, lt_err *err);
lt_status lt_outbox_tool_end(lt_outbox *outbox, uint32_t number, lt_status status, lt_str answer, lt_err *err);
/* All that are still pending fail with `why`. */
void lt_outbox_end_all(lt_outbox *outbox, lt_str why);

/* The number of the pending output of this call; UINT32_MAX: none is. */
uint32_t lt_outbox_find_call(const lt_outbox *outbox, uint64_t call);
/* Likewise of the pending output of this id. */
uint32_t lt_outbox_find_open(const lt_outbox *outbox, lt_str id);
/* Whether an output was there before this process. */
bool lt_outbox_is_old(const lt_outbox *outbox, uint32_t number);
/* Says which call a pending output is of. */
void lt_outbox_set_call(lt_outbox *outbox, uint32_t number, uint64_t call);
/* Its id. Borrows: as long as the outbox lives. */
lt_str lt_outbox_id(const lt_outbox *outbox, uint32_t number);

/* An event, or a new state, after all that has been put out. `data` is copied. */
lt_status lt_outbox_event(lt_outbox *outbox, const char *event, lt_str data, lt_err *err);
/* A piece of text, as prompt.stream. */
lt_status lt_outbox_stream(lt_outbox *outbox, lt_str delta, lt_err *err);
lt_status lt_outbox_state(lt_outbox *outbox, lt_prompt_state state, lt_err *err);

/* Waits until everything that has been put out so far is on its way to the store: it is stored before, or together
 * with, all that the store is asked for afterwards. LT_YIELDS. Errors: what could not be stored. */
lt_status lt_outbox_send(lt_outbox *outbox, lt_err *err) LT_YIELDS;
/* Why nothing can be stored any more. */
lt_status lt_outbox_check(const lt_outbox *outbox, lt_err *err);
/* Waits until everything that has been put out so far is stored and reported. LT_YIELDS. Errors: what could not be
 * stored. */
lt_status lt_outbox_flush(lt_outbox *outbox, lt_err *err) LT_YIELDS;

/* An output of the mode's that an earlier process has put out and this one has not; NULL: there is no such output. */
const char *lt_outbox_unclaimed(const lt_outbox *outbox);
/* How an output of an earlier process had ended: `ret_ended` false: it had not. A failure is its status, LT_E_TOOL. */
lt_status lt_outbox_old_result(const lt_outbox *outbox, uint32_t number, bool *ret_ended, lt_buf *answer, lt_err *err);
/* Takes in the outputs that the prompt has from an earlier process, an array; before anything is put out. Errors:
 * LT_E_NOMEM. */
lt_status lt_outbox_load(lt_outbox *outbox, lt_json outputs, lt_err *err);

/* Appends all outputs as a JSON array. Everything must have been flushed. */
void lt_outbox_put_all(const lt_outbox *outbox, lt_json_writer *w);

#endif
