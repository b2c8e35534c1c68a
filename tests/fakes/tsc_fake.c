/* A compiler that goes wrong: how is in its own file's name, because it gets no environment. Built by
 * tests/flow/typecheck.test.mjs. */
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void try(const char *what, int is_done) {
  fprintf(stderr, "%s %s; ", what, is_done ? "YES" : "no");
}

static void look_outside(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(9)};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  try("read", open("/etc/passwd", O_RDONLY) >= 0);
  try("write", open("/tmp/lathe-tsc-fake", O_WRONLY | O_CREAT, 0600) >= 0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  try("net", fd >= 0);
  try("unix", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
  try("fork", fork() >= 0);
  exit(1);
}

static void fill_memory(void) {
  for (;;) {
    char *p = malloc(64 << 20);
    if (p == NULL) {
      fprintf(stderr, "no memory\n");
      exit(2);
    }
    memset(p, 1, 4096);
  }
}

int main(void) {
  char self[4096] = {0};
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
    return 3;
  }
  if (strstr(self, "garbage") != NULL) {
    printf("hello\nworld\n\n");
    fflush(stdout);
  } else if (strstr(self, "long") != NULL) {
    printf("Content-Length: 99999999999\r\n\r\n");
    fflush(stdout);
  } else if (strstr(self, "crash") != NULL) {
    raise(SIGSEGV);
  } else if (strstr(self, "memory") != NULL) {
    fill_memory();
  } else if (strstr(self, "outside") != NULL) {
    look_outside();
  }
  for (;;) {
    pause();
  }
}
