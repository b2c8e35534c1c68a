#include "replay/result_note.h"

#include "base/mem.h"
#include "json/json.h"
#include "replay/notes.h"
#include "runner/run_tool_call.h"

/* --- To a note ---------------------------------------------------------------------------------------------------- */
static void note_put_int(lt_json_writer *w, const char *key, int64_t n) {
  if (n != 0) {
    lt_json_key(w, key);
    lt_json_put_int(w, n);
  }
}

static void note_put_texts(lt_json_writer *w, const lt_run_result *result) {
  lt_json_key(w, "texts");
  lt_json_begin_array(w);
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    lt_json_put_int(w, text->said);
    lt_json_put_str(w, text->text);
  }
  lt_json_end_array(w);
}

#define NOTED_INPUT_BYTES (16 * LT_KIB) /* of a call: a longer one is not kept */

/* Writes the calls as a report needs them: names, failures, and their numbers in the record. */
static void note_put_calls(lt_json_writer *w, const lt_run_result *result) {
  lt_json_key(w, "calls");
  lt_json_begin_array(w);
  for (const lt_run_tool_call *made = result->owned; made != NULL; made = made->next) {
    const lt_run_call *call = &made->record;
    if (made->function != NULL) {
      continue;
    }
    lt_json_begin_object(w);
    note_put_int(w, "seq", (int64_t)made->seq);
    lt_json_put_given(w, "input", call->input.n <= NOTED_INPUT_BYTES ? call->input : LT_STR_NULL);
    lt_json_put_given(w, "tool", call->tool);
    lt_json_put_given(w, "error", call->error);
    note_put_int(w, "finished", call->finished);
    note_put_int(w, "bytes", (int64_t)call->result_bytes);
    lt_json_end_object(w);
  }
  lt_json_end_array(w);
}

void lt_result_note_write(const lt_run_result *result, const lt_stored_values *values, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_put_given(&w, "status", lt_str_of(lt_status_name(result->status)));
  note_put_int(&w, "kind", result->kind);
  lt_json_put_given(&w, "value", lt_buf_view(&result->value));
  lt_json_put_given(&w, "unread", lt_buf_view(&result->unread));
  lt_json_put_given(&w, "error", lt_buf_view(&result->error));
  note_put_int(&w, "line", result->line);
  note_put_int(&w, "column", result->column);
  lt_json_put_given(&w, "context", lt_buf_view(&result->context));
  lt_json_put_given(&w, "stack", lt_buf_view(&result->stack));
  note_put_int(&w, "typeErrors", result->has_type_errors);
  note_put_int(&w, "done", result->done);
  note_put_int(&w, "outputCut", result->output_cut);
  note_put_int(&w, "logCut", result->log_cut);
  note_put_int(&w, "us", (int64_t)(result->duration_ms * 1000));
  note_put_texts(&w, result);
  note_put_calls(&w, result);
  if (values != NULL) {
    lt_json_key(&w, "values");
    lt_stored_values_write(values, &w);
  }
  lt_json_end_object(&w);
}

/* --- From a note -------------------------------------------------------------------------------------------------- */
typedef struct note_reader {
  lt_json root;
  lt_arena *arena;
  lt_run_result *result;
  bool failed; /* no memory */
} note_reader;

static lt_str note_read_str(note_reader *r, lt_json object, const char *key) {
  lt_str text = LT_STR_NULL;
  lt_json value = lt_json_get(object, key);
  if (lt_json_exists(value) && !lt_json_str(value, r->arena, &text)) {
    r->failed = true;
  }
  return text;
}

static int64_t note_read_int(lt_json object, const char *key) {
  int64_t n = 0;
  (void)lt_json_int(lt_json_get(object, key), &n);
  return n;
}

static void note_read_buf(note_reader *r, const char *key, lt_buf *out) {
  lt_buf_add(out, note_read_str(r, r->root, key));
  r->failed |= out->status != LT_OK;
}

static void note_add_text(note_reader *r, lt_run_text ***last, lt_said said, lt_str what) {
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

/* Writes kind and text alternately. */
static void note_read_texts(note_reader *r) {
  lt_run_text **last = &r->result->texts;
  lt_json_iter it = lt_json_each(lt_json_get(r->root, "texts"));
  while (lt_json_next(&it)) {
    int64_t said = 0;
    lt_str text = LT_STR_NULL;
    (void)lt_json_int(it.value, &said);
    if (!lt_json_next(&it) || !lt_json_str(it.value, r->arena, &text)) {
      r->failed = true;
      return;
    }
    note_add_text(r, &last, said >= LT_SAID_OUTPUT && said <= LT_SAID_YIELD ? (lt_said)said : LT_SAID_LOG, text);
  }
}

static lt_run_tool_call *note_read_call(note_reader *r, lt_json object) {
  lt_run_tool_call *call =
      lt_run_tool_call_new(sizeof *call, note_read_str(r, object, "tool"), note_read_str(r, object, "input"));
  if (call == NULL) {
    r->failed = true;
    return NULL;
  }
  lt_buf_add(&call->out, note_read_str(r, object, "error"));
  call->record.error = lt_buf_view(&call->out);
  call->record.finished = note_read_int(object, "finished") != 0;
  call->record.result_bytes = (size_t)note_read_int(object, "bytes");
  call->status = call->out.n > 0 ? LT_E_TOOL : LT_OK;
  call->is_recalled = call->record.finished;
  call->seq = (uint64_t)note_read_int(object, "seq");
  return call;
}

static void note_read_calls(note_reader *r, lt_run_tool_call **first) {
  lt_run_tool_call **last = first;
  lt_json_iter it = lt_json_each(lt_json_get(r->root, "calls"));
  while (lt_json_next(&it) && !r->failed) {
    *last = note_read_call(r, it.value);
    last = *last != NULL ? &(*last)->next : last;
  }
}

static void note_read_end(note_reader *r) {
  lt_run_result *result = r->result;
  result->status = lt_notes_status(note_read_str(r, r->root, "status"), LT_E_TOOL);
  int64_t kind = note_read_int(r->root, "kind");
  result->kind = kind == LT_VALUE_STRING ? LT_VALUE_STRING : kind == LT_VALUE_JSON ? LT_VALUE_JSON : LT_VALUE_UNDEFINED;
  note_read_buf(r, "value", &result->value);
  note_read_buf(r, "unread", &result->unread);
  note_read_buf(r, "error", &result->error);
  note_read_buf(r, "context", &result->context);
  note_read_buf(r, "stack", &result->stack);
  result->line = (uint32_t)note_read_int(r->root, "line");
  result->column = (uint32_t)note_read_int(r->root, "column");
  result->has_type_errors = note_read_int(r->root, "typeErrors") != 0;
  result->done = note_read_int(r->root, "done") != 0;
  result->output_cut = note_read_int(r->root, "outputCut") != 0;
  result->log_cut = note_read_int(r->root, "logCut") != 0;
  result->duration_ms = (double)note_read_int(r->root, "us") / 1000;
}

lt_status lt_result_note_read(lt_str note, lt_run_result *result, lt_stored_values *values, lt_err *err) {
  note_reader r = {.result = result};
  lt_run_tool_call *calls = NULL;
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  r.arena = &arena;
  LT_TRY(lt_json_parse(&arena, note, &doc, err));
  r.root = lt_json_root(&doc);
  note_read_end(&r);
  note_read_texts(&r);
  note_read_calls(&r, &calls);
  result->owned = calls;
  result->calls = lt_run_tool_call_link(calls);
  lt_json kept = lt_json_get(r.root, "values");
  if (values != NULL && lt_json_exists(kept)) {
    LT_TRY(lt_stored_values_read(values, lt_json_text(kept), err));
  }
  return r.failed ? lt_fail(err, LT_E_NOMEM, "no memory for a result that is on record") : LT_OK;
}

/* --- Comparing ---------------------------------------------------------------------------------------------------- */
bool lt_result_note_is_limit(lt_str note) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&arena, note, &doc, NULL) != LT_OK) {
    return false;
  }
  lt_json status = lt_json_get(lt_json_root(&doc), "status");
  return lt_json_str_eq(status, lt_str_of(lt_status_name(LT_E_TIMEOUT))) ||
         lt_json_str_eq(status, lt_str_of(lt_status_name(LT_E_NOMEM))) ||
         lt_json_str_eq(status, lt_str_of(lt_status_name(LT_E_CANCELLED)));
}

bool lt_result_note_has_type_errors(lt_str note) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  return lt_json_parse(&arena, note, &doc, NULL) == LT_OK &&
         lt_json_exists(lt_json_get(lt_json_root(&doc), "typeErrors"));
}

bool lt_result_note_put_comparable(lt_buf *out, lt_str note) {
  lt_json_doc doc;
  lt_json_writer w = lt_json_writer_on(out);
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&arena, note, &doc, NULL) != LT_OK) {
    return false;
  }
  lt_json root = lt_json_root(&doc);
  if (!lt_json_exists(lt_json_get(root, "texts")) || !lt_json_exists(lt_json_get(root, "calls"))) {
    return false;
  }
  lt_json_begin_object(&w);
  for (lt_json_iter it = lt_json_each(root); lt_json_next(&it);) {
    lt_str key;
    if (!lt_json_str(it.key, &arena, &key)) {
      return false;
    }
    if (!lt_str_eqc(key, "us") && !lt_str_eqc(key, "calls")) {
      lt_json_key_str(&w, key);
      lt_json_put_raw(&w, lt_json_text(it.value));
    }
  }
  lt_json_end_object(&w);
  return out->status == LT_OK;
}
