/* How a run ended, as its note in the journal and back: what a prompt goes on with when it is not run again. */
#include <stdlib.h>

#include "base/mem.h"
#include "json/json.h"
#include "runner/quickjs/tape.h"

/* --- To a note ---------------------------------------------------------------------------------------------------- */
static void put_str(lt_json_writer *w, const char *key, lt_str text) {
  if (text.n > 0) {
    lt_json_key(w, key);
    lt_json_put_str(w, text);
  }
}

static void put_int(lt_json_writer *w, const char *key, int64_t n) {
  if (n != 0) {
    lt_json_key(w, key);
    lt_json_put_int(w, n);
  }
}

static void put_texts(lt_json_writer *w, const lt_run_result *result) {
  lt_json_key(w, "texts");
  lt_json_begin_array(w);
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    lt_json_put_int(w, text->said);
    lt_json_put_str(w, text->text);
  }
  lt_json_end_array(w);
}

#define NOTED_INPUT_BYTES (16 * LT_KIB) /* of a call: a longer one is not told again */

/* Of its calls what a report tells: names, and which of them failed; and what they are known by. */
static void put_calls(lt_json_writer *w, const lt_run_result *result) {
  lt_json_key(w, "calls");
  lt_json_begin_array(w);
  for (const lt_run_tool_call *made = result->owned; made != NULL; made = made->next) {
    const lt_run_call *call = &made->record;
    if (made->function != NULL) {
      continue;
    }
    lt_json_begin_object(w);
    put_int(w, "seq", made->open.id / 2);
    put_str(w, "input", call->input.n <= NOTED_INPUT_BYTES ? call->input : LT_STR_NULL);
    put_str(w, "tool", call->tool);
    put_str(w, "error", call->error);
    put_int(w, "finished", call->finished);
    put_int(w, "bytes", (int64_t)call->result_bytes);
    lt_json_end_object(w);
  }
  lt_json_end_array(w);
}

void lt_result_note_write(const lt_run_result *result, const lt_stored_values *values, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  put_str(&w, "status", lt_str_of(lt_status_name(result->status)));
  put_int(&w, "kind", result->kind);
  put_str(&w, "value", lt_buf_view(&result->value));
  put_str(&w, "error", lt_buf_view(&result->error));
  put_int(&w, "line", result->line);
  put_int(&w, "column", result->column);
  put_str(&w, "context", lt_buf_view(&result->context));
  put_str(&w, "stack", lt_buf_view(&result->stack));
  put_int(&w, "done", result->done);
  put_int(&w, "outputCut", result->output_cut);
  put_int(&w, "logCut", result->log_cut);
  put_int(&w, "us", (int64_t)(result->duration_ms * 1000));
  put_texts(&w, result);
  put_calls(&w, result);
  if (values != NULL) {
    lt_json_key(&w, "values");
    lt_stored_values_write(values, &w);
  }
  lt_json_end_object(&w);
}

/* --- From a note -------------------------------------------------------------------------------------------------- */
typedef struct reading {
  lt_json root;
  lt_arena arena;
  lt_run_result *result;
  bool failed; /* no memory */
} reading;

static lt_str str_in(reading *r, lt_json object, const char *key) {
  lt_str text = LT_STR_NULL;
  lt_json value = lt_json_get(object, key);
  if (lt_json_exists(value) && !lt_json_str(value, &r->arena, &text)) {
    r->failed = true;
  }
  return text;
}

static int64_t int_in(lt_json object, const char *key) {
  int64_t n = 0;
  (void)lt_json_int(lt_json_get(object, key), &n);
  return n;
}

static void read_buf(reading *r, const char *key, lt_buf *out) {
  lt_buf_add(out, str_in(r, r->root, key));
  r->failed |= out->status != LT_OK;
}

static void add_text(reading *r, lt_run_text ***last, lt_said said, lt_str what) {
  lt_run_text *text = lt_mem_alloc(sizeof *text + what.n);
  if (text == NULL) {
    r->failed = true;
    return;
  }
  char *bytes = (char *)(text + 1);
  memcpy(bytes, what.n > 0 ? what.p : "", what.n);
  *text = (lt_run_text){.said = said, .text = lt_str_from(bytes, what.n)};
  **last = text;
  *last = &text->next;
}

/* Kind and text by turns. */
static void read_texts(reading *r) {
  lt_run_text **last = &r->result->texts;
  lt_json_iter it = lt_json_each(lt_json_get(r->root, "texts"));
  while (lt_json_next(&it)) {
    int64_t said = 0;
    lt_str text = LT_STR_NULL;
    (void)lt_json_int(it.value, &said);
    if (!lt_json_next(&it) || !lt_json_str(it.value, &r->arena, &text)) {
      r->failed = true;
      return;
    }
    add_text(r, &last, said >= LT_SAID_OUTPUT && said <= LT_SAID_ERROR ? (lt_said)said : LT_SAID_LOG, text);
  }
}

static lt_run_tool_call *read_call(reading *r, lt_json object) {
  lt_run_tool_call *call = lt_run_tool_call_new(str_in(r, object, "tool"), str_in(r, object, "input"));
  if (call == NULL) {
    r->failed = true;
    return NULL;
  }
  lt_buf_add(&call->out, str_in(r, object, "error"));
  call->record.error = lt_buf_view(&call->out);
  call->record.finished = int_in(object, "finished") != 0;
  call->record.result_bytes = (size_t)int_in(object, "bytes");
  call->status = call->out.n > 0 ? LT_E_TOOL : LT_OK;
  call->preset = call->record.finished;
  call->open.id = (uint32_t)int_in(object, "seq") * 2;
  return call;
}

static void read_calls(reading *r, lt_run_tool_call **first) {
  lt_run_tool_call **last = first;
  lt_json_iter it = lt_json_each(lt_json_get(r->root, "calls"));
  while (lt_json_next(&it) && !r->failed) {
    *last = read_call(r, it.value);
    last = *last != NULL ? &(*last)->next : last;
  }
}

static void read_rest(reading *r) {
  lt_run_result *result = r->result;
  result->status = lt_run_status_of(str_in(r, r->root, "status"));
  int64_t kind = int_in(r->root, "kind");
  result->kind = kind == LT_VALUE_STRING ? LT_VALUE_STRING : kind == LT_VALUE_JSON ? LT_VALUE_JSON : LT_VALUE_UNDEFINED;
  read_buf(r, "value", &result->value);
  read_buf(r, "error", &result->error);
  read_buf(r, "context", &result->context);
  read_buf(r, "stack", &result->stack);
  result->line = (uint32_t)int_in(r->root, "line");
  result->column = (uint32_t)int_in(r->root, "column");
  result->done = int_in(r->root, "done") != 0;
  result->output_cut = int_in(r->root, "outputCut") != 0;
  result->log_cut = int_in(r->root, "logCut") != 0;
  result->duration_ms = (double)int_in(r->root, "us") / 1000;
}

lt_status lt_result_note_read(lt_str note, lt_run_result *result, lt_stored_values *values, lt_err *err) {
  reading r = {.result = result};
  lt_json_doc doc;
  lt_arena_init(&r.arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = lt_json_parse(&r.arena, note, &doc, err);
  if (status == LT_OK) {
    lt_run_tool_call *calls = NULL;
    r.root = lt_json_root(&doc);
    read_rest(&r);
    read_texts(&r);
    read_calls(&r, &calls);
    result->owned = calls;
    result->calls = lt_run_tool_call_link(calls);
    lt_json kept = lt_json_get(r.root, "values");
    if (values != NULL && lt_json_exists(kept)) {
      status = lt_stored_values_read(values, lt_json_text(kept), err);
    }
  }
  lt_arena_release(&r.arena);
  return status == LT_OK && r.failed ? lt_fail(err, LT_E_NOMEM, "no memory for a result that is on record") : status;
}
