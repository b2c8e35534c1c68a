/* Answers a server's question with the defaults that its form has (MCP, Elicitation). Pure. */
#ifndef LT_SOURCE_ELICITATION_DEFAULTS_H
#define LT_SOURCE_ELICITATION_DEFAULTS_H

#include "base/buf.h"
#include "json/json.h"

/* Whether `accept` would be the answer: a form whose required fields all have a default. */
bool lt_elicitation_defaults_suffice(lt_json params);
/* Appends an ElicitResult: `accept` with the default of each field that has one; `decline` where a required field has
 * none, and for a question that is no form. `params`: those of elicitation/create. */
void lt_elicitation_defaults_put(lt_json params, lt_buf *out);

#endif
