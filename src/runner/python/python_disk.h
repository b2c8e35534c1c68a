/* The disk space that a program uses in its private folder, and its locks, measured from time to time. */
#ifndef LT_RUNNER_PYTHON_PYTHON_DISK_H
#define LT_RUNNER_PYTHON_PYTHON_DISK_H

#include "runner/python/python_run.h"

/* Milliseconds until the next measurement is due; UINT64_MAX: never. */
uint64_t lt_python_disk_due_ms(const lt_python_run *run);
/* Measures on a worker and plans the next time. False: the program has written too much or holds too many locks.
 * LT_YIELDS. */
bool lt_python_disk_check(lt_python_run *run) LT_YIELDS;

#endif
