/* Inside of src/jail: the filter of system calls, made and installed. */
#ifndef LT_JAIL_JAIL_FILTER_H
#define LT_JAIL_JAIL_FILTER_H

#include "jail/jail.h"

/* What becomes of a program's connections, where its profile may have any. */
typedef enum lt_jail_connects {
  LT_JAIL_REFUSED, /* it has none */
  LT_JAIL_ASKED,   /* somebody makes them (gate.h) */
  LT_JAIL_LET      /* whatever it likes: where nobody can be asked, and it has to run all the same */
} lt_jail_connects;

/* The first stage's filter: what only the one who starts a program knows. */
typedef struct lt_jail_exec {
  uint64_t pointers[3]; /* the arguments of the one exec that is left: path, argv, envp */
  lt_jail_connects connects;
} lt_jail_exec;

/* The whole filter of a first stage, with one exec, and `self` where the process's own id belongs. */
lt_status lt_jail_filter_make(lt_jail_profile profile, const lt_jail_exec *exec, uint32_t self, lt_buf *filter,
                              lt_err *err);
/* For this thread and what it becomes; cannot be undone. Needs PR_SET_NO_NEW_PRIVS. */
lt_status lt_jail_filter_install(lt_str filter, lt_err *err);
/* The same, where calls are asked about: with the descriptor that tells of them, which is closed by an exec. */
lt_status lt_jail_filter_install_asking(lt_str filter, int *ret_listener, lt_err *err);
/* Whether the kernel has filters at all. */
bool lt_jail_filter_works(void);
/* Whether they can ask somebody. */
bool lt_jail_filter_asks(void);

#endif
