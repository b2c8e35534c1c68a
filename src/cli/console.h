/* The console: messages on standard error, with secrets masked, and a program's output, unmasked. A terminal gets
 * neither escapes nor control characters (text/plain.h).
 *
 * While a question is open, a terminal gets nothing: what is said meanwhile is held and written after the answer, in
 * its order. Files and pipes go on.
 */
#ifndef LT_CLI_SAY_H
#define LT_CLI_SAY_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "text/secrets.h"

typedef struct lt_console {
  const lt_secrets *secrets;          /* masked in every line; may be NULL */
  struct lt_question_turn *questions; /* who asks, or waits to ask (cli/question_queue.h) */
  struct lt_console_held *held;       /* what is held for terminals; NULL: no question is open */
  void (*make_way)(void *arg);        /* called before a line is written: erases what is drawn; may be NULL */
  void (*on_release)(void *arg);      /* called after what was held has been written; may be NULL */
  void *way_arg;
  void (*on_question)(void *arg, bool is_open); /* called when a question opens and has closed; may be NULL */
  void *question_arg;
  size_t unread; /* lines of a service's log that are lost (cli/service_log.h) */
} lt_console;

/* Whether colours may be written there: a terminal that has them, and no NO_COLOR (https://no-color.org). */
bool lt_console_has_colour(FILE *to);
/* A line on standard error: `before`, coloured if it says how bad the line is ("error: ", "warning: ", ...), then the
 * text without secrets. Half a surrogate pair becomes U+FFFD. */
void lt_console_line(const lt_console *console, const char *before, lt_str text);
/* The same with `before` in front of each line of the text. */
void lt_console_lines(const lt_console *console, const char *before, lt_str text);
/* The same as lt_console_line, dimmed if the terminal can. */
void lt_console_dim(const lt_console *console, lt_str text);
/* A line on standard error that has our own styles: its text is clean already (text/styled_text.h). Without secrets. */
void lt_console_styled(const lt_console *console, lt_str text);
/* A line with our own text, formatted as by printf. */
void lt_console_format(const lt_console *console, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "warning: " before each line of the message. The name fits the callbacks that take one: `console` is an lt_console.
 */
void lt_console_warning(void *console, lt_str message);
/* Writes a command's report to standard output and flushes it. Secrets are masked, because servers may repeat them in
 * their texts. Writes nothing when `report` is empty or its status, which is returned, is a failure. */
lt_status lt_console_report(const lt_console *console, lt_buf *report);
/* A line of a program's output or result on standard output, flushed. It belongs to the user and is not masked. */
void lt_console_output(const lt_console *console, lt_str text);
/* Writes `text` as it is to `to` (standard output or error) and flushes it. False: it could not be written. */
bool lt_console_write(const lt_console *console, FILE *to, lt_str text);

/* Opens and closes a question: between them, terminals get nothing from this console. One at a time. Limits:
 * LT_HELD_MESSAGES_BYTES of messages, later ones are counted; LT_HELD_OUTPUT_BYTES of output. Errors: LT_E_NOMEM. */
lt_status lt_console_hold(lt_console *console, lt_err *err);
void lt_console_release(lt_console *console);

#endif
