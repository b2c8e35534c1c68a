#include "runner/run_result.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "json/json.h"
#include "runner/run_tool_call.h"

#define ELLIPSIS "\xe2\x80\xa6"

void lt_run_result_init(lt_run_result *result) {
  *result = (lt_run_result){.status = LT_OK};
  lt_buf_init(&result->value, LT_RUN_RESULT_MAX_BYTES);
  lt_buf_init(&result->unread, LT_RUN_LOG_MAX_BYTES);
  lt_buf_init(&result->error, LT_RUN_LOG_MAX_BYTES);
  lt_buf_init(&result->context, LT_RUN_LOG_MAX_BYTES);
  lt_buf_init(&result->stack, LT_RUN_LOG_MAX_BYTES);
}

void lt_run_result_release(lt_run_result *result) {
  lt_buf_release(&result->value);
  lt_buf_release(&result->unread);
  lt_buf_release(&result->error);
  lt_buf_release(&result->context);
  lt_buf_release(&result->stack);
  while (result->texts != NULL) {
    lt_run_text *text = result->texts;
    result->texts = text->next;
    lt_mem_free(text);
  }
  lt_run_tool_call_free_all(result->owned);
  lt_run_result_init(result);
}

void lt_run_result_fail(lt_run_result *result, lt_status status, const char *fmt, ...) {
  char text[LT_ERR_MSG_MAX];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  result->status = status;
  lt_buf_clear(&result->error);
  lt_buf_addc(&result->error, text);
}

void lt_run_result_ensure_error(lt_run_result *result) {
  if (result->status != LT_OK && result->error.n == 0) {
    lt_buf_release(&result->error);
    lt_buf_addc(&result->error, lt_status_text(result->status));
  }
}

void lt_run_result_put_context(lt_buf *out, lt_str line, size_t at) {
  lt_str trimmed = lt_str_trim(line);
  if (trimmed.n <= LT_RUN_CONTEXT_BYTES) {
    lt_buf_add(out, trimmed);
    return;
  }
  size_t from = at > LT_RUN_CONTEXT_BYTES / 2 ? at - LT_RUN_CONTEXT_BYTES / 2 : 0;
  from = from < line.n ? from : line.n;
  size_t to = line.n - from > LT_RUN_CONTEXT_BYTES ? from + LT_RUN_CONTEXT_BYTES : line.n;
  while (from > 0 && from < line.n && lt_utf8_continues(line.p[from])) {
    from--;
  }
  while (to < line.n && lt_utf8_continues(line.p[to])) {
    to++;
  }
  lt_buf_addc(out, from > 0 ? ELLIPSIS : "");
  lt_buf_add(out, lt_str_trim(lt_str_sub(line, from, to)));
  lt_buf_addc(out, to < line.n ? ELLIPSIS : "");
}

/* --- As JSON ------------------------------------------------------------------------------------------------------ */
/* The JSON document while it is written; `masked` has one text at a time. */
typedef struct result_report {
  lt_json_writer w;
  const lt_secrets *secrets;
  lt_buf masked;
  lt_status status; /* the first failure of masking */
} result_report;

/* The text without secrets. Borrows: until the next call. */
static lt_str report_mask(result_report *r, lt_str text) {
  if (!lt_secrets_in(r->secrets, text)) {
    return text;
  }
  lt_buf_clear(&r->masked);
  lt_secrets_mask(r->secrets, text, &r->masked);
  if (r->masked.status != LT_OK) { /* no text is better than a secret */
    r->status = r->masked.status;
    lt_buf_clear(&r->masked);
  }
  return lt_buf_view(&r->masked);
}

static void report_put_masked(result_report *r, lt_str text) {
  lt_json_put_str(&r->w, report_mask(r, text));
}

static void report_put_outputs(result_report *r, const lt_run_result *result) {
  lt_json_key(&r->w, "outputs");
  lt_json_begin_array(&r->w);
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if (text->said == LT_SAID_OUTPUT) {
      lt_json_put_str(&r->w, text->text);
    }
  }
  lt_json_end_array(&r->w);
}

static void report_put_logs(result_report *r, const lt_run_result *result) {
  lt_json_key(&r->w, "logs");
  lt_json_begin_array(&r->w);
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if (text->said != LT_SAID_OUTPUT) {
      report_put_masked(r, text->text);
    }
  }
  lt_json_end_array(&r->w);
}

/* Writes the size of a text that was too large to keep. */
static void report_put_bytes(result_report *r, const char *key, size_t bytes) {
  lt_json_key(&r->w, key);
  lt_json_put_int(&r->w, (int64_t)bytes);
}

/* Writes a JSON text of others, unless it `is_json` for certain. Invalid JSON must not break the document, so it is
 * written as a string. Masking a secret that is a number makes JSON invalid. */
static void report_put_json(result_report *r, const char *key, lt_str text, bool is_json, const char *otherwise) {
  text = lt_str_trim(text);
  lt_json_key(&r->w, key);
  if (text.n == 0 || (!is_json && lt_json_check(text, NULL) != LT_OK)) {
    lt_json_put_raw(&r->w, lt_str_of(otherwise));
    return;
  }
  lt_str shown = report_mask(r, text);
  if (shown.p == text.p || lt_json_check(shown, NULL) == LT_OK) {
    lt_json_put_raw(&r->w, shown);
  } else {
    lt_json_put_str(&r->w, shown);
  }
}

static void report_put_input(result_report *r, const lt_run_call *call) {
  if (call->input.n == 0 && call->input_bytes > 0) {
    report_put_bytes(r, "inputBytes", call->input_bytes);
  } else {
    report_put_json(r, "input", call->input, call->is_input_json, "{}");
  }
}

static void report_put_call(result_report *r, const lt_run_call *call) {
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "tool");
  lt_json_put_str(&r->w, call->tool);
  report_put_input(r, call);
  if (!call->finished || call->error.n > 0) {
    lt_json_key(&r->w, "error");
    report_put_masked(r, call->error.n > 0 ? call->error : LT_STR("the program ended before the call did"));
  } else if (call->result.n > 0) {
    report_put_json(r, "result", call->result, false, "null");
  } else {
    report_put_bytes(r, "resultBytes", call->result_bytes);
  }
  lt_json_end_object(&r->w);
}

static void report_put_calls(result_report *r, const lt_run_result *result) {
  lt_json_key(&r->w, "calls");
  lt_json_begin_array(&r->w);
  for (const lt_run_call *call = result->calls; call != NULL; call = call->next) {
    report_put_call(r, call);
  }
  lt_json_end_array(&r->w);
}

/* A program may have set one before it failed. */
static void report_put_value(lt_json_writer *w, const lt_run_result *result) {
  if (result->kind == LT_VALUE_UNDEFINED) {
    return;
  }
  lt_json_key(w, "result");
  if (result->kind == LT_VALUE_STRING) {
    lt_json_put_str(w, lt_buf_view(&result->value));
  } else {
    lt_json_put_raw(w, lt_buf_view(&result->value));
  }
}

static void report_put_text(result_report *r, const char *key, const lt_buf *text) {
  if (text->n > 0) {
    lt_json_key(&r->w, key);
    report_put_masked(r, lt_buf_view(text));
  }
}

static void report_put_number(lt_json_writer *w, const char *key, uint32_t n) {
  if (n > 0) {
    lt_json_key(w, key);
    lt_json_put_int(w, n);
  }
}

static void report_put_flag(lt_json_writer *w, const char *key, bool flag) {
  if (flag) {
    lt_json_key(w, key);
    lt_json_put_bool(w, true);
  }
}

static void report_put_failure(result_report *r, const lt_run_result *result) {
  report_put_text(r, "error", &result->error);
  report_put_number(&r->w, "line", result->line);
  report_put_number(&r->w, "column", result->column);
  report_put_text(r, "context", &result->context);
  report_put_text(r, "stack", &result->stack);
}

/* To a microsecond. printf would write the host's decimal point, which may be a comma. */
static void report_put_duration(lt_json_writer *w, double ms) {
  uint64_t us = (uint64_t)(ms * 1000 + 0.5);
  const char fraction[] = {'.', (char)('0' + us / 100 % 10), (char)('0' + us / 10 % 10), (char)('0' + us % 10)};
  lt_json_key(w, "durationMs");
  lt_json_put_int(w, (int64_t)(us / 1000));
  lt_buf_add(w->buf, lt_str_from(fraction, sizeof fraction));
}

void lt_run_result_json(const lt_run_result *result, const lt_secrets *secrets, lt_buf *out) {
  result_report r = {.w = lt_json_writer_on(out), .secrets = secrets};
  lt_buf_init(&r.masked, 2 * LT_JSON_MAX_BYTES);
  lt_buf_expect(out, result->value.n + LT_KIB / 4);
  lt_json_begin_object(&r.w);
  report_put_value(&r.w, result);
  report_put_outputs(&r, result);
  report_put_logs(&r, result);
  report_put_calls(&r, result);
  if (result->status != LT_OK) {
    report_put_failure(&r, result);
  } else {
    report_put_text(&r, "error", &result->unread);
  }
  report_put_flag(&r.w, "timeout", result->status == LT_E_TIMEOUT);
  report_put_flag(&r.w, "memory", result->status == LT_E_NOMEM);
  report_put_flag(&r.w, "outputsCut", result->output_cut);
  report_put_flag(&r.w, "logsCut", result->log_cut);
  report_put_duration(&r.w, result->duration_ms);
  lt_json_end_object(&r.w);
  lt_buf_release(&r.masked);
  out->status = lt_status_first(out->status, r.status);
}
