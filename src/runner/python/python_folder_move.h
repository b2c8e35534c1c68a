/* Moves the files that a program wrote before Lathe was interrupted into the folder that the program works in now. */
#ifndef LT_RUNNER_PYTHON_PYTHON_FOLDER_MOVE_H
#define LT_RUNNER_PYTHON_PYTHON_FOLDER_MOVE_H

#include "base/str.h"
#include "io/loop.h"

/* Locks the parent of an earlier process's folder, so that no other Lathe removes it as left over. Owns: the caller,
 * close. -1: the parent is missing, belongs to another user, or its Lathe is alive. */
int lt_python_folder_move_lock(lt_str folder);
/* Moves everything in the folder `from`, whose parent is locked as `parent`, into the folder `to`, and removes `from`.
 * LT_YIELDS. */
void lt_python_folder_move(lt_loop *loop, int parent, const char *from, const char *to) LT_YIELDS;

#endif
