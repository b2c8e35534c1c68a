/* The message that tells a model how its program ended (seeds 013 and 014). Internal to agent/. */
#ifndef LT_AGENT_PROGRAM_FEEDBACK_H
#define LT_AGENT_PROGRAM_FEEDBACK_H

#include "agent/turn.h"

/* Appends `text`, at most about `max_tokens` of it. A note replaces the middle of a longer text. */
void lt_program_feedback_cut(lt_buf *out, lt_str text, size_t max_tokens);
/* Appends the user message for a program: its logs, then its result or its error with line, column and the tool calls
 * that have happened; a hint where the program returned and logged nothing. At most LT_FEEDBACK_TOKENS. `value`: the
 * result as JSON text (empty: undefined). */
void lt_program_feedback_put(lt_buf *out, const lt_turn *turn, const lt_run_result *result, lt_str value);
/* Parts of that message: all logged texts, one line each; the error with line, column and the text of that line. */
void lt_program_feedback_put_logs(lt_buf *out, const lt_run_result *result);
void lt_program_feedback_put_error(lt_buf *out, const lt_run_result *result);
/* The stack behind a line break, when the error was not thrown at the top level. */
void lt_program_feedback_put_stack(lt_buf *out, const lt_run_result *result);
/* The calls that were made, behind two line breaks; nothing when there were none. */
void lt_program_feedback_put_calls(lt_buf *out, const lt_run_result *result);
/* The output limit of the turn's programs as text: "64 KiB". */
void lt_program_feedback_put_output_limit(lt_buf *out, const lt_turn *turn);

#endif
