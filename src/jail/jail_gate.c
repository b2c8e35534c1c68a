#include "jail/jail_gate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "jail/jail_privileges.h"
#include "jail/jail_filter.h"

/* --- In the parent ------------------------------------------------------------------------------------------------ */

/* Connects to the allowed address. -1: errno says why. The connection is non-blocking, as its users expect. */
static int jail_gate_connect(const lt_jail_gate *gate) {
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  struct sockaddr_in tcp = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)gate->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const struct timeval timeout = {.tv_sec = LT_JAIL_GATE_WAIT_MS / 1000};
  bool is_local = gate->path != NULL;
  if (is_local) {
    memcpy(local.sun_path, gate->path, strlen(gate->path) + 1); /* jail_main.c has checked its length */
  }
  int fd = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return -1;
  }
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  int failed = is_local ? connect(fd, (struct sockaddr *)&local, sizeof local)
                        : connect(fd, (struct sockaddr *)&tcp, sizeof tcp);
  const struct timeval none = {0};
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
  if (failed != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
    int why = errno;
    close(fd);
    errno = why == EAGAIN ? ETIMEDOUT : why;
    return -1;
  }
  return fd;
}

/* Replaces the program's socket by a connection. Returns 0, or an errno for the program. */
static int jail_gate_put_connection(const lt_jail_gate *gate, int listener, const struct seccomp_notif *asked) {
  int fd = jail_gate_connect(gate);
  if (fd < 0) {
    return errno;
  }
  struct seccomp_notif_addfd put = {.id = asked->id,
                                    .flags = SECCOMP_ADDFD_FLAG_SETFD,
                                    .srcfd = (uint32_t)fd,
                                    .newfd = (uint32_t)asked->data.args[0],
                                    .newfd_flags = O_CLOEXEC};
  int why = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &put) < 0 ? errno : 0;
  close(fd);
  return why;
}

/* A newer kernel may write longer forms of these two than our headers have. */
union gate_question {
  struct seccomp_notif notif;
  char space[512];
};

union gate_answer {
  struct seccomp_notif_resp resp;
  char space[512];
};

static void jail_gate_answer_one(const lt_jail_gate *gate, int listener) {
  union gate_question asked = {.space = {0}};
  union gate_answer answer = {.space = {0}};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
    return; /* the thread that asked has ended */
  }
  answer.resp.id = asked.notif.id;
  answer.resp.error =
      asked.notif.data.nr == SYS_connect ? -jail_gate_put_connection(gate, listener, &asked.notif) : -EPERM;
  (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static int jail_gate_receive_listener(int from) {
  char byte;
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec bytes = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  int fd = -1;
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message) != NULL) {
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  }
  return fd;
}

/* Ends with the child's exit code or signal. */
static _Noreturn void jail_gate_end_like(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    kill(getpid(), WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

static _Noreturn void jail_gate_serve(const lt_jail_gate *gate, pid_t child, int from) {
  close(STDIN_FILENO); /* the program's pipes close when the program ends */
  close(STDOUT_FILENO);
  close(STDERR_FILENO);
  int listener = jail_gate_receive_listener(from);
  close(from);
  struct pollfd ready[2] = {{listener, POLLIN, 0}, {(int)syscall(SYS_pidfd_open, child, 0), POLLIN, 0}};
  while (listener >= 0 && ready[1].fd >= 0 && ready[1].revents == 0) {
    if (poll(ready, 2, -1) < 0 && errno != EINTR) {
      break;
    }
    if ((ready[0].revents & POLLIN) != 0) {
      jail_gate_answer_one(gate, listener);
    } else if (ready[0].revents != 0) {
      break;
    }
  }
  jail_gate_end_like(child);
}

/* --- In the child ------------------------------------------------------------------------------------------------- */

lt_status lt_jail_gate_open(lt_jail_gate *gate, lt_err *err) {
  int pair[2];
  pid_t parent = getpid();
  LT_TRY(lt_jail_limit(RLIMIT_CORE, "core dumps", LT_JAIL_CORE_BYTES, err)); /* it may end by the same signal */
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return lt_fail(err, LT_E_IO, "socketpair: %s", strerror(errno));
  }
  pid_t child = fork();
  if (child < 0) {
    return lt_fail(err, LT_E_IO, "fork: %s", strerror(errno));
  }
  if (child > 0) {
    close(pair[1]);
    jail_gate_serve(gate, child, pair[0]);
  }
  close(pair[0]);
  gate->fd = pair[1];
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
    return lt_fail(err, LT_E_CLOSED, "the parent is gone");
  }
  return LT_OK;
}

lt_status lt_jail_gate_install(const lt_jail_gate *gate, lt_str filter, lt_err *err) {
  int listener;
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control = {.space = {0}};
  struct iovec bytes = {(char[]){'f'}, 1};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  LT_TRY(lt_jail_filter_install_asking(filter, &listener, err));
  *CMSG_FIRSTHDR(&message) =
      (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &listener, sizeof listener);
  ssize_t sent = sendmsg(gate->fd, &message, MSG_NOSIGNAL);
  close(listener);
  return sent == 1 ? LT_OK : lt_fail(err, LT_E_IO, "sendmsg: %s", strerror(errno));
}
