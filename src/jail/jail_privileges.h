/* Inside of src/jail: who the process is, and how much it may take. */
#ifndef LT_JAIL_JAIL_PRIVILEGES_H
#define LT_JAIL_JAIL_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

/* Whether lt_jail_drop could succeed: this is not root, or root with the right to become somebody else. */
bool lt_jail_can_drop(void);
/* Gives up what root has, if this is root: groups, user, the capabilities and those it could get back. Somebody else
 * only loses capabilities. Cannot be undone. LT_E_UNSUPPORTED when root may not become somebody else. */
lt_status lt_jail_drop(uid_t uid, gid_t gid, lt_err *err);
/* Sets a limit for good; where less is allowed than asked for, that. */
lt_status lt_jail_limit(int resource, const char *name, uint64_t value, lt_err *err);

#endif
