#include "text/markdown_impl.h"

#include <stdio.h>

#include "base/mem.h"
#include "json/json_text.h"
#include "text/plain.h"

#define TAB_COLUMNS  4
#define CODE_INDENT  4  /* spaces that make a line code, outside of lists (CommonMark 0.31, 4.4) */
#define RULE_COLUMNS 40 /* of a rule at most: a line, not a wall */
#define NUMBER_MAX   9  /* digits of an item's number (CommonMark 0.31, 5.2) */
#define HEADING_MAX  6
#define FENCE_MIN    3

/* --- Words -------------------------------------------------------------------------------------------------------- */
static void markdown_begin_words(lt_markdown *m, lt_buf *out) {
  m->wrap.indent = m->indent;
  lt_styled_begin_line(&m->wrap, lt_str_of(m->first), out);
  m->first[0] = '\0';
}

static void markdown_put_piece(lt_markdown *m, lt_str piece, lt_buf *out) {
  size_t count = lt_markdown_inline(&m->piece, piece, m->style, m->glyphs, LT_MARKDOWN_GLYPHS);
  lt_styled_add_words(&m->wrap, m->glyphs, count, out);
}

static void markdown_flush_words(lt_markdown *m, lt_buf *out) {
  markdown_put_piece(m, lt_buf_view(&m->head), out);
  lt_buf_clear(&m->head);
}

static void markdown_add_word_byte(lt_markdown *m, char c, lt_buf *out) {
  bool is_full = m->head.n >= LT_MARKDOWN_SPAN_BYTES - 4 && !lt_utf8_continues(c);
  if (lt_markdown_scan_byte(&m->scan, c) || is_full || m->head.n >= LT_MARKDOWN_SPAN_BYTES) {
    markdown_flush_words(m, out);
    char last = m->scan.last;
    m->scan = (lt_markdown_scan){.last = last};
  }
  lt_buf_byte(&m->head, c);
}

/* What is held was not the mark that it might have been. */
static void markdown_turn_into_words(lt_markdown *m, lt_buf *out) {
  LT_AUTO_BUF(held, LT_MARKDOWN_TABLE_BYTES);
  lt_buf_add(&held, lt_buf_view(&m->head));
  lt_buf_clear(&m->head);
  m->place = LT_MARKDOWN_WORDS;
  m->scan = (lt_markdown_scan){0};
  markdown_begin_words(m, out);
  for (size_t i = 0; i < held.n; i++) {
    markdown_add_word_byte(m, held.p[i], out);
  }
}

void lt_markdown_put_line(lt_markdown *m, lt_str line, lt_buf *out) {
  lt_buf_clear(&m->head);
  m->scan = (lt_markdown_scan){0};
  markdown_begin_words(m, out);
  for (size_t i = 0; i < line.n; i++) {
    markdown_add_word_byte(m, line.p[i], out);
  }
  markdown_flush_words(m, out);
  lt_styled_end_line(&m->wrap, out);
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */
static void markdown_next_line(lt_markdown *m) {
  lt_buf_clear(&m->head);
  m->place = LT_MARKDOWN_START;
  m->indent = 0;
  m->skips_space = false;
  m->rule_mark = NULL;
  m->style = 0;
  m->first[0] = '\0';
  m->wrap.quotes = 0;
}

static void markdown_end_blank_line(lt_markdown *m, lt_buf *out) {
  m->wrap.indent = 0;
  if (m->first[0] != '\0' || m->wrap.quotes > 0) {
    markdown_begin_words(m, out);
  }
  lt_styled_end_line(&m->wrap, out);
  m->was_blank = m->first[0] == '\0';
}

static void markdown_put_rule(lt_markdown *m, lt_buf *out) {
  markdown_begin_words(m, out);
  size_t columns = m->wrap.width > m->wrap.margin ? m->wrap.width - m->wrap.margin : 1;
  LT_AUTO_BUF(rule, LT_KIB);
  for (size_t i = 0; i < columns && i < RULE_COLUMNS; i++) {
    lt_buf_addc(&rule, "\xe2\x94\x80"); /* a horizontal bar */
  }
  lt_styled_put(out, lt_buf_view(&rule), LT_STYLE_DIM);
  lt_styled_end_line(&m->wrap, out);
}

/* --- Code --------------------------------------------------------------------------------------------------------- */
/* A fence is shown as it is written, so that code can be told from words also where nothing of it is coloured. */
static void markdown_put_code(lt_markdown *m, lt_str line, bool is_fence, lt_buf *out) {
  m->wrap.indent = m->indent;
  lt_styled_begin_line(&m->wrap, lt_str_of(m->first), out);
  m->first[0] = '\0';
  if (is_fence) {
    lt_styled_put(out, line, LT_STYLE_DIM);
  } else {
    lt_code_put_line(&m->code, line, 0, out);
  }
  m->wrap.column += line.n > 0 ? 1 : 0; /* not measured: the terminal wraps code */
}

/* "```js" or "~~~". False: it is a code span or text. */
static bool markdown_open_fence(lt_markdown *m, lt_buf *out) {
  lt_str line = lt_str_trim(lt_buf_view(&m->head));
  size_t length = 0;
  while (length < line.n && line.p[length] == line.p[0]) {
    length++;
  }
  lt_str info = lt_str_trim(lt_str_sub(line, length, line.n));
  if (length < FENCE_MIN || (line.p[0] == '`' && lt_str_find(info, LT_STR("`"), 0) != SIZE_MAX)) {
    return false;
  }
  size_t word = 0;
  while (word < info.n && strchr(" \t,{:", info.p[word]) == NULL) {
    word++;
  }
  m->fence = line.p[0];
  m->fence_length = length;
  m->fence_indent = m->indent;
  m->fence_quotes = m->wrap.quotes;
  markdown_put_code(m, line, true, out);
  lt_styled_end_line(&m->wrap, out);
  m->code = (lt_code_reader){.language = lt_code_language_of(lt_str_sub(info, 0, word))};
  return true;
}

static bool markdown_closes_fence(const lt_markdown *m) {
  lt_str line = lt_str_trim(lt_buf_view(&m->head));
  size_t length = 0;
  while (length < line.n && line.p[length] == m->fence) {
    length++;
  }
  return length == line.n && length >= m->fence_length;
}

static void markdown_end_code_line(lt_markdown *m, lt_buf *out) {
  bool closes = m->fence != '\0' && m->place == LT_MARKDOWN_CODE && markdown_closes_fence(m);
  if (m->fence != '\0') {
    m->indent = m->fence_indent;
  }
  markdown_put_code(m, closes ? lt_str_trim(lt_buf_view(&m->head)) : lt_buf_view(&m->head), closes, out);
  lt_styled_end_line(&m->wrap, out);
  m->fence = closes ? '\0' : m->fence;
  m->was_code = m->fence == '\0' && !closes;
}

/* A byte of a line inside a block of code. The block's own indentation and quotes are no code. */
static void markdown_add_code_byte(lt_markdown *m, char c, lt_buf *out) {
  if (m->place == LT_MARKDOWN_START) {
    if (c == '>' && m->wrap.quotes < m->fence_quotes) {
      m->wrap.quotes++;
      m->skips_space = true;
      m->indent = 0;
      return;
    }
    if (c == ' ' && (m->skips_space || m->indent < m->fence_indent)) {
      m->indent += m->skips_space ? 0 : 1;
      m->skips_space = false;
      return;
    }
    m->place = LT_MARKDOWN_CODE;
  }
  if (m->head.n >= LT_MARKDOWN_SPAN_BYTES && !lt_utf8_continues(c)) {
    m->indent = m->fence != '\0' ? m->fence_indent : m->indent;
    markdown_put_code(m, lt_buf_view(&m->head), false, out);
    lt_buf_clear(&m->head);
  }
  lt_buf_byte(&m->head, c);
}

/* --- Marks at a line's beginning ---------------------------------------------------------------------------------- */
static void markdown_begin_item(lt_markdown *m, const char *mark, size_t columns) {
  snprintf(m->first, sizeof m->first, "%s ", mark);
  m->indent += columns;
  m->is_in_list = true;
  m->rule_mark = NULL;
  lt_buf_clear(&m->head);
  m->place = LT_MARKDOWN_START;
}

static void markdown_hold(lt_markdown *m, lt_markdown_place place, char c) {
  m->place = place;
  lt_buf_byte(&m->head, c);
}

/* An indented line after an empty one is code, except in a list, where it goes on with the item. */
static bool markdown_is_indented_code(const lt_markdown *m) {
  return m->indent >= CODE_INDENT && !m->is_in_list && (m->was_blank || m->was_code) && m->first[0] == '\0';
}

/* Text at a line's beginning ends a list. */
static void markdown_begin_text(lt_markdown *m, char c, lt_buf *out) {
  if (m->indent == 0) {
    m->is_in_list = false;
  }
  markdown_turn_into_words(m, out);
  markdown_add_word_byte(m, c, out);
}

/* Items in items that nobody indents so far are shown as they are written. */
static bool markdown_may_begin_item(const lt_markdown *m) {
  return m->indent < LT_MARKDOWN_INDENT;
}

static void markdown_add_first_byte(lt_markdown *m, char c, lt_buf *out) {
  bool is_row = c == '|' && m->first[0] == '\0';
  if (m->table.count > 0 && c != ' ' && !is_row) {
    lt_markdown_table_end(m, out);
  }
  if (c == ' ' && m->skips_space) {
    m->skips_space = false;
  } else if (c == ' ' && m->indent < LT_MARKDOWN_INDENT) {
    m->indent += m->first[0] == '\0' ? 1 : 0;
  } else if (c == '\t' && m->indent < LT_MARKDOWN_INDENT) {
    m->indent += TAB_COLUMNS - m->indent % TAB_COLUMNS;
  } else if (c == '>' && m->wrap.quotes < LT_MARKDOWN_QUOTES && m->first[0] == '\0' && m->indent < CODE_INDENT) {
    m->wrap.quotes++;
    m->indent = 0;
    m->skips_space = true;
  } else if (markdown_is_indented_code(m)) {
    m->code = (lt_code_reader){.language = NULL};
    markdown_hold(m, LT_MARKDOWN_CODE, c);
  } else if (c == '#') {
    markdown_hold(m, LT_MARKDOWN_HASHES, c);
  } else if ((c == '-' || c == '*' || c == '+' || c == '_') && markdown_may_begin_item(m)) {
    m->rule_mark = c == '-' ? "-" : c == '*' ? "*" : c == '_' ? "_" : NULL;
    markdown_hold(m, LT_MARKDOWN_BULLET, c);
  } else if (lt_json_is_digit(c) && markdown_may_begin_item(m)) {
    markdown_hold(m, LT_MARKDOWN_NUMBER, c);
  } else if (c == '`' || c == '~') {
    markdown_hold(m, LT_MARKDOWN_FENCE, c);
  } else if (is_row) {
    markdown_hold(m, LT_MARKDOWN_ROW, c);
  } else {
    markdown_begin_text(m, c, out);
  }
}

static void markdown_add_hash_byte(lt_markdown *m, char c, lt_buf *out) {
  static const unsigned styles[] = {LT_STYLE_BOLD | LT_STYLE_UNDERLINE, LT_STYLE_BOLD, LT_STYLE_BOLD | LT_STYLE_ITALIC};
  size_t level = m->head.n;
  if (c == '#' && level < HEADING_MAX) {
    lt_buf_byte(&m->head, c);
  } else if (c == ' ') {
    m->style = styles[level < 3 ? level - 1 : 2];
    lt_buf_clear(&m->head);
    markdown_turn_into_words(m, out);
  } else {
    markdown_turn_into_words(m, out);
    markdown_add_word_byte(m, c, out);
  }
}

static void markdown_add_number_byte(lt_markdown *m, char c, lt_buf *out) {
  char last = m->head.p[m->head.n - 1];
  bool is_ended = last == '.' || last == ')';
  if (c == ' ' && is_ended) {
    char mark[NUMBER_MAX + 2];
    size_t n = m->head.n < sizeof mark ? m->head.n : sizeof mark - 1;
    memcpy(mark, m->head.p, n);
    mark[n] = '\0';
    markdown_begin_item(m, mark, n + 1);
  } else if (!is_ended && ((lt_json_is_digit(c) && m->head.n < NUMBER_MAX) || c == '.' || c == ')')) {
    lt_buf_byte(&m->head, c);
  } else {
    markdown_begin_text(m, c, out);
  }
}

/* "- x" is an item, "---" and "- - -" are rules, "**x**" is emphasis. A line like "- - x" is an item in an item. */
static void markdown_add_bullet_byte(lt_markdown *m, char c, lt_buf *out) {
  bool is_mark = m->rule_mark != NULL && c == m->rule_mark[0];
  bool stays_open = m->head.n < LT_MARKDOWN_SPAN_BYTES && (is_mark || (c == ' ' && m->rule_mark != NULL));
  if (stays_open) {
    lt_buf_byte(&m->head, c);
    return;
  }
  bool is_item = m->head.p[0] != '_' && (m->head.n > 1 ? m->head.p[1] == ' ' : c == ' ');
  if (!is_item) {
    markdown_begin_text(m, c, out);
    return;
  }
  LT_AUTO_BUF(rest, LT_MARKDOWN_SPAN_BYTES + 1);
  lt_buf_add(&rest, lt_str_sub(lt_buf_view(&m->head), 1, m->head.n));
  markdown_begin_item(m, "\xe2\x80\xa2", 2); /* a bullet */
  lt_buf_clear(&m->head);
  if (lt_str_trim(lt_buf_view(&rest)).n > 0) { /* marks of items in this one, which may also be emphasis: as written */
    lt_buf_add(&m->head, lt_str_trim(lt_buf_view(&rest)));
    lt_buf_addc(&m->head, lt_str_ends(lt_buf_view(&rest), LT_STR(" ")) ? " " : "");
    markdown_turn_into_words(m, out);
    markdown_add_word_byte(m, c, out);
  } else if (c != ' ') {
    markdown_add_first_byte(m, c, out);
  }
}

static void markdown_add_held_byte(lt_markdown *m, char c, lt_buf *out) {
  size_t most = m->place == LT_MARKDOWN_ROW ? LT_MARKDOWN_TABLE_BYTES - 1 : LT_MARKDOWN_SPAN_BYTES;
  if (m->head.n < most) {
    lt_buf_byte(&m->head, c);
    return;
  }
  lt_markdown_table_end(m, out);
  markdown_turn_into_words(m, out);
  markdown_add_word_byte(m, c, out);
}

/* --- Ends of lines ------------------------------------------------------------------------------------------------ */
static bool markdown_is_rule(const lt_markdown *m) {
  size_t marks = 0;
  for (size_t i = 0; i < m->head.n; i++) {
    marks += m->head.p[i] != ' ';
  }
  return m->rule_mark != NULL && marks >= 3;
}

/* A line that ends where something might have begun. */
static void markdown_end_short_line(lt_markdown *m, lt_buf *out) {
  if (m->place == LT_MARKDOWN_BULLET && markdown_is_rule(m)) {
    markdown_put_rule(m, out);
  } else {
    markdown_turn_into_words(m, out);
    markdown_flush_words(m, out);
    lt_styled_end_line(&m->wrap, out);
  }
}

static void markdown_end_line(lt_markdown *m, lt_buf *out) {
  m->was_blank = false;
  bool is_held = m->place == LT_MARKDOWN_ROW;
  if (m->table.count > 0 && !is_held) {
    lt_markdown_table_end(m, out);
  }
  if (m->place == LT_MARKDOWN_CODE || m->fence != '\0') {
    markdown_end_code_line(m, out);
  } else if (m->place == LT_MARKDOWN_START) {
    markdown_end_blank_line(m, out);
  } else if (m->place == LT_MARKDOWN_WORDS) {
    markdown_flush_words(m, out);
    lt_styled_end_line(&m->wrap, out);
    m->was_code = false;
  } else if (is_held) {
    lt_markdown_table_add(m, lt_buf_view(&m->head), out);
  } else if (m->place != LT_MARKDOWN_FENCE || !markdown_open_fence(m, out)) {
    markdown_end_short_line(m, out);
  }
  markdown_next_line(m);
}

static void markdown_add_byte(lt_markdown *m, char c, lt_buf *out) {
  if (c == '\r') {
    return;
  }
  if (c == '\n') {
    markdown_end_line(m, out);
  } else if (m->fence != '\0' || m->place == LT_MARKDOWN_CODE) {
    markdown_add_code_byte(m, c, out);
  } else {
    switch (m->place) {
      case LT_MARKDOWN_START:
        markdown_add_first_byte(m, c, out);
        break;
      case LT_MARKDOWN_HASHES:
        markdown_add_hash_byte(m, c, out);
        break;
      case LT_MARKDOWN_NUMBER:
        markdown_add_number_byte(m, c, out);
        break;
      case LT_MARKDOWN_BULLET:
        markdown_add_bullet_byte(m, c, out);
        break;
      case LT_MARKDOWN_FENCE:
      case LT_MARKDOWN_ROW:
        markdown_add_held_byte(m, c, out);
        break;
      case LT_MARKDOWN_CODE:
      case LT_MARKDOWN_WORDS:
        markdown_add_word_byte(m, c, out);
        break;
    }
  }
}

/* --- The renderer ------------------------------------------------------------------------------------------------- */
lt_status lt_markdown_new(size_t width, lt_markdown **ret_markdown, lt_err *err) {
  lt_markdown *m = lt_mem_zalloc(1, sizeof *m);
  if (m == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to render Markdown");
  }
  lt_buf_init(&m->head, LT_MARKDOWN_TABLE_BYTES);
  lt_buf_init(&m->table.rows, LT_MARKDOWN_TABLE_BYTES);
  m->was_blank = true;
  lt_markdown_set_width(m, width);
  *ret_markdown = m;
  return LT_OK;
}

void lt_markdown_free(lt_markdown *m) {
  if (m != NULL) {
    lt_buf_release(&m->head);
    lt_buf_release(&m->table.rows);
    lt_buf_release(&m->piece.text);
    lt_mem_free(m);
  }
}

void lt_markdown_set_width(lt_markdown *m, size_t width) {
  m->wrap.width = width > 0 ? width : 1;
}

void lt_markdown_add(lt_markdown *m, lt_str piece, lt_buf *out) {
  for (size_t i = 0; i < piece.n; i++) {
    markdown_add_byte(m, piece.p[i], out);
  }
}

void lt_markdown_end(lt_markdown *m, lt_buf *out) {
  bool is_fresh = m->place == LT_MARKDOWN_START && m->wrap.quotes == 0 && m->first[0] == '\0' && !m->wrap.is_begun;
  if (!is_fresh) {
    markdown_end_line(m, out);
  }
  lt_markdown_table_end(m, out);
  markdown_next_line(m);
  m->is_in_list = m->was_code = false;
  m->was_blank = true;
  m->fence = '\0';
}

void lt_markdown_interrupted(lt_markdown *m) {
  m->wrap.is_begun = false;
  m->wrap.column = 0;
}

bool lt_markdown_is_mid_line(const lt_markdown *m) {
  return m->wrap.is_begun && m->wrap.column > 0;
}
