#include "runner/npm_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/command_path.h"

#define UP_MAX 4 /* folders above Lathe's program that are searched for node_modules */

static bool npm_program_is_program(const char *path) {
  char head[4] = {0};
  FILE *file = access(path, X_OK) == 0 ? fopen(path, "re") : NULL;
  if (file == NULL) {
    return false;
  }
  size_t n = fread(head, 1, sizeof head, file);
  fclose(file);
  return n == sizeof head && memcmp(head, "\177ELF", 4) == 0;
}

/* Removes the last `count` parts of the path. */
static bool npm_program_go_up(char *path, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
      return false;
    }
    *slash = '\0';
  }
  return true;
}

/* Finds the real program: `path` itself, or the program that the script `path` starts. NULL: neither. Owns: the caller,
 * lt_mem_free. */
static char *npm_program_resolve(const char *path, const lt_npm_place *places, size_t count) {
  char real[LT_PROC_PATH_MAX_BYTES + 1], base[LT_PROC_PATH_MAX_BYTES + 1], below[2 * LT_PROC_PATH_MAX_BYTES];
  _Static_assert(sizeof real >= 4096, "realpath's PATH_MAX");
  if (realpath(path, real) == NULL) {
    return NULL;
  }
  if (npm_program_is_program(real)) {
    return lt_mem_strdup(lt_str_of(real));
  }
  for (size_t i = 0; i < count; i++) {
    memcpy(base, real, sizeof base);
    if (!npm_program_go_up(base, places[i].up)) {
      continue;
    }
    snprintf(below, sizeof below, "%s/%s", base, places[i].below);
    if (npm_program_is_program(below)) {
      return lt_mem_strdup(lt_str_of(below));
    }
  }
  return NULL;
}

static char *npm_program_in_path(const char *command, const lt_npm_place *places, size_t count) {
  LT_AUTO_BUF(path, LT_PROC_PATH_MAX_BYTES - 1);
  char *found = NULL;
  if (lt_command_find(command, NULL, NULL, &path, NULL) == LT_OK) {
    found = npm_program_resolve(path.p, places, count);
  }
  return found;
}

static char *npm_program_beside_program(const char *name, const lt_npm_place *places, size_t count) {
  char own[LT_PROC_PATH_MAX_BYTES + 1], path[LT_PROC_PATH_MAX_BYTES + 64];
  ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
  own[n > 0 ? n : 0] = '\0';
  char *found = NULL;
  for (unsigned i = 0; i < UP_MAX && found == NULL && npm_program_go_up(own, 1); i++) {
    snprintf(path, sizeof path, "%s/node_modules/.bin/%s", own, name);
    found = npm_program_resolve(path, places, count);
  }
  return found;
}

char *lt_npm_program_find(const char *configured, const char *name, const lt_npm_place *places, size_t count) {
  if (configured != NULL) {
    return npm_program_in_path(configured, places, count);
  }
  char *found = npm_program_in_path(name, places, count);
  return found != NULL ? found : npm_program_beside_program(name, places, count);
}
