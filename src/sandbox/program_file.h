/* The file that this process was started from, to map what is built into the program once more: its pages are in memory
 * already, and all processes share them. */
#ifndef LT_SANDBOX_PROGRAM_FILE_H
#define LT_SANDBOX_PROGRAM_FILE_H

#include <sys/types.h>

#include "base/str.h"

/* Opens the file when it has `data`, which is part of the program, and says where. Returns the descriptor (owns: the
 * caller, close), or -1: `data` is a library's, or the file cannot be read or has other bytes there. Only the first
 * `checked` bytes are compared, 256 at most. */
int lt_program_file_open(lt_str data, size_t checked, off_t *ret_offset);

#endif
