#include <stdio.h>

#include "base/mem.h"
#include "codec/json.h"
#include "runner/program.h"

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
  lt_run_calls_release(result->owned);
  lt_run_result_init(result);
}

/* --- As JSON ---------------------------------------------------------------------------------- */
static void put_texts(lt_json_writer *w, const lt_run_result *result, const char *key, bool outputs) {
  lt_json_key(w, key);
  lt_json_begin_array(w);
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if ((text->said == LT_SAID_OUTPUT) == outputs) {
      lt_json_put_str(w, text->text);
    }
  }
  lt_json_end_array(w);
}

/* Bytes instead of a text that was too large to keep. */
static void put_bytes(lt_json_writer *w, const char *key, size_t bytes) {
  lt_json_key(w, key);
  lt_json_put_int(w, (int64_t)bytes);
}

/* A text that ought to be JSON, made by others: one that is not must not spoil the whole. */
static void put_json(lt_json_writer *w, const char *key, lt_str text, const char *otherwise) {
  text = lt_str_trim(text);
  lt_json_key(w, key);
  lt_json_put_raw(w, text.n > 0 && lt_json_check(text, NULL) == LT_OK ? text : lt_str_of(otherwise));
}

static void put_input(lt_json_writer *w, const lt_run_call *call) {
  if (call->input.n == 0 && call->input_bytes > 0) {
    put_bytes(w, "inputBytes", call->input_bytes);
  } else {
    put_json(w, "input", call->input, "{}");
  }
}

static void put_call(lt_json_writer *w, const lt_run_call *call) {
  lt_json_begin_object(w);
  lt_json_key(w, "tool");
  lt_json_put_str(w, call->tool);
  put_input(w, call);
  if (!call->finished || call->error.n > 0) {
    lt_json_key(w, "error");
    lt_json_put_str(w, call->error.n > 0 ? call->error : LT_STR("the program ended before the call did"));
  } else if (call->result.n > 0) {
    put_json(w, "result", call->result, "null");
  } else {
    put_bytes(w, "resultBytes", call->result_bytes);
  }
  lt_json_end_object(w);
}

static void put_calls(lt_json_writer *w, const lt_run_result *result) {
  lt_json_key(w, "calls");
  lt_json_begin_array(w);
  for (const lt_run_call *call = result->calls; call != NULL; call = call->next) {
    put_call(w, call);
  }
  lt_json_end_array(w);
}

static void put_value(lt_json_writer *w, const lt_run_result *result) {
  if (result->status != LT_OK || result->kind == LT_VALUE_UNDEFINED) {
    return;
  }
  lt_json_key(w, "result");
  if (result->kind == LT_VALUE_STRING) {
    lt_json_put_str(w, lt_buf_view(&result->value));
  } else {
    lt_json_put_raw(w, lt_buf_view(&result->value));
  }
}

static void put_text(lt_json_writer *w, const char *key, const lt_buf *text) {
  if (text->n > 0) {
    lt_json_key(w, key);
    lt_json_put_str(w, lt_buf_view(text));
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

void lt_run_result_json(const lt_run_result *result, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  put_value(&w, result);
  put_texts(&w, result, "outputs", true);
  put_texts(&w, result, "logs", false);
  put_calls(&w, result);
  if (result->status != LT_OK) {
    put_text(&w, "error", &result->error);
    put_number(&w, "line", result->line);
    put_number(&w, "column", result->column);
    put_text(&w, "context", &result->context);
    put_text(&w, "stack", &result->stack);
  }
  put_flag(&w, "timeout", result->status == LT_E_TIMEOUT);
  put_flag(&w, "memory", result->status == LT_E_NOMEM);
  put_flag(&w, "outputsCut", result->output_cut);
  put_flag(&w, "logsCut", result->log_cut);
  lt_json_key(&w, "durationMs");
  char text[32];
  int n = snprintf(text, sizeof text, "%.3f", result->duration_ms);
  lt_json_put_raw(&w, lt_str_from(text, (size_t)n));
  lt_json_end_object(&w);
}
