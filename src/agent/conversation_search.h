/* The tool conversation.search: a model finds the words of a conversation that it is not shown any more.
 *
 * It belongs to one prompt, and finds what the prompt's conversation has: nobody else can name it, and no other
 * conversation can be named to it. It is there only where something is summarised or left out, so that the tools of
 * short conversations stay the same.
 */
#ifndef LT_AGENT_CONVERSATION_SEARCH_H
#define LT_AGENT_CONVERSATION_SEARCH_H

#include <stdbool.h>

#include "base/err.h"

typedef struct lt_turn lt_turn;

#define LT_CONVERSATION_SEARCH "conversation.search"

/* Before a preparation: gives the turn's caller the tool, where it is wanted and no server or plugin has its name.
 * LT_E_NOMEM. */
lt_status lt_conversation_search_offer(lt_turn *turn, lt_err *err);
/* Whether the prepared turn has the tool: rules, or the record of a prompt, may say otherwise. */
bool lt_conversation_search_is_offered(const lt_turn *turn);

#endif
