/* Tables: rows are held until the columns can be measured, and fitted into the width. */
#include "base/mem.h"
#include "text/markdown_impl.h"

#define COLUMN_MIN  4 /* narrower columns are no use: then each row is written as a list */
#define GAP         "  "
#define GAP_COLUMNS 2

/* --- Rows --------------------------------------------------------------------------------------------------------- */
/* The next cell of a row, from `*at` on, which is behind a |. False: there is none. A | after a backslash or in code
 * is part of the cell (GitHub Flavored Markdown, 4.10, has it so only for the backslash). */
static bool row_next_cell(lt_str row, size_t *at, lt_str *ret_cell) {
  size_t end = *at;
  bool is_code = false;
  if (end >= row.n) {
    return false;
  }
  while (end < row.n && (row.p[end] != '|' || is_code)) {
    is_code ^= row.p[end] == '`';
    end += row.p[end] == '\\' ? 2 : 1;
  }
  end = end < row.n ? end : row.n;
  *ret_cell = lt_str_trim(lt_str_sub(row, *at, end));
  *at = end + 1;
  return true;
}

static lt_str row_of_line(lt_str line) {
  line = lt_str_trim(line);
  bool has_end = line.n > 1 && line.p[line.n - 1] == '|' && line.p[line.n - 2] != '\\';
  return lt_str_sub(line, 1, has_end ? line.n - 1 : line.n);
}

/* ":---", "---:" or ":---:"; '\0': it is none of these. */
static char row_alignment(lt_str cell) {
  size_t dashes = 0;
  bool left = cell.n > 0 && cell.p[0] == ':', right = cell.n > 1 && cell.p[cell.n - 1] == ':';
  for (size_t i = left; i < cell.n - right; i++) {
    dashes += cell.p[i] == '-';
  }
  bool is_rule = dashes > 0 && dashes + left + right == cell.n;
  return !is_rule ? '\0' : left && right ? 'c' : right ? 'r' : 'l';
}

/* Reads the second line. False: these lines are no table. */
static bool table_read_alignment(lt_markdown_table *t, lt_str line) {
  lt_str row = row_of_line(line), cell;
  t->columns = 0;
  for (size_t at = 0; row_next_cell(row, &at, &cell);) {
    if (t->columns == LT_MARKDOWN_COLUMNS || row_alignment(cell) == '\0') {
      return false;
    }
    t->alignment[t->columns++] = row_alignment(cell);
  }
  return t->columns > 0;
}

static size_t table_line_end(const lt_markdown_table *t, size_t at) {
  size_t end = lt_str_find(lt_buf_view(&t->rows), LT_STR("\n"), at);
  return end < t->rows.n ? end : t->rows.n;
}

/* --- Columns ------------------------------------------------------------------------------------------------------ */
static void table_measure_row(lt_markdown *m, lt_str line) {
  lt_markdown_table *t = &m->table;
  lt_str row = row_of_line(line), cell;
  size_t column = 0;
  for (size_t at = 0; column < t->columns && row_next_cell(row, &at, &cell); column++) {
    size_t count = lt_markdown_inline(&m->piece, cell, 0, m->glyphs, LT_MARKDOWN_GLYPHS);
    size_t columns = lt_styled_columns(m->glyphs, count);
    t->widths[column] = columns > t->widths[column] ? columns : t->widths[column];
  }
}

static size_t table_sum(const lt_markdown_table *t) {
  size_t sum = (t->columns - 1) * GAP_COLUMNS;
  for (size_t i = 0; i < t->columns; i++) {
    sum += t->widths[i];
  }
  return sum;
}

/* Makes the widest columns narrower, until all of them fit: every column has at most `most`. */
static void table_fit(lt_markdown_table *t, size_t width) {
  size_t low = COLUMN_MIN, high = width;
  while (low < high) {
    size_t most = (low + high + 1) / 2, sum = (t->columns - 1) * GAP_COLUMNS;
    for (size_t i = 0; i < t->columns; i++) {
      sum += t->widths[i] < most ? t->widths[i] : most;
    }
    if (sum <= width) {
      low = most;
    } else {
      high = most - 1;
    }
  }
  for (size_t i = 0; i < t->columns; i++) {
    t->widths[i] = t->widths[i] < low ? t->widths[i] : low;
  }
}

static void table_measure(lt_markdown *m) {
  lt_markdown_table *t = &m->table;
  size_t number = 0;
  memset(t->widths, 0, sizeof t->widths);
  for (size_t at = 0; at < t->rows.n; number++) {
    size_t end = table_line_end(t, at);
    if (number != 1) {
      table_measure_row(m, lt_str_sub(lt_buf_view(&t->rows), at, end));
    }
    at = end + 1;
  }
  size_t margin = 2 * m->wrap.quotes + m->indent;
  size_t width = m->wrap.width > margin ? m->wrap.width - margin : 1;
  if (table_sum(t) > width) {
    table_fit(t, width);
  }
  t->is_measured = true;
}

static bool table_is_too_narrow(const lt_markdown *m) {
  return table_sum(&m->table) + 2 * m->wrap.quotes + m->indent > m->wrap.width;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */
typedef struct table_cell {
  lt_str text;
  size_t next; /* of its glyphs: where its next line begins */
  bool is_done;
} table_cell;

static void table_put_spaces(lt_buf *out, size_t count) {
  for (size_t i = 0; i < count; i++) {
    lt_buf_byte(out, ' ');
  }
}

static void table_begin_line(lt_markdown *m, lt_buf *out) {
  m->wrap.indent = m->indent;
  lt_styled_begin_line(&m->wrap, LT_STR(""), out);
}

/* Writes the next line of a cell. Its glyphs are made anew for each line, so that no row needs memory of its own.
 * `*spaces` are to be written before anything else is: no line ends with any. */
static void table_put_cell_line(lt_markdown *m, table_cell *cell, size_t column, unsigned style, size_t *spaces,
                                lt_buf *out) {
  const lt_markdown_table *t = &m->table;
  size_t count = cell->is_done ? 0 : lt_markdown_inline(&m->piece, cell->text, style, m->glyphs, LT_MARKDOWN_GLYPHS);
  size_t next = 0, from = cell->next < count ? cell->next : count;
  size_t length = lt_styled_break(m->glyphs + from, count - from, t->widths[column], &next);
  size_t columns = lt_styled_columns(m->glyphs + from, length);
  size_t room = t->widths[column] > columns ? t->widths[column] - columns : 0;
  size_t before = t->alignment[column] == 'r' ? room : t->alignment[column] == 'c' ? room / 2 : 0;
  if (length > 0) {
    table_put_spaces(out, *spaces + before);
    lt_styled_put_glyphs(out, m->glyphs + from, length);
    *spaces = 0;
  }
  *spaces += GAP_COLUMNS + room - (length > 0 ? before : 0);
  cell->next = from + next;
  cell->is_done = cell->next >= count;
}

static void table_put_row(lt_markdown *m, lt_str line, unsigned style, lt_buf *out) {
  const lt_markdown_table *t = &m->table;
  table_cell cells[LT_MARKDOWN_COLUMNS] = {0};
  lt_str row = row_of_line(line);
  size_t at = 0;
  for (size_t i = 0; i < t->columns; i++) {
    (void)row_next_cell(row, &at, &cells[i].text);
  }
  for (bool is_done = false; !is_done;) {
    is_done = true;
    table_begin_line(m, out);
    for (size_t i = 0, spaces = 0; i < t->columns; i++) {
      table_put_cell_line(m, &cells[i], i, style, &spaces, out);
      is_done = is_done && cells[i].is_done;
    }
    lt_styled_end_line(&m->wrap, out);
  }
}

static void table_put_rule(lt_markdown *m, lt_buf *out) {
  const lt_markdown_table *t = &m->table;
  LT_AUTO_BUF(rule, LT_MIB);
  for (size_t i = 0; i < t->columns; i++) {
    for (size_t n = 0; n < t->widths[i]; n++) {
      lt_buf_addc(&rule, "\xe2\x94\x80");
    }
    lt_buf_addc(&rule, i + 1 < t->columns ? GAP : "");
  }
  table_begin_line(m, out);
  lt_styled_put(out, lt_buf_view(&rule), LT_STYLE_DIM);
  lt_styled_end_line(&m->wrap, out);
}

/* "Name: value" for each cell, where the columns have no room beside each other. */
static void table_put_row_as_list(lt_markdown *m, lt_str header, lt_str line, lt_buf *out) {
  lt_str names = row_of_line(header), row = row_of_line(line), name, cell;
  size_t name_at = 0, at = 0, indent = m->indent;
  const char *mark = "\xe2\x80\xa2 ";
  m->indent += 2;
  while (row_next_cell(row, &at, &cell)) {
    LT_AUTO_BUF(text, LT_MARKDOWN_TABLE_BYTES);
    if (row_next_cell(names, &name_at, &name) && name.n > 0) {
      lt_buf_add(&text, name);
      lt_buf_addc(&text, ": ");
    }
    lt_buf_add(&text, cell);
    memcpy(m->first, mark, strlen(mark) + 1);
    mark = "  ";
    lt_markdown_put_line(m, lt_buf_view(&text), out);
  }
  m->indent = indent;
}

static void table_put_next_row(lt_markdown *m, lt_str header, lt_str line, lt_buf *out) {
  if (table_is_too_narrow(m)) {
    table_put_row_as_list(m, header, line, out);
  } else {
    table_put_row(m, line, 0, out);
  }
}

/* Writes the rows that are held, and keeps the header only. */
static void table_put(lt_markdown *m, lt_buf *out) {
  lt_markdown_table *t = &m->table;
  bool is_begun = t->is_measured;
  if (!is_begun) {
    table_measure(m);
  }
  lt_str rows = lt_buf_view(&t->rows);
  size_t header_end = table_line_end(t, 0), number = 0;
  lt_str header = lt_str_sub(rows, 0, header_end);
  for (size_t at = 0; at < rows.n; number++) {
    size_t end = table_line_end(t, at);
    if (number == 0 && !is_begun && !table_is_too_narrow(m)) {
      table_put_row(m, header, LT_STYLE_BOLD, out);
      table_put_rule(m, out);
    } else if (number > (is_begun ? 0 : 1)) {
      table_put_next_row(m, header, lt_str_sub(rows, at, end), out);
    }
    at = end + 1;
  }
  lt_buf_cut(&t->rows, header_end < t->rows.n ? header_end + 1 : header_end);
}

static void table_reset(lt_markdown_table *t) {
  lt_buf_clear(&t->rows);
  t->count = 0;
  t->is_measured = false;
}

/* The place in the line, of quotes and indentation, is the current line's: keep it over what is written. */
void lt_markdown_table_end(lt_markdown *m, lt_buf *out) {
  lt_markdown_table *t = &m->table;
  if (t->count == 0) {
    return;
  }
  const size_t indent = m->indent;
  const unsigned quotes = m->wrap.quotes;
  LT_AUTO_BUF(head, LT_MARKDOWN_TABLE_BYTES);
  lt_buf_add(&head, lt_buf_view(&m->head));
  m->indent = t->indent;
  m->wrap.quotes = t->quotes;
  if (t->count == 1) {
    lt_markdown_put_line(m, lt_str_sub(lt_buf_view(&t->rows), 0, table_line_end(t, 0)), out);
  } else {
    table_put(m, out);
  }
  table_reset(t);
  m->indent = indent;
  m->wrap.quotes = quotes;
  lt_buf_clear(&m->head);
  lt_buf_add(&m->head, lt_buf_view(&head));
}

static void table_keep(lt_markdown *m, lt_str line) {
  lt_markdown_table *t = &m->table;
  lt_buf_add(&t->rows, line);
  lt_buf_byte(&t->rows, '\n');
  t->count++;
}

void lt_markdown_table_add(lt_markdown *m, lt_str line, lt_buf *out) {
  lt_markdown_table *t = &m->table;
  if (t->count == 1 && !table_read_alignment(t, line)) {
    lt_markdown_table_end(m, out);
  }
  if (t->count > 1 && t->rows.n + line.n + 1 > LT_MARKDOWN_TABLE_BYTES / 2) {
    table_put(m, out);
  }
  if (t->count == 0) {
    t->indent = m->indent;
    t->quotes = m->wrap.quotes;
  }
  table_keep(m, line);
  if (t->is_measured) {
    table_put(m, out);
  }
}
