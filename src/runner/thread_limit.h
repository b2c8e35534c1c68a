/* The limit on a program's threads. */
#ifndef LT_RUNNER_THREAD_LIMIT_H
#define LT_RUNNER_THREAD_LIMIT_H

#include <stdint.h>

/* The RLIMIT_NPROC of a program. The kernel counts all processes and threads of a user, so the limit is the current
 * number of all users' threads plus LT_RUN_THREADS_MAX. Without it one program can use all process ids of the system.
 */
uint64_t lt_thread_limit(void);

#endif
