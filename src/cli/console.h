/* What is said to the person: lines on standard error, without secrets, and what a program outputs, as it is. On a
 * terminal both are without escapes and control characters (text/plain.h).
 *
 * While a question waits for its answer on a terminal, it is shown again after each line that went to one.
 */
#ifndef LT_CLI_SAY_H
#define LT_CLI_SAY_H

#include "base/buf.h"
#include "base/str.h"
#include "text/secrets.h"

typedef struct lt_console {
  const lt_secrets *secrets;   /* masked in every line; may be NULL */
  void (*question)(void *arg); /* shows the question that is open; NULL: there is none */
  void *arg;
  void (*make_way)(void *arg); /* told before a line is written: takes off what else stands there; may be NULL */
  void *way_arg;
} lt_console;

/* A line on standard error: `before`, then the text without secrets. Half a surrogate pair becomes U+FFFD. */
void lt_console_line(const lt_console *console, const char *before, lt_str text);
/* The same, dimmed, for a terminal that can. */
void lt_console_dim(const lt_console *console, lt_str text);
/* A line of our own words, made as printf does. */
void lt_console_format(const lt_console *console, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "warning: " and the message. The name fits the callbacks that take one: `console` is an lt_console. */
void lt_console_warning(void *console, lt_str message);
/* What a command itself has to tell, on standard output, flushed: without secrets, as servers may have put what they
 * were given into their texts. Nothing is written where `report` is empty or its status (returned) says that it is not
 * whole. */
lt_status lt_console_report(const lt_console *console, lt_buf *report);
/* A line on standard output, flushed: what the program outputs, and its result. Not masked: it is the user's. */
void lt_console_output(const lt_console *console, lt_str text);

#endif
