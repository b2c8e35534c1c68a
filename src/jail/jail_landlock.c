#include "jail/jail_landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Debian 12's <linux/landlock.h> ends at ABI 2. These are the newer kernel's values. */
#define FS_EXECUTE     (1ULL << 0)
#define FS_WRITE_FILE  (1ULL << 1)
#define FS_READ_FILE   (1ULL << 2)
#define FS_READ_DIR    (1ULL << 3)
#define FS_REMOVE_DIR  (1ULL << 4)
#define FS_REMOVE_FILE (1ULL << 5)
#define FS_MAKE_DIR    (1ULL << 7)
#define FS_MAKE_REG    (1ULL << 8)
#define FS_MAKE_FIFO   (1ULL << 10)
#define FS_MAKE_SYM    (1ULL << 12)
#define FS_REFER       (1ULL << 13) /* ABI 2 */
#define FS_TRUNCATE    (1ULL << 14) /* ABI 3 */
#define FS_IOCTL_DEV   (1ULL << 15) /* ABI 5 */
#define FS_FIRST       ((1ULL << 13) - 1)
#define FS_OF_FILES    (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define NET_BOTH       3ULL /* ABI 4: bind and connect */
#define SCOPE_BOTH     3ULL /* ABI 6: abstract sockets and signals */

#define ASK_VERSION 1U
#define BENEATH     1

struct ruleset {
  uint64_t fs;
  uint64_t net;
  uint64_t scoped;
};

struct beneath {
  uint64_t allowed;
  int32_t fd;
} __attribute__((packed));

static const uint64_t rights[] = {
    [LT_JAIL_READ] = FS_READ_FILE | FS_READ_DIR,
    [LT_JAIL_RUN] = FS_READ_FILE | FS_EXECUTE,
    [LT_JAIL_DEVICE] = FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE,
    [LT_JAIL_WRITE] = FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR |
                      FS_MAKE_REG | FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER | FS_TRUNCATE,
};

int lt_jail_landlock_abi(void) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, ASK_VERSION);
  return abi > 0 ? (int)abi : 0;
}

static uint64_t jail_landlock_handled(int abi) {
  return FS_FIRST | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL_DEV : 0);
}

lt_status lt_jail_landlock_open(int abi, int *ret_fd, lt_err *err) {
  struct ruleset set = {jail_landlock_handled(abi), abi >= 4 ? NET_BOTH : 0, abi >= 6 ? SCOPE_BOTH : 0};
  size_t size = abi >= 6 ? sizeof set : abi >= 4 ? offsetof(struct ruleset, scoped) : offsetof(struct ruleset, net);
  long fd = syscall(SYS_landlock_create_ruleset, &set, size, 0U);
  if (fd < 0) {
    return lt_fail(err, LT_E_UNSUPPORTED, "Landlock cannot be had: %s", strerror(errno));
  }
  *ret_fd = (int)fd;
  return LT_OK;
}

lt_status lt_jail_landlock_path(int fd, int abi, const char *path, lt_jail_right right, lt_err *err) {
  struct stat st;
  struct beneath rule = {rights[right] & jail_landlock_handled(abi), open(path, O_PATH | O_CLOEXEC)};
  if (rule.fd < 0) {
    lt_status status = errno == ENOENT || errno == ENOTDIR ? LT_E_NOTFOUND : LT_E_IO;
    return lt_fail(err, status, "cannot open \"%s\" to allow its use: %s", path, strerror(errno));
  }
  if (fstat(rule.fd, &st) != 0 || !S_ISDIR(st.st_mode)) {
    rule.allowed &= FS_OF_FILES;
  }
  long failed = syscall(SYS_landlock_add_rule, fd, BENEATH, &rule, 0U);
  int why = errno;
  close(rule.fd);
  if (failed != 0) {
    return lt_fail(err, LT_E_IO, "cannot allow the use of \"%s\": %s", path, strerror(why));
  }
  return LT_OK;
}

lt_status lt_jail_landlock_enter(int fd, lt_err *err) {
  if (syscall(SYS_landlock_restrict_self, fd, 0U) != 0) {
    return lt_fail(err, LT_E_UNSUPPORTED, "Landlock cannot be had: %s", strerror(errno));
  }
  return LT_OK;
}
