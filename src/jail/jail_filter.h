/* Private to src/jail: makes and installs the filter of system calls. */
#ifndef LT_JAIL_JAIL_FILTER_H
#define LT_JAIL_JAIL_FILTER_H

#include "jail/jail.h"

/* What happens to a program's connects, where its profile allows any. */
typedef enum lt_jail_connects {
  LT_JAIL_CONNECT_REFUSE, /* each fails */
  LT_JAIL_CONNECT_ASK,    /* the parent connects instead (jail_gate.h) */
  LT_JAIL_CONNECT_ALLOW   /* each is allowed: where filters cannot ask, with --best-effort */
} lt_jail_connects;

/* The part of the first stage's filter that is known only when a program is started. */
typedef struct lt_jail_exec {
  uint64_t pointers[3]; /* the arguments of the only exec that is allowed: path, argv, envp */
  lt_jail_connects connects;
} lt_jail_exec;

/* Makes the whole filter of a first stage, which allows one exec. `self` is the process's own id. */
lt_status lt_jail_filter_make(lt_jail_profile profile, const lt_jail_exec *exec, uint32_t self, lt_buf *filter,
                              lt_err *err);
/* Installs the filter for this thread and its children. Cannot be undone. Needs PR_SET_NO_NEW_PRIVS. */
lt_status lt_jail_filter_install(lt_str filter, lt_err *err);
/* Installs a filter that asks about calls. `ret_listener` receives the questions; exec closes it. */
lt_status lt_jail_filter_install_asking(lt_str filter, int *ret_listener, lt_err *err);
/* Whether the kernel has filters. */
bool lt_jail_filter_works(void);
/* Whether its filters can ask another process. */
bool lt_jail_filter_asks(void);

#endif
