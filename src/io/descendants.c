#include "io/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The parent of a process, or 0: "PID (NAME) STATE PPID ..."; the name may have any characters. */
static pid_t descendants_parent_of(const char *pid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) {
    close(fd);
  }
  text[n > 0 ? n : 0] = '\0';
  const char *end = strrchr(text, ')');
  return end != NULL && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

/* Kernels without CONFIG_PROC_CHILDREN. */
static void descendants_kill_by_scan(void) {
  DIR *proc = opendir("/proc");
  if (proc == NULL) {
    return;
  }
  for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (pid > 0 && descendants_parent_of(entry->d_name) == getpid()) {
      (void)kill(pid, SIGKILL);
    }
  }
  closedir(proc);
}

/* Kills the direct children. Then their children become children of this process. */
static void descendants_kill_children(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *children = fopen(path, "re");
  if (children == NULL) {
    descendants_kill_by_scan();
    return;
  }
  for (int pid; fscanf(children, "%d", &pid) == 1;) {
    (void)kill(pid, SIGKILL);
  }
  fclose(children);
}

static uint64_t descendants_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void lt_descendants_kill(uint64_t timeout_ms) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  uint64_t until_ms = descendants_now_ms() + timeout_ms;
  while (descendants_now_ms() < until_ms) {
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) {
      return;
    }
    descendants_kill_children();
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    (void)sigtimedwait(&child, NULL, &pause);
  }
}
