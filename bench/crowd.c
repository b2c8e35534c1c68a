#include "bench/crowd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"

enum { CONNECTIONS_MAX = 8192, REQUEST_MAX_BYTES = 4096, EVENTS = 256 };

#define BODY                                                                                    \
  "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n" \
  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello, world\"}}]}\n\n"            \
  "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"             \
  "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3}}\n\n"         \
  "data: [DONE]\n\n"

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ";

/* Requests wait in the order in which they came: all wait equally long. */
static struct {
  int fd;
  double at;
} waiting[CONNECTIONS_MAX];
static size_t first, past;
static char requests[CONNECTIONS_MAX][REQUEST_MAX_BYTES];
static size_t sizes[CONNECTIONS_MAX];

static void answer(int fd) {
  char text[2048];
  int n = snprintf(text, sizeof text, "%s%zu\r\n\r\n%s", head, sizeof BODY - 1, BODY);
  if (write(fd, text, (size_t)n) != n) {
    close(fd);
  }
}

/* A request is whole when its JSON's last brace is there. */
static void take(int fd, double answer_ns) {
  char *request = requests[fd];
  ssize_t n = read(fd, request + sizes[fd], REQUEST_MAX_BYTES - 1 - sizes[fd]);
  if (n <= 0) {
    close(fd);
    sizes[fd] = 0;
    return;
  }
  sizes[fd] += (size_t)n;
  request[sizes[fd]] = '\0';
  const char *body = strstr(request, "\r\n\r\n");
  if (body != NULL && body[4] != '\0' && request[sizes[fd] - 1] == '}' && strstr(body, "include_usage") != NULL) {
    sizes[fd] = 0;
    waiting[past++ % CONNECTIONS_MAX].fd = fd;
    waiting[(past - 1) % CONNECTIONS_MAX].at = lt_measure_now() + answer_ns;
  }
}

static int answer_due(void) {
  double now = lt_measure_now();
  while (first < past && waiting[first % CONNECTIONS_MAX].at <= now) {
    answer(waiting[first++ % CONNECTIONS_MAX].fd);
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
    sizes[fd] = 0;
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN, .data.fd = fd});
  }
}

static _Noreturn void serve(int listener, uint64_t answer_ms) {
  signal(SIGPIPE, SIG_IGN);
  int poll = epoll_create1(EPOLL_CLOEXEC);
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.fd = listener});
  for (;;) {
    struct epoll_event events[EVENTS];
    int n = epoll_wait(poll, events, EVENTS, answer_due());
    for (int i = 0; i < n; i++) {
      if (events[i].data.fd == listener) {
        accept_all(listener, poll);
      } else {
        take(events[i].data.fd, (double)answer_ms * 1e6);
      }
    }
  }
}

bool lt_crowd_model_start(lt_crowd_model *model, uint64_t answer_ms) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 4096) != 0 ||
      getsockname(listener, (struct sockaddr *)&at, &n) != 0) {
    return false;
  }
  model->port = ntohs(at.sin_port);
  model->pid = fork();
  if (model->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve(listener, answer_ms);
  }
  close(listener);
  return model->pid > 0;
}

void lt_crowd_model_stop(lt_crowd_model *model) {
  kill(model->pid, SIGKILL);
  waitpid(model->pid, NULL, 0);
}
