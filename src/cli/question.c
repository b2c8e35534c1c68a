#include "cli/question.h"

#include "base/limits.h"
#include "json/json_text.h"
#include "text/plain.h"

#define COLUMNS_MIN 12 /* lines of a smaller window are broken by the terminal */
#define MARGIN_MAX  8  /* columns of a line's margin that its rest has, too */

/* --- Lines of the screen ------------------------------------------------------------------------------------------ */
/* The margin of a line's rest: its spaces, the bar of a text block, or two spaces more. */
static lt_str question_margin_of(lt_str line) {
  size_t n = 0;
  while (n < line.n && n < MARGIN_MAX && line.p[n] == ' ') {
    n++;
  }
  bool has_bar = n + 1 < line.n && strchr("|+-", line.p[n]) != NULL && line.p[n + 1] == ' ';
  return lt_str_sub(line, 0, has_bar ? n + 2 : n);
}

typedef struct screen_lines {
  lt_buf *out;
  unsigned columns; /* of the window */
  unsigned at;      /* column of the next character */
  size_t count;
} screen_lines;

static void question_break_line(screen_lines *lines, lt_str margin) {
  lt_buf_byte(lines->out, '\n');
  lt_buf_add(lines->out, margin);
  lt_buf_addc(lines->out, "  ");
  lines->at = (unsigned)margin.n + 2;
  lines->count++;
}

static void question_wrap_line(screen_lines *lines, lt_str line) {
  lt_str margin = question_margin_of(line);
  lt_plain_reader r = lt_plain_reader_of(line);
  uint32_t cp;
  lines->at = 0;
  lines->count++;
  for (const char *from = r.p; lt_plain_next(&r, &cp); from = r.p) {
    unsigned width = lt_plain_columns(cp);
    if (lines->at + width > lines->columns) {
      question_break_line(lines, margin);
    }
    if (cp == '\t') {
      lt_buf_addc(lines->out, "  ");
    } else {
      lt_buf_add(lines->out, lt_str_from(from, (size_t)(r.p - from)));
    }
    lines->at += width;
  }
  lt_buf_byte(lines->out, '\n');
}

/* Appends `text` as screen lines of at most `columns`; a line's rest is indented below it. Returns their number. */
static size_t question_wrap(lt_buf *out, lt_str text, unsigned columns) {
  screen_lines lines = {.out = out, .columns = columns > COLUMNS_MIN ? columns : COLUMNS_MIN};
  for (size_t at = 0; at < text.n;) {
    size_t end = lt_str_find(text, LT_STR("\n"), at);
    end = end < text.n ? end : text.n;
    question_wrap_line(&lines, lt_str_sub(text, at, end));
    at = end + 1;
  }
  return lines.count;
}

/* --- Pages -------------------------------------------------------------------------------------------------------- */
/* A question as it fits one size of the window. */
typedef struct question_layout {
  lt_buf header, body; /* screen lines */
  size_t body_lines;
  size_t page_lines; /* of the body, on a page */
} question_layout;

static void question_release_layout(question_layout *layout) {
  lt_buf_release(&layout->header);
  lt_buf_release(&layout->body);
}

/* One row is left for a typed answer that is longer than the line's rest. */
static void question_lay_out(const lt_question *q, question_layout *layout) {
  lt_terminal_size size = lt_terminal_measure(q->terminal);
  LT_AUTO_BUF(ask, LT_MIB);
  size_t used = question_wrap(&layout->header, q->header, size.columns);
  used += question_wrap(&ask, lt_str_of(q->ask), size.columns) + 1;
  layout->body_lines = question_wrap(&layout->body, q->body, size.columns);
  layout->page_lines = size.rows > used + 1 ? size.rows - used : 1;
}

/* The offset behind `count` lines of `text` from `at` on. */
static size_t question_skip_lines(lt_str text, size_t at, size_t count) {
  for (; count > 0 && at < text.n; count--) {
    at = lt_str_find(text, LT_STR("\n"), at) + 1;
  }
  return at;
}

/* LT_OK with `*ret_goes_on`: Enter or space was pressed, or q. */
static lt_status question_await_more(const lt_question *q, size_t shown, size_t all, lt_cancel *cancel,
                                     bool *ret_goes_on, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(line, LT_KIB);
  lt_buf_printf(&line, "-- %zu of %zu lines; space: more, q: the question --", shown, all);
  char key = '\0';
  LT_TRY(lt_terminal_read_key(q->terminal, lt_buf_view(&line), " \r\nqQ", cancel, &key, err));
  lt_terminal_write(q->terminal, LT_STR("\n"));
  *ret_goes_on = (key | 0x20) != 'q';
  return LT_OK;
}

static lt_status question_show_pages(const lt_question *q, const question_layout *layout, lt_cancel *cancel,
                                     lt_err *err) LT_YIELDS {
  lt_str body = lt_buf_view(&layout->body);
  size_t at = 0, shown = 0;
  bool goes_on = true;
  while (goes_on) {
    size_t end = question_skip_lines(body, at, layout->page_lines);
    shown = shown + layout->page_lines < layout->body_lines ? shown + layout->page_lines : layout->body_lines;
    lt_terminal_write(q->terminal, lt_buf_view(&layout->header));
    lt_terminal_write(q->terminal, lt_str_sub(body, at, end));
    if (end >= body.n) {
      return LT_OK;
    }
    at = end;
    LT_TRY(question_await_more(q, shown, layout->body_lines, cancel, &goes_on, err));
  }
  LT_AUTO_BUF(note, LT_KIB);
  lt_buf_printf(&note, "  (%zu of %zu lines were not shown)\n", layout->body_lines - shown, layout->body_lines);
  lt_terminal_write(q->terminal, lt_buf_view(&layout->header));
  lt_terminal_write(q->terminal, lt_buf_view(&note));
  return LT_OK;
}

static lt_status question_show(const lt_question *q, lt_cancel *cancel, lt_err *err) LT_YIELDS {
  question_layout layout = {.body_lines = 0};
  lt_buf_init(&layout.header, LT_MIB);
  lt_buf_init(&layout.body, LT_HELD_OUTPUT_BYTES);
  question_lay_out(q, &layout);
  lt_status status = lt_buf_check(&layout.body, err, "the question is too long to be shown");
  if (status == LT_OK) {
    lt_terminal_write(q->terminal, LT_STR("\n"));
    status = question_show_pages(q, &layout, cancel, err);
  }
  question_release_layout(&layout);
  return status;
}

/* --- The answer --------------------------------------------------------------------------------------------------- */
static lt_status question_ask_once(const lt_question *q, bool is_shown, lt_cancel *cancel, lt_buf *ret_line,
                                   lt_err *err) LT_YIELDS {
  if (!is_shown) {
    LT_TRY(question_show(q, cancel, err));
    lt_terminal_forget(q->terminal);
  }
  lt_terminal_write(q->terminal, lt_str_of(q->ask));
  return lt_terminal_read_line(q->terminal, cancel, ret_line, err);
}

lt_status lt_question_ask(const lt_question *q, bool is_shown, lt_cancel *cancel, lt_buf *ret_line, lt_err *err) {
  lt_status status = question_ask_once(q, is_shown, cancel, ret_line, err);
  while (status == LT_E_INTERRUPTED) { /* the window has another size: half of an answer is none */
    lt_buf_clear(ret_line);
    lt_terminal_write(q->terminal, LT_STR("\n"));
    status = question_ask_once(q, false, cancel, ret_line, err);
  }
  return status;
}
