/* The chat completions wire. OpenAI introduced it, and most servers have it, each with small differences
 * (docs/internals/model.md). */
#include "base/limits.h"
#include "model/completion_wire.h"
#include "model/dialect.h"
#include "model/reply_pieces.h"

#define CHAT_API "chat"

/* --- The request -------------------------------------------------------------------------------------------------- */
static void chat_put_limit(lt_json_writer *w, const lt_completion_request *request, unsigned quirks) {
  bool reasoner = lt_dialect_is_reasoner(request->model->name);
  bool other = (quirks & LT_QUIRK_OTHER_LIMIT) != 0;
  lt_json_key(w, reasoner != other ? "max_completion_tokens" : "max_tokens");
  lt_json_put_int(w, lt_completion_wire_token_limit(request));
}

static void chat_put_flag(lt_json_writer *w, const char *object, const char *key) {
  lt_json_key(w, object);
  lt_json_begin_object(w);
  lt_json_key(w, key);
  lt_json_put_bool(w, true);
  lt_json_end_object(w);
}

static void chat_put_format(lt_json_writer *w) {
  lt_json_key(w, "response_format");
  lt_json_begin_object(w);
  lt_json_key(w, "type");
  lt_json_put_cstr(w, "json_object");
  lt_json_end_object(w);
}

/* What the model is told beside the messages, where its configuration says so. */
static void chat_put_choices(lt_json_writer *w, const lt_model *model, unsigned quirks) {
  if (model->temperature.n > 0 && (quirks & LT_QUIRK_NO_TEMPERATURE) == 0) {
    lt_json_key(w, "temperature");
    lt_json_put_raw(w, model->temperature);
  }
  if (model->effort.n > 0 && (quirks & LT_QUIRK_NO_EFFORT) == 0) {
    lt_json_key(w, "reasoning_effort");
    lt_json_put_str(w, model->effort);
  }
}

/* --- The request: images of tools --------------------------------------------------------------------------------- */
/* A message of role "tool" has text only. Its images go into the message of the user that follows all results of the
 * reply: one is made where there is none. */
typedef struct chat_messages {
  lt_json_writer w;
  unsigned quirks;
  lt_buf images; /* parts of the results so far, with commas between them */
  lt_arena arena;
} chat_messages;

static bool chat_has_role(lt_json message, const char *role) {
  return lt_json_str_eq(lt_json_get(message, "role"), lt_str_of(role));
}

static bool chat_is_result_with_parts(lt_json message) {
  return chat_has_role(message, "tool") && lt_json_typeof(lt_json_get(message, "content")) == LT_JSON_ARRAY;
}

/* Writes the texts of a result as one, and keeps the rest. */
static void chat_put_result_content(chat_messages *m, lt_json parts) {
  LT_AUTO_BUF(text, LT_PROMPT_MESSAGES_BYTES);
  for (lt_json_iter it = lt_json_each(parts); lt_json_next(&it);) {
    if (lt_json_str_eq(lt_json_get(it.value, "type"), LT_STR("text"))) {
      lt_buf_addc(&text, text.n > 0 ? "\n" : "");
      lt_buf_add(&text, lt_completion_wire_str(lt_json_get(it.value, "text"), &m->arena, m->w.buf));
    } else {
      lt_buf_addc(&m->images, m->images.n > 0 ? "," : "");
      lt_buf_add(&m->images, lt_json_text(it.value));
    }
  }
  lt_json_put_str(&m->w, lt_buf_view(&text));
  m->w.buf->status = lt_status_first(m->w.buf->status, lt_status_first(text.status, m->images.status));
}

static void chat_put_text_part(lt_json_writer *w, lt_str text_json) {
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("text"));
  lt_json_key(w, "text");
  lt_json_put_raw(w, text_json);
  lt_json_end_object(w);
}

/* Writes the kept images, and the content of the user's message that follows, if it is one. */
static void chat_put_images(chat_messages *m, lt_json user) {
  lt_json content = lt_json_get(user, "content");
  lt_json_begin_object(&m->w);
  lt_json_put_pair(&m->w, "role", LT_STR("user"));
  lt_json_key(&m->w, "content");
  lt_json_begin_array(&m->w);
  chat_put_text_part(&m->w, LT_STR("\"What the tools above have answered with:\""));
  lt_json_put_raw(&m->w, lt_buf_view(&m->images));
  lt_buf_clear(&m->images);
  if (lt_json_typeof(content) == LT_JSON_STRING) {
    chat_put_text_part(&m->w, lt_json_text(content));
  } else if (lt_json_count(content) > 0) {
    lt_json_put_raw(&m->w, lt_str_sub(lt_json_text(content), 1, lt_json_text(content).n - 1));
  }
  lt_json_end_array(&m->w);
  lt_json_end_object(&m->w);
}

/* --- The request: thoughts ---------------------------------------------------------------------------------------- */
/* The thoughts that came with the calls of an answer, as JSON; empty: none did. */
static lt_str chat_thoughts_of(lt_json message) {
  lt_reply_pieces pieces;
  lt_str thoughts = LT_STR_NULL;
  lt_reply_pieces_init(&pieces, message, CHAT_API);
  while (lt_reply_pieces_next(&pieces)) {
    lt_json thinking = lt_json_get(pieces.value, "thinking");
    bool is_own = pieces.kind == LT_REPLY_OWN && lt_json_exists(thinking);
    thoughts = is_own ? lt_json_text(thinking) : thoughts;
  }
  return thoughts;
}

/* DeepSeek and Kimi want the thoughts back with the calls that they led to, while these are being answered
 * (https://api-docs.deepseek.com/guides/thinking_mode, https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model).
 * DeepSeek V4 wants them in later prompts as well, of which they are not known any more: what it takes there is a text
 * that is not empty. */
static void chat_put_assistant(chat_messages *m, lt_json message) {
  lt_str thoughts = chat_thoughts_of(message);
  bool is_refused = (m->quirks & LT_QUIRK_NO_REASONING) != 0, is_wanted = (m->quirks & LT_QUIRK_ALL_REASONING) != 0;
  lt_json_begin_object(&m->w);
  for (lt_json_iter it = lt_json_each(message); lt_json_next(&it);) {
    if (!lt_json_str_eq(it.key, LT_STR("kept"))) {
      lt_json_key_str(&m->w, lt_completion_wire_str(it.key, &m->arena, m->w.buf));
      lt_json_put_raw(&m->w, lt_json_text(it.value));
    }
  }
  if (!is_refused && (thoughts.n > 0 || is_wanted)) {
    lt_json_key(&m->w, "reasoning_content");
    lt_json_put_raw(&m->w, thoughts.n > 0 ? thoughts : LT_STR("\" \""));
  }
  lt_json_end_object(&m->w);
}

static void chat_put_message(chat_messages *m, lt_json message) {
  if (chat_has_role(message, "assistant")) {
    chat_put_assistant(m, message);
    return;
  }
  if (!chat_is_result_with_parts(message)) {
    lt_json_put_raw(&m->w, lt_json_text(message));
    return;
  }
  lt_json_begin_object(&m->w);
  for (lt_json_iter it = lt_json_each(message); lt_json_next(&it);) {
    lt_json_key_str(&m->w, lt_completion_wire_str(it.key, &m->arena, m->w.buf));
    if (lt_json_str_eq(it.key, LT_STR("content"))) {
      chat_put_result_content(m, it.value);
    } else {
      lt_json_put_raw(&m->w, lt_json_text(it.value));
    }
  }
  lt_json_end_object(&m->w);
}

static void chat_put_each_message(chat_messages *m, lt_json messages) {
  lt_json_begin_array(&m->w);
  for (lt_json_iter it = lt_json_each(messages); lt_json_next(&it);) {
    bool joins = m->images.n > 0 && chat_has_role(it.value, "user");
    if (m->images.n > 0 && !chat_has_role(it.value, "tool")) {
      chat_put_images(m, joins ? it.value : (lt_json){0});
    }
    if (!joins) {
      chat_put_message(m, it.value);
    }
  }
  if (m->images.n > 0) {
    chat_put_images(m, (lt_json){0});
  }
  lt_json_end_array(&m->w);
}

static void chat_put_messages(lt_json_writer *w, const lt_completion_request *request, unsigned quirks) {
  lt_json_doc doc;
  chat_messages m = {.w = *w, .quirks = quirks};
  lt_buf_init(&m.images, LT_HTTP_BODY_MAX_BYTES);
  lt_arena_init(&m.arena, LT_HISTORY_MEMORY_BYTES);
  lt_status status = lt_json_parse(&m.arena, request->messages, &doc, NULL);
  chat_put_each_message(&m, status == LT_OK ? lt_json_root(&doc) : (lt_json){0});
  *w = m.w;
  w->buf->status = lt_status_first(w->buf->status, status);
  lt_buf_release(&m.images);
  lt_arena_release(&m.arena);
}

static void chat_write_request(const lt_completion_request *request, unsigned quirks, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "model");
  lt_json_put_str(&w, request->model->name);
  lt_json_key(&w, "messages");
  chat_put_messages(&w, request, quirks);
  if (request->tools.n > 0) {
    lt_json_key(&w, "tools");
    lt_json_put_raw(&w, request->tools);
  }
  chat_put_limit(&w, request, quirks);
  chat_put_choices(&w, request->model, quirks);
  if (request->json && (quirks & LT_QUIRK_NO_FORMAT) == 0) {
    chat_put_format(&w);
  }
  lt_json_key(&w, "stream");
  lt_json_put_bool(&w, (quirks & LT_QUIRK_NO_STREAM) == 0);
  if ((quirks & (LT_QUIRK_NO_STREAM_OPTIONS | LT_QUIRK_NO_STREAM)) == 0) {
    chat_put_flag(&w, "stream_options", "include_usage");
  }
  lt_json_end_object(&w);
}

/* --- The answer --------------------------------------------------------------------------------------------------- */
static void chat_take_reasoning(lt_assembly *a, lt_json v) {
  if (lt_json_typeof(v) == LT_JSON_ARRAY) {
    lt_json_iter it = lt_json_each(v);
    while (lt_json_next(&it)) {
      lt_buf_add(&a->completion->reasoning, lt_assembly_str(a, lt_json_get(it.value, "text")));
    }
    return;
  }
  lt_buf_add(&a->completion->reasoning, lt_assembly_str(a, v));
}

/* A string, or parts: {"type": "text", "text"}, {"type": "thinking", "thinking": [parts]}. */
static void chat_take_content(lt_assembly *a, lt_json content) {
  if (lt_json_typeof(content) != LT_JSON_ARRAY) {
    lt_assembly_take_said(a, lt_assembly_str(a, content));
    return;
  }
  lt_json_iter it = lt_json_each(content);
  while (lt_json_next(&it)) {
    lt_assembly_take_said(a, lt_assembly_str(a, lt_json_get(it.value, "text")));
    chat_take_reasoning(a, lt_json_get(it.value, "thinking"));
  }
}

/* Thoughts of this name are kept: who calls them so wants them back. Some servers send the member without any. */
static void chat_take_thoughts(lt_assembly *a, lt_json thoughts) {
  lt_str text = lt_assembly_str(a, thoughts);
  lt_answer_part *part = text.n > 0 ? lt_assembly_part(a, 0, LT_ANSWER_THINKING) : NULL;
  lt_buf_add(&a->completion->reasoning, text);
  if (part != NULL) {
    lt_buf_add(&part->text, text);
  }
}

static void chat_take_delta(lt_assembly *a, lt_json delta) {
  lt_json thoughts = lt_json_get(delta, "reasoning_content");
  if (lt_json_typeof(thoughts) == LT_JSON_STRING) {
    chat_take_thoughts(a, thoughts);
  } else {
    chat_take_reasoning(a, lt_json_get(delta, "reasoning"));
  }
  chat_take_content(a, lt_json_get(delta, "content"));
  lt_str refusal = lt_assembly_str(a, lt_json_get(delta, "refusal"));
  if (refusal.n > 0) {
    a->refused = true;
    lt_assembly_take_text(a, refusal);
  }
  lt_assembly_take_calls(a, delta);
}

static bool is_any_word(lt_str s, const char *const *words) {
  for (; *words != NULL; words++) {
    if (lt_str_eqc(s, *words)) {
      return true;
    }
  }
  return false;
}

static void chat_take_finish(lt_assembly *a, lt_json reason) {
  static const char *const length[] = {"length", "max_tokens", "MAX_TOKENS", NULL};
  static const char *const filtered[] = {"content_filter", "safety", "refusal", "SAFETY", NULL};
  static const char *const tools[] = {"tool_calls", "function_call", "tool_use", NULL};
  lt_str s = lt_assembly_str(a, reason);
  if (s.n == 0) {
    return;
  }
  a->finished = true;
  a->completion->finish = is_any_word(s, length)     ? LT_FINISH_LENGTH
                          : is_any_word(s, filtered) ? LT_FINISH_FILTERED
                          : is_any_word(s, tools)    ? LT_FINISH_TOOLS
                                                     : LT_FINISH_STOP;
}

static bool chat_take_count(lt_json usage, const char *key, const char *other, int64_t *ret) {
  return lt_assembly_read_count(usage, key, ret) || lt_assembly_read_count(usage, other, ret);
}

/* Usage counts from the beginning of the answer, so a later one replaces the earlier one. */
static void chat_take_usage(lt_assembly *a, lt_json usage) {
  lt_usage *u = &a->completion->usage;
  if (lt_json_typeof(usage) != LT_JSON_OBJECT) {
    return;
  }
  bool in = chat_take_count(usage, "prompt_tokens", "input_tokens", &u->input_tokens);
  bool out = chat_take_count(usage, "completion_tokens", "output_tokens", &u->output_tokens);
  (void)chat_take_count(usage, "prompt_cache_hit_tokens", "cached_tokens", &u->cached_input_tokens);
  (void)chat_take_count(lt_json_get(usage, "prompt_tokens_details"), "cached_tokens", "cached_tokens",
                        &u->cached_input_tokens);
  (void)chat_take_count(lt_json_get(usage, "completion_tokens_details"), "reasoning_tokens", "reasoning_tokens",
                        &u->reasoning_tokens);
  lt_assembly_bound_cached(a);
  a->has_usage = a->has_usage || (in && out);
}

/* Finds the first choice: the one with index 0, or without an index. */
static lt_json chat_first_choice(lt_json chunk) {
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

static bool chat_has_value(lt_json v) {
  return lt_json_exists(v) && lt_json_typeof(v) != LT_JSON_NULL;
}

static bool chat_is_error(lt_str name, lt_json chunk, lt_json choice) {
  return lt_str_eqc(name, "error") || chat_has_value(lt_json_get(chunk, "error")) ||
         chat_has_value(lt_json_get(choice, "error")) || lt_json_str_eq(lt_json_get(chunk, "object"), LT_STR("error"));
}

static lt_json chat_error_place(lt_json chunk, lt_json choice) {
  return chat_has_value(lt_json_get(chunk, "error")) || !chat_has_value(lt_json_get(choice, "error")) ? chunk : choice;
}

static lt_status chat_read(lt_assembly *a, lt_str name, lt_json chunk, bool is_whole, lt_err *err) {
  lt_json choice = chat_first_choice(chunk);
  if (chat_is_error(name, chunk, choice)) {
    return lt_assembly_take_error(a, chat_error_place(chunk, choice), err);
  }
  lt_assembly_take_model(a, lt_json_get(chunk, "model"));
  chat_take_usage(a, lt_json_get(chunk, "usage"));
  if (!lt_json_exists(choice)) {
    /* An event without a choice is allowed; it may have the usage. */
    return is_whole ? lt_fail(err, LT_E_PROTOCOL, "JSON without \"choices\"") : LT_OK;
  }
  lt_json delta = lt_json_get(choice, is_whole ? "message" : "delta");
  chat_take_delta(a, chat_has_value(delta) ? delta : lt_json_get(choice, is_whole ? "delta" : "message"));
  chat_take_finish(a, lt_json_get(choice, "finish_reason"));
  return lt_assembly_check(a, err);
}

const lt_completion_wire lt_chat_completions_wire = {
    .name = CHAT_API,
    .path = "/chat/completions",
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .write_request = chat_write_request,
    .read = chat_read,
};
