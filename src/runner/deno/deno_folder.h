/* Private folders. */
#ifndef LT_RUNNER_DENO_DENO_FOLDER_H
#define LT_RUNNER_DENO_DENO_FOLDER_H

#include "runner/deno/deno_state.h"

lt_status lt_deno_make_folder(lt_deno_room *room, lt_err *err);
lt_status lt_deno_write_file(const lt_deno_room *room, const char *name, lt_str bytes, lt_err *err);
/* What Deno is told of where the bridge's socket is. Behind the walls it is all the same (jail/jail.h, --socket), so
 * it is where nobody can make anything: a connection takes the right to write to the socket's path, and that would be
 * the right to put a folder in its place. */
void lt_deno_bridge_path(const lt_deno *deno, const lt_deno_room *room, char *ret_path, size_t size);
/* Whoever runs the program may use it. */
void lt_deno_hand_over(const lt_deno_room *room, const char *name);
void lt_deno_remove_folder(lt_loop *loop, lt_deno_room *room) LT_YIELDS;
/* Removes what others have left that were killed. */
void lt_deno_sweep(lt_loop *loop) LT_YIELDS;

#endif
