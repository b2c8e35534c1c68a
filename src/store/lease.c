#include "store/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
 * 22nd the start. The file of the first thread says the same, and qemu-user does not put one of its own in its place:
 * there, the start differs from thread to thread, and from what other processes read. */
static lease_process lease_find_process(long pid) {
  char path[64], text[1024];
  lease_process p = {0};
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", pid, pid);
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

/* namespaces(7): the link reads "pid:[4026531836]". 0: unknown. */
static unsigned long long lease_read_namespace(void) {
  char link[64];
  ssize_t n = readlink("/proc/self/ns/pid", link, sizeof link - 1);
  link[n > 0 ? n : 0] = '\0';
  const char *number = strchr(link, '[');
  return number != NULL ? strtoull(number + 1, NULL, 10) : 0;
}

#define HOST_BYTES 24 /* the text of an owner has no room for a long name */

static void lease_read_host(char host[HOST_BYTES]) {
  char name[256] = "";
  (void)gethostname(name, sizeof name - 1);
  snprintf(host, HOST_BYTES, "%.*s", HOST_BYTES - 1, name[0] != '\0' ? name : "?");
  for (char *c = host; *c != '\0'; c++) {
    bool is_plain =
        (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-' || *c == '.';
    *c = is_plain ? *c : '_';
  }
}

static lt_status lease_read_own(long pid, char ret_owner[LT_LEASE_BYTES], lt_err *err) {
  char boot[40], host[HOST_BYTES];
  lease_process self = lease_find_process(pid);
  if (!self.known || !lease_read_boot(boot, sizeof boot)) {
    return lt_fail(err, LT_E_IO, "what this process is cannot be read from /proc: it must be mounted");
  }
  lease_read_host(host);
  snprintf(ret_owner, LT_LEASE_BYTES, "%ld %llu %s %llu %s", pid, self.start_ticks, boot, lease_read_namespace(), host);
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

/* The parts of an owner's text. */
typedef struct lease_owner {
  long pid;
  unsigned long long start_ticks;
  char boot[64];
  unsigned long long namespace; /* 0: an older Lathe's, or unknown */
  char host[64];                /* may be empty */
} lease_owner;

/* False: it is no such text. */
static bool lease_parse(lt_str text, lease_owner *ret_owner) {
  char copy[LT_LEASE_BYTES];
  *ret_owner = (lease_owner){0};
  if (text.n >= sizeof copy) {
    return false;
  }
  memcpy(copy, text.n > 0 ? text.p : "", text.n);
  copy[text.n] = '\0';
  int parts = sscanf(copy, "%ld %llu %63s %llu %63s", &ret_owner->pid, &ret_owner->start_ticks, ret_owner->boot,
                     &ret_owner->namespace, ret_owner->host);
  return parts >= 3 && ret_owner->pid > 0;
}

/* Whether the pid means something to this process. */
static bool lease_is_near(const lease_owner *owner, const char *boot) {
  return strcmp(owner->boot, boot) == 0 && (owner->namespace == 0 || owner->namespace == lease_read_namespace());
}

lt_lease_state lt_lease_state_of(lt_str text) {
  lease_owner owner;
  char boot[64];
  if (!lease_parse(text, &owner) || !lease_read_boot(boot, sizeof boot)) {
    return LT_LEASE_GONE;
  }
  if (!lease_is_near(&owner, boot)) {
    return owner.namespace != 0 ? LT_LEASE_ELSEWHERE : LT_LEASE_GONE;
  }
  lease_process p = lease_find_process(owner.pid);
  if (p.known) {
    return !p.ended && p.start_ticks == owner.start_ticks ? LT_LEASE_LIVES : LT_LEASE_GONE;
  }
  bool is_hidden = kill((pid_t)owner.pid, 0) == 0 || errno == EPERM; /* /proc may hide other users' processes */
  return is_hidden ? LT_LEASE_LIVES : LT_LEASE_GONE;
}

void lt_lease_put_name(lt_str text, lt_buf *out) {
  lease_owner owner;
  char boot[64] = "";
  if (!lease_parse(text, &owner)) {
    return;
  }
  lt_buf_printf(out, "%ld", owner.pid);
  if (lease_read_boot(boot, sizeof boot) && !lease_is_near(&owner, boot) && owner.host[0] != '\0') {
    lt_buf_printf(out, " on %s", owner.host);
  }
}
