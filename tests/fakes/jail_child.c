/* What stands behind the walls in test_jail.c: makes the system calls it is told to and exits with the last one's
 * errno.
 *
 *   jail_child NUMBER ARG... [, NUMBER ARG...]...    numbers; @TEXT is a string, & room for 256 zero bytes, % what the
 *                                                    call before returned, ! the own process id, ? the parent's
 *   jail_child wait                                  waits to be killed
 *   jail_child thread                                starts a thread and waits for it
 *   jail_child fork FILE STEPS...                    forks; the child installs the filter in FILE, then the steps
 *   jail_child old                                   a 32-bit system call of x86
 *
 * 250 and above: what is not the last call failed, or what was asked for makes no sense. It is compiled without
 * sanitizers, which want more of the system than any wall leaves.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "jail/jail.h"

static long argument(const char *text, long before) {
  static char room[6][256];
  static unsigned used;
  switch (*text) {
    case '@':
      return (long)(text + 1);
    case '&':
      return (long)room[used++ % 6];
    case '%':
      return before;
    case '!':
      return getpid();
    case '?':
      return getppid();
    default:
      return (long)strtoull(text, NULL, 0);
  }
}

static int steps(char **word) {
  long before = 0;
  while (*word != NULL) {
    long a[7] = {0};
    unsigned n = 0;
    for (; *word != NULL && strcmp(*word, ",") != 0 && n < 7; word++) {
      a[n++] = argument(*word, before);
    }
    before = syscall(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    if (before < 0) {
      return *word == NULL ? errno : 250;
    }
    word += *word != NULL;
  }
  return 0;
}

static void *nothing(void *with) {
  return with;
}

static int thread(void) {
  pthread_t id;
  int failed = pthread_create(&id, NULL, nothing, NULL);
  return failed != 0 ? failed : pthread_join(id, NULL);
}

static int second_stage(const char *file, char **word) {
  static struct sock_filter code[LT_JAIL_FILTER_MAX_BYTES / sizeof(struct sock_filter)];
  int fd = open(file, O_RDONLY);
  ssize_t n = read(fd, code, sizeof code);
  if (n <= 0) {
    return 251;
  }
  size_t count = (size_t)n / sizeof code[0];
  for (size_t i = 0; i < count; i++) {
    code[i].k = code[i].k == LT_JAIL_SELF_PID ? (uint32_t)getpid() : code[i].k;
  }
  struct sock_fprog program = {(unsigned short)count, code};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? steps(word) : 252;
}

static int forked(const char *file, char **word) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    _exit(second_stage(file, word));
  }
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 253;
}

static int old(void) {
#ifdef __x86_64__
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
  return result > 0 ? 0 : (int)-result;
#else
  return 0;
#endif
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "wait") == 0) {
    return pause();
  }
  if (strcmp(what, "thread") == 0) {
    return thread();
  }
  if (strcmp(what, "old") == 0) {
    return old();
  }
  if (strcmp(what, "fork") == 0 && argc > 3) {
    return forked(argv[2], argv + 3);
  }
  return argc > 1 ? steps(argv + 1) : 254;
}
