/* lathe reject: refuses a call that waits for an approval, in whatever process. */
#include "cli/prompt_decision.h"

static const lt_option reject_option_rows[] = {
    {"--reason", NULL, "TEXT", "why not: the program and the model are told",
     LT_OPTION_IS_TEXT(lt_prompt_decision_options, reason)},
    {"--remember", NULL, "call|tool|session",
     "reject later calls, too: with these arguments or of this tool until the prompt ends, or of\n"
     "this tool until the conversation ends",
     LT_OPTION_IS_TEXT(lt_prompt_decision_options, remember)},
    LT_OPTION_CONFIG(lt_prompt_decision_options, sources),
    LT_OPTION_STORE(lt_prompt_decision_options, sources),
};

static int reject_command(void *arg) {
  return lt_prompt_decision_run(arg, LT_VERB_REJECT);
}

const lt_command lt_reject_command = {
    .name = "reject",
    .summary = "Reject a call that waits for an approval in another process",
    .about = "Reject a tool call that waits for an approval in another process, or in none.\n",
    .synopsis = "ID [CALL] [options]",
    .operand = LT_PROMPT_DECISION_ID,
    .second = LT_PROMPT_DECISION_CALL,
    .options = reject_option_rows,
    .option_count = sizeof reject_option_rows / sizeof reject_option_rows[0],
    .options_size = sizeof(lt_prompt_decision_options),
    .notes = LT_PROMPT_DECISION_EXIT,
    .run = reject_command,
};
