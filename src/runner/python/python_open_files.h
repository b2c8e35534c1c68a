/* Counts the disk space of deleted files that a process still holds. */
#ifndef LT_RUNNER_PYTHON_PYTHON_OPEN_FILES_H
#define LT_RUNNER_PYTHON_PYTHON_OPEN_FILES_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes of the deleted files that a process holds open or mapped and that were in the folder. Blocks: call it on a
 * worker only. */
uint64_t lt_python_open_files_bytes(pid_t pid, const char *folder);

#endif
