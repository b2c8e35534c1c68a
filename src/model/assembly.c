#include "model/assembly.h"

#include "base/limits.h"
#include "text/tokens.h"

void lt_assembly_init(lt_assembly *a, const lt_completion_request *request, lt_completion *completion) {
  *a = (lt_assembly){.request = request, .completion = completion};
  lt_arena_init(&a->event, LT_MODEL_MEMORY_BYTES);
  lt_buf_init(&a->held_text, LT_MODEL_TEXT_MAX_BYTES);
}

void lt_assembly_release(lt_assembly *a) {
  lt_assembly_release_calls(a);
  lt_buf_release(&a->held_text);
  lt_arena_release(&a->event);
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

static void assembly_show(lt_assembly *a, lt_str text) {
  if (text.n == 0) {
    return;
  }
  lt_buf_add(&a->completion->text, text);
  if (a->request->on_text != NULL && a->completion->text.status == LT_OK) {
    a->shown = true;
    a->request->on_text(a->request->arg, text);
  }
}

static bool is_surrogate_half(lt_str s, unsigned char low, unsigned char high) {
  return s.n >= 3 && (unsigned char)s.p[0] == 0xED && (unsigned char)s.p[1] >= low && (unsigned char)s.p[1] <= high;
}

/* Two surrogates, as WTF-8 has them, made the one character they are. */
static void assembly_show_joined(lt_assembly *a, const char *first, const char *second) {
  uint32_t high = ((uint32_t)(first[1] & 0x0F) << 6) | (uint32_t)(first[2] & 0x3F);
  uint32_t low = ((uint32_t)(second[1] & 0x0F) << 6) | (uint32_t)(second[2] & 0x3F);
  uint32_t c = 0x10000 + (high << 10) + low;
  char text[4] = {(char)(0xF0 | c >> 18), (char)(0x80 | (c >> 12 & 0x3F)), (char)(0x80 | (c >> 6 & 0x3F)),
                  (char)(0x80 | (c & 0x3F))};
  assembly_show(a, lt_str_from(text, sizeof text));
}

static void assembly_show_held(lt_assembly *a) {
  size_t n = a->held_n;
  a->held_n = 0;
  assembly_show(a, lt_str_from(a->held, n));
}

/* Servers that cut their text by UTF-16 units send half characters: the first half waits for the second. */
void lt_assembly_take_text(lt_assembly *a, lt_str text) {
  if (text.n == 0) {
    return;
  }
  if (a->held_n > 0 && is_surrogate_half(text, 0xB0, 0xBF)) {
    a->held_n = 0;
    assembly_show_joined(a, a->held, text.p);
    text = lt_str_sub(text, 3, text.n);
  } else {
    assembly_show_held(a);
  }
  lt_str tail = lt_str_sub(text, text.n >= 3 ? text.n - 3 : text.n, text.n);
  if (is_surrogate_half(tail, 0xA0, 0xAF)) {
    memcpy(a->held, tail.p, 3);
    a->held_n = 3;
    text.n -= 3;
  }
  assembly_show(a, text);
}

static lt_str assembly_string_in(lt_assembly *a, lt_json v) {
  lt_str s = LT_STR_NULL;
  (void)lt_json_str(v, &a->event, &s);
  return s;
}

static void assembly_take_reasoning(lt_assembly *a, lt_json v) {
  if (lt_json_typeof(v) == LT_JSON_ARRAY) {
    lt_json_iter it = lt_json_each(v);
    while (lt_json_next(&it)) {
      lt_buf_add(&a->completion->reasoning, assembly_string_in(a, lt_json_get(it.value, "text")));
    }
    return;
  }
  lt_buf_add(&a->completion->reasoning, assembly_string_in(a, v));
}

/* A string, or parts: {"type": "text", "text"}, {"type": "thinking", "thinking": [parts]}. */
static void assembly_take_content(lt_assembly *a, lt_json content) {
  if (lt_json_typeof(content) != LT_JSON_ARRAY) {
    lt_assembly_take_said(a, assembly_string_in(a, content));
    return;
  }
  lt_json_iter it = lt_json_each(content);
  while (lt_json_next(&it)) {
    lt_assembly_take_said(a, assembly_string_in(a, lt_json_get(it.value, "text")));
    assembly_take_reasoning(a, lt_json_get(it.value, "thinking"));
  }
}

static void assembly_take_delta(lt_assembly *a, lt_json delta) {
  lt_json reasoning = lt_json_get(delta, "reasoning_content");
  assembly_take_reasoning(a, lt_json_typeof(reasoning) == LT_JSON_STRING ? reasoning : lt_json_get(delta, "reasoning"));
  assembly_take_content(a, lt_json_get(delta, "content"));
  lt_str refusal = assembly_string_in(a, lt_json_get(delta, "refusal"));
  if (refusal.n > 0) {
    a->refused = true;
    lt_assembly_take_text(a, refusal);
  }
  lt_assembly_take_calls(a, delta);
}

/* --- The rest of a chunk ------------------------------------------------------------------------------------------ */

static bool is_any_word(lt_str s, const char *const *words) {
  for (; *words != NULL; words++) {
    if (lt_str_eqc(s, *words)) {
      return true;
    }
  }
  return false;
}

static void assembly_take_finish(lt_assembly *a, lt_json reason) {
  static const char *const length[] = {"length", "max_tokens", "MAX_TOKENS", NULL};
  static const char *const filtered[] = {"content_filter", "safety", "refusal", "SAFETY", NULL};
  static const char *const tools[] = {"tool_calls", "function_call", "tool_use", NULL};
  lt_str s = assembly_string_in(a, reason);
  if (s.n == 0) {
    return;
  }
  a->finished = true;
  a->completion->finish = is_any_word(s, length)     ? LT_FINISH_LENGTH
                          : is_any_word(s, filtered) ? LT_FINISH_FILTERED
                          : is_any_word(s, tools)    ? LT_FINISH_TOOLS
                                                     : LT_FINISH_STOP;
}

static bool assembly_take_count(lt_json usage, const char *key, const char *other, int64_t *ret) {
  int64_t n;
  if ((lt_json_int(lt_json_get(usage, key), &n) || lt_json_int(lt_json_get(usage, other), &n)) && n >= 0) {
    *ret = n;
    return true;
  }
  return false;
}

/* What it counts, it counts from the beginning: the last one is right. */
static void assembly_take_usage(lt_assembly *a, lt_json usage) {
  lt_usage *u = &a->completion->usage;
  if (lt_json_typeof(usage) != LT_JSON_OBJECT) {
    return;
  }
  bool in = assembly_take_count(usage, "prompt_tokens", "input_tokens", &u->input_tokens);
  bool out = assembly_take_count(usage, "completion_tokens", "output_tokens", &u->output_tokens);
  (void)assembly_take_count(lt_json_get(usage, "completion_tokens_details"), "reasoning_tokens", "reasoning_tokens",
                            &u->reasoning_tokens);
  a->has_usage = a->has_usage || (in && out);
}

static void assembly_take_model(lt_assembly *a, lt_json chunk) {
  if (a->completion->model.n == 0) {
    a->completion->model = lt_arena_dup(&a->completion->arena, assembly_string_in(a, lt_json_get(chunk, "model")));
  }
}

/* The first of the choices: the one that is numbered 0, or not at all. */
static lt_json assembly_first_choice(lt_json chunk) {
  lt_json_iter it = lt_json_each(lt_json_get(chunk, "choices"));
  while (lt_json_next(&it)) {
    int64_t index = 0;
    (void)lt_json_int(lt_json_get(it.value, "index"), &index);
    if (index == 0) {
      return it.value;
    }
  }
  return (lt_json){NULL, 0};
}

static bool assembly_has_value(lt_json v) {
  return lt_json_exists(v) && lt_json_typeof(v) != LT_JSON_NULL;
}

static bool assembly_is_error(lt_str name, lt_json chunk, lt_json choice) {
  return lt_str_eqc(name, "error") || assembly_has_value(lt_json_get(chunk, "error")) ||
         assembly_has_value(lt_json_get(choice, "error")) ||
         lt_json_str_eq(lt_json_get(chunk, "object"), LT_STR("error"));
}

static lt_status assembly_take_error(lt_assembly *a, lt_json chunk, lt_json choice, lt_err *err) {
  lt_json where = assembly_has_value(lt_json_get(chunk, "error")) || !assembly_has_value(lt_json_get(choice, "error"))
                      ? chunk
                      : choice;
  lt_provider_error words = lt_provider_error_read(&a->event, where, a->request->model->api_key);
  a->failed = true;
  a->fault = (lt_provider_error){.text = lt_arena_dup(&a->completion->arena, words.text),
                                 .code = lt_arena_dup(&a->completion->arena, words.code),
                                 .status = words.status};
  return lt_fail(err, LT_E_TOOL, "%.*s", LT_STR_ARG(words.text));
}

static lt_status assembly_status_of(const lt_assembly *a, lt_err *err) {
  const lt_completion *c = a->completion;
  lt_status status = c->text.status != LT_OK        ? c->text.status
                     : c->reasoning.status != LT_OK ? c->reasoning.status
                     : a->held_text.status != LT_OK ? a->held_text.status
                                                    : lt_assembly_calls_status(a);
  if (status == LT_E_LIMIT) {
    return lt_fail(err, status, "more than %lu MiB, or more than %d calls: an answer without an end?",
                   LT_MODEL_TEXT_MAX_BYTES / LT_MIB, LT_MODEL_CALLS_MAX);
  }
  return status == LT_OK ? LT_OK : lt_fail(err, status, "no memory for the model's answer");
}

static lt_status assembly_take_chunk(lt_assembly *a, lt_str name, lt_json chunk, bool whole, lt_err *err) {
  lt_json choice = assembly_first_choice(chunk);
  if (assembly_is_error(name, chunk, choice)) {
    return assembly_take_error(a, chunk, choice, err);
  }
  assembly_take_model(a, chunk);
  assembly_take_usage(a, lt_json_get(chunk, "usage"));
  if (!lt_json_exists(choice)) {
    return whole ? lt_fail(err, LT_E_PROTOCOL, "JSON without \"choices\"") : LT_OK; /* usage, or nothing: fine */
  }
  lt_json delta = lt_json_get(choice, whole ? "message" : "delta");
  assembly_take_delta(a, assembly_has_value(delta) ? delta : lt_json_get(choice, whole ? "delta" : "message"));
  assembly_take_finish(a, lt_json_get(choice, "finish_reason"));
  return assembly_status_of(a, err);
}

static lt_status assembly_read_chunk(lt_assembly *a, lt_str name, lt_str text, bool whole, lt_err *err) {
  lt_json_doc doc;
  lt_err why = LT_ERR_INIT;
  lt_status status = lt_json_parse(&a->event, text, &doc, &why);
  if (status == LT_E_SYNTAX || (status == LT_OK && lt_json_typeof(lt_json_root(&doc)) != LT_JSON_OBJECT)) {
    return lt_fail(err, LT_E_PROTOCOL, "%s that is no JSON object%s%s", whole ? "an answer" : "an event",
                   status != LT_OK ? ": " : "", status != LT_OK ? why.msg : "");
  }
  return status == LT_OK ? assembly_take_chunk(a, name, lt_json_root(&doc), whole, err)
                         : lt_fail(err, status, "%s", lt_err_msg(&why));
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
  return lines ? assembly_take_lines(a, name, data, err) : assembly_take_event(a, name, data, err);
}

lt_status lt_assembly_whole(lt_assembly *a, lt_str body, lt_err *err) {
  lt_status status = assembly_read_chunk(a, LT_STR_NULL, body, true, err);
  a->done = status == LT_OK;
  lt_arena_release(&a->event);
  return status;
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

static void assembly_estimate_usage(lt_assembly *a) {
  lt_completion *c = a->completion;
  size_t out = lt_tokens_estimate(lt_buf_view(&c->text)) + lt_tokens_estimate(lt_buf_view(&c->reasoning));
  for (size_t i = 0; i < c->call_count; i++) {
    out += lt_tokens_estimate(c->calls[i].name) + lt_tokens_estimate(c->calls[i].arguments);
  }
  c->usage = (lt_usage){
      .input_tokens = (int64_t)(lt_tokens_estimate(a->request->messages) + lt_tokens_estimate(a->request->tools)),
      .output_tokens = (int64_t)out,
      .reasoning_tokens = (int64_t)lt_tokens_estimate(lt_buf_view(&c->reasoning)),
      .estimated = true,
  };
}

/* Some say "stop" where they ask for calls, some "tool_calls" where they ask for none. */
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
  assembly_show_held(a);
  if (lt_assembly_end_calls(a) != LT_OK) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the model's answer");
  }
  a->completion->finish = assembly_finish_of(a);
  if (!a->has_usage) {
    assembly_estimate_usage(a);
  }
  return assembly_status_of(a, err);
}
