/* Removes the folder that a program has left. */
#ifndef LT_RUNNER_REMOVE_FOLDER_H
#define LT_RUNNER_REMOVE_FOLDER_H

#include "io/loop.h"

/* Removes a folder with all its contents, at any depth and with any permissions. Follows no link. LT_YIELDS: another
 * thread does the work. Entries that cannot be removed stay. */
void lt_remove_folder(lt_loop *loop, const char *path) LT_YIELDS;

#endif
