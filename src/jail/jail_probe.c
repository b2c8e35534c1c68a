#include <stdlib.h>

#include "jail/jail_privileges.h"
#include "jail/jail_filter.h"
#include "jail/jail.h"
#include "jail/jail_landlock.h"

#define GO_ON "; to run programs without this wall, set `sandbox.requireWalls: false` in the configuration"

void lt_jail_probe(lt_jail_walls *ret_walls) {
  const char *most = getenv("LATHE_LANDLOCK_ABI_MAX");
  int abi = lt_jail_landlock_abi();
  long max = most != NULL && *most != '\0' ? strtol(most, NULL, 10) : abi;
  *ret_walls = (lt_jail_walls){
      .landlock_abi = max < abi ? (int)(max < 0 ? 0 : max) : abi,
      .seccomp = lt_jail_filter_works(),
      .drop = lt_jail_can_drop(),
  };
}

lt_status lt_jail_check(const lt_jail_walls *walls, lt_jail_profile profile, lt_err *err) {
  if (walls->landlock_abi < 1) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "this system has no Landlock, which keeps a program's hands off your files: Linux 5.13 or newer has "
                   "it where it is turned on (\"landlock\" in the kernel's parameter lsm=), and a container must allow "
                   "it" GO_ON);
  }
  if (!walls->seccomp) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "this system has no filters of system calls (seccomp), which keep a program from the network and "
                   "from other processes: the kernel or a container does not allow them" GO_ON);
  }
  if (!walls->drop) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "this is root without the right to become another user, and a program would be root, too: start "
                   "lathe as an ordinary user, or with the capabilities CAP_SETUID and CAP_SETGID" GO_ON);
  }
  if ((profile == LT_JAIL_DENO || profile == LT_JAIL_DENO_TCP) && !lt_jail_filter_asks()) {
    return lt_fail(
        err, LT_E_UNSUPPORTED,
        "this system's filters of system calls (seccomp) cannot ask about a call, so that nothing would keep "
        "a program from other connections than its own: Linux 5.9 or newer has it" GO_ON);
  }
  return LT_OK;
}
