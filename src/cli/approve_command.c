/* lathe approve: lets a call be made that waits for an approval, in whatever process. */
#include "cli/prompt_decision.h"

static const lt_option approve_option_rows[] = {
    LT_OPTION_CONFIG(lt_prompt_decision_options, sources),
    LT_OPTION_STORE(lt_prompt_decision_options, sources),
};

static int approve_command(void *arg) {
  return lt_prompt_decision_run(arg, LT_VERB_APPROVE);
}

const lt_command lt_approve_command = {
    .name = "approve",
    .summary = "Decide at this terminal about a call that waits in another process",
    .about =
        "Ask at this terminal about a tool call that waits for an approval in another process, or in none, and let\n"
        "that process know the answer.\n",
    .synopsis = "ID [CALL] [options]",
    .operand = LT_PROMPT_DECISION_ID,
    .second = LT_PROMPT_DECISION_CALL,
    .options = approve_option_rows,
    .option_count = sizeof approve_option_rows / sizeof approve_option_rows[0],
    .options_size = sizeof(lt_prompt_decision_options),
    .notes =
        "The question is shown as it is, and answered here: without a terminal nothing is approved. Prints what "
        "became\n"
        "of the decision. A prompt that no process runs continues with lathe chat -c CONVERSATION.\n"
        "Programs of lathe run are asked about where they run: they are in no store.\n" LT_PROMPT_DECISION_EXIT,
    .run = approve_command,
};
