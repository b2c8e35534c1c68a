#include "io/process_self.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"

/* The number that follows a word in a file of /proc; 0: the word is not there. */
static uint64_t process_self_number(const char *path, const char *word) {
  LT_AUTO_BUF(text, LT_PROC_FILE_BYTES);
  (void)lt_file_read(path, &text, NULL);
  const char *at = text.n > 0 ? strstr(text.p, word) : NULL;
  return at != NULL ? strtoull(at + strlen(word), NULL, 10) : 0;
}

/* proc(5), /proc/pid/stat: the name of the program, in brackets, may hold anything. Field 22 is its start in ticks
 * since the system's. */
static double process_self_start_time(void) {
  LT_AUTO_BUF(text, LT_PROC_FILE_BYTES);
  (void)lt_file_read("/proc/self/stat", &text, NULL);
  const char *at = text.n > 0 ? strrchr(text.p, ')') : NULL;
  for (int field = 2; at != NULL && field < 22; field++) {
    at = strchr(at + 1, ' ');
  }
  double ticks = at != NULL ? strtod(at, NULL) : 0;
  return at != NULL ? (double)process_self_number("/proc/stat", "btime ") + ticks / (double)sysconf(_SC_CLK_TCK) : 0;
}

static uint64_t process_self_count_files(void) {
  uint64_t count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (folder != NULL && readdir(folder) != NULL) {
    count++;
  }
  if (folder != NULL) {
    closedir(folder);
  }
  return count > 3 ? count - 3 : 0; /* ".", "..", and the folder itself */
}

static double process_self_seconds(struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void lt_process_self_read(lt_process_self *ret) {
  struct rusage usage;
  struct rlimit files;
  *ret = (lt_process_self){
      .start_time = process_self_start_time(),
      .resident_bytes = process_self_number("/proc/self/status", "VmRSS:") * LT_KIB,
      .threads = process_self_number("/proc/self/status", "Threads:"),
      .open_files = process_self_count_files(),
  };
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    ret->cpu_seconds = process_self_seconds(usage.ru_utime) + process_self_seconds(usage.ru_stime);
  }
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) {
    ret->open_files_max = files.rlim_cur;
  }
}
