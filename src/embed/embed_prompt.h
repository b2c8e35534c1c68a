/* Prompts of the agent, from lathe_prompt to their last event. The loop's thread only. */
#ifndef LT_EMBED_EMBED_PROMPT_H
#define LT_EMBED_EMBED_PROMPT_H

#include "embed/embed_run.h"
#include "json/json.h"
#include "store/store.h"

struct lt_embed_question;

/* Freed with lt_mem_free; its texts are behind it. */
typedef struct lt_embed_prompt {
  struct lt_embed_prompt *next; /* in its bucket of the agent's */
  lt_embed_run *run;
  char id[LT_STORE_ID_BYTES + 1];
  bool is_resumed; /* it goes on; else it begins */
  const char *user, *input, *model, *mode, *conversation, *attachments;
  bool is_unheard;                     /* it is cancelled: a question found no room in the queue */
  struct lt_embed_question *questions; /* that wait for the host */
} lt_embed_prompt;

/* Carries it out. Appends the prompt as it ended, and in `message` why it failed. The status is that of the last event.
 * LT_YIELDS. */
lt_status lt_embed_prompt_carry_out(lt_embed_prompt *prompt, lt_buf *ret_report, lt_buf *ret_message) LT_YIELDS;

/* Takes an event of the agent about it (lt_agent_options.on_event). */
void lt_embed_prompt_take(lt_embed_prompt *prompt, const char *event, lt_json data, lt_arena *arena);

#endif
