/* Messages of a session: warnings and progress lines, through one callback of the way in that opened the session.
 *
 * Nothing here uses a terminal. Secrets are masked in every line.
 */
#ifndef LT_APP_REPORT_H
#define LT_APP_REPORT_H

#include "base/str.h"
#include "text/secrets.h"

typedef enum lt_report_kind {
  LT_REPORT_INFO,
  LT_REPORT_WARNING,
  LT_REPORT_PROGRESS, /* something takes long; useful only for a person who waits */
  LT_REPORT_ERROR,    /* notes only */
  LT_REPORT_DEBUG,    /* notes only */
} lt_report_kind;

/* A part of a note that programs can read. */
typedef struct lt_report_fact {
  const char *name; /* in camelCase, such as "promptId"; NULL: the last one */
  lt_str text;      /* NULL bytes: `number` counts */
  int64_t number;
} lt_report_fact;

typedef struct lt_report {
  void (*on_line)(void *arg, lt_report_kind kind, lt_str line); /* must not yield; NULL: nothing is reported */
  /* A note of a service's log, with its facts; must not yield. NULL: the way in keeps no log. */
  void (*on_note)(void *arg, lt_report_kind kind, lt_str message, const lt_report_fact *facts);
  void *arg;
  const lt_secrets *secrets; /* masked in every line and note; may be NULL */
} lt_report;

/* A line may hold a foreign name with any characters. The way in cleans the line for a terminal (text/plain.h). */
void lt_report_line(const lt_report *report, lt_report_kind kind, lt_str line);
/* Reports a warning, formatted as by printf; at most 2 * LT_ERR_MSG_MAX bytes. */
void lt_report_warning(const lt_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes for a service's log what has happened. Texts of strangers belong into facts, of which there are at most
 * LT_REPORT_FACTS_MAX. */
void lt_report_note(const lt_report *report, lt_report_kind kind, const char *message, const lt_report_fact *facts);

#endif
