/* Private to src/jail: the process's user, capabilities and resource limits. */
#ifndef LT_JAIL_JAIL_PRIVILEGES_H
#define LT_JAIL_JAIL_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

/* Whether lt_jail_drop can succeed: the process is not root, or root that may become another user. */
bool lt_jail_can_drop(void);
/* Gives up root's rights: groups, user, all capabilities, and the way back to them. A process that is not root only
 * loses capabilities. Cannot be undone. Errors: LT_E_UNSUPPORTED (root may not become another user). */
lt_status lt_jail_drop(uid_t uid, gid_t gid, lt_err *err);
/* Sets a limit that cannot be raised again: `value`, or the present limit when that is lower. */
lt_status lt_jail_limit(int resource, const char *name, uint64_t value, lt_err *err);

#endif
