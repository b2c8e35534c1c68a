/* Asks the person at the terminal whether a call may be made.
 *
 * Questions are asked one after another, in the order they came. "Always" and "never" hold for a tool as long as the
 * approver lives. Loop thread only.
 */
#ifndef LT_CLI_APPROVER_H
#define LT_CLI_APPROVER_H

#include "cli/console.h"
#include "io/loop.h"
#include "tool/caller.h"

/* `yes`: approves everything without asking. Borrows: `console`, which shows an open question again after each line.
 * NULL: no memory. Owns: the caller, lt_approver_free. */
lt_approver *lt_approver_new(lt_loop *loop, lt_console *console, bool yes);
/* Who is said to want the call; "The program" unless said. Borrows. */
void lt_approver_set_who(lt_approver *approver, const char *who);
/* Whether there is somebody to ask, or nobody needs to be: otherwise every question is a no. */
bool lt_approver_can_ask(const lt_approver *approver);
void lt_approver_free(lt_approver *approver); /* NULL is allowed; nobody may be asking */

/* What an answer means. */
typedef enum lt_answer {
  LT_ANSWER_UNCLEAR,
  LT_ANSWER_YES,
  LT_ANSWER_NO,
  LT_ANSWER_ALWAYS,
  LT_ANSWER_NEVER,
  LT_ANSWER_SHOW, /* first show all of the input */
} lt_answer;
/* Reads a line. After a "no" may come why: `ret_reason`, a part of it. Borrows: the line. */
lt_answer lt_approver_read_answer(lt_str line, lt_str *ret_reason);

#endif
