/* lathe approve, reject and cancel: a decision about a prompt of any process, or of none, is written to the store. The
 * process that runs the prompt takes it from there; where none lives, the next one does. */
#ifndef LT_CLI_PROMPT_DECISION_H
#define LT_CLI_PROMPT_DECISION_H

#include "cli/commands.h"
#include "config/config.h"
#include "store/store_decisions.h"

typedef struct lt_prompt_decision_options {
  const char *prompt; /* an id, or its beginning */
  const char *call;   /* NULL: the only call that waits */
  const char *reason;
  const char *remember;
  lt_config_sources sources;
} lt_prompt_decision_options;

/* Returns the exit code. `verb` says which command it is. */
int lt_prompt_decision_run(const lt_prompt_decision_options *options, lt_decision_verb verb);

#define LT_PROMPT_DECISION_ID                                                                \
  {                                                                                          \
    "ID", "the prompt's id, or the beginning of it (lathe chat names it when a call waits)", \
        "one prompt's ID is wanted", true, LT_OPERAND_IS(lt_prompt_decision_options, prompt) \
  }
#define LT_PROMPT_DECISION_CALL                                                   \
  {                                                                               \
    "CALL", "the id of the call (default: the only one that waits)", NULL, false, \
        LT_OPERAND_IS(lt_prompt_decision_options, call)                           \
  }
#define LT_PROMPT_DECISION_EXIT "Exit code: 0 ok, 1 nothing was decided, 2 usage, 3 configuration.\n"

#endif
