#include "bench/memory.h"

#include <stdio.h>
#include <string.h>

#include "bench/measure.h"

/* Kibibytes; -1: it cannot be read. */
static long memory_of(long pid, const char *field) {
  char path[64], line[256];
  long kib = -1, sum = -1;
  snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", pid);
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, field, strlen(field)) == 0 && sscanf(strchr(line, ':') + 1, "%ld", &kib) == 1) {
      sum = (sum < 0 ? 0 : sum) + kib;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return sum;
}

long lt_memory_child(long pid) {
  char path[64];
  long child = -1;
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", pid, pid);
  FILE *file = fopen(path, "r");
  if (file != NULL && fscanf(file, "%ld", &child) != 1) {
    child = -1;
  }
  if (file != NULL) {
    fclose(file);
  }
  return child;
}

void lt_memory_print(const char *what, long pid, const char *field) {
  long kib = memory_of(pid, field);
  if (kib < 0) {
    lt_measure_skip(what, "/proc does not tell");
  } else {
    lt_measure_print_one(what, LT_MEASURE_BYTES, (double)kib * 1024, 0);
  }
}
