/* The walls around a program in a process of its own: what the operating system refuses to the program.
 *
 * A runner starts `HELPER LT_JAIL_WORD OPTIONS -- FILE ARGV0 [ARG...]` as an ordinary child (lt_process_open;
 * HELPER is lathe itself, or lathe-exec beside the library). That process puts the walls up around itself and becomes
 * FILE. No wall can be taken down afterwards, and FILE's children are behind the same walls. docs/internals/walls.md:
 * what each stage refuses, and the second stage of Python. Nothing here suspends, allocates much or uses the loop.
 *
 * Options, in any order, each one argument; numbers are decimal:
 *
 *   --parent=PID          refuse to start when the parent is not PID any more; SIGKILL when it dies (as __exec)
 *   --profile=NAME        python-zygote | python | deno | deno-tcp: which system calls are allowed (lt_jail_profile)
 *   --read=PATH           may be read, with all below it (repeatable). A path that does not exist is ignored.
 *   --write=PATH          may be read and written, with all below it (repeatable). It must exist.
 *   --socket=PATH         deno: every connection leads to this unix socket, an absolute path
 *   --connect-port=N      deno-tcp: every connection leads to this TCP port of 127.0.0.1
 *                         With either, the process stays as FILE's parent and ends as FILE does.
 *                         With neither, there are no connections.
 *   --uid=N --gid=N       the user to become when started by root; LT_JAIL_UID both. Other users stay.
 *   --address-space=N --data=N --file-size=N    bytes: RLIMIT_AS, RLIMIT_DATA, RLIMIT_FSIZE
 *   --processes=N --open-files=N --cpu-seconds=N    RLIMIT_NPROC (counts all processes and threads of the user, not
 *                         only these), RLIMIT_NOFILE, RLIMIT_CPU
 *   --landlock-abi=N      use at most Landlock's version N: the starter's lt_jail_walls.landlock_abi.
 *                         (The environment is the program's: nothing is read from it.)
 *   --best-effort         a wall that the system does not have is left out silently; otherwise it is a failure
 *
 * Always: a session of its own, no file descriptors but 0, 1, 2, umask 077, no core dumps, no
 * new privileges, and read access to what any interpreter needs (the system's libraries, its time zones, /dev/null,
 * zero, full, random, urandom; writing /dev/null). FILE is added to what may be read and executed. The caller chooses
 * the environment and the working directory, which should be below a --write path.
 *
 * As root: paths must be reachable, and --write paths writable, for LT_JAIL_UID: chown what you create for a run.
 */
#ifndef LT_JAIL_JAIL_H
#define LT_JAIL_JAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define LT_JAIL_WORD     "__jail-" LT_VERSION /* of another version: its options may be others */
#define LT_JAIL_UID      65534                /* the user that root becomes: nobody */
#define LT_JAIL_SELF_PID 0x5ea15e1fU          /* in a filter: the place of the process's own id */

typedef enum lt_jail_profile {
  LT_JAIL_PYTHON_ZYGOTE, /* trusted code: forks, waits, signals its children, narrows itself further; no exec */
  LT_JAIL_PYTHON,        /* a program: no processes (threads only), no sockets but stream pairs, no signals to others */
  LT_JAIL_DENO,          /* a program: as PYTHON, and it may connect to one unix socket */
  LT_JAIL_DENO_TCP       /* a program: as PYTHON, and it may connect to one TCP port of this machine */
} lt_jail_profile;
#define LT_JAIL_PROFILES 4

/* For main, before it does anything else: `if (argc > 1 && strcmp(argv[1], LT_JAIL_WORD) == 0) return
 * lt_jail_main(argc - 1, argv + 1);`. Returns only on failure: 127, with one line on stderr (126 when the parent is
 * gone). */
int lt_jail_main(int argc, char **argv);

/* Makes the filter of the second stage, for a process behind python-zygote's: it refuses what `profile` is refused
 * beyond that. An array of struct sock_filter, as bytes, at most LT_JAIL_FILTER_MAX_BYTES. The process that installs it
 * replaces each LT_JAIL_SELF_PID (four bytes in the machine's byte order, always whole fields) by its own id. Errors:
 * LT_E_NOMEM. */
lt_status lt_jail_filter(lt_jail_profile profile, lt_buf *filter, lt_err *err);

/* The walls that this system has for this process's children. */
typedef struct lt_jail_walls {
  int landlock_abi; /* 0: none */
  bool seccomp;
  bool drop; /* it can become another user, or need not: it is not root */
} lt_jail_walls;

/* Asks the kernel; takes microseconds. The environment variable LATHE_LANDLOCK_ABI_MAX makes Landlock look older. */
void lt_jail_probe(lt_jail_walls *ret_walls);

/* LT_OK when `walls` are enough for `profile`; otherwise LT_E_UNSUPPORTED with a message that says which wall is
 * missing, what it protects, and how to go on without it. */
lt_status lt_jail_check(const lt_jail_walls *walls, lt_jail_profile profile, lt_err *err);

#endif
