#include "runner/thread_limit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

/* `0.05 0.10 0.09 2/345 6789`: 345 threads exist. 0: unknown. */
static unsigned long thread_limit_count(void) {
  char text[128] = "";
  int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
  if (fd >= 0) {
    close(fd);
  }
  text[n > 0 ? n : 0] = '\0';
  const char *slash = strchr(text, '/');
  return slash != NULL ? strtoul(slash + 1, NULL, 10) : 0;
}

uint64_t lt_thread_limit(void) {
  unsigned long now = thread_limit_count();
  return (now > 0 ? now : LT_RUN_THREADS_UNKNOWN) + LT_RUN_THREADS_MAX;
}
