/* Leases: the owner of a prompt as text. The text distinguishes a process from a later one with the same pid. For
 * store/ only.
 *
 * "PID START BOOT NAMESPACE HOST": the pid, the start time of the process (in ticks since the boot), the id of the
 * boot, the number of the pid namespace, and the host's name for messages. An older Lathe writes and reads the first
 * three. A pid means something only in its namespace: whether a process of another one lives is known from its
 * heartbeat only (docs/internals/store.md).
 */
#ifndef LT_STORE_LEASE_H
#define LT_STORE_LEASE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define LT_LEASE_BYTES 128 /* room for an owner's text; an older Lathe has as much */

/* The owner text of this process. Errors: LT_E_IO: /proc is missing. */
lt_status lt_lease_own(char ret_owner[LT_LEASE_BYTES], lt_err *err);

typedef enum lt_lease_state {
  LT_LEASE_GONE,     /* the process has ended; a zombie has, too */
  LT_LEASE_LIVES,    /* it runs */
  LT_LEASE_ELSEWHERE /* it is, or was, in another pid namespace or machine */
} lt_lease_state;
lt_lease_state lt_lease_state_of(lt_str owner);
/* Appends the process that `owner` names, for messages: "12", or "12 on HOST" when it is elsewhere. */
void lt_lease_put_name(lt_str owner, lt_buf *out);

#endif
