/* A call on its way through the door, as door_call.c and door_show.c know it. */
#ifndef LT_TOOL_DOOR_CALL_IMPL_H
#define LT_TOOL_DOOR_CALL_IMPL_H

#include "base/arena.h"
#include "json/json.h"
#include "text/secrets.h"
#include "tool/caller.h"
#include "tool/catalog.h"
#include "tool/door.h"
#include "tool/monitor.h"
#include "tool/policy/policy.h"

typedef struct lt_door_call_state {
  lt_door *door;
  const lt_secrets *secrets; /* the door's */
  lt_str id;
  lt_str input; /* as it came, then the object's text */
  lt_invoke_options options;
  const lt_caller *caller;
  lt_buf *out;
  lt_err *err; /* in the frame of lt_door_call */
  lt_arena arena;
  lt_catalog *catalog; /* keeps `tool` */
  const lt_tool *tool;
  lt_provider *provider; /* who carries the call out: the tool's, or its successor */
  lt_json object;        /* the input as JSON; NONE: it was not read, because neither schema nor rule looks into it */
  bool is_object;        /* lt_invoke_options.is_object */
  lt_json annotations;   /* of the catalog that the caller sees */
  lt_json now;           /* what the provider says of the tool now; NONE: the same */
  lt_str now_text;
  lt_action granted; /* what the policy, or a person, has let through */
  bool is_granted;
  lt_status input_status; /* of the check, which may run off the loop */
  lt_buf masked_input;    /* the input without secrets, when it has any */
  lt_str asked_input;     /* for an edited input: the one before it, for display and storage */
  lt_buf masked_edit;     /* the edited input without secrets, when it has any */
  int64_t record;         /* the journal's number of the call */
  uint64_t number;        /* the door's */
  uint64_t hash;          /* lt_journal_hash of what came; 0: nothing is recorded */
  bool is_recorded;       /* the start is recorded, and the end must follow */
  bool has_ended;         /* LT_CALL_FINISHED was sent */
  lt_call_trace trace;    /* for the last event, when somebody listens */
  uint64_t started_us;    /* when LT_CALL_STARTED was sent; 0: it was not */
} lt_door_call_state;

/* Texts of the call for display and storage, without secrets. Borrow: until the call ends. */

/* The caller's input; of an edited one, what it was before. */
lt_str lt_door_shown_input(lt_door_call_state *c);
/* The input that a person made of it; empty: nobody changed it. */
lt_str lt_door_shown_edit(lt_door_call_state *c);
/* The answer: a value stays JSON, a message is text. Borrows `out` or `masked`. */
lt_str lt_door_shown_answer(const lt_door_call_state *c, lt_status status, lt_buf *masked);
/* Puts the masked value into `out`, in the place of the value itself. */
void lt_door_mask_value(lt_door_call_state *c);
/* Puts the message of a failure into `out`, masked: the one that is there, else that of `err`. */
void lt_door_put_message(lt_door_call_state *c, lt_status status);

/* Tell the caller and the monitor of all calls, where there is one. */

/* Whether there is one. */
bool lt_door_has_listener(const lt_door_call_state *c);
/* How the call stands. An id that no tool has may be any text, and hold a secret. */
void lt_door_tell(lt_door_call_state *c, lt_call_stage stage, lt_status status, lt_str answer);
/* lt_invoke_options.on_progress, with the call as `arg`. */
void lt_door_tell_progress(void *arg, double progress, double total, lt_str message);

/* Note times for the last event: the begin, a question, its answer. */
void lt_door_begin_trace(lt_door_call_state *c);
void lt_door_trace_question(lt_door_call_state *c);
void lt_door_trace_answer(lt_door_call_state *c);

#endif
