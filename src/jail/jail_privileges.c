#include "jail/jail_privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool jail_privileges_is_root(void) {
  return getuid() == 0 || geteuid() == 0;
}

bool lt_jail_can_drop(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = {{0}};
  const unsigned needed = 1U << CAP_SETUID | 1U << CAP_SETGID;
  return !jail_privileges_is_root() ||
         (syscall(SYS_capget, &header, caps) == 0 && (caps[0].effective & needed) == needed);
}

/* The bounding set limits what an exec could give back. no_new_privs prevents that already, so a failure does not
 * matter here. */
static void jail_privileges_drop_bounding_set(void) {
  for (unsigned long cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++) {
  }
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  (void)prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
}

static lt_status jail_privileges_drop_capabilities(lt_err *err) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
  if (syscall(SYS_capset, &header, none) != 0) {
    return lt_fail(err, LT_E_UNSUPPORTED, "cannot give up capabilities: %s", strerror(errno));
  }
  return LT_OK;
}

lt_status lt_jail_drop(uid_t uid, gid_t gid, lt_err *err) {
  jail_privileges_drop_bounding_set();
  if (jail_privileges_is_root()) {
    if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) {
      return lt_fail(err, LT_E_UNSUPPORTED, "cannot become user %u, group %u: %s", uid, gid, strerror(errno));
    }
    if (uid != 0 && setuid(0) == 0) {
      return lt_fail(err, LT_E_UNSUPPORTED, "became user %u, but could become root again", uid);
    }
  }
  return jail_privileges_drop_capabilities(err);
}

lt_status lt_jail_limit(int resource, const char *name, uint64_t value, lt_err *err) {
  struct rlimit limit;
  if (getrlimit((__rlimit_resource_t)resource, &limit) == 0) {
    rlim_t most = limit.rlim_max < value ? limit.rlim_max : value;
    limit = (struct rlimit){most, most};
    if (setrlimit((__rlimit_resource_t)resource, &limit) == 0) {
      return LT_OK;
    }
  }
  return lt_fail(err, LT_E_IO, "cannot limit %s: %s", name, strerror(errno));
}
