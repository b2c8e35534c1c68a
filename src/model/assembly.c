#include "model/assembly.h"

#include "base/limits.h"
#include "model/completion_wire.h"
#include "text/tokens.h"

void lt_assembly_init(lt_assembly *a, const lt_completion_wire *wire, const lt_completion_request *request,
                      lt_completion *completion) {
  *a = (lt_assembly){.wire = wire, .request = request, .completion = completion};
  lt_arena_init(&a->event, LT_MODEL_MEMORY_BYTES);
  lt_buf_init(&a->held_text, LT_MODEL_TEXT_MAX_BYTES);
  lt_text_calls_init(&a->text_calls);
}

void lt_assembly_release(lt_assembly *a) {
  lt_assembly_release_calls(a);
  lt_assembly_release_parts(a);
  lt_buf_release(&a->held_text);
  lt_text_calls_release(&a->text_calls);
  lt_arena_release(&a->event);
}

/* --- For wires ---------------------------------------------------------------------------------------------------- */
lt_str lt_assembly_str(lt_assembly *a, lt_json v) {
  lt_str s = LT_STR_NULL;
  (void)lt_json_str(v, &a->event, &s);
  return s;
}

lt_status lt_assembly_take_error(lt_assembly *a, lt_json json, lt_err *err) {
  lt_provider_error error = lt_provider_error_read(&a->event, json, a->request->model->api_key);
  a->failed = true;
  a->fault = (lt_provider_error){.text = lt_arena_dup(&a->completion->arena, error.text),
                                 .code = lt_arena_dup(&a->completion->arena, error.code),
                                 .status = error.status};
  return lt_fail(err, LT_E_TOOL, "%.*s", LT_STR_ARG(error.text));
}

bool lt_assembly_read_count(lt_json usage, const char *key, int64_t *ret) {
  int64_t n;
  bool is_count = lt_json_int(lt_json_get(usage, key), &n) && n >= 0 && n <= LT_MODEL_TOKENS_MAX;
  *ret = is_count ? n : *ret;
  return is_count;
}

void lt_assembly_bound_cached(lt_assembly *a) {
  lt_usage *u = &a->completion->usage;
  u->cached_input_tokens = u->cached_input_tokens < u->input_tokens ? u->cached_input_tokens : u->input_tokens;
  int64_t fresh = u->input_tokens - u->cached_input_tokens;
  u->cache_write_tokens = u->cache_write_tokens < fresh ? u->cache_write_tokens : fresh;
}

void lt_assembly_take_model(lt_assembly *a, lt_json name) {
  if (a->completion->model.n == 0) {
    a->completion->model = lt_arena_dup(&a->completion->arena, lt_assembly_str(a, name));
  }
}

lt_status lt_assembly_check(const lt_assembly *a, lt_err *err) {
  const lt_completion *c = a->completion;
  lt_status status = c->text.status != LT_OK              ? c->text.status
                     : c->reasoning.status != LT_OK       ? c->reasoning.status
                     : a->held_text.status != LT_OK       ? a->held_text.status
                     : a->text_calls.held.status != LT_OK ? a->text_calls.held.status
                     : a->text_calls.said.status != LT_OK
                         ? a->text_calls.said.status
                         : lt_status_first(lt_assembly_calls_status(a), lt_assembly_parts_status(a));
  if (status == LT_E_LIMIT) {
    return lt_fail(err, status, "more than %lu MiB, or more than %d calls: an answer without an end?",
                   LT_MODEL_TEXT_MAX_BYTES / LT_MIB, LT_MODEL_CALLS_MAX);
  }
  return lt_fail_if(err, status, "no memory for the model's answer");
}

/* --- Events ------------------------------------------------------------------------------------------------------- */
/* A server that cuts its text anywhere sends bytes that are not UTF-8: they cost their characters, not the answer. */
static lt_status assembly_parse(lt_assembly *a, lt_str text, lt_buf *mended, lt_json_doc *doc, lt_err *why) {
  lt_status status = lt_json_parse(&a->event, text, doc, why);
  if (status != LT_E_SYNTAX) {
    return status;
  }
  lt_json_mend_utf8(mended, text);
  bool is_same = mended->status == LT_OK && lt_str_eq(lt_buf_view(mended), text);
  if (is_same || mended->status != LT_OK) {
    return is_same ? status : mended->status;
  }
  lt_err_clear(why);
  return lt_json_parse(&a->event, lt_buf_view(mended), doc, why);
}

static lt_status assembly_read_chunk(lt_assembly *a, lt_str name, lt_str text, bool is_whole, lt_err *err) {
  lt_json_doc doc;
  LT_ERR_VAR(why);
  LT_AUTO_BUF(mended, 3 * LT_MODEL_EVENT_MAX_BYTES);
  lt_status status = assembly_parse(a, text, &mended, &doc, &why);
  if (status == LT_E_SYNTAX || (status == LT_OK && lt_json_typeof(lt_json_root(&doc)) != LT_JSON_OBJECT)) {
    return lt_fail(err, LT_E_PROTOCOL, "%s that is no JSON object%s%s", is_whole ? "an answer" : "an event",
                   status != LT_OK ? ": " : "", status != LT_OK ? why.msg : "");
  }
  if (status != LT_OK) {
    return why.status != LT_OK ? lt_err_copy(err, &why) : lt_fail(err, status, "no memory for the model's answer");
  }
  return a->wire->read(a, name, lt_json_root(&doc), is_whole, err);
}

static lt_status assembly_take_event(lt_assembly *a, lt_str name, lt_str data, lt_err *err) {
  lt_str text = lt_str_trim(data);
  if (a->done || text.n == 0) {
    return LT_OK;
  }
  if (lt_str_eqc(text, "[DONE]")) {
    a->done = true;
    return LT_OK;
  }
  lt_status status = assembly_read_chunk(a, name, text, false, err);
  lt_arena_release(&a->event);
  return status;
}

/* Some servers put no empty line between their events. */
static lt_status assembly_take_lines(lt_assembly *a, lt_str name, lt_str data, lt_err *err) {
  for (size_t at = 0; at < data.n;) {
    size_t end = lt_str_find(data, LT_STR("\n"), at);
    LT_TRY(assembly_take_event(a, name, lt_str_sub(data, at, end), err));
    at = end < data.n ? end + 1 : data.n;
  }
  return LT_OK;
}

lt_status lt_assembly_event(lt_assembly *a, lt_str name, lt_str data, lt_err *err) {
  bool lines = data.n > 0 && memchr(data.p, '\n', data.n) != NULL && lt_json_check(data, NULL) == LT_E_SYNTAX;
  LT_TRY(lines ? assembly_take_lines(a, name, data, err) : assembly_take_event(a, name, data, err));
  lt_assembly_draft(a);
  return LT_OK;
}

size_t lt_assembly_size(const lt_assembly *a) {
  const lt_completion *c = a->completion;
  return c->text.n + c->reasoning.n + a->held_text.n + a->text_calls.held.n + a->text_calls.said.n + a->held_n +
         a->bytes + a->call_count + lt_assembly_parts_size(a) + a->finished + a->has_usage + a->done;
}

lt_status lt_assembly_whole(lt_assembly *a, lt_str body, lt_err *err) {
  lt_status status = assembly_read_chunk(a, LT_STR_NULL, body, true, err);
  a->done = status == LT_OK;
  lt_arena_release(&a->event);
  return status;
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

/* The data of an image says nothing about its tokens. */
static size_t assembly_input_tokens(const lt_completion_request *request) {
  if (request->media_bytes == 0) {
    return lt_tokens_estimate(request->messages) + lt_tokens_estimate(request->tools);
  }
  size_t text = request->messages.n > request->media_bytes ? request->messages.n - request->media_bytes : 0;
  return text / 4 + request->media_count * LT_MEDIA_TOKENS + lt_tokens_estimate(request->tools);
}

static void assembly_estimate_usage(lt_assembly *a) {
  lt_completion *c = a->completion;
  size_t out = lt_tokens_estimate(lt_buf_view(&c->text)) + lt_tokens_estimate(lt_buf_view(&c->reasoning));
  for (size_t i = 0; i < c->call_count; i++) {
    out += lt_tokens_estimate(c->calls[i].name) + lt_tokens_estimate(c->calls[i].arguments);
  }
  c->usage = (lt_usage){
      .input_tokens = (int64_t)assembly_input_tokens(a->request),
      .output_tokens = (int64_t)out,
      .reasoning_tokens = (int64_t)lt_tokens_estimate(lt_buf_view(&c->reasoning)),
      .estimated = true,
  };
}

/* Some servers say "stop" although they ask for calls, some "tool_calls" although they ask for none. */
static lt_finish assembly_finish_of(const lt_assembly *a) {
  const lt_completion *c = a->completion;
  if (a->refused) {
    return LT_FINISH_FILTERED;
  } else if (c->finish == LT_FINISH_STOP || c->finish == LT_FINISH_TOOLS) {
    return c->call_count > 0 ? LT_FINISH_TOOLS : LT_FINISH_STOP;
  }
  return c->finish;
}

lt_status lt_assembly_end(lt_assembly *a, lt_err *err) {
  lt_assembly_end_said(a);
  lt_text_calls_end(a);
  lt_assembly_end_text(a);
  if (lt_assembly_end_calls(a) != LT_OK) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the model's answer");
  }
  lt_assembly_end_parts(a);
  a->completion->finish = assembly_finish_of(a);
  if (!a->has_usage) {
    assembly_estimate_usage(a);
  }
  return lt_assembly_check(a, err);
}
