/* Any bytes as Markdown: the same whole and in pieces, and nothing comes out that a terminal would obey but styles. */
#include <stdint.h>
#include <stdlib.h>

#include "text/markdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(lt_str text, size_t width, size_t step, lt_buf *out) {
  lt_markdown *m;
  if (lt_markdown_new(width, &m, NULL) != LT_OK) {
    abort();
  }
  for (size_t at = 0; at < text.n; at += step) {
    lt_markdown_add(m, lt_str_sub(text, at, at + step), out);
  }
  lt_markdown_end(m, out);
  if (lt_markdown_is_mid_line(m)) {
    abort();
  }
  lt_markdown_free(m);
}

/* "ESC [ digits and semicolons m", and otherwise text, tabs and line breaks. */
static void check(const lt_buf *out) {
  for (size_t i = 0; i < out->n; i++) {
    unsigned char c = (unsigned char)out->p[i];
    if (c == 0x1b) {
      i++;
      do {
        i++;
      } while (i < out->n && ((out->p[i] >= '0' && out->p[i] <= '9') || out->p[i] == ';'));
      if (i >= out->n || out->p[i] != 'm') {
        abort();
      }
    } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > (1 << 16)) {
    return 0;
  }
  lt_buf whole, pieces;
  lt_buf_init(&whole, 256 << 20);
  lt_buf_init(&pieces, 256 << 20);
  lt_str text = lt_str_from(data + 2, size - 2);
  render(text, data[0], text.n > 0 ? text.n : 1, &whole);
  render(text, data[0], data[1] % 16 + 1u, &pieces);
  if (whole.status != LT_OK || !lt_str_eq(lt_buf_view(&whole), lt_buf_view(&pieces))) {
    abort();
  }
  check(&whole);
  lt_buf_release(&whole);
  lt_buf_release(&pieces);
  return 0;
}
