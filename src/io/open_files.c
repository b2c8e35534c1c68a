#include "io/open_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/limits.h"

static char before[24]; /* set once by main, because it is a property of the process */

void lt_open_files_raise(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return;
  }
  rlim_t soft = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max < LT_OPEN_FILES_MAX ? limit.rlim_max : LT_OPEN_FILES_MAX;
  if (limit.rlim_cur > soft && setrlimit(RLIMIT_NOFILE, &limit) == 0) {
    snprintf(before, sizeof before, "%llu", (unsigned long long)soft);
  }
}

unsigned long long lt_open_files_now(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

const char *lt_open_files_before(void) {
  return before;
}

void lt_open_files_restore(const char *text) {
  char *end = NULL;
  struct rlimit limit;
  unsigned long long soft = strtoull(text, &end, 10);
  if (end == text || *end != '\0' || getrlimit(RLIMIT_NOFILE, &limit) != 0 || soft > limit.rlim_max) {
    return;
  }
  limit.rlim_cur = soft;
  (void)setrlimit(RLIMIT_NOFILE, &limit); /* a process may always lower its own limit */
}
