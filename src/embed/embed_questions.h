/* Questions about calls of a prompt, as the host has them: with a number, in the table of calls. The agent keeps the
 * question itself, and another process may answer it. */
#ifndef LT_EMBED_EMBED_QUESTIONS_H
#define LT_EMBED_EMBED_QUESTIONS_H

#include "embed/embed_calls.h"
#include "json/json.h"

struct lt_embed_prompt;

typedef struct lt_embed_question {
  lt_embed_call base; /* first */
  struct lt_embed_question *next;
  struct lt_embed_prompt *prompt;
  char *tool; /* behind the struct, as is: */
  char id[];  /* that of the call at the agent */
} lt_embed_question;

/* Asks the host. `request`: as in the event prompt.approval-requested. False: there is no room, or no memory. */
bool lt_embed_questions_ask(struct lt_embed_prompt *prompt, lt_json request, lt_arena *arena);
/* The question about a call waits no more, whoever has answered it. A host that has not is told. */
void lt_embed_questions_close(struct lt_embed_prompt *prompt, lt_str id);
void lt_embed_questions_close_all(struct lt_embed_prompt *prompt);

/* The answer of a host's thread that is inside. Waits until the decision is stored. Errors: LT_E_NOTFOUND: no such
 * question waits; the store's: it waits still. */
lt_status lt_embed_questions_decide(lathe_env *env, uint64_t number, bool is_approved, const char *text, lt_err *err);

#endif
