#include "io/process_memory.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

typedef struct seen_process {
  int pid, parent;
  bool is_below; /* it is the root, or descends from it */
} seen_process;

/* The name of the command may have spaces and brackets: what follows counts from the last one. */
static bool process_memory_read_stat(const char *name, seen_process *ret) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%.16s/stat", name);
  FILE *file = fopen(path, "re");
  bool is_read = file != NULL && fgets(line, sizeof line, file) != NULL;
  if (file != NULL) {
    fclose(file);
  }
  const char *end = is_read ? strrchr(line, ')') : NULL;
  *ret = (seen_process){.pid = atoi(name)};
  return end != NULL && sscanf(end, ") %*c %d", &ret->parent) == 1;
}

static size_t process_memory_list(seen_process *all) {
  size_t count = 0;
  DIR *folder = opendir("/proc");
  for (struct dirent *entry; folder != NULL && count < LT_PROC_TREE_MAX && (entry = readdir(folder)) != NULL;) {
    count += isdigit((unsigned char)entry->d_name[0]) && process_memory_read_stat(entry->d_name, &all[count]);
  }
  if (folder != NULL) {
    closedir(folder);
  }
  return count;
}

/* A child may have a lower id than its parent, so one pass is not enough. */
static void process_memory_mark_tree(seen_process *all, size_t count, int root) {
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (size_t i = 0; i < count; i++) {
      for (size_t k = 0; k < count && !all[i].is_below; k++) {
        all[i].is_below = all[i].pid == root || (all[k].is_below && all[k].pid == all[i].parent);
        has_changed |= all[i].is_below;
      }
    }
  }
}

static uint64_t process_memory_of(int pid) {
  char path[64], line[256];
  unsigned long long kib = 0;
  snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
  FILE *file = fopen(path, "re");
  while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL) {
    (void)sscanf(line, "Pss: %llu kB", &kib);
  }
  if (file != NULL) {
    fclose(file);
  }
  return kib * LT_KIB;
}

uint64_t lt_process_memory_of_tree(int pid) {
  uint64_t bytes = 0;
  seen_process *all = lt_mem_zalloc(LT_PROC_TREE_MAX, sizeof *all);
  size_t count = all != NULL ? process_memory_list(all) : 0;
  process_memory_mark_tree(all, count, pid);
  for (size_t i = 0; i < count; i++) {
    bytes += all[i].is_below ? process_memory_of(all[i].pid) : 0;
  }
  lt_mem_free(all);
  return bytes;
}
