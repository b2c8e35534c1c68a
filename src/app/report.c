#include "app/report.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/limits.h"

void lt_report_line(const lt_report *report, lt_report_kind kind, lt_str line) {
  if (report->on_line == NULL) {
    return;
  }
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  if (lt_secrets_in(report->secrets, line)) {
    lt_secrets_mask(report->secrets, line, &masked);
    line = lt_buf_view_or(&masked, LT_STR("***"));
  }
  report->on_line(report->arg, kind, line);
}

void lt_report_warning(const lt_report *report, const char *format, ...) {
  char text[2 * LT_ERR_MSG_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  lt_report_line(report, LT_REPORT_WARNING, lt_str_of(text));
}

/* A text without secrets. Borrows: from the arena, where there are any. */
static lt_str report_mask_fact(const lt_report *report, lt_arena *arena, lt_str text) {
  if (!lt_secrets_in(report->secrets, text)) {
    return text;
  }
  LT_AUTO_BUF(masked, LT_REPORT_NOTE_BYTES);
  lt_secrets_mask(report->secrets, text, &masked);
  lt_str copy = lt_arena_dup(arena, lt_buf_view_or(&masked, LT_STR("***")));
  return copy.p != NULL ? copy : LT_STR("***");
}

void lt_report_note(const lt_report *report, lt_report_kind kind, const char *message, const lt_report_fact *facts) {
  lt_report_fact shown[LT_REPORT_FACTS_MAX + 1];
  size_t count = 0;
  if (report->on_note == NULL) {
    return;
  }
  LT_AUTO_ARENA(arena, LT_REPORT_NOTE_BYTES);
  for (; facts[count].name != NULL && count < LT_REPORT_FACTS_MAX; count++) {
    shown[count] = facts[count];
    shown[count].text = report_mask_fact(report, &arena, facts[count].text);
  }
  shown[count] = (lt_report_fact){.name = NULL};
  report->on_note(report->arg, kind, lt_str_of(message), shown);
}
