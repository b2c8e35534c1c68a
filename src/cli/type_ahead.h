/* What a person types while an answer runs: lines wait as messages, and an unfinished line is typed on afterwards.
 *
 * While it is on, typed text is not echoed into the answer; the activity shows it. It rests while a question is open,
 * which reads the terminal itself. Loop thread only.
 */
#ifndef LT_CLI_TYPE_AHEAD_H
#define LT_CLI_TYPE_AHEAD_H

#include "cli/activity.h"
#include "cli/console.h"
#include "io/loop.h"

typedef struct lt_type_ahead lt_type_ahead;

/* Borrows all, and takes the console's on_question. NULL: there is no terminal, or no memory; all functions accept it.
 */
lt_type_ahead *lt_type_ahead_new(lt_loop *loop, lt_console *console, lt_activity *activity);
void lt_type_ahead_free(lt_type_ahead *ahead); /* it must be off */

/* Begins to read. */
void lt_type_ahead_begin(lt_type_ahead *ahead);
/* Ends it: the terminal has its former settings. LT_YIELDS until nobody reads. */
void lt_type_ahead_end(lt_type_ahead *ahead) LT_YIELDS;
/* Takes the first line that waits, or the unfinished one when no other does. False: there is none.
 * `*ret_is_whole`: it was ended by Enter. */
bool lt_type_ahead_take(lt_type_ahead *ahead, lt_buf *out, bool *ret_is_whole);
/* Ctrl-D was typed on an empty line: the dialogue ends when no line waits any more. */
bool lt_type_ahead_has_left(const lt_type_ahead *ahead);

#endif
