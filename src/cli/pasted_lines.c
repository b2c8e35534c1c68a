#include "cli/pasted_lines.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/lines.h"
#include "io/read_ready.h"
#include "io/terminal.h"
#include "io/watch.h"

struct lt_pasted_lines {
  lt_terminal *terminal; /* or ... */
  lt_watch *watch;       /* ... standard input */
  lt_wait readable;
  lt_lines lines;
  lt_cancel cancel;
  void (*on_line)(void *arg, lt_str line);
  void *arg;
  bool has_ended;
  lt_wait ended;
};

/* --- A terminal --------------------------------------------------------------------------------------------------- */

static void pasted_lines_from_terminal(lt_pasted_lines *l) LT_YIELDS {
  for (lt_status status = LT_OK; status == LT_OK || status == LT_E_INTERRUPTED;) {
    LT_AUTO_BUF(line, 2 * LT_HTTP_URL_MAX_BYTES);
    status = lt_terminal_read_line(l->terminal, &l->cancel, &line, NULL);
    if (status == LT_OK) {
      l->on_line(l->arg, lt_buf_view(&line));
    }
  }
}

/* --- A pipe ------------------------------------------------------------------------------------------------------- */

/* False: there is nothing more for now. */
static bool pasted_lines_read(lt_pasted_lines *l) {
  size_t room = 0;
  char *to = lt_lines_reserve(&l->lines, &room);
  ssize_t n = to != NULL ? lt_read_ready(STDIN_FILENO, to, room) : LT_READ_END;
  if (n > 0) {
    lt_lines_commit(&l->lines, (size_t)n);
  } else if (n != LT_READ_LATER) {
    lt_lines_end(&l->lines);
  }
  return n > 0;
}

/* False: the input has ended. */
static bool pasted_lines_take(lt_pasted_lines *l) {
  lt_str line;
  for (;;) {
    lt_lines_got got = lt_lines_next(&l->lines, &line);
    if (got == LT_LINES_MORE || got == LT_LINES_END) {
      return got == LT_LINES_MORE;
    }
    if (got == LT_LINES_LINE) {
      l->on_line(l->arg, line);
    }
  }
}

static void pasted_lines_from_pipe(lt_pasted_lines *l) LT_YIELDS {
  lt_cancel_node node;
  bool has_more = true;
  lt_cancel_add(&l->cancel, &node, &l->readable);
  lt_watch_set(l->watch, LT_WATCH_READ);
  while (has_more && l->cancel.why == LT_OK) {
    (void)lt_wait_on(&l->readable, UINT64_MAX);
    bool has_read = l->cancel.why == LT_OK;
    while (has_read && has_more) {
      has_read = pasted_lines_read(l);
      has_more = pasted_lines_take(l);
    }
  }
  lt_cancel_remove(&l->cancel, &node);
}

/* --- Both --------------------------------------------------------------------------------------------------------- */

static void pasted_lines_on_fiber(void *arg) {
  lt_pasted_lines *l = arg;
  if (l->terminal != NULL) {
    pasted_lines_from_terminal(l);
  } else {
    pasted_lines_from_pipe(l);
  }
  lt_watch_close(l->watch);
  l->watch = NULL;
  l->has_ended = true;
  lt_wait_wake(&l->ended, LT_OK);
}

static bool pasted_lines_begin(lt_pasted_lines *l, lt_loop *loop) {
  struct stat st;
  if (isatty(STDIN_FILENO)) {
    return lt_terminal_open(loop, "/dev/tty", &l->terminal, NULL) == LT_OK;
  }
  bool is_pipe = fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
  return is_pipe && lt_watch_open(loop, STDIN_FILENO, &l->readable, &l->watch, NULL) == LT_OK;
}

lt_pasted_lines *lt_pasted_lines_open(lt_loop *loop, void (*on_line)(void *arg, lt_str line), void *arg) {
  lt_pasted_lines *l = lt_mem_zalloc(1, sizeof *l);
  if (l == NULL) {
    return NULL;
  }
  l->on_line = on_line;
  l->arg = arg;
  lt_wait_init(&l->readable, loop);
  lt_wait_init(&l->ended, loop);
  lt_cancel_init(&l->cancel);
  lt_lines_init(&l->lines, 2 * LT_HTTP_URL_MAX_BYTES);
  if (pasted_lines_begin(l, loop) && lt_loop_spawn(loop, pasted_lines_on_fiber, l, NULL) == LT_OK) {
    return l;
  }
  lt_watch_close(l->watch);
  lt_terminal_close(l->terminal);
  lt_lines_release(&l->lines);
  lt_mem_free(l);
  return NULL;
}

void lt_pasted_lines_close(lt_pasted_lines *l) {
  if (l == NULL) {
    return;
  }
  lt_cancel_fire(&l->cancel, LT_E_CANCELLED);
  while (!l->has_ended) {
    lt_wait_on(&l->ended, UINT64_MAX);
  }
  lt_terminal_close(l->terminal);
  lt_lines_release(&l->lines);
  lt_mem_free(l);
}
