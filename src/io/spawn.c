#include "io/spawn.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/environ.h"

/* --- Starting ----------------------------------------------------------------------------------------------------- */
static int spawn_set_files(posix_spawn_file_actions_t *actions, const lt_spawn_options *options) {
  int failed = options->cwd != NULL ? posix_spawn_file_actions_addchdir_np(actions, options->cwd) : 0;
  for (int fd = 0; fd < 3 && failed == 0; fd++) {
    failed = posix_spawn_file_actions_adddup2(actions, options->fds[fd], fd);
  }
  return failed != 0 ? failed : posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

static void spawn_set_signals(posix_spawnattr_t *attributes) {
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(attributes, &signals);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn_start(const lt_spawn_options *options, pid_t *ret_pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  spawn_set_signals(&attributes);
  int failed = spawn_set_files(&actions, options);
  if (failed == 0) {
    failed = posix_spawn(ret_pid, options->path, &actions, &attributes, options->argv,
                         options->env != NULL ? options->env : lt_environ_view());
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

int lt_spawn(const lt_spawn_options *options, pid_t *ret_pid, int *ret_pidfd) {
  pid_t pid;
  int failed = spawn_start(options, &pid);
  if (failed != 0) {
    return failed;
  }
  *ret_pid = pid;
  *ret_pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* not inherited by an exec */
  if (*ret_pidfd >= 0 || errno == ESRCH) {
    return 0;
  }
  failed = errno;
  lt_spawn_undo(pid, -1);
  return failed;
}

void lt_spawn_undo(pid_t pid, int pidfd) {
  (void)kill(-pid, SIGKILL);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
  }
  if (pidfd >= 0) {
    close(pidfd);
  }
}

/* --- Its end ------------------------------------------------------------------------------------------------------ */
lt_spawn_state lt_spawn_reap(pid_t pid, int *ret_how) {
  siginfo_t ended = {.si_pid = 0};
  bool is_ours = waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (is_ours && ended.si_pid == 0) {
    return LT_SPAWN_RUNS;
  }
  (void)kill(-pid, SIGKILL); /* ESRCH: the group is empty */
  return is_ours && waitpid(pid, ret_how, WNOHANG) == pid ? LT_SPAWN_ENDED : LT_SPAWN_ENDED_SOMEHOW;
}
