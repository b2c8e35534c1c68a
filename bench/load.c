#include "bench/load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/peer.h"

enum { START_MS = 15000, STOP_MS = 5000, SAID_BYTES = 4096, ANSWER_TIMEOUT_SECONDS = 30, NUMBER_BYTES = 24 };

/* --- Servers ------------------------------------------------------------------------------------------------------ */
static _Noreturn void load_exec(const char *const *argv, int said) {
  char **args;
  memcpy(&args, &argv, sizeof args); /* execvp wants char *const[] and changes nothing */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(said, STDOUT_FILENO);
  dup2(said, STDERR_FILENO);
  execvp(argv[0], args);
  _exit(127);
}

/* Reads on until the port is known. */
static bool load_hear_port(lt_load_server *server) {
  static const char before[] = "http://127.0.0.1:";
  char said[SAID_BYTES + 1];
  size_t n = 0;
  double end = lt_measure_now() + START_MS * 1e6;
  while (n < SAID_BYTES && lt_measure_now() < end) {
    ssize_t got = pread(server->said, said + n, SAID_BYTES - n, (off_t)n);
    if (got <= 0 && waitpid(server->pid, NULL, WNOHANG) == server->pid) {
      server->pid = 0;
      return false;
    }
    if (got <= 0) {
      usleep(2000);
      continue;
    }
    n += (size_t)got;
    said[n] = '\0';
    const char *at = strstr(said, before);
    if (at != NULL && strchr(at, '\n') != NULL) {
      server->port = (unsigned)strtoul(at + sizeof before - 1, NULL, 10);
      return server->port > 0;
    }
  }
  return false;
}

/* What it says goes into memory: nobody reads its log, and a full pipe would stop it. */
bool lt_load_server_start(lt_load_server *server, const char *const *argv) {
  *server = (lt_load_server){.said = memfd_create("said", MFD_CLOEXEC)};
  if (server->said < 0) {
    return false;
  }
  server->pid = fork();
  if (server->pid == 0) {
    load_exec(argv, server->said);
  }
  return server->pid > 0 && load_hear_port(server);
}

static bool load_await_end(pid_t pid) {
  for (int ms = 0; ms < STOP_MS; ms += 10) {
    if (waitpid(pid, NULL, WNOHANG) == pid) {
      return true;
    }
    usleep(10000);
  }
  return false;
}

void lt_load_server_stop(lt_load_server *server) {
  if (server->pid > 0) {
    kill(server->pid, SIGTERM);
    if (!load_await_end(server->pid)) {
      kill(server->pid, SIGKILL);
      waitpid(server->pid, NULL, 0);
    }
  }
  if (server->said >= 0) {
    close(server->said);
  }
  *server = (lt_load_server){.said = -1};
}

/* --- wrk ---------------------------------------------------------------------------------------------------------- */
static void load_read_lines(FILE *from, lt_measure *latency, lt_load_seen *ret_seen) {
  char line[256];
  double value;
  while (fgets(line, sizeof line, from) != NULL) {
    if (sscanf(line, "rate %lf", &value) == 1) {
      ret_seen->rate = value;
    } else if (sscanf(line, "failed %lf", &value) == 1) {
      ret_seen->failed = value;
    } else if (sscanf(line, "at %lf", &value) == 1 && latency != NULL) {
      lt_measure_add(latency, value);
    }
  }
}

bool lt_load_run(const lt_load_server *server, const lt_load *load, lt_measure *latency, lt_load_seen *ret_seen) {
  char url[128], connections[NUMBER_BYTES], seconds[NUMBER_BYTES], timeout[NUMBER_BYTES];
  lt_peer wrk;
  *ret_seen = (lt_load_seen){.failed = -1};
  snprintf(url, sizeof url, "http://127.0.0.1:%u%s", server->port, load->path);
  snprintf(connections, sizeof connections, "-c%u", load->connections);
  snprintf(seconds, sizeof seconds, "-d%u", load->seconds);
  snprintf(timeout, sizeof timeout, "%ds", ANSWER_TIMEOUT_SECONDS);
  const char *argv[] = {
      "wrk", "-t1", connections, seconds,        "--timeout",  timeout, "-s", LT_BENCH_DIR "/load.lua",
      url,   "--",  load->body,  load->expected, load->accept, NULL};
  if (lt_peer_start(&wrk, argv)) {
    load_read_lines(wrk.from, latency, ret_seen);
  }
  lt_peer_close(&wrk);
  return ret_seen->failed >= 0;
}

/* --- Connections of our own --------------------------------------------------------------------------------------- */
int lt_load_connect(const lt_load_server *server, int receive_bytes) {
  struct sockaddr_in at = {
      .sin_family = AF_INET, .sin_port = htons((in_port_t)server->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct timeval most = {.tv_sec = ANSWER_TIMEOUT_SECONDS};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && receive_bytes > 0) {
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  }
  if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) != 0 ||
                  connect(fd, (struct sockaddr *)&at, sizeof at) != 0)) {
    close(fd);
    return -1;
  }
  return fd;
}

int lt_load_open_get(const lt_load_server *server, const char *path, int receive_bytes) {
  char text[512];
  int fd = lt_load_connect(server, receive_bytes);
  int n = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", path, server->port);
  if (fd >= 0 && write(fd, text, (size_t)n) != n) {
    close(fd);
    return -1;
  }
  return fd;
}

/* How many bytes an answer has, its head and Content-Length bytes behind it; 0: not known yet. */
static size_t load_answer_bytes(const char *answer) {
  static const char name[] = "\r\nContent-Length:";
  const char *end = strstr(answer, "\r\n\r\n"), *length = strcasestr(answer, name);
  if (end == NULL || length == NULL || length > end) {
    return 0;
  }
  return (size_t)(end + 4 - answer) + strtoul(length + sizeof name - 1, NULL, 10);
}

bool lt_load_ask(int fd, const char *request, char *ret_answer, size_t room) {
  size_t n = strlen(request), got = 0, all = 0;
  if (write(fd, request, n) != (ssize_t)n) {
    return false;
  }
  while (all == 0 || got < all) {
    ssize_t more = got + 1 < room ? read(fd, ret_answer + got, room - got - 1) : 0;
    if (more <= 0) {
      return false;
    }
    got += (size_t)more;
    ret_answer[got] = '\0';
    all = all > 0 ? all : load_answer_bytes(ret_answer);
  }
  return got == all;
}
