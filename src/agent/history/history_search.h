/* Finds words in a conversation's prompts, whole texts of them, newest prompt first. Pure functions on JSON text.
 * Internal to agent/.
 *
 * A text matches when it has every word of the query; letters of ASCII match in either case. Texts are the user's
 * messages, the model's answers, and inputs and results of calls, as JSON.
 */
#ifndef LT_AGENT_HISTORY_HISTORY_SEARCH_H
#define LT_AGENT_HISTORY_HISTORY_SEARCH_H

#include "json/json.h"
#include "store/store.h"

typedef struct lt_history_search {
  lt_str query;
  lt_str own;   /* calls of this tool are no texts: they repeat others */
  size_t max;   /* matches */
  size_t found; /* so far */
  /* Where the search is: the first prompt of the last page, and its number in the conversation, from 1. The next page
   * ends before it. */
  char before[LT_STORE_ID_BYTES + 1];
  int64_t number;
} lt_history_search;

/* Appends the matches of a page of prompts (lt_store_history) to an open array, at most LT_CONVERSATION_EXCERPT_BYTES
 * of a text each: {"message": its prompt's number, "at", "by": "user", "assistant" or a tool's id, "text"}. Returns the
 * number of prompts in `ret_count`. Errors: LT_E_NOMEM, LT_E_SYNTAX (`prompts` is not a JSON array). */
lt_status lt_history_search_put(lt_history_search *search, lt_str prompts, lt_json_writer *w, size_t *ret_count,
                                lt_err *err);

#endif
