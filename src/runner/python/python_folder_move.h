/* What a program had written before Lathe was interrupted moves into the folder that it works in now. */
#ifndef LT_RUNNER_PYTHON_PYTHON_FOLDER_MOVE_H
#define LT_RUNNER_PYTHON_PYTHON_FOLDER_MOVE_H

#include "base/str.h"
#include "io/loop.h"

/* Keeps an earlier process' folder from being removed as left over, as long as this is open; -1: there
 * is none. */
int lt_python_hold(lt_str folder);
/* Moves what is in a folder, one that is held, into another, and removes it. LT_YIELDS. */
void lt_python_move(lt_loop *loop, int held, const char *from, const char *to) LT_YIELDS;

#endif
