/* Inside of src/jail: the one connection a program may make, made for it by another process.
 *
 * Neither Landlock nor a filter can tell which socket a connect is for. So the filter asks: the process that became a
 * program's parent connects to the one place there is, and puts that connection where the program's socket was. What
 * the program had asked for is not looked at, nor is anything else in its memory.
 */
#ifndef LT_JAIL_JAIL_GATE_H
#define LT_JAIL_JAIL_GATE_H

#include "base/err.h"
#include "base/str.h"

typedef struct lt_jail_gate {
  const char *path; /* a unix socket; NULL: `port` of 127.0.0.1 */
  unsigned port;
  int fd; /* to the parent, in the child */
} lt_jail_gate;

/* Forks. Returns in the child, which becomes the program; it dies with its parent. The parent makes connections until
 * the child ends, and ends as it did. Errors: LT_E_IO. */
lt_status lt_jail_gate_open(lt_jail_gate *gate, lt_err *err);
/* In the child: installs the filter, and hands what it asks to the parent. LT_E_UNSUPPORTED where filters cannot ask.
 */
lt_status lt_jail_gate_install(const lt_jail_gate *gate, lt_str filter, lt_err *err);

#endif
