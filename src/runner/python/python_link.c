/* Messages from a program. A program can write anything to its connection: nothing in a message is trusted. */
#include <errno.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "runner/python/python_calls.h"
#include "runner/python/python_child.h"
#include "runner/python/python_link.h"
#include "runner/python/python_run.h"
#include "runner/python/python_send.h"

#define HEAD_BYTES sizeof(((lt_python_frame *)0)->head)

static uint32_t python_link_read_u32(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Kills a program that sent something that is no message, because nothing after it can be understood. */
static void python_link_mark_broken(lt_python_run *run) {
  run->link.is_broken = true;
  lt_python_child_kill(run->child);
}

static bool python_link_read_head(lt_python_frame *f) {
  f->length = python_link_read_u32(f->head);
  f->id = python_link_read_u32(f->head + 4);
  f->name_n = (uint32_t)f->head[8] << 8 | f->head[9];
  f->kind = f->head[10];
  return f->head[11] == LT_PYTHON_FRAME_MARK && f->kind >= LT_PY_CALL && f->kind <= LT_PY_FAILED &&
         f->length <= LT_PYTHON_FRAME_BYTES && f->name_n <= f->length;
}

static void python_link_move_buf(lt_buf *to, lt_buf *from) {
  lt_buf_release(to);
  *to = *from;
  lt_buf_init(from, LT_PYTHON_FRAME_BYTES);
}

static void python_link_on_result(lt_python_run *run, lt_python_frame *f) {
  python_link_move_buf(&run->result->value, &f->body);
  run->result->kind = f->id == 0 ? LT_VALUE_STRING : LT_VALUE_JSON;
  run->link.has_value = true;
}

static void python_link_on_frame(lt_python_run *run, lt_python_frame *f) {
  lt_str body = lt_buf_view(&f->body);
  switch (f->kind) {
    case LT_PY_CALL:
      lt_python_calls_begin(run, f->id, lt_str_sub(body, 0, f->name_n), lt_str_sub(body, f->name_n, body.n));
      break;
    case LT_PY_RESULT:
      python_link_on_result(run, f);
      break;
    case LT_PY_FAILED:
      python_link_move_buf(&run->link.failure, &f->body);
      run->link.has_reported_end = true;
      break;
    default:
      run->link.has_reported_end = true;
      break;
  }
  f->head_n = 0;
  if (f->body.cap > LT_PYTHON_PIECE_BYTES) {
    lt_buf_release(&f->body);
  }
  lt_buf_clear(&f->body);
}

/* Takes the bytes that belong to the current message. Returns their number. */
static size_t python_link_feed_frame(lt_python_run *run, lt_str bytes) {
  lt_python_frame *f = &run->link.frame;
  if (f->head_n < HEAD_BYTES) {
    size_t n = HEAD_BYTES - f->head_n < bytes.n ? HEAD_BYTES - f->head_n : bytes.n;
    memcpy(f->head + f->head_n, bytes.p, n);
    f->head_n += n;
    if (f->head_n == HEAD_BYTES && !python_link_read_head(f)) {
      python_link_mark_broken(run);
    } else if (f->head_n == HEAD_BYTES && f->length == 0) {
      python_link_on_frame(run, f);
    }
    return n;
  }
  size_t missing = f->length - f->body.n;
  size_t n = missing < bytes.n ? missing : bytes.n;
  lt_buf_add(&f->body, lt_str_sub(bytes, 0, n));
  if (f->body.status != LT_OK) {
    python_link_mark_broken(run);
  } else if (f->body.n == f->length) {
    python_link_on_frame(run, f);
  }
  return n;
}

static void python_link_feed(lt_python_run *run, lt_str bytes) {
  while (bytes.n > 0 && !run->link.is_broken && !run->link.has_reported_end) {
    size_t n = python_link_feed_frame(run, bytes);
    bytes = lt_str_sub(bytes, n, bytes.n);
  }
}

/* Reads the rest of a long message into its place, without a copy. False: the message is short. */
static bool python_link_read_long(lt_python_run *run, ssize_t *ret_n) {
  lt_python_frame *f = &run->link.frame;
  size_t missing = f->head_n == HEAD_BYTES ? f->length - f->body.n : 0;
  if (missing < LT_PYTHON_PIECE_BYTES) {
    return false;
  }
  /* The buffer at most doubles, so that a false length costs little memory. */
  size_t room = f->body.n > 16 * LT_PYTHON_PIECE_BYTES ? f->body.n : 16 * LT_PYTHON_PIECE_BYTES;
  room = room < missing ? room : missing;
  char *to = lt_buf_reserve(&f->body, room);
  if (to == NULL) {
    python_link_mark_broken(run);
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

bool lt_python_link_read(lt_python_run *run) {
  size_t total = 0;
  while (!run->link.is_closed && !run->link.is_broken && !run->link.has_reported_end) {
    ssize_t n;
    if (!python_link_read_long(run, &n)) {
      n = recv(run->child->connection, run->read_buffer, sizeof run->read_buffer, MSG_DONTWAIT);
      if (n > 0) {
        python_link_feed(run, lt_str_from(run->read_buffer, (size_t)n));
      }
    }
    if (n <= 0) {
      run->link.is_closed = n == 0 || (errno != EAGAIN && errno != EINTR);
      return false;
    }
    total += (size_t)n;
    if (total >= LT_PYTHON_TURN_BYTES) {
      return true;
    }
  }
  return false;
}

void lt_python_link_watch(lt_python_run *run) {
  bool reads = !run->link.is_closed && !run->link.is_broken && !run->link.has_reported_end;
  bool writes = reads && run->link.unsent.n > 0;
  lt_watch_set(run->link.watch, (reads ? LT_WATCH_READ : 0) | (writes ? LT_WATCH_WRITE : 0));
  lt_watch_set(run->output.watch, run->output.is_closed ? 0 : LT_WATCH_READ);
}
