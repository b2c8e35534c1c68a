/* How much a program has written into its folder. */
#ifndef LT_RUNNER_PYTHON_PYTHON_DISK_H
#define LT_RUNNER_PYTHON_PYTHON_DISK_H

#include "runner/python/python_run.h"

/* How long until its folder is to be looked at; UINT64_MAX: never. And the look: a program that has
 * written too much is stopped (LT_E_LIMIT). */
uint64_t lt_python_run_disk_ms(const lt_python_run *run);
void lt_python_run_look_at_disk(lt_python_run *run) LT_YIELDS;

#endif
