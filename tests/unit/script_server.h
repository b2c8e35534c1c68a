/* A process of the fake model that says what a script tells it to (tests/fakes/script_model.mjs). */
#ifndef LT_TESTS_SCRIPT_SERVER_H
#define LT_TESTS_SCRIPT_SERVER_H

#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct {
  pid_t pid;
  int hold; /* its input: it ends with it */
  int port;
  char folder[64];
} server;

static inline int setup_server(void **state) {
  (void)state;
  int in[2], out[2];
  strcpy(server.folder, "/tmp/lathe-agent-XXXXXX");
  assert_non_null(mkdtemp(server.folder));
  assert_int_equal(pipe(in), 0);
  assert_int_equal(pipe(out), 0);
  server.pid = fork();
  if (server.pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    close(in[1]);
    close(out[0]);
    execlp("node", "node", "tests/fakes/script_model.mjs", server.folder, (char *)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  server.hold = in[1];
  FILE *f = fdopen(out[0], "r");
  if (fscanf(f, "PORT %d", &server.port) != 1) {
    fail_msg("tests/fakes/script_model.mjs did not start: it needs Node.js 18 or newer");
  }
  fclose(f);
  return 0;
}

static inline int remove_file(const char *path, const struct stat *st, int type, struct FTW *at) {
  (void)st, (void)type, (void)at;
  return remove(path);
}

static inline int teardown_server(void **state) {
  (void)state;
  close(server.hold);
  kill(server.pid, SIGTERM);
  waitpid(server.pid, NULL, 0);
  nftw(server.folder, remove_file, 16, FTW_DEPTH | FTW_PHYS);
  return 0;
}

#endif
