#include "io/lines.h"

#include "base/limits.h"
#include "base/mem.h"

void lt_lines_init(lt_lines *lines, size_t line_max) {
  *lines = (lt_lines){.line_max = line_max < SIZE_MAX / 4 ? line_max : SIZE_MAX / 4};
}

void lt_lines_release(lt_lines *lines) {
  bool is_raw = lines->is_raw;
  lt_mem_free(lines->p);
  lt_lines_init(lines, lines->line_max);
  lines->is_raw = is_raw;
}

void lt_lines_clear(lt_lines *lines) {
  lines->start = lines->end = lines->searched = 0;
  lines->found = lines->over = lines->skipping = false;
}

/* A long line must not keep its memory for ever. */
static void lines_shrink(lt_lines *lines) {
  lines->start = lines->end = lines->searched = 0;
  if (lines->cap > LT_PROC_LINES_KEEP_BYTES) {
    lt_mem_free(lines->p);
    lines->p = NULL;
    lines->cap = 0;
  }
}

static void lines_move_to_front(lt_lines *lines) {
  if (lines->start > 0) {
    memmove(lines->p, lines->p + lines->start, lines->end - lines->start);
    lines->end -= lines->start;
    lines->searched -= lines->start;
    lines->newline -= lines->found ? lines->start : 0;
    lines->start = 0;
  }
}

static bool lines_grow(lt_lines *lines) {
  size_t want = lines->end + LT_PROC_READ_BYTES;
  size_t cap = lines->cap * 2 > want ? lines->cap * 2 : want;
  size_t enough = lines->line_max + 2 * LT_PROC_READ_BYTES;
  if (cap > enough && enough >= want) {
    cap = enough;
  }
  char *p = lt_mem_realloc(lines->p, cap);
  if (p == NULL) {
    return false;
  }
  lines->p = p;
  lines->cap = cap;
  return true;
}

char *lt_lines_reserve(lt_lines *lines, size_t *ret_n) {
  if (lines->start == lines->end) {
    lines_shrink(lines);
  }
  if (lines->cap - lines->end < LT_PROC_READ_BYTES / 2) {
    lines_move_to_front(lines);
  }
  if (lines->cap - lines->end < LT_PROC_READ_BYTES / 2 && !lines_grow(lines)) {
    return NULL;
  }
  *ret_n = lines->cap - lines->end;
  return lines->p + lines->end;
}

void lt_lines_commit(lt_lines *lines, size_t n) {
  lines->end += n;
}

void lt_lines_end(lt_lines *lines) {
  lines->ended = true;
}

/* Drops the rest of a line that was too long. */
static void lines_drop(lt_lines *lines, size_t up_to, bool line_ended) {
  lines->start = lines->searched = up_to;
  lines->skipping = !line_ended;
}

/* Continues the search where the previous one stopped. */
static void lines_search(lt_lines *lines) {
  while (!lines->found && lines->searched < lines->end) {
    const char *from = lines->p + lines->searched;
    const char *newline = memchr(from, '\n', lines->end - lines->searched);
    if (newline == NULL) {
      lines->searched = lines->end;
    } else if (lines->skipping) {
      lines_drop(lines, (size_t)(newline - lines->p) + 1, true);
    } else {
      lines->newline = (size_t)(newline - lines->p);
      lines->searched = lines->newline + 1;
      lines->found = true;
    }
  }
  if (lines->found) {
    return;
  }
  if (!lines->skipping && lines->end - lines->start > lines->line_max + 1) { /* + 1: its last byte may be a "\r" */
    lines->over = true;
    lines->skipping = true;
  }
  if (lines->skipping) {
    lines_drop(lines, lines->end, false);
  }
}

bool lt_lines_ready(lt_lines *lines) {
  if (lines->is_raw) {
    return lines->start < lines->end || lines->ended;
  }
  if (!lines->over) {
    lines_search(lines);
  }
  return lines->over || lines->found || lines->ended;
}

static lt_lines_got lines_take(lt_lines *lines, size_t line_end, size_t next, lt_str *ret_line) {
  lt_str line = lt_str_from(lines->p + lines->start, line_end - lines->start);
  lines->start = next;
  lines->found = false;
  if (line.n > 0 && line.p[line.n - 1] == '\r') {
    line.n--;
  }
  if (line.n > lines->line_max) {
    return LT_LINES_OVER;
  }
  *ret_line = line;
  return LT_LINES_LINE;
}

lt_lines_got lt_lines_next(lt_lines *lines, lt_str *ret_line) {
  if (!lt_lines_ready(lines)) {
    return LT_LINES_MORE;
  }
  if (lines->is_raw && lines->start < lines->end) {
    *ret_line = lt_str_from(lines->p + lines->start, lines->end - lines->start);
    lines->start = lines->searched = lines->end;
    return LT_LINES_LINE;
  }
  if (lines->over) {
    lines->over = false;
    return LT_LINES_OVER;
  }
  if (lines->found) {
    return lines_take(lines, lines->newline, lines->newline + 1, ret_line);
  }
  if (lines->start < lines->end) {
    return lines_take(lines, lines->end, lines->end, ret_line);
  }
  return LT_LINES_END;
}
