#include "cli/piped_lines.h"

#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/lines.h"
#include "io/read_ready.h"
#include "io/watch.h"

struct lt_piped_lines {
  lt_wait readable;
  lt_watch *watch; /* NULL: a file, which can always be read */
  lt_lines lines;
};

lt_status lt_piped_lines_open(lt_loop *loop, lt_piped_lines **ret_lines, lt_err *err) {
  lt_piped_lines *l = lt_mem_zalloc(1, sizeof *l);
  if (l == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  lt_wait_init(&l->readable, loop);
  lt_lines_init(&l->lines, LT_INPUT_LINE_BYTES);
  if (lt_watch_open(loop, STDIN_FILENO, &l->readable, &l->watch, NULL) != LT_OK) {
    l->watch = NULL;
  }
  *ret_lines = l;
  return LT_OK;
}

void lt_piped_lines_close(lt_piped_lines *l) {
  if (l != NULL) {
    lt_watch_close(l->watch);
    lt_lines_release(&l->lines);
    lt_mem_free(l);
  }
}

static lt_status piped_lines_await(lt_piped_lines *l, lt_cancel *cancel) LT_YIELDS {
  lt_cancel_node node;
  if (l->watch == NULL) {
    return cancel->why;
  }
  lt_cancel_add(cancel, &node, &l->readable);
  lt_watch_set(l->watch, LT_WATCH_READ);
  lt_status status = lt_wait_on(&l->readable, UINT64_MAX);
  lt_watch_set(l->watch, 0);
  lt_cancel_remove(cancel, &node);
  return status;
}

static lt_status piped_lines_fill(lt_piped_lines *l, lt_cancel *cancel, lt_err *err) LT_YIELDS {
  size_t room = 0;
  lt_status status = piped_lines_await(l, cancel);
  if (status != LT_OK) {
    return lt_fail(err, status, "%s while waiting for a line", lt_status_text(status));
  }
  char *to = lt_lines_reserve(&l->lines, &room);
  if (to == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  ssize_t n = lt_read_ready(STDIN_FILENO, to, room);
  if (n > 0) {
    lt_lines_commit(&l->lines, (size_t)n);
  } else if (n != LT_READ_LATER) {
    lt_lines_end(&l->lines);
  }
  return LT_OK;
}

lt_status lt_piped_lines_read(lt_piped_lines *l, lt_cancel *cancel, lt_buf *out, lt_err *err) {
  lt_str line;
  for (;;) {
    switch (lt_lines_next(&l->lines, &line)) {
      case LT_LINES_LINE:
        lt_buf_add(out, line);
        return lt_buf_check(out, err, "the program is too long");
      case LT_LINES_OVER:
        return lt_fail(err, LT_E_LIMIT, "a line is longer than %lu bytes", LT_INPUT_LINE_BYTES);
      case LT_LINES_END:
        return lt_fail(err, LT_E_CLOSED, "standard input has ended");
      case LT_LINES_MORE:
        LT_TRY(piped_lines_fill(l, cancel, err));
        break;
    }
  }
}
