/* In what the servers differ that all speak "OpenAI-compatible": what they do not take. Pure, but for what is
 * remembered of models for the life of the process. Private to model/; docs/internals/model.md has the list.
 */
#ifndef LT_MODEL_DIALECT_H
#define LT_MODEL_DIALECT_H

#include "json/json.h"
#include "model/model.h"

enum {
  LT_QUIRK_OTHER_LIMIT = 1,       /* wants the other one of max_tokens and max_completion_tokens */
  LT_QUIRK_NO_STREAM_OPTIONS = 2, /* does not take stream_options: no usage, then */
  LT_QUIRK_NO_FORMAT = 4,         /* does not take response_format: the prompt has to do */
  LT_QUIRK_NO_STREAM = 8,         /* answers whole only */
};

/* What was learnt of this model at this address; any thread. */
unsigned lt_dialect_quirks(const lt_model *model);
void lt_dialect_learn(const lt_model *model, unsigned quirks);

/* The quirk that the body of a 400 is about, and that is not in `quirks` yet; 0: none. */
unsigned lt_dialect_quirk_in(lt_str body, bool json, unsigned quirks);

/* Whether models of this name are asked with max_completion_tokens first. */
bool lt_dialect_is_reasoner(lt_str name);

#endif
