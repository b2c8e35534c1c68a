/* Whether a program that is typed line by line needs another line.
 *
 * As in other prompts: a program ends at the first line at which it can end. An open bracket, template or comment, an
 * operator without its operand, `if (x)` without a statement and `try {}` without a catch go on; `else` on a line of
 * its own comes too late. Broken source is finished: the engine says what is wrong with it.
 *
 * Pure. A guess from the tokens, as the lexer's. Linear time.
 */
#ifndef LT_JS_UNFINISHED_H
#define LT_JS_UNFINISHED_H

#include <stdbool.h>

#include "base/str.h"

bool lt_unfinished_program(lt_str source);

#endif
