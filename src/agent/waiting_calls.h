/* The calls of a stored prompt that wait for an approval, in whatever process. */
#ifndef LT_AGENT_WAITING_CALLS_H
#define LT_AGENT_WAITING_CALLS_H

#include "json/json.h"
#include "store/store_decisions.h"
#include "store/store_prompts.h"

typedef struct lt_waiting_call {
  lt_str id, tool, input, reason;
  uint64_t hash;   /* of the question: lt_journal_hash of the shown call */
  bool is_whole;   /* `input` is all of the call's input, not a preview of it */
  bool is_decided; /* a decision is stored that the call's process has still to carry out */
} lt_waiting_call;

typedef struct lt_waiting_calls {
  lt_arena arena; /* everything below */
  lt_str conversation;
  bool has_ended; /* the prompt */
  lt_waiting_call *calls;
  size_t count;
} lt_waiting_calls;

/* Reads a prompt of this user. LT_YIELDS. Errors: the store's, LT_E_NOTFOUND. The caller calls lt_waiting_calls_release
 * also after an error. */
lt_status lt_waiting_calls_read(lt_store *db, lt_str user, lt_str prompt, lt_waiting_calls *ret_calls,
                                lt_err *err) LT_YIELDS;
void lt_waiting_calls_release(lt_waiting_calls *calls);

/* NULL: no call with that id waits. */
const lt_waiting_call *lt_waiting_calls_find(const lt_waiting_calls *calls, lt_str id);
/* Whether a call waits that nobody has decided about. */
bool lt_waiting_calls_has_open(const lt_waiting_calls *calls);

#endif
