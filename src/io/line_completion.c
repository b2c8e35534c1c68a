#include "io/line_completion.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void lt_line_completion_init(lt_line_completion *c, lt_str line) {
  c->line = line;
  c->start = line.n;
  c->count = c->more = 0;
  lt_arena_init(&c->arena, LT_COMPLETIONS_BYTES);
}

void lt_line_completion_release(lt_line_completion *c) {
  lt_arena_release(&c->arena);
}

static bool completion_is_plain(lt_str text) {
  for (size_t i = 0; i < text.n; i++) {
    unsigned char byte = (unsigned char)text.p[i];
    if (byte < 0x20 || byte == 0x7f) {
      return false;
    }
  }
  return text.n > 0;
}

static bool completion_has(const lt_line_completion *c, lt_str text) {
  for (size_t i = 0; i < c->count; i++) {
    if (lt_str_eq(c->items[i], text)) {
      return true;
    }
  }
  return false;
}

void lt_line_completion_add(lt_line_completion *c, lt_str text) {
  lt_str word = lt_str_sub(c->line, c->start, c->line.n);
  if (!lt_str_starts(text, word) || !completion_is_plain(text) || completion_has(c, text)) {
    return;
  }
  lt_str copy = c->count < LT_COMPLETIONS_MAX ? lt_arena_dup(&c->arena, text) : LT_STR_NULL;
  if (copy.p != NULL) {
    c->items[c->count++] = copy;
  } else {
    c->more++;
  }
}

static int completion_compare(const void *a, const void *b) {
  const lt_str *x = a, *y = b;
  int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
  return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/* Of the sorted candidates, all have what the first and the last have in common. */
lt_str lt_line_completion_rest(lt_line_completion *c) {
  if (c->count == 0) {
    return LT_STR_NULL;
  }
  qsort(c->items, c->count, sizeof c->items[0], completion_compare);
  lt_str first = c->items[0], last = c->items[c->count - 1];
  size_t n = 0, typed = c->line.n - c->start;
  while (n < first.n && n < last.n && first.p[n] == last.p[n]) {
    n++;
  }
  n = lt_utf8_floor(first, n);
  return n > typed && c->more == 0 ? lt_str_sub(first, typed, n) : LT_STR_NULL;
}

static void completion_put_padding(lt_buf *out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    lt_buf_byte(out, ' ');
  }
}

/* Columns are filled from top to bottom. */
void lt_line_completion_put(const lt_line_completion *c, size_t columns, lt_buf *out) {
  size_t widest = 0;
  for (size_t i = 0; i < c->count; i++) {
    size_t width = lt_utf8_count(c->items[i]);
    widest = width > widest ? width : widest;
  }
  size_t across = columns / (widest + 2);
  across = across > 0 ? across : 1;
  size_t rows = (c->count + across - 1) / across;
  for (size_t row = 0; row < rows; row++) {
    for (size_t at = row; at < c->count; at += rows) {
      lt_buf_add(out, c->items[at]);
      completion_put_padding(out, at + rows < c->count ? widest + 2 - lt_utf8_count(c->items[at]) : 0);
    }
    lt_buf_byte(out, '\n');
  }
  if (c->more > 0) {
    lt_buf_printf(out, "... and %zu more\n", c->more);
  }
}
