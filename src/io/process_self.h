/* What this process uses of the system. Reads /proc, and blocks the thread: call it by lt_loop_offload. */
#ifndef LT_IO_PROCESS_SELF_H
#define LT_IO_PROCESS_SELF_H

#include <stdint.h>

/* 0 where /proc does not say it. */
typedef struct lt_process_self {
  double cpu_seconds; /* of all threads, in user and system mode */
  double start_time;  /* seconds since 1970 */
  uint64_t resident_bytes;
  uint64_t threads;
  uint64_t open_files;
  uint64_t open_files_max; /* 0: no limit */
} lt_process_self;

void lt_process_self_read(lt_process_self *ret);

#endif
