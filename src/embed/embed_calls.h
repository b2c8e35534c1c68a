/* Calls that wait for the host: of its own tools, and for an approval. */
#ifndef LT_EMBED_EMBED_CALLS_H
#define LT_EMBED_EMBED_CALLS_H

#include "embed/embed_env.h"
#include "embed/embed_run.h"

/* One call, on the fiber that waits for its answer; or a question of a prompt, which has no fiber here. */
typedef struct lt_embed_call {
  lt_embed_entry entry;  /* first; in the table of calls until it is answered */
  lathe_event_type type; /* CALL or APPROVAL */
  bool is_question; /* it begins a lt_embed_question (embed/embed_questions.h), and has none of what follows post */
  bool is_answered; /* under the lock: the answer is on its way */
  lt_post post;     /* brings it, to ... */
  lt_lane *lane;    /* ... where the fiber waits */
  bool has_arrived; /* the rest is the fiber's */
  lt_wait arrival;
  bool is_yes; /* lathe_answer, lathe_approve */
  char *text;  /* what came with it, `text_bytes` and a NUL; NULL: nothing. Owned */
  size_t text_bytes;
} lt_embed_call;

/* Tells the host of a call and waits for its answer. After LT_OK `is_yes` and `text` have it, and the caller calls
 * lt_embed_calls_release. Errors: the cancel's, and the host is told; LT_E_LIMIT: it does not take its events;
 * LT_E_UNSUPPORTED: the run has nobody who could answer (lathe_run without on_event). LT_YIELDS. */
lt_status lt_embed_calls_ask(lt_embed_run *run, lathe_event_type type, const lt_embed_call_name *name,
                             const lt_embed_words *words, lt_cancel *cancel, lt_embed_call *ret_call,
                             lt_err *err) LT_YIELDS;
void lt_embed_calls_release(lt_embed_call *call);

/* Numbers a call and puts its event into the run's queue. Owns: the queue; false: it has no room, and the event is
 * freed. */
bool lt_embed_calls_put(lt_embed_run *run, lt_embed_call *call, lt_embed_event *event);
/* Takes the call out of the table. False: an answer is on its way. */
bool lt_embed_calls_withdraw(lathe_env *env, lt_embed_call *call);
/* Tells the host that no answer is wanted any more. */
void lt_embed_calls_tell_cancelled(lt_embed_run *run, uint64_t number, lt_str tool);

#endif
