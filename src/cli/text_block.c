#include "cli/text_block.h"

#include "base/utf8.h"
#include "json/json_text.h"
#include "text/plain.h"

#define LINE_SHOWN_BYTES 400
#define LINES_FIRST      40 /* of many lines, these are shown ... */
#define LINES_LAST       20 /* ... and these */

static void text_block_put_seen(lt_buf *out, lt_str line) {
  unsigned marks = 0;
  for (size_t at = 0; at < line.n;) {
    uint32_t cp = (unsigned char)line.p[at];
    unsigned n = lt_json_read_char(line.p + at, line.p + line.n, &cp);
    bool is_broken = n == 0 || lt_json_is_surrogate(cp) || (cp < 0x20 && cp != '\t');
    n = n > 0 ? n : 1;
    if (is_broken || lt_plain_needs_escape(cp, &marks)) {
      lt_buf_printf(out, "<U+%04X>", (unsigned)cp);
    } else {
      lt_buf_add(out, lt_str_sub(line, at, at + n));
    }
    at += n;
  }
}

bool lt_text_block_line(lt_buf *out, lt_str margin, char mark, lt_str line, bool whole) {
  lt_str shown = whole ? line : lt_utf8_cut(line, LINE_SHOWN_BYTES);
  lt_buf_byte(out, '\n');
  lt_buf_add(out, margin);
  lt_buf_byte(out, mark);
  lt_buf_byte(out, ' ');
  text_block_put_seen(out, shown);
  if (shown.n < line.n) {
    lt_buf_printf(out, " ... %zu bytes hidden", line.n - shown.n);
  }
  return shown.n == line.n;
}

/* Takes the line of `text` at `*at` without its end, and moves `*at` behind it. False: there is no more. */
static bool text_block_next(lt_str text, size_t *at, lt_str *ret_line) {
  if (*at >= text.n) {
    return false;
  }
  size_t end = lt_str_find(text, LT_STR("\n"), *at);
  end = end < text.n ? end : text.n;
  *ret_line = lt_str_sub(text, *at, end);
  *at = end + 1;
  return true;
}

bool lt_text_block_add(lt_buf *out, lt_str margin, lt_str text, bool whole) {
  size_t count = 0, number = 0;
  lt_str line;
  for (size_t at = 0; text_block_next(text, &at, &line);) {
    count++;
  }
  bool is_cut = !whole && count > LINES_FIRST + LINES_LAST, is_whole = !is_cut;
  lt_buf_printf(out, "(%zu line%s)", count, count == 1 ? "" : "s");
  for (size_t at = 0; out->status == LT_OK && text_block_next(text, &at, &line); number++) {
    if (is_cut && number == LINES_FIRST) {
      lt_buf_byte(out, '\n');
      lt_buf_add(out, margin);
      lt_buf_printf(out, "... %zu lines hidden", count - LINES_FIRST - LINES_LAST);
    }
    if (!is_cut || number < LINES_FIRST || number + LINES_LAST >= count) {
      is_whole = lt_text_block_line(out, margin, '|', line, whole) && is_whole;
    }
  }
  return is_whole;
}
