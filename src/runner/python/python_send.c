/* Messages to a program: sent at once as far as it reads them; the rest is kept. */
#include <sys/socket.h>
#include <sys/uio.h>

#include "runner/python/python_run.h"
#include "runner/python/python_send.h"

static void python_send_put_u32(unsigned char *p, uint32_t n) {
  for (int i = 0; i < 4; i++) {
    p[i] = (unsigned char)(n >> (24 - 8 * i));
  }
}

/* Returns the number of bytes that the socket took. */
static size_t python_send_parts(lt_python_run *run, struct iovec *parts, size_t count) {
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
  ssize_t n = sendmsg(run->child->connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  return n > 0 ? (size_t)n : 0;
}

void lt_python_send_message(lt_python_run *run, unsigned kind, uint32_t id, lt_str body) {
  unsigned char head[sizeof run->link.frame.head] = {[10] = (unsigned char)kind, [11] = LT_PYTHON_FRAME_MARK};
  lt_buf *unsent = &run->link.unsent;
  size_t sent = 0;
  if (run->link.has_lost_message) {
    return;
  }
  python_send_put_u32(head, (uint32_t)body.n);
  python_send_put_u32(head + 4, id);
  if (unsent->n == 0) {
    struct iovec parts[2] = {{head, sizeof head}, {(void *)(uintptr_t)body.p, body.n}};
    sent = python_send_parts(run, parts, body.n > 0 ? 2 : 1);
  }
  size_t of_head = sent < sizeof head ? sent : sizeof head;
  lt_buf_add(unsent, lt_str_from(head + of_head, sizeof head - of_head));
  lt_buf_add(unsent, lt_str_sub(body, sent - of_head, body.n));
  if (unsent->status != LT_OK) {
    run->link.has_lost_message = true;
    lt_wait_wake(&run->wait, LT_OK);
  }
}

void lt_python_send_flush(lt_python_run *run) {
  lt_buf *unsent = &run->link.unsent;
  while (run->link.unsent_done < unsent->n) {
    struct iovec part = {unsent->p + run->link.unsent_done, unsent->n - run->link.unsent_done};
    size_t n = python_send_parts(run, &part, 1);
    if (n == 0) {
      return;
    }
    run->link.unsent_done += n;
  }
  if (run->link.unsent_done > 0) {
    if (unsent->cap > LT_MIB) {
      lt_buf_release(unsent);
    }
    lt_buf_clear(unsent);
    run->link.unsent_done = 0;
  }
}
