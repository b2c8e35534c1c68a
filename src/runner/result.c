#include <stdio.h>

#include "base/mem.h"
#include "json/json.h"
#include "runner/quickjs/program.h"

void lt_run_result_init(lt_run_result *result) {
  *result = (lt_run_result){.status = LT_OK};
  lt_buf_init(&result->value, LT_RUN_RESULT_MAX_BYTES);
  lt_buf_init(&result->error, LT_RUN_LOG_MAX_BYTES);
  lt_buf_init(&result->context, LT_RUN_LOG_MAX_BYTES);
  lt_buf_init(&result->stack, LT_RUN_LOG_MAX_BYTES);
}

void lt_run_result_release(lt_run_result *result) {
  lt_buf_release(&result->value);
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

/* --- As JSON ------------------------------------------------------------------------------------------------------ */
/* The document on its way; `masked` has one text at a time. */
typedef struct report {
  lt_json_writer w;
  const lt_secrets *secrets;
  lt_buf masked;
  lt_status status; /* of all the masking */
} report;

/* The text without secrets. Borrows: until the next one. */
static lt_str mask(report *r, lt_str text) {
  if (!lt_secrets_in(r->secrets, text)) {
    return text;
  }
  lt_buf_clear(&r->masked);
  lt_secrets_mask(r->secrets, text, &r->masked);
  if (r->masked.status != LT_OK) { /* rather nothing than a secret */
    r->status = r->masked.status;
    lt_buf_clear(&r->masked);
  }
  return lt_buf_view(&r->masked);
}

static void put_masked(report *r, lt_str text) {
  lt_json_put_str(&r->w, mask(r, text));
}

static void put_outputs(report *r, const lt_run_result *result) {
  lt_json_key(&r->w, "outputs");
  lt_json_begin_array(&r->w);
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if (text->said == LT_SAID_OUTPUT) {
      lt_json_put_str(&r->w, text->text);
    }
  }
  lt_json_end_array(&r->w);
}

static void put_logs(report *r, const lt_run_result *result) {
  lt_json_key(&r->w, "logs");
  lt_json_begin_array(&r->w);
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if (text->said != LT_SAID_OUTPUT) {
      put_masked(r, text->text);
    }
  }
  lt_json_end_array(&r->w);
}

/* Bytes instead of a text that was too large to keep. */
static void put_bytes(report *r, const char *key, size_t bytes) {
  lt_json_key(&r->w, key);
  lt_json_put_int(&r->w, (int64_t)bytes);
}

/* A text that ought to be JSON, made by others: one that is not must not spoil the whole. A secret that is a number
 * leaves no JSON when it is taken out: what is left is a string then. */
static void put_json(report *r, const char *key, lt_str text, const char *otherwise) {
  text = lt_str_trim(text);
  lt_json_key(&r->w, key);
  if (text.n == 0 || lt_json_check(text, NULL) != LT_OK) {
    lt_json_put_raw(&r->w, lt_str_of(otherwise));
    return;
  }
  lt_str shown = mask(r, text);
  if (shown.p == text.p || lt_json_check(shown, NULL) == LT_OK) {
    lt_json_put_raw(&r->w, shown);
  } else {
    lt_json_put_str(&r->w, shown);
  }
}

static void put_input(report *r, const lt_run_call *call) {
  if (call->input.n == 0 && call->input_bytes > 0) {
    put_bytes(r, "inputBytes", call->input_bytes);
  } else {
    put_json(r, "input", call->input, "{}");
  }
}

static void put_call(report *r, const lt_run_call *call) {
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "tool");
  lt_json_put_str(&r->w, call->tool);
  put_input(r, call);
  if (!call->finished || call->error.n > 0) {
    lt_json_key(&r->w, "error");
    put_masked(r, call->error.n > 0 ? call->error : LT_STR("the program ended before the call did"));
  } else if (call->result.n > 0) {
    put_json(r, "result", call->result, "null");
  } else {
    put_bytes(r, "resultBytes", call->result_bytes);
  }
  lt_json_end_object(&r->w);
}

static void put_calls(report *r, const lt_run_result *result) {
  lt_json_key(&r->w, "calls");
  lt_json_begin_array(&r->w);
  for (const lt_run_call *call = result->calls; call != NULL; call = call->next) {
    put_call(r, call);
  }
  lt_json_end_array(&r->w);
}

/* A program may have set one before it failed. */
static void put_value(lt_json_writer *w, const lt_run_result *result) {
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

static void put_text(report *r, const char *key, const lt_buf *text) {
  if (text->n > 0) {
    lt_json_key(&r->w, key);
    put_masked(r, lt_buf_view(text));
  }
}

static void put_number(lt_json_writer *w, const char *key, uint32_t n) {
  if (n > 0) {
    lt_json_key(w, key);
    lt_json_put_int(w, n);
  }
}

static void put_flag(lt_json_writer *w, const char *key, bool flag) {
  if (flag) {
    lt_json_key(w, key);
    lt_json_put_bool(w, true);
  }
}

static void put_failure(report *r, const lt_run_result *result) {
  put_text(r, "error", &result->error);
  put_number(&r->w, "line", result->line);
  put_number(&r->w, "column", result->column);
  put_text(r, "context", &result->context);
  put_text(r, "stack", &result->stack);
}

void lt_run_result_json(const lt_run_result *result, const lt_secrets *secrets, lt_buf *out) {
  report r = {.w = lt_json_writer_on(out), .secrets = secrets};
  lt_buf_init(&r.masked, 2 * LT_JSON_MAX_BYTES);
  lt_json_begin_object(&r.w);
  put_value(&r.w, result);
  put_outputs(&r, result);
  put_logs(&r, result);
  put_calls(&r, result);
  if (result->status != LT_OK) {
    put_failure(&r, result);
  }
  put_flag(&r.w, "timeout", result->status == LT_E_TIMEOUT);
  put_flag(&r.w, "memory", result->status == LT_E_NOMEM);
  put_flag(&r.w, "outputsCut", result->output_cut);
  put_flag(&r.w, "logsCut", result->log_cut);
  lt_json_key(&r.w, "durationMs");
  char text[32];
  int n = snprintf(text, sizeof text, "%.3f", result->duration_ms);
  lt_json_put_raw(&r.w, lt_str_from(text, (size_t)n));
  lt_json_end_object(&r.w);
  lt_buf_release(&r.masked);
  out->status = out->status == LT_OK ? r.status : out->status;
}
