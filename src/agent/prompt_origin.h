/* Whether a prompt of an earlier process belongs to this one: both must have the same configuration files. Internal to
 * agent/. */
#ifndef LT_AGENT_PROMPT_ORIGIN_H
#define LT_AGENT_PROMPT_ORIGIN_H

#include "base/buf.h"
#include "base/err.h"

/* `recorded` and `own`: origins as JSON (lt_agent_options.origin); when one is empty, the prompt belongs. Appends the
 * paths of files that have changed since, with commas. Errors: LT_E_CONFIG: other files, and the message says where the
 * prompt goes on; LT_E_NOMEM. */
lt_status lt_prompt_origin_check(lt_str recorded, lt_str own, lt_str conversation, lt_buf *changed, lt_err *err);

#endif
