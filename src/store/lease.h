/* Leases: which process owns something, as text that tells the process from a later one with the same pid. For store/
 * only.
 *
 * "PID START BOOT": the pid, the time at which it started (in ticks since the machine did), and the id of the machine's
 * start. Processes that share a database must see each other's pids: one in another pid namespace counts as gone.
 */
#ifndef LT_STORE_LEASE_H
#define LT_STORE_LEASE_H

#include "base/err.h"
#include "base/str.h"

#define LT_LEASE_BYTES 128 /* room for an owner's text */

/* This process's own. Errors: LT_E_IO: there is no /proc. */
lt_status lt_lease_own(char ret_owner[LT_LEASE_BYTES], lt_err *err);
/* Whether the process that `owner` names still runs. A zombie does not count. */
bool lt_lease_lives(lt_str owner);
/* The pid in `owner`, for messages; 0: there is none. */
long lt_lease_pid(lt_str owner);

#endif
