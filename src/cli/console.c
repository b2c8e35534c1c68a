#include "cli/console.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "text/plain.h"

/* --- Held text ---------------------------------------------------------------------------------------------------- */
/* Text for one file, as it will be written. */
typedef struct held_text {
  struct held_text *next;
  FILE *to;
  lt_buf bytes;
} held_text;

struct lt_console_held {
  held_text *first, **end;
  held_text *last;
  size_t message_bytes, output_bytes;
  size_t dropped; /* number of messages beyond the ceiling */
};

static held_text *console_held_for(struct lt_console_held *held, FILE *to) {
  if (held->last != NULL && held->last->to == to) {
    return held->last;
  }
  held_text *text = lt_mem_zalloc(1, sizeof *text);
  if (text != NULL) {
    text->to = to;
    lt_buf_init(&text->bytes, LT_HELD_OUTPUT_BYTES);
    *held->end = held->last = text;
    held->end = &text->next;
  }
  return text;
}

static bool console_keep(struct lt_console_held *held, FILE *to, lt_str bytes) {
  size_t *kept = to == stdout ? &held->output_bytes : &held->message_bytes;
  size_t max = to == stdout ? LT_HELD_OUTPUT_BYTES : LT_HELD_MESSAGES_BYTES;
  held_text *text = bytes.n <= max - *kept ? console_held_for(held, to) : NULL;
  if (text != NULL) {
    size_t before = text->bytes.n;
    lt_buf_add(&text->bytes, bytes);
    *kept += text->bytes.n - before;
  }
  return text != NULL && text->bytes.status == LT_OK;
}

bool lt_console_write(const lt_console *console, FILE *to, lt_str text) {
  if (console->held != NULL && isatty(fileno(to))) {
    bool kept = console_keep(console->held, to, text);
    console->held->dropped += kept ? 0 : 1;
    return true;
  }
  return fwrite(text.n > 0 ? text.p : "", 1, text.n, to) == text.n && fflush(to) == 0;
}

lt_status lt_console_hold(lt_console *console, lt_err *err) {
  LT_CHECK(console->held == NULL);
  struct lt_console_held *held = lt_mem_zalloc(1, sizeof *held);
  if (held == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a question");
  }
  held->end = &held->first;
  if (console->make_way != NULL) {
    console->make_way(console->way_arg);
  }
  fflush(stdout);
  console->held = held;
  if (console->on_question != NULL) {
    console->on_question(console->question_arg, true);
  }
  return LT_OK;
}

void lt_console_release(lt_console *console) {
  struct lt_console_held *held = console->held;
  console->held = NULL;
  while (held->first != NULL) {
    held_text *text = held->first;
    held->first = text->next;
    (void)lt_console_write(console, text->to, lt_buf_view(&text->bytes));
    lt_buf_release(&text->bytes);
    lt_mem_free(text);
  }
  if (held->dropped > 0) {
    lt_console_format(console, "warning: %zu more messages came while the question was open, and were dropped",
                      held->dropped);
  }
  lt_mem_free(held);
  if (console->on_release != NULL) {
    console->on_release(console->way_arg);
  }
  if (console->on_question != NULL) {
    console->on_question(console->question_arg, false);
  }
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */
/* Strings of programs may hold half a surrogate pair, which UTF-8 may not. */
static void console_add_utf8(lt_buf *out, lt_str text) {
  size_t from = 0;
  for (size_t i = 0; i + 2 < text.n; i++) {
    if ((unsigned char)text.p[i] == 0xed && (unsigned char)text.p[i + 1] >= 0xa0) {
      lt_buf_add(out, lt_str_sub(text, from, i));
      lt_buf_addc(out, "\xef\xbf\xbd");
      i += 2;
      from = i + 1;
    }
  }
  lt_buf_add(out, lt_str_sub(text, from, text.n));
  if (text.n == 0 || text.p[text.n - 1] != '\n') {
    lt_buf_byte(out, '\n');
  }
}

/* A terminal gets no control characters: text that moves the cursor could fake a question. */
static void console_add_text(lt_buf *out, FILE *to, lt_str text) {
  if (!isatty(fileno(to))) {
    console_add_utf8(out, text);
    return;
  }
  LT_AUTO_BUF(plain, 4 * LT_JSON_MAX_BYTES);
  lt_plain_add(&plain, text);
  console_add_utf8(out, lt_buf_view_or(&plain, LT_STR("(too long to be shown)")));
}

bool lt_console_has_colour(FILE *to) {
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(fileno(to)) && (no_color == NULL || no_color[0] == '\0') && term != NULL && strcmp(term, "dumb") != 0;
}

static void console_add_before(lt_buf *line, const char *before) {
  static const struct {
    const char *before, *colour;
  } kinds[] = {{"error: ", "\x1b[31m"},
               {"[error] ", "\x1b[31m"},
               {"warning: ", "\x1b[33m"},
               {"[warn] ", "\x1b[33m"},
               {"[log] ", "\x1b[2m"}};
  const char *colour = NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && colour == NULL; i++) {
    colour = strcmp(before, kinds[i].before) == 0 && lt_console_has_colour(stderr) ? kinds[i].colour : NULL;
  }
  lt_buf_addc(line, colour != NULL ? colour : "");
  lt_buf_addc(line, before);
  lt_buf_addc(line, colour != NULL ? "\x1b[0m" : "");
}

static void console_make_room(const lt_console *console) {
  if (console->make_way != NULL) {
    console->make_way(console->way_arg);
  }
}

static void console_write_line(const lt_console *console, FILE *to, const lt_buf *line) {
  console_make_room(console);
  bool is_whole = line->status == LT_OK;
  (void)lt_console_write(console, to, is_whole ? lt_buf_view(line) : LT_STR("(too long to be shown)\n"));
}

static lt_str console_mask(const lt_console *console, lt_str text, lt_buf *masked) {
  if (!lt_secrets_in(console->secrets, text)) {
    return text;
  }
  lt_secrets_mask(console->secrets, text, masked);
  return lt_buf_view_or(masked, LT_STR("***"));
}

static void console_say_line(const lt_console *console, const char *before, lt_str text, const char *after) {
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(line, LT_HELD_OUTPUT_BYTES);
  console_add_before(&line, before);
  console_add_text(&line, stderr, console_mask(console, text, &masked));
  lt_buf_addc(&line, after);
  console_write_line(console, stderr, &line);
}

void lt_console_line(const lt_console *console, const char *before, lt_str text) {
  console_say_line(console, before, text, "");
}

void lt_console_lines(const lt_console *console, const char *before, lt_str text) {
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(plain, LT_HELD_OUTPUT_BYTES);
  LT_AUTO_BUF(lines, LT_HELD_OUTPUT_BYTES);
  console_add_text(&plain, stderr, console_mask(console, text, &masked));
  lt_str rest = lt_buf_view(&plain);
  for (size_t at = 0; at < rest.n;) {
    size_t end = lt_str_find(rest, LT_STR("\n"), at);
    end = end < rest.n ? end + 1 : rest.n;
    console_add_before(&lines, before);
    lt_buf_add(&lines, lt_str_sub(rest, at, end));
    at = end;
  }
  console_write_line(console, stderr, &lines);
}

void lt_console_styled(const lt_console *console, lt_str text) {
  LT_AUTO_BUF(line, LT_HELD_OUTPUT_BYTES);
  lt_buf_add(&line, text);
  lt_buf_byte(&line, '\n');
  lt_secrets_mask_buf(console->secrets, &line);
  console_write_line(console, stderr, &line);
}

void lt_console_dim(const lt_console *console, lt_str text) {
  console_say_line(console, "\x1b[2m", text, "\x1b[0m");
}

void lt_console_format(const lt_console *console, const char *format, ...) {
  char text[2 * LT_ERR_MSG_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  bool is_warning = strncmp(text, "warning: ", 9) == 0;
  lt_console_line(console, is_warning ? "warning: " : "", lt_str_of(is_warning ? text + 9 : text));
}

void lt_console_warning(void *console, lt_str message) {
  lt_console_lines(console, "warning: ", message);
}

lt_status lt_console_report(const lt_console *console, lt_buf *report) {
  lt_secrets_mask_buf(console->secrets, report);
  if (report->status == LT_OK && report->n > 0) {
    lt_console_output(console, lt_buf_view(report));
  }
  return report->status;
}

void lt_console_output(const lt_console *console, lt_str text) {
  LT_AUTO_BUF(line, LT_HELD_OUTPUT_BYTES);
  console_add_text(&line, stdout, text);
  console_write_line(console, stdout, &line);
}
