/* What a session says to whoever opened it: warnings and progress, through one function that was handed down.
 *
 * Nobody here knows a terminal. Every line is without secrets.
 */
#ifndef LT_APP_REPORT_H
#define LT_APP_REPORT_H

#include "base/str.h"
#include "text/secrets.h"

typedef enum lt_report_kind {
  LT_REPORT_INFO,
  LT_REPORT_WARNING,
  LT_REPORT_PROGRESS, /* something takes long: of interest only to a person who waits */
} lt_report_kind;

typedef struct lt_report {
  void (*on_line)(void *arg, lt_report_kind kind, lt_str line); /* must not yield; NULL: nothing is reported */
  void *arg;
  const lt_secrets *secrets; /* masked in every line; may be NULL */
} lt_report;

/* A strange name in a line may hold anything: who shows it on a terminal cleans it (text/plain.h). */
void lt_report_line(const lt_report *report, lt_report_kind kind, lt_str line);
/* A warning, made as printf does; at most 2 * LT_ERR_MSG_MAX bytes of it. */
void lt_report_warning(const lt_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
