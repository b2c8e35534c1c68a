/* How tests see that nothing they have opened stays open. */
#ifndef LT_TESTS_OPEN_FILES_H
#define LT_TESTS_OPEN_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>

#include "io/loop.h"

/* Of this process; with "." and "..", and the folder that is read. */
static inline size_t count_fds(void) {
  size_t n = 0;
  DIR *dir = opendir("/proc/self/fd");
  assert_non_null(dir);
  while (readdir(dir) != NULL) {
    n++;
  }
  closedir(dir);
  return n;
}

/* Before the first test: libuv keeps a pipe for signals from the first loop on. */
static inline int warm_up(void **state) {
  (void)state;
  lt_loop *loop = NULL;
  if (lt_loop_new(&loop, NULL) != LT_OK) {
    return -1;
  }
  lt_loop_free(loop);
  return 0;
}

#endif
