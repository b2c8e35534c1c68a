/* The wire of Anthropic's Messages API (https://docs.anthropic.com/en/api/messages), which other providers have, too.
 *
 * "Thinking blocks must be passed back unmodified and in their original order": they are kept with the answer and
 * stand before its calls when these are answered. Breakpoints of the prompt cache are on the tools, on the system
 * message, and on the last two messages of the user: the last one is what the next request begins with, the one before
 * it is what the last request ended with. */
#include "base/limits.h"
#include "model/completion_wire.h"
#include "model/dialect.h"
#include "model/reply_pieces.h"

#define MESSAGES_API "messages"

/* --- The request: blocks ------------------------------------------------------------------------------------------ */
typedef struct messages_writer {
  lt_json_writer w;
  lt_arena arena;
  lt_json messages;
  const char *role;               /* of the open message; NULL: none is open */
  uint32_t marked, marked_before; /* messages of the request that end in a breakpoint */
} messages_writer;

static lt_str messages_str(messages_writer *m, lt_json value) {
  return lt_completion_wire_str(value, &m->arena, m->w.buf);
}

static void messages_put_breakpoint(lt_json_writer *w) {
  lt_json_key(w, "cache_control");
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("ephemeral"));
  lt_json_end_object(w);
}

static void messages_close(messages_writer *m) {
  if (m->role != NULL) {
    lt_json_end_array(&m->w);
    lt_json_end_object(&m->w);
    m->role = NULL;
  }
}

/* Consecutive messages of one role are one message: all results of an answer's calls must be in the next one. */
static void messages_open(messages_writer *m, const char *role) {
  if (m->role == role) {
    return;
  }
  messages_close(m);
  m->role = role;
  lt_json_begin_object(&m->w);
  lt_json_put_pair(&m->w, "role", lt_str_of(role));
  lt_json_key(&m->w, "content");
  lt_json_begin_array(&m->w);
}

static void messages_end_block(messages_writer *m, bool has_breakpoint) {
  if (has_breakpoint) {
    messages_put_breakpoint(&m->w);
  }
  lt_json_end_object(&m->w);
}

static const char messages_user[] = "user";
static const char messages_assistant[] = "assistant";

/* "text content blocks must be non-empty" */
static bool messages_put_text(messages_writer *m, const char *role, lt_str text, bool has_breakpoint) {
  if (lt_str_trim(text).n == 0) {
    return false;
  }
  messages_open(m, role);
  lt_json_begin_object(&m->w);
  lt_json_put_pair(&m->w, "type", LT_STR("text"));
  lt_json_put_pair(&m->w, "text", text);
  messages_end_block(m, has_breakpoint);
  return true;
}

/* The block of an image or a document: its address, or "data:TYPE;base64,DATA". */
static void messages_put_media(messages_writer *m, lt_json part, bool has_breakpoint) {
  bool is_file = lt_json_str_eq(lt_json_get(part, "type"), LT_STR("file"));
  lt_json file = lt_json_get(part, "file");
  lt_str url =
      messages_str(m, is_file ? lt_json_get(file, "file_data") : lt_json_get(lt_json_get(part, "image_url"), "url"));
  size_t semicolon = lt_str_find(url, LT_STR(";base64,"), 0);
  bool is_data = lt_str_starts(url, LT_STR("data:")) && semicolon < url.n;
  lt_json_writer *w = &m->w;
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", is_file ? LT_STR("document") : LT_STR("image"));
  if (is_file) {
    lt_json_put_given(w, "title", messages_str(m, lt_json_get(file, "filename")));
  }
  lt_json_key(w, "source");
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", is_data ? LT_STR("base64") : LT_STR("url"));
  if (is_data) {
    lt_json_put_pair(w, "media_type", lt_str_sub(url, 5, semicolon));
    lt_json_put_pair(w, "data", lt_str_sub(url, semicolon + 8, url.n));
  } else {
    lt_json_put_pair(w, "url", url);
  }
  lt_json_end_object(w);
  messages_end_block(m, has_breakpoint);
}

static bool messages_is_media(lt_json part) {
  lt_json type = lt_json_get(part, "type");
  return lt_json_str_eq(type, LT_STR("image_url")) || lt_json_str_eq(type, LT_STR("file"));
}

/* A string, or parts of chat completions. */
static void messages_put_content(messages_writer *m, const char *role, lt_json content, bool has_breakpoint) {
  uint32_t left = lt_json_typeof(content) == LT_JSON_ARRAY ? lt_json_count(content) : 0;
  if (lt_json_typeof(content) == LT_JSON_STRING) {
    (void)messages_put_text(m, role, messages_str(m, content), has_breakpoint);
  }
  for (lt_json_iter it = lt_json_each(content); left > 0 && lt_json_next(&it); left--) {
    bool is_last = has_breakpoint && left == 1;
    if (messages_is_media(it.value)) {
      messages_open(m, role);
      messages_put_media(m, it.value, is_last);
    } else {
      (void)messages_put_text(m, role, messages_str(m, lt_json_get(it.value, "text")), is_last);
    }
  }
}

/* --- The request: messages ---------------------------------------------------------------------------------------- */
static bool messages_has_role(lt_json message, const char *role) {
  return lt_json_str_eq(lt_json_get(message, "role"), lt_str_of(role));
}

static bool messages_is_system(lt_json message) {
  return messages_has_role(message, "system") || messages_has_role(message, "developer");
}

static void messages_put_call(messages_writer *m, lt_json call) {
  lt_json function = lt_json_get(call, "function");
  lt_str arguments = lt_str_trim(messages_str(m, lt_json_get(function, "arguments")));
  lt_json_writer *w = &m->w;
  messages_open(m, messages_assistant);
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("tool_use"));
  lt_json_put_pair(w, "id", messages_str(m, lt_json_get(call, "id")));
  lt_json_put_pair(w, "name", messages_str(m, lt_json_get(function, "name")));
  lt_json_key(w, "input");
  bool is_object = lt_str_starts(arguments, LT_STR("{")) && lt_json_check(arguments, NULL) == LT_OK;
  lt_json_put_raw(w, is_object ? arguments : LT_STR("{}"));
  lt_json_end_object(w);
}

static void messages_put_reply(messages_writer *m, lt_json message) {
  lt_reply_pieces pieces;
  lt_reply_pieces_init(&pieces, message, MESSAGES_API);
  while (lt_reply_pieces_next(&pieces)) {
    if (pieces.kind == LT_REPLY_CALL) {
      messages_put_call(m, pieces.value);
    } else if (pieces.kind == LT_REPLY_TEXT) {
      messages_put_content(m, messages_assistant, pieces.value, false);
    } else {
      messages_open(m, messages_assistant);
      lt_json_put_raw(&m->w, lt_json_text(pieces.value));
    }
  }
}

/* "content: string, or array of text, image or document blocks" */
static void messages_put_result_parts(messages_writer *m, lt_json parts) {
  lt_json_key(&m->w, "content");
  lt_json_begin_array(&m->w);
  for (lt_json_iter it = lt_json_each(parts); lt_json_next(&it);) {
    lt_str text = messages_str(m, lt_json_get(it.value, "text"));
    if (messages_is_media(it.value)) {
      messages_put_media(m, it.value, false);
    } else if (lt_str_trim(text).n > 0) {
      lt_json_begin_object(&m->w);
      lt_json_put_pair(&m->w, "type", LT_STR("text"));
      lt_json_put_pair(&m->w, "text", text);
      lt_json_end_object(&m->w);
    }
  }
  lt_json_end_array(&m->w);
}

static void messages_put_result(messages_writer *m, lt_json message, bool has_breakpoint) {
  lt_json content = lt_json_get(message, "content");
  lt_json_writer *w = &m->w;
  messages_open(m, messages_user);
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("tool_result"));
  lt_json_put_pair(w, "tool_use_id", messages_str(m, lt_json_get(message, "tool_call_id")));
  if (lt_json_typeof(content) == LT_JSON_ARRAY) {
    messages_put_result_parts(m, content);
  } else {
    lt_json_put_pair(w, "content", messages_str(m, content));
  }
  messages_end_block(m, has_breakpoint);
}

static void messages_put_message(messages_writer *m, lt_json message, uint32_t number) {
  bool is_marked = number == m->marked || number == m->marked_before;
  if (messages_has_role(message, "assistant")) {
    messages_put_reply(m, message);
  } else if (messages_has_role(message, "tool")) {
    messages_put_result(m, message, is_marked);
  } else if (!messages_is_system(message)) {
    messages_put_content(m, messages_user, lt_json_get(message, "content"), is_marked);
  }
}

/* The last message of the user's side, and the last one of that side before the model's last reply. */
static void messages_find_marked(messages_writer *m) {
  uint32_t number = 0, last_user = UINT32_MAX;
  m->marked = m->marked_before = UINT32_MAX;
  for (lt_json_iter it = lt_json_each(m->messages); lt_json_next(&it); number++) {
    if (messages_has_role(it.value, "assistant")) {
      m->marked_before = last_user;
    } else if (!messages_is_system(it.value)) {
      last_user = number;
    }
  }
  m->marked = last_user;
}

static void messages_put_messages(messages_writer *m) {
  uint32_t number = 0;
  messages_find_marked(m);
  lt_json_key(&m->w, "messages");
  lt_json_begin_array(&m->w);
  for (lt_json_iter it = lt_json_each(m->messages); lt_json_next(&it); number++) {
    messages_put_message(m, it.value, number);
  }
  messages_close(m);
  lt_json_end_array(&m->w);
}

static void messages_put_system(messages_writer *m) {
  lt_json_iter it = lt_json_each(m->messages);
  while (lt_json_next(&it)) {
    lt_str text = messages_is_system(it.value) ? messages_str(m, lt_json_get(it.value, "content")) : LT_STR_NULL;
    if (lt_str_trim(text).n > 0) {
      lt_json_key(&m->w, "system");
      lt_json_begin_array(&m->w);
      lt_json_begin_object(&m->w);
      lt_json_put_pair(&m->w, "type", LT_STR("text"));
      lt_json_put_pair(&m->w, "text", text);
      messages_end_block(m, true);
      lt_json_end_array(&m->w);
      return;
    }
  }
}

/* --- The request: tools and choices ------------------------------------------------------------------------------- */
static void messages_put_tool(messages_writer *m, lt_json function, bool has_breakpoint) {
  lt_json description = lt_json_get(function, "description");
  lt_json parameters = lt_json_get(function, "parameters");
  lt_json_begin_object(&m->w);
  lt_json_put_pair(&m->w, "name", messages_str(m, lt_json_get(function, "name")));
  if (lt_json_typeof(description) == LT_JSON_STRING) {
    lt_json_key(&m->w, "description");
    lt_json_put_raw(&m->w, lt_json_text(description));
  }
  lt_json_key(&m->w, "input_schema");
  lt_json_put_raw(&m->w, lt_json_exists(parameters) ? lt_json_text(parameters) : LT_STR("{\"type\":\"object\"}"));
  messages_end_block(m, has_breakpoint);
}

static void messages_put_tools(messages_writer *m, lt_str tools) {
  lt_json_doc doc;
  if (tools.n == 0) {
    return;
  }
  lt_status status = lt_json_parse(&m->arena, tools, &doc, NULL);
  if (status != LT_OK) {
    m->w.buf->status = status;
    return;
  }
  uint32_t left = lt_json_count(lt_json_root(&doc));
  lt_json_key(&m->w, "tools");
  lt_json_begin_array(&m->w);
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it); left--) {
    messages_put_tool(m, lt_json_get(it.value, "function"), left == 1);
  }
  lt_json_end_array(&m->w);
}

/* With a budget for thinking, an answer whose calls are being answered must begin with its thinking. One that was made
 * without, or by a model that is not asked any more, rules thinking out until its calls are answered. */
static bool messages_may_think(const messages_writer *m) {
  bool may = true, after_result = false;
  for (lt_json_iter it = lt_json_each(m->messages); lt_json_next(&it);) {
    bool has_calls = lt_json_exists(lt_json_get(it.value, "tool_calls"));
    bool has_thinking = lt_json_str_eq(lt_json_get(lt_json_get(it.value, "kept"), "api"), LT_STR(MESSAGES_API));
    bool is_input = messages_has_role(it.value, "user") && !after_result;
    may = is_input || (may && (!has_calls || has_thinking));
    after_result = messages_has_role(it.value, "tool");
  }
  return may;
}

static void messages_put_adaptive(lt_json_writer *w, lt_str effort) {
  bool thinks = !lt_str_eqc(effort, "none");
  lt_json_key(w, "thinking");
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", thinks ? LT_STR("adaptive") : LT_STR("disabled"));
  lt_json_end_object(w);
  if (thinks) {
    lt_json_key(w, "output_config");
    lt_json_begin_object(w);
    lt_json_put_pair(w, "effort", lt_str_eqc(effort, "minimal") ? LT_STR("low") : effort);
    lt_json_end_object(w);
  }
}

static void messages_put_budget(lt_json_writer *w, int64_t tokens) {
  lt_json_key(w, "thinking");
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("enabled"));
  lt_json_key(w, "budget_tokens");
  lt_json_put_int(w, tokens);
  lt_json_end_object(w);
}

/* Writes that the model is to think, and how much. False: it is not to. */
static bool messages_put_thinking(messages_writer *m, const lt_model *model, unsigned quirks) {
  bool adaptive = lt_dialect_is_adaptive(model->name) != ((quirks & LT_QUIRK_OTHER_THINKING) != 0);
  int64_t tokens = lt_completion_wire_reasoning_tokens(model->effort);
  if (model->effort.n == 0 || (quirks & LT_QUIRK_NO_EFFORT) != 0) {
    return false;
  } else if (adaptive) {
    messages_put_adaptive(&m->w, model->effort);
  } else if (tokens > 0 && messages_may_think(m)) {
    messages_put_budget(&m->w, tokens);
  } else {
    return false;
  }
  return tokens > 0;
}

static void messages_put_choices(messages_writer *m, const lt_completion_request *request, unsigned quirks) {
  lt_json_key(&m->w, "max_tokens");
  lt_json_put_int(&m->w, lt_completion_wire_token_limit(request));
  /* "Thinking isn't compatible with temperature" */
  bool thinks = messages_put_thinking(m, request->model, quirks);
  if (request->model->temperature.n > 0 && !thinks && (quirks & LT_QUIRK_NO_TEMPERATURE) == 0) {
    lt_json_key(&m->w, "temperature");
    lt_json_put_raw(&m->w, request->model->temperature);
  }
  lt_json_key(&m->w, "stream");
  lt_json_put_bool(&m->w, (quirks & LT_QUIRK_NO_STREAM) == 0);
}

/* The cache keeps what stands first: tools, system, messages. */
static void messages_write_request(const lt_completion_request *request, unsigned quirks, lt_buf *out) {
  lt_json_doc doc;
  messages_writer m = {.w = lt_json_writer_on(out)};
  lt_arena_init(&m.arena, LT_HISTORY_MEMORY_BYTES);
  lt_status status = lt_json_parse(&m.arena, request->messages, &doc, NULL);
  if (status != LT_OK) {
    out->status = status;
  } else {
    m.messages = lt_json_root(&doc);
    lt_json_begin_object(&m.w);
    lt_json_put_pair(&m.w, "model", request->model->name);
    messages_put_tools(&m, request->tools);
    messages_put_system(&m);
    messages_put_messages(&m);
    messages_put_choices(&m, request, quirks);
    lt_json_end_object(&m.w);
  }
  lt_arena_release(&m.arena);
}

/* --- The answer --------------------------------------------------------------------------------------------------- */
static void messages_take_text(lt_assembly *a, int64_t index, lt_str text) {
  lt_answer_part *part = lt_assembly_part(a, index, LT_ANSWER_TEXT);
  if (part != NULL) {
    lt_buf_add(&part->text, text);
  }
  lt_assembly_take_said(a, text);
}

static void messages_take_thinking(lt_assembly *a, int64_t index, lt_json thinking, lt_json signature) {
  lt_str text = lt_assembly_str(a, thinking);
  lt_answer_part *part = lt_assembly_part(a, index, LT_ANSWER_THINKING);
  if (part != NULL) {
    lt_buf_add(&part->text, text);
    lt_buf_add(&part->signature, lt_assembly_str(a, signature));
  }
  lt_buf_add(&a->completion->reasoning, text);
}

static void messages_take_own(lt_assembly *a, int64_t index, lt_json block) {
  lt_answer_part *part = lt_assembly_part(a, index, LT_ANSWER_OWN);
  if (part != NULL && part->text.n == 0) {
    lt_json_compact(block, &part->text);
  }
}

/* In a stream the input begins as {} and comes as text. */
static void messages_take_call(lt_assembly *a, int64_t index, lt_json block) {
  lt_json input = lt_json_get(block, "input");
  (void)lt_assembly_part(a, index, LT_ANSWER_CALL);
  lt_assembly_take_call(a, index, lt_assembly_str(a, lt_json_get(block, "id")),
                        lt_assembly_str(a, lt_json_get(block, "name")),
                        lt_json_count(input) > 0 ? input : (lt_json){0});
}

/* A whole block, or how one begins. */
static void messages_take_block(lt_assembly *a, int64_t index, lt_json block) {
  lt_json type = lt_json_get(block, "type");
  if (lt_json_str_eq(type, LT_STR("text"))) {
    messages_take_text(a, index, lt_assembly_str(a, lt_json_get(block, "text")));
  } else if (lt_json_str_eq(type, LT_STR("thinking"))) {
    messages_take_thinking(a, index, lt_json_get(block, "thinking"), lt_json_get(block, "signature"));
  } else if (lt_json_str_eq(type, LT_STR("redacted_thinking"))) {
    messages_take_own(a, index, block);
  } else if (lt_json_str_eq(type, LT_STR("tool_use"))) {
    messages_take_call(a, index, block);
  }
}

static void messages_take_delta(lt_assembly *a, int64_t index, lt_json delta) {
  lt_json type = lt_json_get(delta, "type");
  if (lt_json_str_eq(type, LT_STR("text_delta"))) {
    messages_take_text(a, index, lt_assembly_str(a, lt_json_get(delta, "text")));
  } else if (lt_json_str_eq(type, LT_STR("input_json_delta"))) {
    lt_assembly_take_call(a, index, LT_STR_NULL, LT_STR_NULL, lt_json_get(delta, "partial_json"));
  } else if (lt_json_str_eq(type, LT_STR("thinking_delta")) || lt_json_str_eq(type, LT_STR("signature_delta"))) {
    messages_take_thinking(a, index, lt_json_get(delta, "thinking"), lt_json_get(delta, "signature"));
  }
}

static void messages_take_reason(lt_assembly *a, lt_json reason) {
  lt_str s = lt_assembly_str(a, reason);
  if (s.n == 0) {
    return;
  }
  a->finished = true;
  a->completion->finish = lt_str_eqc(s, "max_tokens") || lt_str_eqc(s, "model_context_window_exceeded")
                              ? LT_FINISH_LENGTH
                          : lt_str_eqc(s, "refusal")  ? LT_FINISH_FILTERED
                          : lt_str_eqc(s, "tool_use") ? LT_FINISH_TOOLS
                                                      : LT_FINISH_STOP;
}

/* "Total input tokens in a request is the summation of input_tokens, cache_creation_input_tokens, and
 * cache_read_input_tokens." Later counts replace earlier ones; the last event may have only those of the output. */
static void messages_take_usage(lt_assembly *a, lt_json usage, bool is_final) {
  lt_usage *u = &a->completion->usage;
  int64_t fresh;
  if (lt_assembly_read_count(usage, "input_tokens", &fresh)) {
    u->cached_input_tokens = u->cache_write_tokens = 0;
    (void)lt_assembly_read_count(usage, "cache_read_input_tokens", &u->cached_input_tokens);
    (void)lt_assembly_read_count(usage, "cache_creation_input_tokens", &u->cache_write_tokens);
    u->input_tokens = fresh + u->cached_input_tokens + u->cache_write_tokens;
  }
  bool has_output = lt_assembly_read_count(usage, "output_tokens", &u->output_tokens);
  (void)lt_assembly_read_count(lt_json_get(usage, "output_tokens_details"), "thinking_tokens", &u->reasoning_tokens);
  a->has_usage = a->has_usage || (is_final && has_output && u->input_tokens > 0);
}

static void messages_take_message(lt_assembly *a, lt_json message, bool is_whole) {
  int64_t index = 0;
  lt_assembly_take_model(a, lt_json_get(message, "model"));
  messages_take_usage(a, lt_json_get(message, "usage"), is_whole);
  for (lt_json_iter it = lt_json_each(lt_json_get(message, "content")); lt_json_next(&it); index++) {
    messages_take_block(a, index, it.value);
  }
  messages_take_reason(a, lt_json_get(message, "stop_reason"));
}

static void messages_take_event(lt_assembly *a, lt_str type, lt_json event) {
  int64_t index = 0;
  (void)lt_json_int(lt_json_get(event, "index"), &index);
  if (lt_str_eqc(type, "message_start")) {
    messages_take_message(a, lt_json_get(event, "message"), false);
  } else if (lt_str_eqc(type, "content_block_start")) {
    messages_take_block(a, index, lt_json_get(event, "content_block"));
  } else if (lt_str_eqc(type, "content_block_delta")) {
    messages_take_delta(a, index, lt_json_get(event, "delta"));
  } else if (lt_str_eqc(type, "message_delta")) {
    messages_take_usage(a, lt_json_get(event, "usage"), true);
    messages_take_reason(a, lt_json_get(lt_json_get(event, "delta"), "stop_reason"));
  } else if (lt_str_eqc(type, "message_stop")) {
    a->done = true;
  }
}

static lt_status messages_read(lt_assembly *a, lt_str name, lt_json json, bool is_whole, lt_err *err) {
  lt_str type = lt_assembly_str(a, lt_json_get(json, "type"));
  type = type.n > 0 ? type : name;
  if (lt_str_eqc(type, "error") || lt_json_typeof(lt_json_get(json, "error")) == LT_JSON_OBJECT) {
    return lt_assembly_take_error(a, json, err);
  }
  if (!is_whole) {
    messages_take_event(a, type, json);
  } else if (lt_json_typeof(lt_json_get(json, "content")) == LT_JSON_ARRAY) {
    messages_take_message(a, json, true);
  } else {
    return lt_fail(err, LT_E_PROTOCOL, "JSON without \"content\"");
  }
  return lt_assembly_check(a, err);
}

const lt_completion_wire lt_anthropic_messages_wire = {
    .name = MESSAGES_API,
    .path = "/messages",
    .version = "/v1",
    .host = "api.anthropic.com",
    .key_header = "x-api-key",
    .key_prefix = "",
    .header = {{"anthropic-version", 17}, {"2023-06-01", 10}},
    .write_request = messages_write_request,
    .read = messages_read,
};
