#include "io/exec.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "io/open_files.h"

int lt_exec_main(int argc, char **argv) {
  if (argc < 5) {
    dprintf(STDERR_FILENO, "usage: __exec PARENT_PID OPEN_FILES FILE ARGV0 [ARG...] (for internal use)\n");
    return 127;
  }
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    dprintf(STDERR_FILENO, "cannot start \"%s\": prctl: %s\n", argv[3], strerror(errno));
    return 127;
  }
  if (getppid() != (pid_t)strtol(argv[1], NULL, 10)) {
    return 126;
  }
  lt_open_files_restore(argv[2]);
  execvp(argv[3], argv + 4); /* has a slash: no search, but scripts without a first line go to the shell as usual */
  dprintf(STDERR_FILENO, "cannot start \"%s\": %s\n", argv[3], strerror(errno));
  return 127;
}
