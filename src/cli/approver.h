/* Asks the person at the terminal whether a call may be made.
 *
 * Questions are asked one after another, in their order of arrival. A decision may hold for later calls: until the
 * prompt or run ends, or until the conversation ends. Loop thread only.
 */
#ifndef LT_CLI_APPROVER_H
#define LT_CLI_APPROVER_H

#include "cli/approval_answer.h"
#include "cli/console.h"
#include "io/loop.h"
#include "tool/door.h"

/* `yes`: approves every call without a question. Borrows: `console`, which holds what is said while
 * a question is open. NULL: no memory. Owns: the caller, lt_approver_free. */
lt_approver *lt_approver_new(lt_loop *loop, lt_console *console, bool yes);
/* Sets the caller's name in questions and the words for how long decisions hold; the default is "The program", in a
 * run. Borrows the texts. */
void lt_approver_set_who(lt_approver *approver, const char *who, lt_answer_scope scope);
/* Decisions are not remembered here: an agent, which gets them, does that. */
void lt_approver_leave_memory(lt_approver *approver);
/* Calls that write files are shown as changes, whose old texts come through the door by these rules. Borrows. */
void lt_approver_set_preview(lt_approver *approver, lt_door *door, const lt_policy *policy);
/* Whether a person can be asked, or `yes` makes questions needless. If not, every call is denied. */
bool lt_approver_can_ask(const lt_approver *approver);
void lt_approver_free(lt_approver *approver); /* NULL is allowed; no question may be open */

#endif
