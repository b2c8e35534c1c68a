/* Private to src/jail: Landlock, by its system calls. */
#ifndef LT_JAIL_JAIL_LANDLOCK_H
#define LT_JAIL_JAIL_LANDLOCK_H

#include "base/err.h"

/* The rights to a path and everything below it. */
typedef enum lt_jail_right {
  LT_JAIL_READ,
  LT_JAIL_RUN,    /* a file: read and execute */
  LT_JAIL_DEVICE, /* a file: read and write */
  LT_JAIL_WRITE   /* everything but execute */
} lt_jail_right;

/* The version of the kernel's Landlock; 0: it has none. */
int lt_jail_landlock_abi(void);

/* Opens a set of rules that allows nothing yet, for Landlock's version `abi`, which the kernel must have. Owns: the
 * caller, close(*ret_fd). */
lt_status lt_jail_landlock_open(int abi, int *ret_fd, lt_err *err);
/* Adds a right to the set. Errors: LT_E_NOTFOUND (there is no such path), LT_E_IO. */
lt_status lt_jail_landlock_path(int fd, int abi, const char *path, lt_jail_right right, lt_err *err);
/* Puts this thread and its children behind the set. Cannot be undone. Needs PR_SET_NO_NEW_PRIVS. */
lt_status lt_jail_landlock_enter(int fd, lt_err *err);

#endif
