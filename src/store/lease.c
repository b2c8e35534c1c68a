#include "store/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- Processes ---------------------------------------------------------------------------------------------------- */

/* Reads the beginning of a file, and adds a NUL. False: the file cannot be read. */
static bool lease_read_start(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  ssize_t n;
  do {
    n = read(fd, text, room - 1);
  } while (n < 0 && errno == EINTR);
  close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n > 0;
}

typedef struct lease_process {
  bool known; /* /proc shows it */
  bool ended; /* nobody has waited for it yet */
  unsigned long long start_ticks;
} lease_process;

/* proc(5), /proc/pid/stat: the second field is a name in parentheses with any bytes in it, the third the state, the
 * 22nd the start. */
static lease_process lease_find_process(long pid) {
  char path[64], text[1024];
  lease_process p = {0};
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  const char *at = lease_read_start(path, text, sizeof text) ? strrchr(text, ')') : NULL;
  if (at == NULL || at[1] != ' ') {
    return p;
  }
  at += 2;
  p.ended = *at == 'Z' || *at == 'X';
  for (int field = 3; field < 22 && at != NULL; field++) {
    at = strchr(at, ' ');
    at = at != NULL ? at + 1 : NULL;
  }
  p.known = at != NULL;
  p.start_ticks = at != NULL ? strtoull(at, NULL, 10) : 0;
  return p;
}

static bool lease_read_boot(char *boot, size_t room) {
  if (!lease_read_start("/proc/sys/kernel/random/boot_id", boot, room)) {
    return false;
  }
  boot[strcspn(boot, "\n")] = '\0';
  return true;
}

static lt_status lease_read_own(long pid, char ret_owner[LT_LEASE_BYTES], lt_err *err) {
  char boot[64];
  lease_process self = lease_find_process(pid);
  if (!self.known || !lease_read_boot(boot, sizeof boot)) {
    return lt_fail(err, LT_E_IO, "what this process is cannot be read from /proc: it must be mounted");
  }
  snprintf(ret_owner, LT_LEASE_BYTES, "%ld %llu %s", pid, self.start_ticks, boot);
  return LT_OK;
}

/* The text is made once per process; a child makes its own. */
lt_status lt_lease_own(char ret_owner[LT_LEASE_BYTES], lt_err *err) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char own[LT_LEASE_BYTES];
  static long own_pid = 0;
  long pid = (long)getpid();
  pthread_mutex_lock(&lock);
  lt_status status = own_pid == pid ? LT_OK : lease_read_own(pid, own, err);
  own_pid = status == LT_OK ? pid : 0;
  memcpy(ret_owner, own, status == LT_OK ? sizeof own : 0);
  pthread_mutex_unlock(&lock);
  return status;
}

/* Reads the parts of an owner's text. False: it is no such text. */
static bool lease_parse(lt_str owner, long *ret_pid, unsigned long long *ret_ticks, char boot[64]) {
  char text[LT_LEASE_BYTES];
  if (owner.n >= sizeof text) {
    return false;
  }
  memcpy(text, owner.n > 0 ? owner.p : "", owner.n);
  text[owner.n] = '\0';
  return sscanf(text, "%ld %llu %63s", ret_pid, ret_ticks, boot) == 3 && *ret_pid > 0;
}

bool lt_lease_lives(lt_str owner) {
  long pid = 0;
  unsigned long long ticks = 0;
  char boot[64], now[64];
  if (!lease_parse(owner, &pid, &ticks, boot) || !lease_read_boot(now, sizeof now) || strcmp(boot, now) != 0) {
    return false;
  }
  lease_process p = lease_find_process(pid);
  if (p.known) {
    return !p.ended && p.start_ticks == ticks;
  }
  return kill((pid_t)pid, 0) == 0 || errno == EPERM; /* /proc may hide the processes of other users */
}

long lt_lease_pid(lt_str owner) {
  long pid = 0;
  unsigned long long ticks = 0;
  char boot[64];
  return lease_parse(owner, &pid, &ticks, boot) ? pid : 0;
}
