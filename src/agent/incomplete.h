/* Why a prompt that ended in order has no answer, or no whole one.
 *
 * Such a prompt is completed, and its last text says what happened. Whoever reads the prompt by program finds the
 * reason in `incomplete: {reason}`, of the prompt and of that text.
 */
#ifndef LT_AGENT_INCOMPLETE_H
#define LT_AGENT_INCOMPLETE_H

#include "json/json.h"
#include "model/model.h"

typedef enum lt_incomplete {
  LT_INCOMPLETE_NOT,    /* there is an answer */
  LT_INCOMPLETE_ROUNDS, /* the model was asked as often as is allowed */
  LT_INCOMPLETE_LENGTH, /* the answer reached the model's limit of tokens */
  LT_INCOMPLETE_FILTER, /* the provider refused or ended it */
  LT_INCOMPLETE_EMPTY,  /* the model replied nothing */
} lt_incomplete;
#define LT_INCOMPLETE_REASONS (LT_INCOMPLETE_EMPTY + 1)

/* "rounds", "length", "filter", "empty"; "" for LT_INCOMPLETE_NOT. */
const char *lt_incomplete_name(lt_incomplete reason);
/* The reason with this name; LT_INCOMPLETE_NOT: none has. */
lt_incomplete lt_incomplete_find(lt_str name);
/* A sentence for a person, without a full stop; a reason of a later version is named only. */
lt_str lt_incomplete_describe(lt_str name);
/* Why the model's last reply is no answer. `is_empty`: it has no text. */
lt_incomplete lt_incomplete_of_reply(lt_finish finish, bool is_empty);
/* Writes the member "incomplete": {"reason"}, unless there is an answer. */
void lt_incomplete_put(lt_json_writer *w, lt_incomplete reason);
/* The reason in a JSON object with such a member; empty: there is none. Borrows the JSON text. */
lt_str lt_incomplete_reason_in(lt_json object);

#endif
