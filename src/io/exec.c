#include "io/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "io/descendants.h"
#include "io/open_files.h"

/* --- The command -------------------------------------------------------------------------------------------------- */

/* Runs in the command's process, which becomes FILE. It gets its own session, so that it may signal its group as usual.
 */
static void exec_become(char **argv, const sigset_t *signals, pid_t keeper) {
  setsid();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == keeper) {
    sigprocmask(SIG_SETMASK, signals, NULL);
    lt_open_files_restore(argv[2]);
    execvp(argv[3], argv + 4); /* the path has a slash, so there is no search; execvp gives scripts without a first line
                                  to the shell */
    dprintf(STDERR_FILENO, "cannot start \"%s\": %s\n", argv[3], strerror(errno));
  }
  _exit(127);
}

/* --- The keeper --------------------------------------------------------------------------------------------------- */

/* The command's pipes must end with the command. */
static void exec_drop_streams(void) {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (null < 0 || dup2(null, fd) < 0) {
      close(fd);
    }
  }
}

/* Reaps processes that have ended. True: the command was one of them. Then the rest of its group is killed before the
 * group's number is free. */
static bool exec_reap(pid_t command, int *ret_how) {
  siginfo_t ended;
  for (;;) {
    ended.si_pid = 0;
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) {
      return false;
    }
    if (ended.si_pid == command) {
      (void)kill(-command, SIGKILL);
    }
    int how = 0;
    if (waitpid(ended.si_pid, &how, WNOHANG) == command) {
      *ret_how = how;
      return true;
    }
  }
}

/* Signals the command's group. Signals only the command when it has no group yet, or has left it. */
static void exec_signal(pid_t command, int signum) {
  if (kill(-command, signum) != 0) {
    (void)kill(command, signum);
  }
}

/* Passes signals on until the command has ended. True: it ended by itself, without a request. */
static bool exec_keep(pid_t command, const sigset_t *all, int *ret_how) {
  bool is_asked = false;
  while (!exec_reap(command, ret_how)) {
    int signum = sigwaitinfo(all, NULL);
    if (signum == LT_EXEC_END_SIGNAL) {
      is_asked = true;
      exec_signal(command, SIGKILL);
    } else if (signum > 0 && signum != SIGCHLD) {
      is_asked = is_asked || signum == SIGTERM;
      exec_signal(command, signum);
    }
  }
  return !is_asked;
}

/* Ends in the same way as the command, so that the parent process sees it. */
static int exec_end_as(int how) {
  if (!WIFSIGNALED(how)) {
    return WEXITSTATUS(how);
  }
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, WTERMSIG(how));
  prctl(PR_SET_DUMPABLE, 0); /* one core dump is enough */
  signal(WTERMSIG(how), SIG_DFL);
  (void)kill(getpid(), WTERMSIG(how));
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  return 128 + WTERMSIG(how);
}

/* A user-mode emulator (qemu) refuses subreapers with EINVAL, the kernel never does. */
static bool exec_adopt_orphans(void) {
  return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 || errno == EINVAL;
}

int lt_exec_main(int argc, char **argv) {
  sigset_t all, before;
  if (argc < 5) {
    dprintf(STDERR_FILENO, "usage: " LT_EXEC_WORD " PARENT_PID OPEN_FILES FILE ARGV0 [ARG...] (for internal use)\n");
    return 127;
  }
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  if (prctl(PR_SET_PDEATHSIG, LT_EXEC_END_SIGNAL) != 0 || !exec_adopt_orphans()) {
    dprintf(STDERR_FILENO, "cannot start \"%s\": prctl: %s\n", argv[3], strerror(errno));
    return 127;
  }
  if (getppid() != (pid_t)strtol(argv[1], NULL, 10)) {
    return 126;
  }
  pid_t keeper = getpid(), command = fork();
  if (command == 0) {
    exec_become(argv, &before, keeper);
  } else if (command < 0) {
    dprintf(STDERR_FILENO, "cannot start \"%s\": %s\n", argv[3], strerror(errno));
    return 127;
  }
  exec_drop_streams();
  int how = 0;
  if (!exec_keep(command, &all, &how)) {
    lt_descendants_kill(LT_PROC_GIVE_UP_MS / 2);
  }
  _exit(exec_end_as(how));
}
