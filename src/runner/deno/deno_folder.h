/* The private folder of an instance of Deno: the program's files, Deno's cache, the bridge's socket. */
#ifndef LT_RUNNER_DENO_DENO_FOLDER_H
#define LT_RUNNER_DENO_DENO_FOLDER_H

#include "runner/deno/deno_state.h"

/* Makes and locks the instance's folder. Owns: the instance, lt_deno_folder_remove. */
lt_status lt_deno_folder_make(lt_deno_instance *instance, lt_err *err);
/* Writes a file that the user may read whom the program runs as. */
lt_status lt_deno_folder_write(const lt_deno_instance *instance, const char *name, lt_str bytes, lt_err *err);
/* The path of the bridge's socket, as Deno sees it. Behind the walls the path does not matter (jail/jail.h, --socket),
 * so it is in a folder where nobody can make a file: connecting takes the right to write to the path, and with that
 * right a program could put a folder in the socket's place. */
void lt_deno_folder_bridge_path(const lt_deno *deno, const lt_deno_instance *instance, char *ret_path, size_t size);
/* Gives an entry of the folder to the user that programs run as. */
void lt_deno_folder_chown(const lt_deno_instance *instance, const char *name);
/* Removes and unlocks the folder, if there is one. LT_YIELDS. */
void lt_deno_folder_remove(lt_loop *loop, lt_deno_instance *instance) LT_YIELDS;
/* Removes the folders that killed processes of Lathe have left. LT_YIELDS. */
void lt_deno_folder_remove_abandoned(lt_loop *loop) LT_YIELDS;

#endif
