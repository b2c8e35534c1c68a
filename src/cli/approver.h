/* Asks the person at the terminal whether a call may be made.
 *
 * Questions are asked one after another, in their order of arrival. "Always" and "never" hold for a tool as long as the
 * approver lives. Loop thread only.
 */
#ifndef LT_CLI_APPROVER_H
#define LT_CLI_APPROVER_H

#include "cli/console.h"
#include "io/loop.h"
#include "tool/door.h"

/* `yes`: approves every call without a question. Borrows: `console`, which shows an open question again after each
 * line. NULL: no memory. Owns: the caller, lt_approver_free. */
lt_approver *lt_approver_new(lt_loop *loop, lt_console *console, bool yes);
/* Sets the caller's name in questions; the default is "The program". Borrows. */
void lt_approver_set_who(lt_approver *approver, const char *who);
/* Decisions are not remembered here: an agent, which gets them, does that. */
void lt_approver_leave_memory(lt_approver *approver);
/* Calls that write files are shown as changes, whose old texts come through the door by these rules. Borrows. */
void lt_approver_set_preview(lt_approver *approver, lt_door *door, const lt_policy *policy);
/* Whether a person can be asked, or `yes` makes questions needless. If not, every call is denied. */
bool lt_approver_can_ask(const lt_approver *approver);
void lt_approver_free(lt_approver *approver); /* NULL is allowed; no question may be open */

/* What an answer means. */
typedef enum lt_answer {
  LT_ANSWER_UNCLEAR,
  LT_ANSWER_YES,
  LT_ANSWER_NO,
  LT_ANSWER_ALWAYS,
  LT_ANSWER_NEVER,
  LT_ANSWER_SHOW, /* first show the whole input */
} lt_answer;
/* Reads a line. A reason may follow a "no": `ret_reason`, a part of the line. Borrows: the line. */
lt_answer lt_approver_read_answer(lt_str line, lt_str *ret_reason);

#endif
