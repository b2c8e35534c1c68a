/* Text with styles for a terminal: characters that carry their style, how they are written, and where lines are broken.
 *
 * What is written has no control characters but line breaks and our own styles, whatever the text was. Each function
 * that writes leaves the terminal without a style. Pure functions on text.
 */
#ifndef LT_TEXT_STYLED_TEXT_H
#define LT_TEXT_STYLED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* A style is a set of attributes and one colour. 0: plain. */
enum {
  LT_STYLE_BOLD = 1,
  LT_STYLE_DIM = 2,
  LT_STYLE_ITALIC = 4,
  LT_STYLE_UNDERLINE = 8,
  LT_STYLE_STRIKE = 16,
  LT_STYLE_RED = 1 << 5, /* colours are numbers in the upper three bits */
  LT_STYLE_GREEN = 2 << 5,
  LT_STYLE_YELLOW = 3 << 5,
  LT_STYLE_MAGENTA = 5 << 5,
  LT_STYLE_CYAN = 6 << 5,
};

/* A character in the lower 24 bits, its style above. */
typedef uint32_t lt_glyph;

static inline lt_glyph lt_glyph_of(uint32_t cp, unsigned style) {
  return cp | (lt_glyph)style << 24;
}
static inline uint32_t lt_glyph_cp(lt_glyph glyph) {
  return glyph & 0xFFFFFF;
}
static inline unsigned lt_glyph_style(lt_glyph glyph) {
  return glyph >> 24;
}

/* The columns that they take on a terminal. */
size_t lt_styled_columns(const lt_glyph *glyphs, size_t count);
/* Writes glyphs, and no style after them. */
void lt_styled_put_glyphs(lt_buf *out, const lt_glyph *glyphs, size_t count);
/* Writes a text in one style; of control characters only tabs are left. */
void lt_styled_put(lt_buf *out, lt_str text, unsigned style);

/* The number of glyphs, of the first ones, that make a line of at most `columns` columns: up to the last space, else as
 * many as fit, at least one. Spaces at the break are not part of the line; `*ret_next` is where the next line begins.
 */
size_t lt_styled_break(const lt_glyph *glyphs, size_t count, size_t columns, size_t *ret_next);

/* Writes words one after the other and breaks lines between them. Every line begins with the margin. A word that is
 * wider than a line is not cut: the terminal does that, and it can be copied as a whole. */
typedef struct lt_wrap {
  size_t width;         /* columns of the terminal */
  size_t column;        /* of the cursor */
  size_t margin;        /* columns that the margin takes: the line has no word yet when the cursor is there */
  unsigned quotes;      /* the margin: bars of quotes ... */
  size_t indent;        /* ... and spaces behind them */
  bool is_begun;        /* the line's margin is written */
  size_t spaces;        /* not written yet */
  unsigned space_style; /* theirs, as far as it is seen */
} lt_wrap;

/* Writes the margin, if the line does not have it yet. `first` stands at its end on the first line: a list's mark. */
void lt_styled_begin_line(lt_wrap *wrap, lt_str first, lt_buf *out);
/* Writes glyphs. Their first word continues the line's last one unless there is a space between them. */
void lt_styled_add_words(lt_wrap *wrap, const lt_glyph *glyphs, size_t count, lt_buf *out);
void lt_styled_end_line(lt_wrap *wrap, lt_buf *out);

#endif
