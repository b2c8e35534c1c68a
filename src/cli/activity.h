/* The line at a terminal that says what happens now: servers that start, a program, the call that has waited longest,
 * with what its server says of its progress. It is the last line on standard error, is erased before anything else is
 * written there (lt_console.make_way) and at the end, and is not drawn while a question is open. Where standard error
 * is no terminal that can erase a line, nothing is drawn. Loop thread only.
 */
#ifndef LT_CLI_ACTIVITY_H
#define LT_CLI_ACTIVITY_H

#include "cli/console.h"
#include "io/loop.h"
#include "tool/caller.h"

typedef struct lt_activity lt_activity;

/* Takes the console's make_way until lt_activity_free; both are borrowed. NULL: there is no such terminal, or no
 * memory; all functions accept it. */
lt_activity *lt_activity_new(lt_loop *loop, lt_console *console);
/* Erases the line. */
void lt_activity_free(lt_activity *activity);

/* What happens while no call is open, such as "running the program"; empty: nothing. Copies. It is shown after a
 * moment, or at once when `is_late`, because it has been going on already. */
void lt_activity_say(lt_activity *activity, lt_str what, bool is_late);
/* Lets the caller's calls be shown. They must have ended before the activity is freed. */
void lt_activity_follow(lt_activity *activity, lt_caller *caller);

#endif
