/* Differences between "OpenAI-compatible" servers: the parameters that they refuse, and how they write thoughts. Pure,
 * except for a table of what was learnt about models, which lives as long as the process. Private to model/;
 * docs/internals/model.md has the list.
 */
#ifndef LT_MODEL_DIALECT_H
#define LT_MODEL_DIALECT_H

#include "json/json.h"
#include "model/model.h"

enum {
  LT_QUIRK_OTHER_LIMIT = 1,       /* needs max_completion_tokens in place of max_tokens, or the reverse */
  LT_QUIRK_NO_STREAM_OPTIONS = 2, /* refuses stream_options: no usage */
  LT_QUIRK_NO_FORMAT = 4,         /* refuses response_format: only the prompt asks for JSON */
  LT_QUIRK_NO_STREAM = 8,         /* does not stream answers */
  LT_QUIRK_OPEN_THOUGHTS = 16,    /* writes its thoughts before </think>, without <think> */
  LT_QUIRK_OTHER_THINKING = 32,   /* wants a budget for its thinking in place of "adaptive", or the reverse */
  LT_QUIRK_NO_TEMPERATURE = 64,   /* refuses a temperature */
  LT_QUIRK_NO_EFFORT = 128,       /* refuses an effort of reasoning */
  LT_QUIRK_NO_ENCRYPTED = 256,    /* has no encrypted reasoning */
  LT_QUIRK_NO_IMAGES = 512,       /* takes no images */
  LT_QUIRK_NO_FILES = 1024,       /* takes no documents */
  LT_QUIRK_NO_FREEFORM = 2048,    /* has no tools that take a text */
  LT_QUIRK_NO_REASONING = 4096,   /* refuses reasoning_content in messages */
  LT_QUIRK_ALL_REASONING = 8192,  /* wants reasoning_content in all messages of the assistant */
};

/* The quirks that were learnt for this model at this address. Any thread. */
unsigned lt_dialect_quirks(const lt_model *model);
void lt_dialect_learn(const lt_model *model, unsigned quirks);

/* The quirk that the body of a 400 to this request reports, when `quirks` does not have it; 0: none. */
unsigned lt_dialect_quirk_in(lt_str body, const lt_completion_request *request, unsigned quirks);

/* Whether an error is about the images or documents of the request. `ret_quirk`: what the model never takes; 0: only
 * these were refused. */
bool lt_dialect_is_about_media(lt_str body, unsigned *ret_quirk);

/* Whether requests to models of this name begin with max_completion_tokens. */
bool lt_dialect_is_reasoner(lt_str name);
/* Whether a Claude of this name decides itself how much it thinks (4.6 and later); others get a budget. */
bool lt_dialect_is_adaptive(lt_str name);

#endif
