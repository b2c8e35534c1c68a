/* Inside of src/jail: the filter of system calls, made and installed. */
#ifndef LT_JAIL_FILTER_H
#define LT_JAIL_FILTER_H

#include "jail/jail.h"

/* The one exec that is left: these three pointers as its arguments. NULL where there is none. */
typedef struct lt_jail_exec {
  uint64_t pointers[3]; /* path, argv, envp */
} lt_jail_exec;

/* As lt_jail_filter, with `self` where the process's own id belongs. */
lt_status lt_jail_filter_make(lt_jail_profile profile, const lt_jail_exec *exec, uint32_t self, lt_buf *filter,
                              lt_err *err);
/* For this thread and what it becomes; cannot be undone. Needs PR_SET_NO_NEW_PRIVS. */
lt_status lt_jail_filter_install(lt_str filter, lt_err *err);
/* Whether the kernel has filters at all. */
bool lt_jail_filter_works(void);

#endif
