/* How many threads a program may start. */
#ifndef LT_RUNNER_THREAD_LIMIT_H
#define LT_RUNNER_THREAD_LIMIT_H

#include <stdint.h>

/* RLIMIT_NPROC for a program: it counts all processes and threads of a user, so that it is what there is now, of all
 * users, and LT_RUN_THREADS_MAX more. Without it one program takes all the numbers that the system has for processes.
 */
uint64_t lt_thread_limit(void);

#endif
