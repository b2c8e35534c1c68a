/* What a model is told first, in code mode. Internal to agent/. */
#ifndef LT_AGENT_MODES_CODE_PROMPT_H
#define LT_AGENT_MODES_CODE_PROMPT_H

#include "agent/turn.h"

/* Appends code mode's system prompt: rules, functions, modules, the tools' compact listing, context items. The same
 * tools and context give the same bytes. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_code_prompt_put(const lt_turn *turn, lt_buf *out, lt_err *err);
/* Gives back what was kept of the listing for the next prompt. */
void lt_code_prompt_forget_listing(lt_agent *agent);

/* Appends the context items, "[type:id]\ncontent" each, an empty line between them; nothing when there are none. */
lt_status lt_code_prompt_put_context(lt_str items, lt_buf *out, lt_err *err);

#endif
