/* The system prompt of code mode. Internal to agent/. */
#ifndef LT_AGENT_MODES_CODE_PROMPT_H
#define LT_AGENT_MODES_CODE_PROMPT_H

#include "agent/turn.h"

/* Appends the listing of the tools alone. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_code_prompt_put_listing(const lt_agent *agent, const lt_catalog *catalog, lt_buf *out, lt_err *err);
/* Appends code mode's system prompt: rules, functions, modules, the tools' compact listing, context items. The same
 * tools and context give the same bytes. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_code_prompt_put(const lt_turn *turn, lt_buf *out, lt_err *err);

#endif
