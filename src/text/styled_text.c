#include "text/styled_text.h"

#include "json/json_text.h"
#include "text/plain.h"

/* --- Styles ------------------------------------------------------------------------------------------------------- */
/* ECMA-48, 8.3.117 (SGR). */
static void styled_change(lt_buf *out, unsigned from, unsigned to) {
  static const struct {
    unsigned style;
    char code;
  } attributes[] = {{LT_STYLE_BOLD, '1'},
                    {LT_STYLE_DIM, '2'},
                    {LT_STYLE_ITALIC, '3'},
                    {LT_STYLE_UNDERLINE, '4'},
                    {LT_STYLE_STRIKE, '9'}};
  if (from == to) {
    return;
  }
  lt_buf_addc(out, from == 0 ? "\x1b[" : "\x1b[0");
  bool has_one = from != 0;
  for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
    if ((to & attributes[i].style) != 0) {
      lt_buf_addc(out, has_one ? ";" : "");
      lt_buf_byte(out, attributes[i].code);
      has_one = true;
    }
  }
  if (to >> 5 != 0) {
    lt_buf_addc(out, has_one ? ";3" : "3");
    lt_buf_byte(out, (char)('0' + (to >> 5)));
  }
  lt_buf_byte(out, 'm');
}

/* --- Glyphs ------------------------------------------------------------------------------------------------------- */
/* The first `max` characters of a text. Returns their number. */
static size_t styled_make_glyphs(lt_glyph *glyphs, size_t max, lt_str text) {
  size_t count = 0;
  lt_plain_reader r = lt_plain_reader_of(text);
  uint32_t cp;
  while (count < max && lt_plain_next(&r, &cp)) {
    glyphs[count++] = lt_glyph_of(cp == '\n' || cp == '\t' ? ' ' : cp, 0);
  }
  return count;
}

size_t lt_styled_columns(const lt_glyph *glyphs, size_t count) {
  size_t columns = 0;
  for (size_t i = 0; i < count; i++) {
    columns += lt_plain_columns(lt_glyph_cp(glyphs[i]));
  }
  return columns;
}

static void styled_put_char(lt_buf *out, uint32_t cp) {
  char bytes[4];
  if (cp >= 0x20 && cp < 0x7F) {
    lt_buf_byte(out, (char)cp);
  } else {
    lt_buf_add(out, lt_str_from(bytes, lt_json_write_char(bytes, cp)));
  }
}

void lt_styled_put_glyphs(lt_buf *out, const lt_glyph *glyphs, size_t count) {
  unsigned style = 0;
  for (size_t i = 0; i < count; i++) {
    styled_change(out, style, lt_glyph_style(glyphs[i]));
    style = lt_glyph_style(glyphs[i]);
    styled_put_char(out, lt_glyph_cp(glyphs[i]));
  }
  styled_change(out, style, 0);
}

void lt_styled_put(lt_buf *out, lt_str text, unsigned style) {
  lt_plain_reader r = lt_plain_reader_of(text);
  uint32_t cp;
  if (text.n == 0) {
    return;
  }
  styled_change(out, 0, style);
  while (out->status == LT_OK && lt_plain_next(&r, &cp)) {
    styled_put_char(out, cp == '\n' ? ' ' : cp);
  }
  styled_change(out, style, 0);
}

size_t lt_styled_break(const lt_glyph *glyphs, size_t count, size_t columns, size_t *ret_next) {
  size_t used = 0, i = 0, space = SIZE_MAX;
  for (; i < count; i++) {
    used += lt_plain_columns(lt_glyph_cp(glyphs[i]));
    if (used > columns && i > 0) {
      break;
    }
    space = lt_glyph_cp(glyphs[i]) == ' ' ? i : space;
  }
  size_t end = i == count || lt_glyph_cp(glyphs[i]) == ' ' ? i : space != SIZE_MAX && space > 0 ? space : i;
  *ret_next = end;
  while (*ret_next < count && lt_glyph_cp(glyphs[*ret_next]) == ' ') {
    (*ret_next)++;
  }
  while (end > 0 && lt_glyph_cp(glyphs[end - 1]) == ' ') {
    end--;
  }
  return end;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */
static void styled_put_spaces(lt_buf *out, size_t count) {
  for (size_t i = 0; i < count; i++) {
    lt_buf_byte(out, ' ');
  }
}

void lt_styled_begin_line(lt_wrap *wrap, lt_str first, lt_buf *out) {
  lt_glyph mark[16];
  if (wrap->is_begun) {
    return;
  }
  size_t count = styled_make_glyphs(mark, sizeof mark / sizeof mark[0], first);
  size_t mark_columns = lt_styled_columns(mark, count);
  size_t most = wrap->width / 2;
  size_t indent = wrap->indent < most ? wrap->indent : most;
  for (unsigned i = 0; i < wrap->quotes; i++) {
    lt_styled_put(out, LT_STR("\xe2\x94\x82"), LT_STYLE_DIM); /* a bar */
    lt_buf_byte(out, ' ');
  }
  styled_put_spaces(out, indent > mark_columns ? indent - mark_columns : 0);
  lt_styled_put_glyphs(out, mark, count);
  wrap->margin = 2 * wrap->quotes + (indent > mark_columns ? indent : mark_columns);
  wrap->column = wrap->margin;
  wrap->is_begun = true;
  wrap->spaces = 0;
}

void lt_styled_end_line(lt_wrap *wrap, lt_buf *out) {
  lt_buf_byte(out, '\n');
  wrap->column = 0;
  wrap->spaces = 0;
  wrap->is_begun = false;
}

static void styled_put_word(lt_wrap *wrap, const lt_glyph *word, size_t count, lt_buf *out) {
  size_t columns = lt_styled_columns(word, count);
  if (wrap->spaces > 0 && wrap->column > wrap->margin && wrap->column + wrap->spaces + columns > wrap->width) {
    lt_styled_end_line(wrap, out);
  }
  lt_styled_begin_line(wrap, LT_STR(""), out);
  const lt_glyph space = lt_glyph_of(' ', wrap->space_style);
  for (size_t i = 0; i < wrap->spaces; i++) {
    lt_styled_put_glyphs(out, &space, 1);
  }
  lt_styled_put_glyphs(out, word, count);
  wrap->column += wrap->spaces + columns;
  if (wrap->width > 0 && wrap->column > wrap->width) {
    wrap->column = (wrap->column - 1) % wrap->width + 1; /* the terminal has begun new lines */
  }
  wrap->spaces = 0;
}

void lt_styled_add_words(lt_wrap *wrap, const lt_glyph *glyphs, size_t count, lt_buf *out) {
  for (size_t at = 0; at < count;) {
    size_t end = at;
    while (end < count && lt_glyph_cp(glyphs[end]) != ' ') {
      end++;
    }
    if (end > at) {
      styled_put_word(wrap, glyphs + at, end - at, out);
    } else {
      wrap->spaces++;
      wrap->space_style = lt_glyph_style(glyphs[at]) & (LT_STYLE_UNDERLINE | LT_STYLE_STRIKE);
      end++;
    }
    at = end;
  }
}
