/* Leases: the owner of a prompt as text. The text distinguishes a process from a later one with the same pid. For
 * store/ only.
 *
 * "PID START BOOT": the pid, the start time of the process (in ticks since the boot), and the id of the boot. Processes
 * that share a database must see each other's pids: one in another pid namespace counts as gone.
 */
#ifndef LT_STORE_LEASE_H
#define LT_STORE_LEASE_H

#include "base/err.h"
#include "base/str.h"

#define LT_LEASE_BYTES 128 /* room for an owner's text */

/* The owner text of this process. Errors: LT_E_IO: /proc is missing. */
lt_status lt_lease_own(char ret_owner[LT_LEASE_BYTES], lt_err *err);
/* Whether the process that `owner` names still runs. A zombie does not count. */
bool lt_lease_lives(lt_str owner);
/* The pid in `owner`, for messages; 0: it has none. */
long lt_lease_pid(lt_str owner);

#endif
