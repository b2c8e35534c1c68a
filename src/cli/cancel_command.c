/* lathe cancel: ends a prompt, in whatever process. */
#include "cli/prompt_decision.h"

static const lt_option cancel_option_rows[] = {
    LT_OPTION_CONFIG(lt_prompt_decision_options, sources),
    LT_OPTION_STORE(lt_prompt_decision_options, sources),
};

static int cancel_command(void *arg) {
  return lt_prompt_decision_run(arg, LT_VERB_CANCEL);
}

const lt_command lt_cancel_command = {
    .name = "cancel",
    .summary = "End a prompt that runs or waits in another process",
    .about = "End a prompt that runs or waits in another process, or that no process runs any more.\n",
    .synopsis = "ID [options]",
    .operand = LT_PROMPT_DECISION_ID,
    .options = cancel_option_rows,
    .option_count = sizeof cancel_option_rows / sizeof cancel_option_rows[0],
    .options_size = sizeof(lt_prompt_decision_options),
    .notes = LT_PROMPT_DECISION_EXIT,
    .run = cancel_command,
};
