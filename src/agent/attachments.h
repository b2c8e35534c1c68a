/* Files that a user sends with a message: checked, and kept as artifacts before the prompt is stored. Internal to
 * agent/.
 */
#ifndef LT_AGENT_ATTACHMENTS_H
#define LT_AGENT_ATTACHMENTS_H

#include "agent/agent.h"

/* Checks and stores the attachments of a request, and appends what the prompt's row has of them (store_prompts.h);
 * nothing where there are none. LT_YIELDS. Errors: those of lt_agent_check_attachments; LT_E_INVALID: the conversation
 * is busy; LT_E_UNSUPPORTED: there is no store for them; the store's. */
lt_status lt_attachments_keep(lt_agent *agent, const lt_prompt_request *request, const lt_prompt_ids *ids, lt_buf *out,
                              lt_err *err) LT_YIELDS;

#endif
