#include "io/service_manager.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

/* "If the socket address starts with "@", it is an abstract socket": its first byte is 0. */
void lt_service_manager_tell(const char *state) {
  const char *path = getenv("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t n = path != NULL ? strlen(path) : 0;
  if (n < 2 || n >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
    return;
  }
  memcpy(address.sun_path, path, n);
  address.sun_path[0] = path[0] == '@' ? '\0' : '/';
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0) {
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
  }
}

void lt_service_manager_tell_reload(void) {
  char state[64];
  snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)lt_clock_monotonic_us());
  lt_service_manager_tell(state);
}

uint64_t lt_service_manager_watchdog_ms(void) {
  const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
  if (usec == NULL || (pid != NULL && strtoll(pid, NULL, 10) != getpid())) {
    return 0;
  }
  return strtoull(usec, NULL, 10) / 2000;
}
