/* Removing what a program has left, whatever it is. */
#ifndef LT_RUNNER_REMOVE_FOLDER_H
#define LT_RUNNER_REMOVE_FOLDER_H

#include "io/loop.h"

/* Removes a folder with all that is in it, however deep and without any rights, and follows no link. LT_YIELDS: it is
 * done off the loop. What cannot be removed stays. */
void lt_remove_folder(lt_loop *loop, const char *path) LT_YIELDS;

#endif
