#include "io/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop_handles.h"
#include "io/read_ready.h"

#define RESIZE_POLL_MS 200 /* how soon a new size of the window is noticed */

struct lt_terminal {
  uv_poll_t poll;
  lt_loop *loop;
  int in;  /* does not block */
  int out; /* a second descriptor of the terminal: it blocks, as standard error does */
  lt_wait *reader;
  lt_terminal_size size; /* as measured; 0 rows: not measured yet */
  bool is_hiding;
  struct termios shown; /* the settings before lt_terminal_hide_typed */
};

static void terminal_on_closed(uv_handle_t *handle) {
  lt_mem_free(handle->data);
}

lt_status lt_terminal_open(lt_loop *loop, const char *path, lt_terminal **ret_terminal, lt_err *err) {
  lt_terminal *t = lt_mem_zalloc(1, sizeof *t);
  if (t == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a terminal");
  }
  t->loop = loop;
  t->in = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  t->out = t->in < 0 ? -1 : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
  int rc = t->out < 0 ? -errno : uv_poll_init(lt_loop_uv(loop), &t->poll, t->in);
  if (rc != 0) {
    if (t->in >= 0) {
      close(t->in);
    }
    if (t->out >= 0) {
      close(t->out);
    }
    lt_mem_free(t);
    return lt_fail(err, LT_E_NOTFOUND, "cannot open the terminal %s: %s", path, uv_strerror(rc));
  }
  t->poll.data = t;
  lt_loop_add_object(loop);
  *ret_terminal = t;
  return LT_OK;
}

void lt_terminal_close(lt_terminal *t) {
  if (t == NULL) {
    return;
  }
  LT_CHECK(t->reader == NULL);
  lt_loop_remove_object(t->loop);
  uv_close((uv_handle_t *)&t->poll, terminal_on_closed);
  close(t->in);
  close(t->out);
}

void lt_terminal_forget(lt_terminal *t) {
  tcflush(t->in, TCIFLUSH);
}

void lt_terminal_write(lt_terminal *t, lt_str text) {
  while (text.n > 0) {
    ssize_t n = write(t->out, text.p, text.n);
    if (n < 0 && errno != EINTR) {
      return;
    }
    text = lt_str_sub(text, n > 0 ? (size_t)n : 0, text.n);
  }
}

/* --- The window's size -------------------------------------------------------------------------------------------- */
static lt_terminal_size terminal_size_now(const lt_terminal *t) {
  struct winsize size;
  bool is_known = ioctl(t->in, TIOCGWINSZ, &size) == 0;
  return (lt_terminal_size){.rows = is_known && size.ws_row > 0 ? size.ws_row : 24,
                            .columns = is_known && size.ws_col > 0 ? size.ws_col : 80};
}

lt_terminal_size lt_terminal_measure(lt_terminal *t) {
  t->size = terminal_size_now(t);
  return t->size;
}

static bool terminal_is_resized(const lt_terminal *t) {
  lt_terminal_size now = terminal_size_now(t);
  return t->size.rows > 0 && (now.rows != t->size.rows || now.columns != t->size.columns);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static void terminal_on_readable(uv_poll_t *handle, int status, int events) {
  (void)status, (void)events; /* every event is handled by reading */
  lt_terminal *t = handle->data;
  uv_poll_stop(handle);
  lt_wait_wake(t->reader, LT_OK);
}

static lt_status terminal_await_change(lt_terminal *t, lt_wait *wait, const lt_cancel *cancel) LT_YIELDS {
  for (;;) {
    lt_status status = lt_wait_on(wait, t->size.rows > 0 ? RESIZE_POLL_MS : UINT64_MAX);
    if (status != LT_E_TIMEOUT || (cancel != NULL && cancel->why != LT_OK)) {
      return status;
    }
    if (terminal_is_resized(t)) {
      return LT_E_INTERRUPTED;
    }
  }
}

static lt_status terminal_await_readable(lt_terminal *t, lt_cancel *cancel) LT_YIELDS {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, t->loop);
  t->reader = &wait;
  uv_poll_start(&t->poll, UV_READABLE | UV_DISCONNECT, terminal_on_readable);
  lt_cancel_add(cancel, &node, &wait);
  lt_status status = terminal_await_change(t, &wait, cancel);
  lt_cancel_remove(cancel, &node);
  uv_poll_stop(&t->poll);
  t->reader = NULL;
  return status;
}

/* Appends the available text up to the end of a line. True: the line is complete. A terminal delivers one line at a
 * time; later text stays in the terminal. */
static bool terminal_take(lt_buf *out, const char *bytes, size_t n) {
  lt_str text = lt_str_from(bytes, n);
  size_t end = lt_str_find(text, LT_STR("\n"), 0);
  lt_buf_add(out, lt_str_sub(text, 0, end));
  return end != SIZE_MAX || out->status != LT_OK;
}

/* The end of input was typed, or the terminal is gone. */
static lt_status terminal_fail_ended(const lt_terminal *t, lt_err *err) {
  struct termios about;
  return tcgetattr(t->in, &about) == 0 ? lt_fail(err, LT_E_CLOSED, "the terminal's input has ended")
                                       : lt_fail(err, LT_E_IO, "the terminal is gone");
}

lt_status lt_terminal_read_line(lt_terminal *t, lt_cancel *cancel, lt_buf *out, lt_err *err) {
  size_t from = out->n;
  for (;;) {
    char bytes[4096];
    lt_status status = terminal_await_readable(t, cancel);
    if (status != LT_OK) {
      return lt_fail(err, status, "%s while waiting for an answer at the terminal", lt_status_text(status));
    }
    ssize_t n = lt_read_ready(t->in, bytes, sizeof bytes);
    if (n > 0) {
      if (terminal_take(out, bytes, (size_t)n)) {
        return lt_buf_check(out, err, "the line is too long");
      }
    } else if (n == LT_READ_END && out->n > from) {
      return LT_OK; /* the user typed the end after some text */
    } else if (n != LT_READ_LATER) {
      return terminal_fail_ended(t, err);
    }
  }
}

/* A key that sends several bytes, such as an arrow, counts as its first byte. */
static lt_status terminal_take_key(lt_terminal *t, const char *keys, lt_cancel *cancel, char *ret_key,
                                   lt_err *err) LT_YIELDS {
  for (;;) {
    char bytes[64];
    lt_status status = terminal_await_readable(t, cancel);
    if (status != LT_OK) {
      return lt_fail(err, status, "%s while waiting for a key at the terminal", lt_status_text(status));
    }
    ssize_t n = lt_read_ready(t->in, bytes, sizeof bytes);
    if ((n > 0 && bytes[0] == '\x04') || (n <= 0 && n != LT_READ_LATER)) {
      return terminal_fail_ended(t, err);
    }
    if (n > 0 && bytes[0] != '\0' && strchr(keys, bytes[0]) != NULL) {
      *ret_key = bytes[0];
      return LT_OK;
    }
  }
}

/* The settings under which each key is read at once and not shown. */
static struct termios terminal_settings_for_keys(struct termios settings) {
  settings.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  return settings;
}

lt_status lt_terminal_read_key(lt_terminal *t, lt_str prompt, const char *keys, lt_cancel *cancel, char *ret_key,
                               lt_err *err) {
  struct termios before;
  if (tcgetattr(t->in, &before) != 0) {
    return lt_fail(err, LT_E_IO, "the terminal is gone");
  }
  struct termios settings = terminal_settings_for_keys(before);
  tcsetattr(t->in, TCSANOW, &settings);
  lt_terminal_forget(t); /* before the prompt: a key that answers it must not be lost */
  lt_terminal_write(t, prompt);
  lt_status status = terminal_take_key(t, keys, cancel, ret_key, err);
  tcsetattr(t->in, TCSANOW, &before);
  return status;
}

void lt_terminal_hide_typed(lt_terminal *t) {
  if (t->is_hiding || tcgetattr(t->in, &t->shown) != 0) {
    return;
  }
  struct termios settings = terminal_settings_for_keys(t->shown);
  t->is_hiding = tcsetattr(t->in, TCSANOW, &settings) == 0;
}

void lt_terminal_show_typed(lt_terminal *t) {
  if (t->is_hiding) {
    t->is_hiding = false;
    tcsetattr(t->in, TCSANOW, &t->shown);
  }
}

lt_status lt_terminal_read_typed(lt_terminal *t, lt_cancel *cancel, lt_buf *out, lt_err *err) {
  for (;;) {
    char bytes[4096];
    lt_status status = terminal_await_readable(t, cancel);
    if (status != LT_OK) {
      return lt_fail(err, status, "%s while waiting for a key at the terminal", lt_status_text(status));
    }
    ssize_t n = lt_read_ready(t->in, bytes, sizeof bytes);
    if (n > 0) {
      lt_buf_add(out, lt_str_from(bytes, (size_t)n));
      return lt_buf_check(out, err, "too much was typed");
    }
    if (n != LT_READ_LATER) {
      return terminal_fail_ended(t, err);
    }
  }
}
