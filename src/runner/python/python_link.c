/* The connection to a program: messages as bridge.py has them, and what of them cannot be one. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "runner/python/python_calls.h"
#include "runner/python/python_child.h"
#include "runner/python/python_link.h"
#include "runner/python/python_run.h"

#define HEAD_BYTES sizeof(((lt_pyframe *)0)->head)
#define MARK       0xa7

static uint32_t python_link_read_u32(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void python_link_write_u32(unsigned char *p, uint32_t n) {
  for (int i = 0; i < 4; i++) {
    p[i] = (unsigned char)(n >> (24 - 8 * i));
  }
}

/* --- From the program --------------------------------------------------------------------------------------------- */

/* Whoever writes to our descriptor is told so, once: nothing after that can be understood. */
static void python_link_break_off(lt_python_run *run) {
  run->broken = true;
  lt_python_child_kill(run->child);
}

static bool python_link_read_head(lt_pyframe *f) {
  f->length = python_link_read_u32(f->head);
  f->id = python_link_read_u32(f->head + 4);
  f->name_n = (uint32_t)f->head[8] << 8 | f->head[9];
  f->kind = f->head[10];
  return f->head[11] == MARK && f->kind >= LT_PY_CALL && f->kind <= LT_PY_FAILED &&
         f->length <= LT_PYTHON_FRAME_BYTES && f->name_n <= f->length;
}

static void python_link_take_buf(lt_buf *to, lt_buf *from) {
  lt_buf_release(to);
  *to = *from;
  lt_buf_init(from, LT_PYTHON_FRAME_BYTES);
}

static void python_link_on_result(lt_python_run *run, lt_pyframe *f) {
  python_link_take_buf(&run->result->value, &f->body);
  run->result->kind = f->id == 0 ? LT_VALUE_STRING : LT_VALUE_JSON;
  run->has_value = true;
}

static void python_link_on_frame(lt_python_run *run, lt_pyframe *f) {
  lt_str body = lt_buf_view(&f->body);
  switch (f->kind) {
    case LT_PY_CALL:
      lt_python_run_call(run, f->id, lt_str_sub(body, 0, f->name_n), lt_str_sub(body, f->name_n, body.n));
      break;
    case LT_PY_RESULT:
      python_link_on_result(run, f);
      break;
    case LT_PY_FAILED:
      python_link_take_buf(&run->failure, &f->body);
      run->done = true;
      break;
    default:
      run->done = true;
      break;
  }
  f->head_n = 0;
  if (f->body.cap > LT_PYTHON_PIECE_BYTES) {
    lt_buf_release(&f->body);
  }
  lt_buf_clear(&f->body);
}

/* As much of the bytes as belongs to one message; how many that were. */
static size_t python_link_feed_some(lt_python_run *run, lt_str bytes) {
  lt_pyframe *f = &run->frame;
  if (f->head_n < HEAD_BYTES) {
    size_t n = HEAD_BYTES - f->head_n < bytes.n ? HEAD_BYTES - f->head_n : bytes.n;
    memcpy(f->head + f->head_n, bytes.p, n);
    f->head_n += n;
    if (f->head_n == HEAD_BYTES && !python_link_read_head(f)) {
      python_link_break_off(run);
    } else if (f->head_n == HEAD_BYTES && f->length == 0) {
      python_link_on_frame(run, f);
    }
    return n;
  }
  size_t missing = f->length - f->body.n;
  size_t n = missing < bytes.n ? missing : bytes.n;
  lt_buf_add(&f->body, lt_str_sub(bytes, 0, n));
  if (f->body.status != LT_OK) {
    python_link_break_off(run);
  } else if (f->body.n == f->length) {
    python_link_on_frame(run, f);
  }
  return n;
}

static void python_link_feed(lt_python_run *run, lt_str bytes) {
  while (bytes.n > 0 && !run->broken && !run->done) {
    size_t n = python_link_feed_some(run, bytes);
    bytes = lt_str_sub(bytes, n, bytes.n);
  }
}

/* What is missing of a long message goes where it belongs at once. False: it is not that long. */
static bool python_link_read_long(lt_python_run *run, ssize_t *ret_n) {
  lt_pyframe *f = &run->frame;
  size_t missing = f->head_n == HEAD_BYTES ? f->length - f->body.n : 0;
  if (missing < LT_PYTHON_PIECE_BYTES) {
    return false;
  }
  /* No more than has come once more: a length that is a lie costs little. */
  size_t room = f->body.n > 16 * LT_PYTHON_PIECE_BYTES ? f->body.n : 16 * LT_PYTHON_PIECE_BYTES;
  room = room < missing ? room : missing;
  char *to = lt_buf_reserve(&f->body, room);
  if (to == NULL) {
    python_link_break_off(run);
    *ret_n = 0;
    return true;
  }
  *ret_n = recv(run->child->connection, to, room, MSG_DONTWAIT);
  if (*ret_n > 0) {
    lt_buf_commit(&f->body, (size_t)*ret_n);
    if (f->body.n == f->length) {
      python_link_on_frame(run, f);
    }
  }
  return true;
}

bool lt_python_run_read(lt_python_run *run) {
  size_t total = 0;
  while (!run->connection_closed && !run->broken && !run->done) {
    ssize_t n;
    if (!python_link_read_long(run, &n)) {
      n = recv(run->child->connection, run->piece, sizeof run->piece, MSG_DONTWAIT);
      if (n > 0) {
        python_link_feed(run, lt_str_from(run->piece, (size_t)n));
      }
    }
    if (n <= 0) {
      run->connection_closed = n == 0 || (errno != EAGAIN && errno != EINTR);
      return false;
    }
    total += (size_t)n;
    if (total >= LT_PYTHON_TURN_BYTES) {
      return true;
    }
  }
  return false;
}

/* --- To the program ----------------------------------------------------------------------------------------------- */

static size_t python_link_send_now(lt_python_run *run, struct iovec *parts, size_t count) {
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
  ssize_t n = sendmsg(run->child->connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  return n > 0 ? (size_t)n : 0;
}

void lt_python_run_send(lt_python_run *run, unsigned kind, uint32_t id, lt_str body) {
  unsigned char head[HEAD_BYTES] = {[10] = (unsigned char)kind, [11] = MARK};
  python_link_write_u32(head, (uint32_t)body.n);
  python_link_write_u32(head + 4, id);
  size_t sent = 0;
  if (run->to_send.n == 0) {
    struct iovec parts[2] = {{head, sizeof head}, {(void *)(uintptr_t)body.p, body.n}};
    sent = python_link_send_now(run, parts, body.n > 0 ? 2 : 1);
  }
  size_t of_head = sent < sizeof head ? sent : sizeof head;
  lt_buf_add(&run->to_send, lt_str_from(head + of_head, sizeof head - of_head));
  lt_buf_add(&run->to_send, lt_str_sub(body, sent - of_head, body.n));
  if (run->to_send.status != LT_OK && !run->done) {
    lt_python_run_stop(run, LT_E_NOMEM); /* an answer that never comes would be waited for */
  }
}

void lt_python_run_flush(lt_python_run *run) {
  while (run->sent < run->to_send.n) {
    struct iovec part = {run->to_send.p + run->sent, run->to_send.n - run->sent};
    size_t n = python_link_send_now(run, &part, 1);
    if (n == 0) {
      return;
    }
    run->sent += n;
  }
  if (run->sent > 0) {
    if (run->to_send.cap > LT_MIB) {
      lt_buf_release(&run->to_send);
    }
    lt_buf_clear(&run->to_send);
    run->sent = 0;
  }
}

void lt_python_run_watch(lt_python_run *run) {
  bool reads = !run->connection_closed && !run->broken && !run->done;
  bool writes = reads && run->to_send.n > 0;
  lt_watch_set(run->connection, (reads ? LT_WATCH_READ : 0) | (writes ? LT_WATCH_WRITE : 0));
  lt_watch_set(run->output, run->output_closed ? 0 : LT_WATCH_READ);
}
