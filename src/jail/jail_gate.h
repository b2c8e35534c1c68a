/* Private to src/jail: the gate, a process that makes a program's only connection.
 *
 * Neither Landlock nor a filter can see which address a connect is for. So the filter asks the program's parent, which
 * is the gate. The gate connects to the one allowed address and puts that connection in the place of the program's
 * socket. It does not look at the address that the program asked for, nor at anything else in the program's memory.
 */
#ifndef LT_JAIL_JAIL_GATE_H
#define LT_JAIL_JAIL_GATE_H

#include "base/err.h"
#include "base/str.h"

typedef struct lt_jail_gate {
  const char *path; /* a unix socket; NULL: `port` of 127.0.0.1 */
  unsigned port;
  int fd; /* in the child: a socket to the parent */
} lt_jail_gate;

/* Forks. Returns in the child, which becomes the program; it dies with its parent. The parent makes connections until
 * the child ends, and ends as it did. Errors: LT_E_IO. */
lt_status lt_jail_gate_open(lt_jail_gate *gate, lt_err *err);
/* In the child: installs the filter, and gives its listener to the parent. Errors: LT_E_UNSUPPORTED (filters cannot
 * ask). */
lt_status lt_jail_gate_install(const lt_jail_gate *gate, lt_str filter, lt_err *err);

#endif
