#include "bench/crowd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/measure.h"

enum { CONNECTIONS_MAX = 8192, HEAD_MAX_BYTES = 4096, EVENTS = 256 };

#define BEFORE                                                                                  \
  "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n" \
  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\""
#define AFTER                                                                           \
  "\"}}]}\n\n"                                                                          \
  "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"     \
  "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3}}\n\n" \
  "data: [DONE]\n\n"

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ";

/* Requests wait in the order in which they came: all wait equally long. */
static struct {
  int fd;
  double at;
} waiting[CONNECTIONS_MAX];
static size_t first, past;
/* What has come of a request: its head, which is kept, and its body, which is only counted. */
static struct {
  char head[HEAD_MAX_BYTES];
  size_t n;    /* of the head; what comes with it, too */
  size_t left; /* of the body, once the head is whole */
  size_t body; /* all of it */
} requests[CONNECTIONS_MAX];

static void answer(int fd, const char *text) {
  char bytes[4096];
  int n = snprintf(bytes, sizeof bytes, "%s%zu\r\n\r\n%s%s%s", head, strlen(BEFORE) + strlen(text) + strlen(AFTER),
                   BEFORE, text, AFTER);
  if (write(fd, bytes, (size_t)n) != n) {
    close(fd);
  }
}

/* Whether the head is whole; `left` is what the body lacks then. */
static bool read_head(int fd) {
  char *text = requests[fd].head;
  text[requests[fd].n] = '\0';
  const char *end = strstr(text, "\r\n\r\n");
  const char *length = strcasestr(text, "\r\ncontent-length:");
  if (end == NULL || length == NULL) {
    return false;
  }
  requests[fd].body = strtoul(length + strlen("\r\ncontent-length:"), NULL, 10);
  size_t whole = (size_t)(end + 4 - text) + requests[fd].body;
  requests[fd].left = whole - requests[fd].n;
  return true;
}

static ssize_t read_some(int fd) {
  static char body[65536];
  bool in_head = requests[fd].left == 0;
  ssize_t n = in_head ? read(fd, requests[fd].head + requests[fd].n, HEAD_MAX_BYTES - 1 - requests[fd].n)
                      : read(fd, body, sizeof body);
  if (n > 0 && in_head) {
    requests[fd].n += (size_t)n;
  } else if (n > 0) {
    requests[fd].left -= (size_t)n;
  }
  return n;
}

static void take(int fd, double answer_ns, lt_crowd_seen *seen) {
  bool in_head = requests[fd].left == 0;
  if (read_some(fd) <= 0) {
    close(fd);
    requests[fd].n = requests[fd].left = 0;
    return;
  }
  if ((in_head && !read_head(fd)) || requests[fd].left > 0) {
    return;
  }
  requests[fd].n = 0;
  double now = lt_measure_now();
  waiting[past % CONNECTIONS_MAX].fd = fd;
  waiting[past++ % CONNECTIONS_MAX].at = now + answer_ns;
  seen->last_at = now;
  seen->bytes = requests[fd].body;
  seen->count++;
}

static int answer_due(const char *text) {
  double now = lt_measure_now();
  while (first < past && waiting[first % CONNECTIONS_MAX].at <= now) {
    answer(waiting[first++ % CONNECTIONS_MAX].fd, text);
  }
  return first == past ? -1 : (int)((waiting[first % CONNECTIONS_MAX].at - now) / 1e6) + 1;
}

static void accept_all(int listener, int poll) {
  int on = 1;
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
    if (fd >= CONNECTIONS_MAX) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    requests[fd].n = requests[fd].left = 0;
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN, .data.fd = fd});
  }
}

static _Noreturn void serve(int listener, uint64_t answer_ms, const char *text, lt_crowd_seen *seen) {
  signal(SIGPIPE, SIG_IGN);
  int poll = epoll_create1(EPOLL_CLOEXEC);
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.fd = listener});
  for (;;) {
    struct epoll_event events[EVENTS];
    int n = epoll_wait(poll, events, EVENTS, answer_due(text));
    for (int i = 0; i < n; i++) {
      if (events[i].data.fd == listener) {
        accept_all(listener, poll);
      } else {
        take(events[i].data.fd, (double)answer_ms * 1e6, seen);
      }
    }
  }
}

bool lt_crowd_model_start(lt_crowd_model *model, uint64_t answer_ms, const char *text) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 4096) != 0 ||
      getsockname(listener, (struct sockaddr *)&at, &n) != 0) {
    return false;
  }
  model->seen = mmap(NULL, sizeof *model->seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (model->seen == MAP_FAILED) {
    close(listener);
    return false;
  }
  model->port = ntohs(at.sin_port);
  model->pid = fork();
  if (model->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve(listener, answer_ms, text, model->seen);
  }
  close(listener);
  return model->pid > 0;
}

double lt_crowd_model_cpu(const lt_crowd_model *model) {
  clockid_t clock;
  struct timespec t = {0};
  if (clock_getcpuclockid(model->pid, &clock) == 0) {
    clock_gettime(clock, &t);
  }
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void lt_crowd_model_stop(lt_crowd_model *model) {
  kill(model->pid, SIGKILL);
  waitpid(model->pid, NULL, 0);
  munmap(model->seen, sizeof *model->seen);
}
