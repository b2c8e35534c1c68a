/* A child's pipes: lines from stdout with backpressure, a bounded queue to stdin, the end of stderr. */
#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/process_impl.h"

static void process_io_wake_reader(lt_process *p) {
  if (p->reader != NULL) {
    lt_wait_wake(p->reader, LT_OK);
    p->reader = NULL;
  }
}

static void process_io_close_pipe(uv_pipe_t *pipe, bool *open) {
  if (*open) {
    *open = false;
    uv_close((uv_handle_t *)pipe, lt_process_handle_closed);
  }
}

static void process_io_enter(lt_process *p) {
  p->users++;
}

static void process_io_leave(lt_process *p) {
  p->users--;
  lt_process_wake_closer(p);
}

static int process_io_fd_of(const uv_pipe_t *pipe) {
  uv_os_fd_t fd = -1;
  return uv_fileno((const uv_handle_t *)pipe, &fd) == 0 ? fd : -1;
}

/* The number of bytes that are now in the pipe. */
static size_t process_io_pending(const uv_pipe_t *pipe) {
  int n = 0;
  return ioctl(process_io_fd_of(pipe), FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

/* --- stdout ------------------------------------------------------------------------------------------------------- */

static void process_io_end_out(lt_process *p) {
  lt_lines_end(&p->lines);
  p->reading = false;
  process_io_close_pipe(&p->out, &p->out_open);
  process_io_wake_reader(p);
}

/* An empty buffer means: do not read now (libuv then calls on_out with UV_ENOBUFS). The pipe is not read in two cases.
 * The reader holds a line: the buffer would move. A line is ready and no fiber waits for it. */
static void process_io_alloc_out(uv_handle_t *handle, size_t hint, uv_buf_t *buf) {
  (void)hint;
  lt_process *p = handle->data;
  size_t n = 0;
  buf->base = NULL;
  if (p->closing) {
    lt_lines_clear(&p->lines);
  } else if (p->is_line_held || (p->reader == NULL && lt_lines_ready(&p->lines))) {
    buf->len = 0;
    return;
  }
  buf->base = lt_lines_reserve(&p->lines, &n);
  buf->len = n;
  p->out_nomem = buf->base == NULL;
}

static void process_io_on_out(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
  (void)buf;
  lt_process *p = stream->data;
  if (n == UV_ENOBUFS) {
    uv_read_stop(stream);
    p->reading = false;
    if (p->out_nomem) {
      process_io_wake_reader(p);
    }
    return;
  }
  if (n < 0) {
    process_io_end_out(p);
    return;
  }
  lt_lines_commit(&p->lines, (size_t)n);
  if (!p->closing && lt_lines_ready(&p->lines)) {
    process_io_wake_reader(p);
  }
}

static void process_io_start_reading(lt_process *p) {
  if (p->out_open && !p->reading &&
      uv_read_start((uv_stream_t *)&p->out, process_io_alloc_out, process_io_on_out) == 0) {
    p->reading = true;
  }
}

/* The child has exited, and its output is in the pipe. A process that it started may hold the pipe open and write more,
 * but that is not the child's output. */
static void process_io_finish_out(lt_process *p) {
  size_t left = p->out_open && !p->closing ? process_io_pending(&p->out) : 0;
  while (left > 0) {
    size_t room = 0;
    char *to = lt_lines_reserve(&p->lines, &room);
    if (to == NULL) {
      p->out_nomem = true;
      break;
    }
    ssize_t n = read(process_io_fd_of(&p->out), to, room < left ? room : left);
    if (n <= 0) {
      break;
    }
    lt_lines_commit(&p->lines, (size_t)n);
    left -= (size_t)n;
  }
  if (p->out_open) {
    process_io_end_out(p);
  }
}

static void process_io_wait_as_reader(lt_process *p, uint64_t timeout_ms) LT_YIELDS {
  lt_wait wait;
  lt_wait_init(&wait, p->loop);
  p->reader = &wait;
  lt_wait_on(&wait, timeout_ms);
  p->reader = NULL;
}

static lt_status process_io_take_line(lt_process *p, lt_str *ret_line) LT_YIELDS {
  p->is_line_held = false;
  if (p->exited) {
    process_io_finish_out(p); /* this was not possible while the reader held a line */
  }
  while (!p->closing) {
    switch (lt_lines_next(&p->lines, ret_line)) {
      case LT_LINES_LINE:
        p->is_line_held = true;
        return LT_OK;
      case LT_LINES_OVER:
        return LT_E_LIMIT;
      case LT_LINES_END:
      case LT_LINES_MORE:
        break;
    }
    if (p->out_nomem) { /* at the end, lost output is reported once */
      p->out_nomem = false;
      return LT_E_NOMEM;
    }
    if (!p->out_open) {
      return LT_E_CLOSED;
    }
    process_io_start_reading(p);
    process_io_wait_as_reader(p, UINT64_MAX);
  }
  return LT_E_CLOSED;
}

static lt_status process_io_fail_read(lt_process *p, lt_status status, lt_err *err) {
  if (status == LT_E_LIMIT) {
    return lt_fail(err, status, "\"%s\" sent a line of more than %zu bytes", p->name, p->lines.line_max);
  }
  if (status == LT_E_CLOSED) {
    return lt_fail(err, status, "\"%s\" %s", p->name, p->exited ? p->exit_text : "closed its output");
  }
  return lt_fail(err, status, "no memory for the output of \"%s\"", p->name);
}

lt_status lt_process_read_line(lt_process *process, lt_str *ret_line, lt_err *err) {
  lt_process *p = process;
  LT_CHECK(p->reader == NULL);
  process_io_enter(p);
  lt_status status = process_io_take_line(p, ret_line);
  if (status == LT_E_CLOSED && !p->has_waited_for_exit && !p->exited && !p->closing) {
    p->has_waited_for_exit = true;
    process_io_wait_as_reader(p, LT_PROC_EXIT_GRACE_MS);
  }
  if (status != LT_OK) {
    process_io_fail_read(p, status, err);
  }
  process_io_leave(p);
  return status;
}

/* --- stdin -------------------------------------------------------------------------------------------------------- */

typedef struct write_job {
  uv_write_t req;
  lt_process *process;
  size_t n;
  char bytes[];
} write_job;

static bool process_io_may_write(const lt_process *p) {
  return p->queued <= LT_PROC_WRITE_QUEUE_BYTES;
}

static void process_io_wake_first_writer(lt_process *p) {
  if (p->writers != NULL) {
    lt_wait_wake(&p->writers->wait, LT_OK);
  }
}

static void process_io_end_in(lt_process *p) {
  process_io_close_pipe(&p->in, &p->in_open);
  for (lt_proc_writer *w = p->writers; w != NULL; w = w->next) {
    lt_wait_wake(&w->wait, LT_OK);
  }
}

static void process_io_on_written(uv_write_t *req, int status) {
  write_job *job = req->data;
  lt_process *p = job->process;
  p->queued -= job->n;
  lt_mem_free(job);
  if (status < 0 || ((p->closing || p->input_ended) && p->queued == 0)) {
    process_io_end_in(p);
  } else if (process_io_may_write(p)) {
    process_io_wake_first_writer(p);
  }
}

static lt_status process_io_queue_bytes(lt_process *p, lt_str bytes) {
  write_job *job = bytes.n < SIZE_MAX - sizeof *job ? lt_mem_alloc(sizeof *job + bytes.n) : NULL;
  if (job == NULL) {
    return LT_E_NOMEM;
  }
  job->process = p;
  job->n = bytes.n;
  job->req.data = job;
  memcpy(job->bytes, bytes.p, bytes.n);
  uv_buf_t buf = {.base = job->bytes, .len = bytes.n};
  int rc = uv_write(&job->req, (uv_stream_t *)&p->in, &buf, 1, process_io_on_written);
  if (rc != 0) {
    lt_mem_free(job);
    return lt_loop_status(rc);
  }
  p->queued += bytes.n;
  return LT_OK;
}

/* A write of up to PIPE_BUF bytes goes into a pipe whole or not at all (POSIX, write). So the usual small message needs
 * no copy. */
static lt_status process_io_put(lt_process *p, lt_str bytes) {
  if (bytes.n == 0) {
    return LT_OK;
  }
  if (bytes.n <= PIPE_BUF && p->queued == 0) {
    char *base = (char *)(uintptr_t)bytes.p;
    uv_buf_t buf = {.base = base, .len = bytes.n};
    int rc = uv_try_write((uv_stream_t *)&p->in, &buf, 1);
    if (rc >= 0) {
      LT_CHECK((size_t)rc == bytes.n);
      return LT_OK;
    }
    if (rc != UV_EAGAIN) {
      process_io_end_in(p);
      return LT_E_CLOSED;
    }
  }
  return process_io_queue_bytes(p, bytes);
}

/* Writers take turns in the order of their arrival. */
static void process_io_wait_for_turn(lt_process *p) LT_YIELDS {
  lt_proc_writer self = {0};
  lt_wait_init(&self.wait, p->loop);
  *p->last_writer = &self;
  p->last_writer = &self.next;
  while (p->in_open && !p->closing && (p->writers != &self || !process_io_may_write(p))) {
    lt_wait_on(&self.wait, UINT64_MAX);
  }
  lt_proc_writer **at = &p->writers; /* the first writer, unless all were woken at the end */
  while (*at != &self) {
    at = &(*at)->next;
  }
  *at = self.next;
  if (self.next == NULL) {
    p->last_writer = at;
  }
}

static lt_status process_io_write_in_turn(lt_process *p, lt_str bytes) LT_YIELDS {
  if (p->writers != NULL || !process_io_may_write(p)) {
    process_io_wait_for_turn(p);
  }
  if (!p->in_open || p->closing || p->input_ended) {
    return LT_E_CLOSED;
  }
  lt_status status = process_io_put(p, bytes);
  if (process_io_may_write(p)) {
    process_io_wake_first_writer(p);
  }
  return status;
}

lt_status lt_process_write(lt_process *process, lt_str bytes, lt_err *err) {
  lt_process *p = process;
  process_io_enter(p);
  lt_status status = process_io_write_in_turn(p, bytes);
  if (status != LT_OK) {
    const char *why = status == LT_E_CLOSED ? (p->exited ? p->exit_text : "closed its input") : lt_status_text(status);
    lt_fail(err, status, "cannot write to \"%s\": %s%s", p->name, status == LT_E_CLOSED ? "it " : "", why);
  }
  process_io_leave(p);
  return status;
}

void lt_process_end_input(lt_process *process) {
  process->input_ended = true;
  if (process->queued == 0) {
    process_io_end_in(process);
  }
}

/* --- stderr ------------------------------------------------------------------------------------------------------- */

/* Makes room in any case: the child must never wait until its stderr is read. */
static char *process_io_err_room(lt_process *p, size_t *ret_n) {
  if (sizeof p->err_bytes - p->err_n < LT_PROC_STDERR_KEEP_BYTES) {
    memmove(p->err_bytes, p->err_bytes + p->err_n - LT_PROC_STDERR_KEEP_BYTES, LT_PROC_STDERR_KEEP_BYTES);
    p->err_n = LT_PROC_STDERR_KEEP_BYTES;
  }
  *ret_n = sizeof p->err_bytes - p->err_n;
  return p->err_bytes + p->err_n;
}

static void process_io_err_got(lt_process *p, size_t n) {
  if (p->echo && write(STDERR_FILENO, p->err_bytes + p->err_n, n) < 0) {
    p->echo = false;
  }
  p->err_n += n;
}

static void process_io_alloc_err(uv_handle_t *handle, size_t hint, uv_buf_t *buf) {
  (void)hint;
  size_t n;
  buf->base = process_io_err_room(handle->data, &n);
  buf->len = n;
}

static void process_io_on_err(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
  (void)buf;
  lt_process *p = stream->data;
  if (n < 0) {
    process_io_close_pipe(&p->err, &p->err_open);
  } else {
    process_io_err_got(p, (size_t)n);
  }
}

static void process_io_finish_err(lt_process *p) {
  size_t left = p->err_open ? process_io_pending(&p->err) : 0;
  while (left > 0) {
    size_t room;
    char *to = process_io_err_room(p, &room);
    ssize_t n = read(process_io_fd_of(&p->err), to, room < left ? room : left);
    if (n <= 0) {
      break;
    }
    process_io_err_got(p, (size_t)n);
    left -= (size_t)n;
  }
  process_io_close_pipe(&p->err, &p->err_open);
}

lt_str lt_process_stderr(const lt_process *process) {
  size_t n = process->err_n;
  size_t keep = n < LT_PROC_STDERR_KEEP_BYTES ? n : LT_PROC_STDERR_KEEP_BYTES;
  return lt_str_from(process->err_bytes + n - keep, keep);
}

/* --- All pipes ---------------------------------------------------------------------------------------------------- */

/* Takes over `*fd`, also when it fails. */
static int process_io_open_pipe(lt_process *p, uv_pipe_t *pipe, int *fd, bool *ret_open) {
  uv_pipe_init(lt_loop_uv(p->loop), pipe, 0);
  pipe->data = p;
  p->handles++;
  *ret_open = true;
  int rc = uv_pipe_open(pipe, *fd);
  if (rc != 0) {
    close(*fd);
  }
  *fd = -1;
  return rc;
}

int lt_process_pipes_open(lt_process *process, int ours[3]) {
  lt_process *p = process;
  p->last_writer = &p->writers;
  int rc_in = process_io_open_pipe(p, &p->in, &ours[STDIN_FILENO], &p->in_open);
  int rc_out = process_io_open_pipe(p, &p->out, &ours[STDOUT_FILENO], &p->out_open);
  int rc_err = process_io_open_pipe(p, &p->err, &ours[STDERR_FILENO], &p->err_open);
  if (rc_in != 0 || rc_out != 0 || rc_err != 0) {
    return rc_in != 0 ? rc_in : rc_out != 0 ? rc_out : rc_err;
  }
  process_io_start_reading(p);
  return uv_read_start((uv_stream_t *)&p->err, process_io_alloc_err, process_io_on_err);
}

void lt_process_pipes_finish(lt_process *process) {
  process_io_end_in(process);
  process_io_finish_err(process);
  if (!process->is_line_held || process->closing) {
    process_io_finish_out(process);
  }
  process_io_wake_reader(process);
}

void lt_process_pipes_shut(lt_process *process) {
  if (process->queued == 0) {
    process_io_end_in(process);
  } else {
    for (lt_proc_writer *w = process->writers; w != NULL; w = w->next) {
      lt_wait_wake(&w->wait, LT_OK);
    }
  }
  process_io_wake_reader(process);
  process_io_start_reading(process);
}

void lt_process_pipes_close(lt_process *process) {
  process_io_close_pipe(&process->in, &process->in_open);
  process_io_close_pipe(&process->out, &process->out_open);
  process_io_close_pipe(&process->err, &process->err_open);
}
