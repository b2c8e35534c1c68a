#include "gateway/gateway_stdio.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "gateway/gateway_state.h"
#include "io/lines.h"
#include "io/read_ready.h"
#include "io/watch.h"

/* The client's messages are read by the caller's fiber, and written by another one: a client that does not read holds
 * up only what is written to it. */
typedef struct gateway_stdio {
  lt_gateway_peer *peer;
  lt_session *session;
  int in_fd, out_fd;
  lt_lines lines;
  lt_watch *watch; /* NULL: the input is no pipe, socket or terminal; it is read by threads */
  lt_wait readable, writable, drained;
  lt_buf queue;    /* to be written */
  lt_buf writing;  /* what is being written, by a thread but for ... */
  size_t written;  /* ... what could be written at once ... */
  bool has_failed; /* ... and that it could not; only the thread and whoever waits for it look here */
  bool is_ending, is_broken, has_writer;
} gateway_stdio;

/* --- Writing ------------------------------------------------------------------------------------------------------ */
/* On a thread: the descriptor may block. */
static void gateway_stdio_write(void *arg) {
  gateway_stdio *s = arg;
  lt_str text = lt_str_sub(lt_buf_view(&s->writing), s->written, s->writing.n);
  while (text.n > 0 && !s->has_failed) {
    ssize_t n = write(s->out_fd, text.p, text.n);
    s->has_failed = n < 0 && errno != EINTR && errno != EAGAIN;
    if (n < 0 && errno == EAGAIN) {
      usleep(1000); /* somebody made it non-blocking: it may be the input's other end */
    }
    text = lt_str_sub(text, n > 0 ? (size_t)n : 0, text.n);
  }
}

/* What the pipe or socket takes at once needs no thread. Anything else, and every error, is left to it. */
static void gateway_stdio_write_at_once(gateway_stdio *s) {
  struct iovec all = {.iov_base = s->writing.p, .iov_len = s->writing.n};
  ssize_t n = pwritev2(s->out_fd, &all, 1, -1, RWF_NOWAIT);
  s->written = n > 0 ? (size_t)n : 0;
}

static void gateway_stdio_on_writer(void *arg) {
  gateway_stdio *s = arg;
  while (!s->is_broken && (s->queue.n > 0 || !s->is_ending)) {
    if (s->queue.n == 0) {
      lt_wait_on(&s->writable, UINT64_MAX);
      continue;
    }
    lt_buf text = s->queue;
    lt_buf_init(&s->queue, LT_MCP_QUEUE_MAX_BYTES);
    s->writing = text;
    gateway_stdio_write_at_once(s);
    bool is_run =
        s->written == s->writing.n || lt_loop_offload(s->session->loop, gateway_stdio_write, s, NULL) == LT_OK;
    s->is_broken = s->is_broken || !is_run || s->has_failed;
    lt_buf_release(&s->writing);
  }
  s->has_writer = false;
  lt_wait_wake(&s->drained, LT_OK);
  lt_wait_wake(&s->readable, LT_OK);
}

static void gateway_stdio_send(void *arg, lt_str message) {
  gateway_stdio *s = arg;
  lt_buf_add(&s->queue, message);
  lt_buf_byte(&s->queue, '\n');
  s->is_broken = s->is_broken || s->queue.status != LT_OK; /* it does not read */
  lt_wait_wake(&s->writable, LT_OK);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
/* On a thread where there is no watch. False: there is nothing more for now, or else the watch says so. */
static bool gateway_stdio_fill(gateway_stdio *s) {
  size_t room = 0;
  char *to = lt_lines_reserve(&s->lines, &room);
  ssize_t n = to != NULL ? lt_read_ready(s->in_fd, to, room) : LT_READ_END;
  if (n > 0) {
    lt_lines_commit(&s->lines, (size_t)n);
  } else if (n != LT_READ_LATER) {
    lt_lines_end(&s->lines);
  }
  return n > 0 && (size_t)n == room;
}

/* False: the input has ended. */
static bool gateway_stdio_take_lines(gateway_stdio *s) {
  lt_str line;
  for (;;) {
    switch (lt_lines_next(&s->lines, &line)) {
      case LT_LINES_MORE:
        return true;
      case LT_LINES_END:
        return false;
      case LT_LINES_OVER:
        line = LT_STR("[");
        break;
      case LT_LINES_LINE:
        break;
    }
    if (lt_str_trim(line).n > 0) {
      lt_gateway_take(s->peer, NULL, line);
    }
  }
}

static void gateway_stdio_fill_on_thread(void *arg) {
  (void)gateway_stdio_fill(arg);
}

/* A file (lathe mcp < FILE) has its end from the beginning: what it asks for is waited for. The end of a pipe is the
 * client's goodbye. */
static void gateway_stdio_read_file(gateway_stdio *s, lt_gateway *gateway) LT_YIELDS {
  bool has_more = true;
  while (has_more && !s->is_broken && s->session->cancel.why == LT_OK) {
    has_more = lt_loop_offload(s->session->loop, gateway_stdio_fill_on_thread, s, NULL) == LT_OK &&
               gateway_stdio_take_lines(s);
  }
  lt_gateway_drain(gateway);
}

static void gateway_stdio_read(gateway_stdio *s) LT_YIELDS {
  lt_cancel_node node;
  bool has_more = true;
  lt_cancel_add(&s->session->cancel, &node, &s->readable);
  lt_watch_set(s->watch, LT_WATCH_READ);
  while (has_more && !s->is_broken && s->session->cancel.why == LT_OK) {
    (void)lt_wait_on(&s->readable, UINT64_MAX);
    bool has_read = true;
    while (has_read && has_more) {
      has_read = gateway_stdio_fill(s);
      has_more = gateway_stdio_take_lines(s);
    }
  }
  lt_watch_set(s->watch, 0); /* the end of the input stays to be read */
  lt_cancel_remove(&s->session->cancel, &node);
}

/* --- Serving ------------------------------------------------------------------------------------------------------ */
/* epoll takes no regular files, and of devices only those that can make somebody wait, such as terminals: of the others
 * there is no watch. */
static lt_status gateway_stdio_watch_input(gateway_stdio *s, lt_err *err) {
  struct stat st;
  bool is_file = fstat(s->in_fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode));
  lt_status status = lt_watch_open(s->session->loop, s->in_fd, &s->readable, &s->watch, is_file ? NULL : err);
  return is_file ? LT_OK : status;
}

static lt_status gateway_stdio_open(gateway_stdio *s, lt_err *err) {
  lt_loop *loop = s->session->loop;
  lt_wait_init(&s->readable, loop);
  lt_wait_init(&s->writable, loop);
  lt_wait_init(&s->drained, loop);
  lt_lines_init(&s->lines, LT_MCP_LINE_MAX_BYTES);
  lt_buf_init(&s->queue, LT_MCP_QUEUE_MAX_BYTES);
  LT_TRY(gateway_stdio_watch_input(s, err));
  LT_TRY(lt_loop_spawn(loop, gateway_stdio_on_writer, s, err));
  s->has_writer = true;
  return LT_OK;
}

lt_status lt_gateway_stdio_serve(lt_gateway *gateway, lt_session *session, int in_fd, int out_fd, lt_err *err) {
  gateway_stdio s = {.session = session, .in_fd = in_fd, .out_fd = out_fd};
  const lt_gateway_way way = {.send = gateway_stdio_send, .arg = &s};
  LT_TRY(lt_gateway_peer_open(gateway, &way, LT_GATEWAY_USER, &s.peer, err));
  lt_status status = gateway_stdio_open(&s, err);
  if (status == LT_OK && s.watch != NULL) {
    gateway_stdio_read(&s);
  } else if (status == LT_OK) {
    gateway_stdio_read_file(&s, gateway);
  }
  lt_gateway_finish(gateway);
  lt_gateway_peer_close(s.peer);
  s.is_ending = true;
  lt_wait_wake(&s.writable, LT_OK);
  while (s.has_writer) {
    lt_wait_on(&s.drained, UINT64_MAX);
  }
  lt_watch_close(s.watch);
  lt_lines_release(&s.lines);
  lt_buf_release(&s.queue);
  return status;
}
