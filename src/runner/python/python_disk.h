/* The disk space that a program uses in its private folder, measured from time to time. */
#ifndef LT_RUNNER_PYTHON_PYTHON_DISK_H
#define LT_RUNNER_PYTHON_PYTHON_DISK_H

#include "runner/python/python_run.h"

/* Milliseconds until the folder is to be measured next; UINT64_MAX: never. */
uint64_t lt_python_disk_due_ms(const lt_python_run *run);
/* Measures the folder on a worker and plans the next time. False: the program has written too much. LT_YIELDS. */
bool lt_python_disk_check(lt_python_run *run) LT_YIELDS;

#endif
