#include "bench/peer.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "bench/measure.h"

extern char **environ;

/* Of a program's name. */
enum { NAME_BYTES = 64 };

/* --- One that answers --------------------------------------------------------------------------------------------- */
/* posix_spawn wants char *const[] and changes nothing. */
static int spawn(pid_t *ret_pid, const posix_spawn_file_actions_t *actions, const char *const *argv) {
  char **args;
  memcpy(&args, &argv, sizeof args);
  return posix_spawnp(ret_pid, argv[0], actions, NULL, args, environ);
}

static bool spawn_with_pipes(lt_peer *peer, const char *const *argv, const int in[2], const int out[2]) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  int rc = spawn(&peer->pid, &actions, argv);
  posix_spawn_file_actions_destroy(&actions);
  return rc == 0;
}

bool lt_peer_start(lt_peer *peer, const char *const *argv) {
  int in[2];
  int out[2];
  *peer = (lt_peer){0};
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    return false;
  }
  bool started = spawn_with_pipes(peer, argv, in, out);
  close(in[0]);
  close(out[1]);
  peer->to = fdopen(in[1], "w");
  peer->from = fdopen(out[0], "r");
  return started && peer->to != NULL && peer->from != NULL;
}

bool lt_peer_open(lt_peer *peer, const char *script) {
  char path[LT_PROC_PATH_MAX_BYTES];
  snprintf(path, sizeof path, "%s/peers/%s", LT_BENCH_DIR, script);
  const char *node = lt_peer_find("LATHE_BENCH_NODE", "node");
  return node != NULL && lt_peer_start(peer, (const char *const[]){node, path, NULL});
}

void lt_peer_close(lt_peer *peer) {
  if (peer->to != NULL) {
    fclose(peer->to);
  }
  if (peer->from != NULL) {
    fclose(peer->from);
  }
  if (peer->pid > 0) {
    waitpid(peer->pid, NULL, 0);
  }
}

bool lt_peer_ask(lt_peer *peer, const char *line, char *ret_answer, size_t room) {
  fputs(line, peer->to);
  fputc('\n', peer->to);
  if (fflush(peer->to) != 0 || fgets(ret_answer, (int)room, peer->from) == NULL) {
    return false;
  }
  ret_answer[strcspn(ret_answer, "\n")] = '\0';
  return true;
}

/* --- One that runs and ends --------------------------------------------------------------------------------------- */
int lt_peer_run(const char *const *argv, double *ret_ns) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid;
  int status = -1;
  double start = lt_measure_now();
  int rc = spawn(&pid, &actions, argv);
  if (rc == 0) {
    waitpid(pid, &status, 0);
  }
  *ret_ns = lt_measure_now() - start;
  posix_spawn_file_actions_destroy(&actions);
  return rc == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_in_path(const char *name) {
  char file[LT_PROC_PATH_MAX_BYTES];
  const char *path = getenv("PATH");
  while (path != NULL && *path != '\0') {
    size_t n = strcspn(path, ":");
    snprintf(file, sizeof file, "%.*s/%s", (int)n, path, name);
    if (access(file, X_OK) == 0) {
      return true;
    }
    path += n + (path[n] == ':');
  }
  return false;
}

const char *lt_peer_find(const char *variable, const char *name) {
  const char *given = getenv(variable);
  return given != NULL && given[0] != '\0' ? given : is_in_path(name) ? name : NULL;
}

const char *lt_peer_find_beside(const char *name) {
  static char path[LT_PROC_PATH_MAX_BYTES + NAME_BYTES];
  ssize_t n = readlink("/proc/self/exe", path, LT_PROC_PATH_MAX_BYTES);
  path[n > 0 ? n : 0] = '\0';
  char *slash = strrchr(path, '/');
  snprintf(slash != NULL ? slash + 1 : path, NAME_BYTES, "%s", name);
  return path;
}

const char *lt_peer_find_lathe(void) {
  const char *given = getenv("LATHE");
  return given != NULL && given[0] != '\0' ? given : lt_peer_find_beside("lathe");
}
