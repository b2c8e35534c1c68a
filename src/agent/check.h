/* A prompt that is gone through again to be checked (lt_agent_options.checks): nothing is asked of models, people or
 * tools, and what comes of it is compared with what is on record. Internal to agent/.
 */
#ifndef LT_AGENT_CHECK_H
#define LT_AGENT_CHECK_H

#include "agent/outbox.h"

/* The record has a reply for the next question. LT_E_DIVERGED: the question is another than then. */
lt_status lt_turn_check_reply(lt_turn *turn, lt_err *err);
/* It has none, or not what is asked for otherwise: `what`. LT_E_DIVERGED, in any case. */
lt_status lt_turn_check_beyond(lt_turn *turn, const char *what, lt_err *err);
/* The prompt has come to its end. LT_E_DIVERGED: without something that it had put out. */
lt_status lt_turn_check_end(lt_turn *turn, lt_err *err);

/* What is put out once more; the first difference ends the prompt as diverged. */
void lt_outbox_check_text(lt_outbox *outbox, const lt_output *output, lt_str text);
void lt_outbox_check_tool(lt_outbox *outbox, const lt_output *output, const lt_outbox_tool *tool);
void lt_outbox_check_result(lt_outbox *outbox, const lt_output *output, lt_status status, lt_str answer);

/* The tools that the turn's prompt sees, kept beside it: a blob's name, empty where they cannot be. LT_YIELDS. */
lt_str lt_turn_keep_tools(lt_turn *turn, lt_catalog *tools) LT_YIELDS;

#endif
