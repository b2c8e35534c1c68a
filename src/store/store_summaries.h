/* Summaries of conversations: what a model is told in place of their earliest prompts. The prompts stay as they are.
 *
 * LT_YIELDS, and may fail with the errors that store.h lists; LT_E_NOTFOUND: the user has no such conversation.
 */
#ifndef LT_STORE_STORE_SUMMARIES_H
#define LT_STORE_STORE_SUMMARIES_H

#include "store/store.h"

/* Appends the summary of a conversation, JSON that lt_store_summary_put has written; nothing when it has none, or
 * when the last prompt that it covers was taken back. */
lt_status lt_store_summary_get(lt_store *store, lt_str user, lt_str conversation, lt_buf *out, lt_err *err) LT_YIELDS;
/* Replaces it. */
lt_status lt_store_summary_put(lt_store *store, lt_str user, lt_str conversation, lt_str json, lt_err *err) LT_YIELDS;

#endif
