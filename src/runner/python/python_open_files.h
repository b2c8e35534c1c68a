/* What a program holds of files that have no name any more. */
#ifndef LT_RUNNER_PYTHON_PYTHON_OPEN_FILES_H
#define LT_RUNNER_PYTHON_PYTHON_OPEN_FILES_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes of files without a name that a process holds, which came from the folder. Blocks: not for the loop. */
uint64_t lt_python_held(pid_t pid, const char *folder);

#endif
