#include "cli/program_view.h"

#include "base/limits.h"
#include "text/styled_text.h"
#include "types/typegen_text.h"

#define LINES_MAX      60 /* shown of a program; the rest is counted */
#define FOLDED_LINES   16 /* likewise at a terminal, where /program shows all of them */
#define LINE_CHARS     160
#define DRAFT_LANGUAGE "ts"          /* of programs in JavaScript and those of an unknown tool */
#define LINE_BYTES     (16 * LT_KIB) /* of a line that is written; what is longer is left out */
#define LAST_BYTES     LT_MIB

/* --- Lines -------------------------------------------------------------------------------------------------------- */
/* "  | " and the line: its indentation, then at most LINE_CHARS characters. */
static void program_view_put_line(lt_program_view *view, lt_str text) {
  LT_AUTO_BUF(code, LT_MIB);
  LT_AUTO_BUF(line, LT_MIB);
  size_t indent = 0;
  while (indent < text.n && text.p[indent] == ' ' && indent < 40) {
    indent++;
  }
  lt_buf_add(&code, lt_str_sub(text, 0, indent));
  lt_typegen_put_line(&code, text, LINE_CHARS);
  if (view->has_styles) {
    lt_styled_put(&line, LT_STR("  | "), LT_STYLE_DIM);
    lt_code_put_line(&view->code, lt_buf_view(&code), 0, &line);
    lt_console_styled(view->console, lt_buf_view(&line));
  } else {
    lt_buf_addc(&line, "  | ");
    lt_buf_add(&line, lt_buf_view(&code));
    lt_console_line(view->console, "", lt_buf_view(&line));
  }
}

static void program_view_add_line(lt_program_view *view, lt_str text) {
  view->lines++;
  if (view->lines <= view->most_lines) {
    program_view_put_line(view, text);
  }
}

static void program_view_begin(lt_program_view *view, const char *language) {
  view->lines = 0;
  view->is_drafting = false;
  view->code = (lt_code_reader){.language = lt_code_language_of(lt_str_of(language))};
  lt_buf_clear(&view->line);
}

static void program_view_end(lt_program_view *view) {
  if (view->lines > view->most_lines) {
    LT_AUTO_BUF(rest, LT_KIB);
    lt_buf_printf(&rest, "  | ... and %zu more lines%s", view->lines - view->most_lines,
                  view->most_lines == FOLDED_LINES ? ": /program shows them, or --verbose" : "");
    lt_console_dim(view->console, lt_buf_view(&rest));
  }
  view->is_drafting = false;
}

/* --- Drafts ------------------------------------------------------------------------------------------------------- */
/* Fences round a program are no part of it. */
static void program_view_end_draft_line(lt_program_view *view) {
  lt_str line = lt_buf_view(&view->line);
  if (line.n > 0 && line.p[line.n - 1] == '\r') {
    line.n--;
  }
  bool is_first = view->lines == 0 && lt_str_trim(line).n == 0;
  if (!is_first && !lt_str_starts(line, LT_STR("```"))) {
    view->is_drafting = true;
    program_view_add_line(view, line);
  }
  lt_buf_clear(&view->line);
}

static void program_view_drop_draft(lt_program_view *view) {
  if (view->is_drafting) {
    lt_console_dim(view->console, LT_STR("  | (left unfinished)"));
  }
}

static void program_view_add_piece(lt_program_view *view, lt_str piece) {
  for (size_t at = 0; at < piece.n;) {
    size_t end = lt_str_find(piece, LT_STR("\n"), at);
    lt_str part = lt_str_sub(piece, at, end < piece.n ? end : piece.n);
    if (view->line.n + part.n <= LINE_BYTES) {
      lt_buf_add(&view->line, part);
    }
    if (end < piece.n) {
      program_view_end_draft_line(view);
    }
    at = end < piece.n ? end + 1 : piece.n;
  }
}

void lt_program_view_draft(lt_program_view *view, const lt_program_piece *piece) {
  bool is_other = !piece->restarts && piece->index != view->draft;
  if (piece->restarts) {
    program_view_drop_draft(view);
  } else if (is_other) {
    if (view->line.n > 0) {
      program_view_end_draft_line(view);
    }
    program_view_end(view);
  }
  if (piece->restarts || is_other) {
    program_view_begin(view, piece->language != NULL ? piece->language : DRAFT_LANGUAGE);
    view->draft = piece->index;
  }
  program_view_add_piece(view, piece->text);
}

size_t lt_program_view_draft_lines(const lt_program_view *view) {
  return view->is_drafting ? view->lines + (view->line.n > 0 ? 1 : 0) : 0;
}

/* --- Whole programs ----------------------------------------------------------------------------------------------- */
static void program_view_put_all(lt_program_view *view, lt_str code) {
  for (size_t at = 0; at < code.n;) {
    size_t end = lt_str_find(code, LT_STR("\n"), at);
    end = end < code.n ? end : code.n;
    program_view_add_line(view, lt_str_sub(code, at, end));
    at = end + 1;
  }
}

void lt_program_view_whole(lt_program_view *view, lt_str code, const char *language) {
  lt_buf_clear(&view->last);
  lt_buf_add(&view->last, code);
  view->last_language = language;
  if (!view->is_drafting) {
    program_view_begin(view, language);
    program_view_put_all(view, code);
  } else if (view->line.n > 0) {
    program_view_end_draft_line(view);
  }
  program_view_end(view);
  lt_buf_clear(&view->line);
}

bool lt_program_view_show_last(lt_program_view *view) {
  const size_t most = view->most_lines;
  if (view->last.status != LT_OK || view->last.n == 0) {
    return false;
  }
  program_view_begin(view, view->last_language);
  view->most_lines = SIZE_MAX;
  program_view_put_all(view, lt_buf_view(&view->last));
  view->most_lines = most;
  return true;
}

void lt_program_view_init(lt_program_view *view, lt_console *console, bool is_terminal, bool verbose) {
  *view = (lt_program_view){.console = console, .has_styles = is_terminal && lt_console_has_colour(stderr)};
  view->most_lines = verbose ? SIZE_MAX : is_terminal ? FOLDED_LINES : LINES_MAX;
  lt_buf_init(&view->line, LINE_BYTES);
  lt_buf_init(&view->last, LAST_BYTES);
}

void lt_program_view_release(lt_program_view *view) {
  lt_buf_release(&view->line);
  lt_buf_release(&view->last);
}
