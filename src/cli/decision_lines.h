/* Decisions on standard input, for `lathe chat --json`: one JSON object a line,
 * {"promptId"?, "toolCallId", "decision": "approve"|"reject"|"cancel", "input"?, "reason"?, "remember"?}.
 *
 * A line that cannot be used is named on standard error, and decides nothing. Loop thread only.
 */
#ifndef LT_CLI_DECISION_LINES_H
#define LT_CLI_DECISION_LINES_H

#include "cli/chat.h"

typedef struct lt_decision_lines lt_decision_lines;

/* Begins to read. Errors: LT_E_IO (standard input is a file), LT_E_NOMEM. Owns: the caller, lt_decision_lines_close. */
lt_status lt_decision_lines_open(lt_chat *chat, lt_decision_lines **ret_lines, lt_err *err);
void lt_decision_lines_close(lt_decision_lines *lines) LT_YIELDS; /* NULL is allowed */
/* Whether more lines may come. NULL: false. */
bool lt_decision_lines_may_come(const lt_decision_lines *lines);
/* Waits until no more lines can come, or the cancel fires. LT_YIELDS. One question waits for each call. */
void lt_decision_lines_wait(lt_decision_lines *lines, lt_cancel *cancel) LT_YIELDS;

#endif
