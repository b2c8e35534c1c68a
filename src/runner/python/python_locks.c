#include "runner/python/python_locks.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"

/* `1: POSIX  ADVISORY  READ 1234 08:01:56 0 EOF`, with `->` before the kind when it waits for another one. */
static bool python_locks_is_of(const char *line, pid_t pid) {
  const char *kind = strstr(line, ": -> ");
  int owner = 0;
  line = kind != NULL ? kind + 5 : strchr(line, ' ');
  return line != NULL && sscanf(line, "%*s %*s %*s %d", &owner) == 1 && owner == pid;
}

bool lt_python_locks_are_too_many(pid_t pid) {
  FILE *locks = fopen("/proc/locks", "re");
  unsigned count = 0;
  char line[256];
  while (locks != NULL && count <= LT_PYTHON_LOCKS_MAX && fgets(line, sizeof line, locks) != NULL) {
    count += python_locks_is_of(line, pid);
  }
  if (locks != NULL) {
    fclose(locks);
  }
  return count > LT_PYTHON_LOCKS_MAX;
}
