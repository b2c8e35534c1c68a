/* The lines at a terminal that say what happens now: servers that start, a program, a model that is waited for, or the
 * calls that are made, with what their servers say of their progress; the ones that have waited longest come first.
 * They are the last lines on standard error, are redrawn in place, erased before anything else is written there
 * (lt_console.make_way) and at the end, and not drawn while a question is open. Where standard error is no terminal
 * that can erase a line, nothing is drawn. Loop thread only.
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
/* Erases the lines. */
void lt_activity_free(lt_activity *activity);

/* What happens while no call is open, such as "running the program"; empty: nothing. Copies. It is shown after a
 * moment, or at once when `is_late`, because it has been going on already. */
void lt_activity_say(lt_activity *activity, lt_str what, bool is_late);
/* The same, without a new beginning: how far it is. */
void lt_activity_update(lt_activity *activity, lt_str what);
/* A last line of its own while something is shown; empty: none. Copies. */
void lt_activity_note(lt_activity *activity, lt_str note);
/* Erases the lines for now: something else is written, and the console's make_way is not the activity's. */
void lt_activity_erase(lt_activity *activity);
/* Nothing is drawn while `is_paused`. */
void lt_activity_pause(lt_activity *activity, bool is_paused);
/* An event of a call to show. */
void lt_activity_call(lt_activity *activity, const lt_call_event *event);
/* Lets the caller's calls be shown. They must have ended before the activity is freed. */
void lt_activity_follow(lt_activity *activity, lt_caller *caller);

#endif
