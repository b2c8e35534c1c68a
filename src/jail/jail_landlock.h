/* Inside of src/jail: Landlock, by its system calls. */
#ifndef LT_JAIL_JAIL_LANDLOCK_H
#define LT_JAIL_JAIL_LANDLOCK_H

#include "base/err.h"

/* What a path, and all below it, may be used for. */
typedef enum lt_jail_right {
  LT_JAIL_READ,
  LT_JAIL_RUN,    /* read and executed: a file */
  LT_JAIL_DEVICE, /* read and written: a file */
  LT_JAIL_WRITE   /* all but executed */
} lt_jail_right;

/* The kernel's version of Landlock; 0 where there is none. */
int lt_jail_landlock_abi(void);

/* A set of rules that allows nothing yet, for Landlock's version `abi`, which the kernel must have; the descriptor is
 * the caller's to close. */
lt_status lt_jail_landlock_open(int abi, int *ret_fd, lt_err *err);
/* LT_E_NOTFOUND when there is no such path. */
lt_status lt_jail_landlock_path(int fd, int abi, const char *path, lt_jail_right right, lt_err *err);
/* For this thread and what it becomes; cannot be undone. Needs PR_SET_NO_NEW_PRIVS. */
lt_status lt_jail_landlock_enter(int fd, lt_err *err);

#endif
