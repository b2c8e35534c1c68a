#include "app/report.h"

#include <stdarg.h>
#include <stdio.h>

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
