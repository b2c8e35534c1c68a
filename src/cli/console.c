#include "cli/console.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "text/plain.h"

/* Strings of programs may hold half a surrogate pair, which UTF-8 may not. */
static void console_write_utf8(FILE *to, lt_str text) {
  size_t from = 0;
  for (size_t i = 0; i + 2 < text.n; i++) {
    if ((unsigned char)text.p[i] == 0xed && (unsigned char)text.p[i + 1] >= 0xa0) {
      fwrite(text.p + from, 1, i - from, to);
      fputs("\xef\xbf\xbd", to);
      i += 2;
      from = i + 1;
    }
  }
  fwrite(text.n > from ? text.p + from : "", 1, text.n - from, to);
  if (text.n == 0 || text.p[text.n - 1] != '\n') {
    fputc('\n', to);
  }
}

/* A terminal gets no control characters: text that moves the cursor could fake a question. */
static void console_print_text(FILE *to, lt_str text) {
  if (!isatty(fileno(to))) {
    console_write_utf8(to, text);
    return;
  }
  LT_AUTO_BUF(plain, 4 * LT_JSON_MAX_BYTES);
  lt_plain_add(&plain, text);
  console_write_utf8(to, plain.status == LT_OK ? lt_buf_view(&plain) : LT_STR("(too long to be shown)"));
}

/* An open question leaves the cursor at the end of its line. A message goes to a new line, and then the question is
 * shown again. */
static void console_make_room(const lt_console *console, FILE *to) {
  if (console->make_way != NULL) {
    console->make_way(console->way_arg);
  }
  if (console->question != NULL && isatty(fileno(to))) {
    fputc('\n', to);
  }
}

static void console_ask_again(const lt_console *console, FILE *to) {
  if (console->question != NULL && isatty(fileno(to))) {
    console->question(console->arg);
  }
}

static void console_say_line(const lt_console *console, const char *before, lt_str text, const char *after) {
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  if (lt_secrets_in(console->secrets, text)) {
    lt_secrets_mask(console->secrets, text, &masked);
    text = masked.status == LT_OK ? lt_buf_view(&masked) : LT_STR("***");
  }
  console_make_room(console, stderr);
  fputs(before, stderr);
  console_print_text(stderr, text);
  fputs(after, stderr);
  console_ask_again(console, stderr);
}

void lt_console_line(const lt_console *console, const char *before, lt_str text) {
  console_say_line(console, before, text, "");
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
  lt_console_line(console, "", lt_str_of(text));
}

void lt_console_warning(void *console, lt_str message) {
  lt_console_line(console, "warning: ", message);
}

lt_status lt_console_report(const lt_console *console, lt_buf *report) {
  lt_secrets_mask_buf(console->secrets, report);
  if (report->status == LT_OK && report->n > 0) {
    lt_console_output(console, lt_buf_view(report));
  }
  return report->status;
}

void lt_console_output(const lt_console *console, lt_str text) {
  console_make_room(console, stdout);
  console_print_text(stdout, text);
  fflush(stdout);
  console_ask_again(console, stdout);
}
