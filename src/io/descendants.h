/* Kills all descendants of a process that adopts them (PR_SET_CHILD_SUBREAPER), whatever session or group they have.
 *
 * For small helper processes with one thread: nothing here suspends, it blocks.
 */
#ifndef LT_IO_DESCENDANTS_H
#define LT_IO_DESCENDANTS_H

#include <stdint.h>

/* Kills and reaps all descendants. Gives up after `timeout_ms`: another user's (sudo) cannot be killed. SIGCHLD must be
 * blocked. */
void lt_descendants_kill(uint64_t timeout_ms);

#endif
