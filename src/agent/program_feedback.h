/* What a model reads of how its program ended (seeds 013 and 014). Internal to agent/. */
#ifndef LT_AGENT_PROGRAM_FEEDBACK_H
#define LT_AGENT_PROGRAM_FEEDBACK_H

#include "agent/turn.h"

/* Appends `text`, at most about `max_tokens` of it: a longer one loses its middle, which a note in its place says. */
void lt_program_feedback_cut(lt_buf *out, lt_str text, size_t max_tokens);
/* Appends the user message for a program: its logs, then its result or its error with line, column and the tool calls
 * that have happened; a hint where the program returned and logged nothing. At most LT_FEEDBACK_TOKENS. `value`: the
 * result as JSON text (empty: undefined). */
void lt_program_feedback_put(lt_buf *out, const lt_turn *turn, const lt_run_result *result, lt_str value);
/* Its parts: all that was logged, a line each; the error with line, column and the line itself. */
void lt_program_feedback_put_logs(lt_buf *out, const lt_run_result *result);
void lt_program_feedback_put_error(lt_buf *out, const lt_run_result *result);
/* How much a program of the turn may output, in words: "64 KiB". */
void lt_program_feedback_put_output_limit(lt_buf *out, const lt_turn *turn);

#endif
