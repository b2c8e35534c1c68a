/* What a prompt puts out: outputs, events and states, stored first and then told, in order. Internal to agent/.
 *
 * Programs put out in the middle of callbacks that must not yield. So everything is queued, and a fiber of the outbox's
 * writes and tells one after the other; lt_outbox_flush waits for it. When something cannot be stored, nothing of it
 * and nothing after it is told, and the prompt is cancelled: what nobody can look up later has not happened.
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
  lt_output *open; /* tool outputs that are pending */
  size_t kept_bytes;
  lt_outbox_item *first, **last;
  uint64_t queued, written; /* items, numbered from 1 */
  size_t queued_bytes;
  bool has_foreign_ids; /* ids that models gave */
  bool overflowed;      /* that something was dropped has been said */
  bool pumping;         /* there is a fiber for it, or about to be */
  lt_outbox_waiter *waiters;
  lt_err err; /* why nothing can be stored any more */
} lt_outbox;

void lt_outbox_init(lt_outbox *outbox, lt_turn *turn);
/* Everything must have been written, or never will be. */
void lt_outbox_release(lt_outbox *outbox);

/* Whether there are LT_PROMPT_OUTPUTS_MAX outputs: further calls of programs are not recorded. What modes put out, and
 * what somebody is asked about, has room all the same. */
bool lt_outbox_is_full(const lt_outbox *outbox);

/* None of these yields. Errors: LT_E_NOMEM, whatever could not be stored before. */

/* `streamed`: so many bytes of it have been told as prompt.stream events. */
lt_status lt_outbox_text(lt_outbox *outbox, lt_str text, size_t streamed, lt_err *err);
/* What a program says: over LT_PROMPT_OUTPUTS_MAX it is dropped, and that is said once. */
void lt_outbox_say(lt_outbox *outbox, lt_str text);
lt_status lt_outbox_file(lt_outbox *outbox, lt_str artifact, lt_str mime_type, lt_str description, lt_err *err);

typedef struct lt_outbox_tool {
  lt_str id;       /* empty, or there already: one is made up */
  lt_str function; /* the tool's id */
  lt_str input;    /* JSON text, or anything */
  lt_str reason;   /* why it is pending */
  uint64_t call;   /* the door's number for the call; 0: none */
  lt_str parent;   /* id of the output whose program made the call; may be empty. Borrows: lt_outbox_id's */
} lt_outbox_tool;
lt_status lt_outbox_tool_begin(lt_outbox *outbox, const lt_outbox_tool *tool, uint32_t *ret_number, lt_err *err);
/* Another reason why it is pending. */
lt_status lt_outbox_tool_reason(lt_outbox *outbox, uint32_t number, lt_str reason, lt_err *err);
lt_status lt_outbox_tool_logs(lt_outbox *outbox, uint32_t number, lt_str logs, lt_err *err);
lt_status lt_outbox_tool_end(lt_outbox *outbox, uint32_t number, lt_status status, lt_str answer, lt_err *err);
/* All that are still pending fail with `why`. */
void lt_outbox_end_all(lt_outbox *outbox, lt_str why);

/* Of the pending output of this call: its number, UINT32_MAX when there is none. */
uint32_t lt_outbox_find_call(const lt_outbox *outbox, uint64_t call);
/* The pending tool output that was put out last; UINT32_MAX when there is none. */
uint32_t lt_outbox_last_open(const lt_outbox *outbox);
/* Says which call a pending output is of. */
void lt_outbox_set_call(lt_outbox *outbox, uint32_t number, uint64_t call);
/* Its id. Borrows: as long as the outbox is there. */
lt_str lt_outbox_id(const lt_outbox *outbox, uint32_t number);

/* An event, or a new state, after all that has been put out. `data` is copied. */
lt_status lt_outbox_event(lt_outbox *outbox, const char *event, lt_str data, lt_err *err);
/* A piece of text, as prompt.stream. */
lt_status lt_outbox_stream(lt_outbox *outbox, lt_str delta, lt_err *err);
lt_status lt_outbox_state(lt_outbox *outbox, lt_prompt_state state, lt_err *err);

/* Until everything that has been put out so far is stored and told. LT_YIELDS. Errors: what could not be stored. */
lt_status lt_outbox_flush(lt_outbox *outbox, lt_err *err) LT_YIELDS;

/* Appends all outputs as a JSON array. Everything must have been flushed. */
void lt_outbox_put_all(const lt_outbox *outbox, lt_json_writer *w);

#endif
