#include "io/exec.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int lt_exec_main(int argc, char **argv) {
  if (argc < 4) {
    dprintf(STDERR_FILENO, "usage: __exec PARENT_PID FILE ARGV0 [ARG...] (for internal use)\n");
    return 127;
  }
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    dprintf(STDERR_FILENO, "cannot start \"%s\": prctl: %s\n", argv[2], strerror(errno));
    return 127;
  }
  if (getppid() != (pid_t)strtol(argv[1], NULL, 10)) {
    return 126;
  }
  execvp(argv[2], argv + 3); /* has a slash: no search, but scripts without a first line go to the shell as usual */
  dprintf(STDERR_FILENO, "cannot start \"%s\": %s\n", argv[2], strerror(errno));
  return 127;
}
