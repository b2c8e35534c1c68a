#include "io/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "io/loop_handles.h"

#define FDS_MAX 4

struct lt_watch {
  uv_poll_t poll; /* first */
  lt_loop *loop;
  lt_wait *wait;
  unsigned events;
};

static void watch_on_event(uv_poll_t *poll, int status, int events) {
  (void)status; /* a failure shows when the descriptor is read */
  (void)events;
  lt_wait_wake(((lt_watch *)(void *)poll)->wait, LT_OK);
}

lt_status lt_watch_open(lt_loop *loop, int fd, lt_wait *wait, lt_watch **ret_watch, lt_err *err) {
  lt_watch *watch = lt_mem_zalloc(1, sizeof *watch);
  if (watch == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to watch a file");
  }
  int rc = uv_poll_init(lt_loop_uv(loop), &watch->poll, fd);
  if (rc != 0) {
    lt_mem_free(watch);
    return lt_fail(err, lt_loop_status(rc), "cannot watch a file: %s", uv_strerror(rc));
  }
  watch->loop = loop;
  watch->wait = wait;
  lt_loop_add_object(loop);
  *ret_watch = watch;
  return LT_OK;
}

void lt_watch_set(lt_watch *watch, unsigned events) {
  if (watch->events == events) {
    return;
  }
  watch->events = events;
  int uv = (events & LT_WATCH_READ ? UV_READABLE : 0) | (events & LT_WATCH_WRITE ? UV_WRITABLE : 0);
  if (uv == 0) {
    uv_poll_stop(&watch->poll);
  } else {
    uv_poll_start(&watch->poll, uv, watch_on_event);
  }
}

static void watch_on_closed(uv_handle_t *handle) {
  lt_mem_free(handle);
}

void lt_watch_close(lt_watch *watch) {
  if (watch != NULL) {
    lt_loop_remove_object(watch->loop);
    uv_close((uv_handle_t *)&watch->poll, watch_on_closed);
  }
}

/* --- Sockets ------------------------------------------------------------------------------------------------------ */

lt_status lt_watch_socket_pair(bool stream, int *ret_ours, int *ret_theirs, lt_err *err) {
  int fds[2];
  if (socketpair(AF_UNIX, (stream ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC, 0, fds) != 0) {
    return lt_fail(err, LT_E_IO, "no sockets: %s%s", strerror(errno),
                   errno == EMFILE ? " (raise the limit: ulimit -n)" : "");
  }
  (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
  *ret_ours = fds[0];
  *ret_theirs = fds[1];
  return LT_OK;
}

lt_status lt_watch_socket_send(int fd, lt_str message, const int *fds, size_t count, lt_err *err) {
  LT_CHECK(count <= FDS_MAX);
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
  } control = {0};
  struct iovec iov = {.iov_base = (void *)(uintptr_t)message.p, .iov_len = message.n};
  struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
  if (count > 0) {
    msg.msg_control = control.bytes;
    msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(head), fds, count * sizeof(int));
  }
  ssize_t sent;
  do {
    sent = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    return LT_OK;
  }
  bool full = errno == EAGAIN || errno == ENOBUFS;
  bool gone = errno == EPIPE || errno == ECONNRESET;
  return lt_fail(err, gone ? LT_E_CLOSED : full ? LT_E_LIMIT : LT_E_IO, "cannot send: %s", strerror(errno));
}
