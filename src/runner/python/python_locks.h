/* Counts a process's locks on files. They take the kernel's memory, and no limit of a process bounds them (RLIMIT_LOCKS
 * has had no effect since Linux 2.4.25). */
#ifndef LT_RUNNER_PYTHON_PYTHON_LOCKS_H
#define LT_RUNNER_PYTHON_PYTHON_LOCKS_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether the process holds more than LT_PYTHON_LOCKS_MAX. False, too, where /proc/locks cannot be read. Blocks: for a
 * worker. */
bool lt_python_locks_are_too_many(pid_t pid);

#endif
