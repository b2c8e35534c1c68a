#include "bench/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/measure.h"

long lt_memory_kib(long pid, const char *field) {
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

double lt_memory_cpu(long pid) {
  clockid_t clock;
  struct timespec t = {0};
  if (clock_getcpuclockid((pid_t)pid, &clock) == 0) {
    clock_gettime(clock, &t);
  }
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long memory_thread_switches(long pid, const char *thread) {
  char path[300], line[256];
  long count = 0;
  snprintf(path, sizeof path, "/proc/%ld/task/%s/status", pid, thread);
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    (void)sscanf(line, "voluntary_ctxt_switches: %ld", &count);
  }
  if (file != NULL) {
    fclose(file);
  }
  return count;
}

long lt_memory_switches(long pid) {
  char path[64];
  long sum = 0;
  snprintf(path, sizeof path, "/proc/%ld/task", pid);
  DIR *threads = opendir(path);
  for (struct dirent *one; threads != NULL && (one = readdir(threads)) != NULL;) {
    sum += one->d_name[0] != '.' ? memory_thread_switches(pid, one->d_name) : 0;
  }
  if (threads != NULL) {
    closedir(threads);
  }
  return sum;
}

void lt_memory_print(const char *what, long pid, const char *field) {
  long kib = lt_memory_kib(pid, field);
  if (kib < 0) {
    lt_measure_skip(what, "/proc does not tell");
  } else {
    lt_measure_print_one(what, LT_MEASURE_BYTES, (double)kib * 1024, 0);
  }
}
