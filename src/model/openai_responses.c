/* The wire of OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses), which other servers
 * have, too.
 *
 * Nothing is stored at the provider (store: false): each request has the whole conversation. So the reasoning that
 * belongs to an answer's calls comes encrypted with the answer, is kept with it, and is sent back when the calls are
 * answered. */
#include "base/limits.h"
#include "model/completion_wire.h"
#include "model/dialect.h"
#include "model/reply_pieces.h"

#define RESPONSES_API "responses"

/* --- The request: items ------------------------------------------------------------------------------------------- */
typedef struct responses_writer {
  lt_json_writer w;
  lt_arena arena;
  const lt_freeform_tool *freeform; /* NULL: the request has none, or the server knows none */
  lt_buf freeform_calls;            /* hashes of the ids of its calls */
} responses_writer;

static lt_str responses_str(responses_writer *r, lt_json value) {
  return lt_completion_wire_str(value, &r->arena, r->w.buf);
}

/* A string is written as it is. */
static void responses_put_value(lt_json_writer *w, const char *key, lt_json value) {
  lt_json_key(w, key);
  lt_json_put_raw(w, lt_json_typeof(value) == LT_JSON_STRING ? lt_json_text(value) : LT_STR("\"\""));
}

static void responses_put_part(responses_writer *r, lt_json part) {
  lt_json_writer *w = &r->w;
  lt_json_begin_object(w);
  if (lt_json_str_eq(lt_json_get(part, "type"), LT_STR("image_url"))) {
    lt_json_put_pair(w, "type", LT_STR("input_image"));
    lt_json_put_pair(w, "detail", LT_STR("auto"));
    responses_put_value(w, "image_url", lt_json_get(lt_json_get(part, "image_url"), "url"));
  } else if (lt_json_str_eq(lt_json_get(part, "type"), LT_STR("file"))) {
    lt_json_put_pair(w, "type", LT_STR("input_file"));
    responses_put_value(w, "filename", lt_json_get(lt_json_get(part, "file"), "filename"));
    responses_put_value(w, "file_data", lt_json_get(lt_json_get(part, "file"), "file_data"));
  } else {
    lt_json_put_pair(w, "type", LT_STR("input_text"));
    responses_put_value(w, "text", lt_json_get(part, "text"));
  }
  lt_json_end_object(w);
}

static void responses_put_parts(responses_writer *r, const char *key, lt_json parts) {
  lt_json_key(&r->w, key);
  lt_json_begin_array(&r->w);
  for (lt_json_iter it = lt_json_each(parts); lt_json_next(&it);) {
    responses_put_part(r, it.value);
  }
  lt_json_end_array(&r->w);
}

/* A string, or parts of chat completions. */
static void responses_put_message(responses_writer *r, const char *role, lt_json content) {
  lt_json_writer *w = &r->w;
  if (lt_str_trim(lt_json_text(content)).n <= 2 || lt_json_typeof(content) == LT_JSON_NULL) { /* "" or [] */
    return;
  }
  lt_json_begin_object(w);
  lt_json_put_pair(w, "role", lt_str_of(role));
  if (lt_json_typeof(content) == LT_JSON_ARRAY) {
    responses_put_parts(r, "content", content);
  } else {
    responses_put_value(w, "content", content);
  }
  lt_json_end_object(w);
}

static bool responses_is_freeform(const responses_writer *r, lt_json function) {
  return r->freeform != NULL && lt_json_str_eq(lt_json_get(function, "name"), lt_str_of(r->freeform->name));
}

static bool responses_is_freeform_call(const responses_writer *r, lt_json id) {
  uint64_t hash = lt_str_hash(lt_json_text(id));
  for (size_t at = r->freeform_calls.n; at > 0; at -= sizeof hash) {
    if (memcmp(r->freeform_calls.p + at - sizeof hash, &hash, sizeof hash) == 0) {
      return true;
    }
  }
  return false;
}

static void responses_put_freeform_call(responses_writer *r, lt_json id, lt_json function) {
  lt_json_doc arguments = {0};
  uint64_t hash = lt_str_hash(lt_json_text(id));
  lt_str text = responses_str(r, lt_json_get(function, "arguments")), code = LT_STR("");
  lt_buf_add(&r->freeform_calls, lt_str_from(&hash, sizeof hash));
  if (lt_json_parse(&r->arena, text, &arguments, NULL) == LT_OK) {
    code = responses_str(r, lt_json_get(lt_json_root(&arguments), "code"));
  }
  lt_json_begin_object(&r->w);
  lt_json_put_pair(&r->w, "type", LT_STR("custom_tool_call"));
  responses_put_value(&r->w, "call_id", id);
  responses_put_value(&r->w, "name", lt_json_get(function, "name"));
  lt_json_put_pair(&r->w, "input", code);
  lt_json_end_object(&r->w);
}

static void responses_put_call(responses_writer *r, lt_json call) {
  lt_json function = lt_json_get(call, "function");
  lt_json_writer *w = &r->w;
  if (responses_is_freeform(r, function)) {
    responses_put_freeform_call(r, lt_json_get(call, "id"), function);
    return;
  }
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("function_call"));
  responses_put_value(w, "call_id", lt_json_get(call, "id"));
  responses_put_value(w, "name", lt_json_get(function, "name"));
  responses_put_value(w, "arguments", lt_json_get(function, "arguments"));
  lt_json_end_object(w);
}

static void responses_put_result(responses_writer *r, lt_json message) {
  lt_json_writer *w = &r->w;
  bool is_freeform = responses_is_freeform_call(r, lt_json_get(message, "tool_call_id"));
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", is_freeform ? LT_STR("custom_tool_call_output") : LT_STR("function_call_output"));
  responses_put_value(w, "call_id", lt_json_get(message, "tool_call_id"));
  lt_json content = lt_json_get(message, "content");
  if (lt_json_typeof(content) == LT_JSON_ARRAY) { /* "Text, image, or file output of the function tool call" */
    responses_put_parts(r, "output", content);
  } else {
    responses_put_value(w, "output", content);
  }
  lt_json_end_object(w);
}

static void responses_put_reply(responses_writer *r, lt_json message) {
  lt_reply_pieces pieces;
  lt_reply_pieces_init(&pieces, message, RESPONSES_API);
  while (lt_reply_pieces_next(&pieces)) {
    if (pieces.kind == LT_REPLY_CALL) {
      responses_put_call(r, pieces.value);
    } else if (pieces.kind == LT_REPLY_TEXT) {
      responses_put_message(r, "assistant", pieces.value);
    } else {
      lt_json_put_raw(&r->w, lt_json_text(pieces.value));
    }
  }
}

static bool responses_has_role(lt_json message, const char *role) {
  return lt_json_str_eq(lt_json_get(message, "role"), lt_str_of(role));
}

static void responses_put_input(responses_writer *r, lt_json messages) {
  lt_json_key(&r->w, "input");
  lt_json_begin_array(&r->w);
  for (lt_json_iter it = lt_json_each(messages); lt_json_next(&it);) {
    if (responses_has_role(it.value, "assistant")) {
      responses_put_reply(r, it.value);
    } else if (responses_has_role(it.value, "tool")) {
      responses_put_result(r, it.value);
    } else if (!responses_has_role(it.value, "system")) {
      responses_put_message(r, "user", lt_json_get(it.value, "content"));
    }
  }
  lt_json_end_array(&r->w);
}

static void responses_put_instructions(responses_writer *r, lt_json messages) {
  for (lt_json_iter it = lt_json_each(messages); lt_json_next(&it);) {
    if (responses_has_role(it.value, "system")) {
      responses_put_value(&r->w, "instructions", lt_json_get(it.value, "content"));
      return;
    }
  }
}

/* --- The request: tools and choices ------------------------------------------------------------------------------- */
static void responses_put_freeform(responses_writer *r, lt_json function) {
  lt_json_writer *w = &r->w;
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("custom"));
  responses_put_value(w, "name", lt_json_get(function, "name"));
  responses_put_value(w, "description", lt_json_get(function, "description"));
  lt_json_key(w, "format");
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("grammar"));
  lt_json_put_pair(w, "syntax", LT_STR("lark"));
  lt_json_put_pair(w, "definition", lt_str_of(r->freeform->grammar));
  lt_json_end_object(w);
  lt_json_end_object(w);
}

static void responses_put_tool(responses_writer *r, lt_json function) {
  lt_json_writer *w = &r->w;
  if (responses_is_freeform(r, function)) {
    responses_put_freeform(r, function);
    return;
  }
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("function"));
  for (lt_json_iter it = lt_json_each(function); lt_json_next(&it);) { /* name, description, parameters */
    if (!lt_json_str_eq(it.key, LT_STR("strict"))) {
      lt_json_key_str(w, responses_str(r, it.key));
      lt_json_put_raw(w, lt_json_text(it.value));
    }
  }
  if (!lt_json_exists(lt_json_get(function, "parameters"))) {
    lt_json_key(w, "parameters");
    lt_json_put_null(w);
  }
  lt_json_key(w, "strict"); /* else the provider would take optional members for required ones */
  lt_json_put_bool(w, false);
  lt_json_end_object(w);
}

static void responses_put_tools(responses_writer *r, lt_str tools) {
  lt_json_doc doc;
  if (tools.n == 0) {
    return;
  }
  lt_status status = lt_json_parse(&r->arena, tools, &doc, NULL);
  if (status != LT_OK) {
    r->w.buf->status = status;
    return;
  }
  lt_json_key(&r->w, "tools");
  lt_json_begin_array(&r->w);
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    responses_put_tool(r, lt_json_get(it.value, "function"));
  }
  lt_json_end_array(&r->w);
}

static void responses_put_reasoning(lt_json_writer *w, const lt_model *model, unsigned quirks) {
  bool has_effort = model->effort.n > 0 && (quirks & LT_QUIRK_NO_EFFORT) == 0;
  bool reasons = has_effort ? !lt_str_eqc(model->effort, "none") : lt_dialect_is_reasoner(model->name);
  if (has_effort) {
    lt_json_key(w, "reasoning");
    lt_json_begin_object(w);
    lt_json_put_pair(w, "effort", model->effort);
    lt_json_end_object(w);
  }
  if (reasons && (quirks & LT_QUIRK_NO_ENCRYPTED) == 0) {
    lt_json_key(w, "include");
    lt_json_begin_array(w);
    lt_json_put_cstr(w, "reasoning.encrypted_content");
    lt_json_end_array(w);
  }
}

static void responses_put_json_format(lt_json_writer *w) {
  lt_json_key(w, "text");
  lt_json_begin_object(w);
  lt_json_key(w, "format");
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("json_object"));
  lt_json_end_object(w);
  lt_json_end_object(w);
}

static void responses_put_choices(lt_json_writer *w, const lt_completion_request *request, unsigned quirks) {
  const lt_model *model = request->model;
  lt_json_key(w, "max_output_tokens");
  lt_json_put_int(w, lt_completion_wire_token_limit(request));
  if (model->temperature.n > 0 && (quirks & LT_QUIRK_NO_TEMPERATURE) == 0) {
    lt_json_key(w, "temperature");
    lt_json_put_raw(w, model->temperature);
  }
  responses_put_reasoning(w, model, quirks);
  if (request->json && (quirks & LT_QUIRK_NO_FORMAT) == 0) {
    responses_put_json_format(w);
  }
  if (request->conversation.n > 0) { /* requests with one key reach a server that has their beginning */
    lt_json_put_pair(w, "prompt_cache_key", lt_str_sub(request->conversation, 0, LT_MODEL_CACHE_KEY_BYTES));
  }
  lt_json_key(w, "store");
  lt_json_put_bool(w, false);
  lt_json_key(w, "stream");
  lt_json_put_bool(w, (quirks & LT_QUIRK_NO_STREAM) == 0);
}

static void responses_write_request(const lt_completion_request *request, unsigned quirks, lt_buf *out) {
  lt_json_doc doc;
  responses_writer r = {.w = lt_json_writer_on(out)};
  lt_arena_init(&r.arena, LT_HISTORY_MEMORY_BYTES);
  lt_buf_init(&r.freeform_calls, LT_PROMPT_MEMORY_BYTES);
  r.freeform = (quirks & LT_QUIRK_NO_FREEFORM) == 0 ? request->freeform : NULL;
  lt_status status = lt_json_parse(&r.arena, request->messages, &doc, NULL);
  if (status != LT_OK) {
    out->status = status;
  } else {
    lt_json_begin_object(&r.w);
    lt_json_put_pair(&r.w, "model", request->model->name);
    responses_put_tools(&r, request->tools);
    responses_put_instructions(&r, lt_json_root(&doc));
    responses_put_input(&r, lt_json_root(&doc));
    responses_put_choices(&r.w, request, quirks);
    lt_json_end_object(&r.w);
    out->status = lt_status_first(out->status, r.freeform_calls.status);
  }
  lt_buf_release(&r.freeform_calls);
  lt_arena_release(&r.arena);
}

/* --- The answer: items -------------------------------------------------------------------------------------------- */
static void responses_take_text(lt_assembly *a, int64_t index, lt_str text) {
  lt_answer_part *part = text.n > 0 ? lt_assembly_part(a, index, LT_ANSWER_TEXT) : NULL;
  if (part != NULL) {
    lt_buf_add(&part->text, text);
  }
  lt_assembly_take_said(a, text);
}

static void responses_take_refusal(lt_assembly *a, int64_t index, lt_str text) {
  a->refused = a->refused || text.n > 0;
  responses_take_text(a, index, text);
}

static void responses_take_arguments(lt_assembly *a, int64_t index, lt_json arguments) {
  lt_assembly_take_call(a, index, LT_STR_NULL, LT_STR_NULL, arguments);
}

/* How a call begins. Its arguments follow, or come with its end. */
static void responses_take_call(lt_assembly *a, int64_t index, lt_json item) {
  (void)lt_assembly_part(a, index, LT_ANSWER_CALL);
  lt_assembly_take_call(a, index, lt_assembly_str(a, lt_json_get(item, "call_id")),
                        lt_assembly_str(a, lt_json_get(item, "name")), (lt_json){0});
}

/* A whole message, whose text may have come in pieces before. */
static void responses_take_message(lt_assembly *a, int64_t index, lt_json item) {
  const lt_answer_part *part = NULL;
  for (size_t i = 0; i < a->part_count; i++) {
    part = a->parts[i].index == index && a->parts[i].kind == LT_ANSWER_TEXT ? &a->parts[i] : part;
  }
  for (lt_json_iter it = lt_json_each(lt_json_get(item, "content")); part == NULL && lt_json_next(&it);) {
    responses_take_text(a, index, lt_assembly_str(a, lt_json_get(it.value, "text")));
    responses_take_refusal(a, index, lt_assembly_str(a, lt_json_get(it.value, "refusal")));
  }
}

static void responses_take_reasoning(lt_assembly *a, int64_t index, lt_json item) {
  lt_answer_part *part = lt_assembly_part(a, index, LT_ANSWER_OWN);
  if (part != NULL && part->text.n == 0 && lt_json_typeof(lt_json_get(item, "encrypted_content")) == LT_JSON_STRING) {
    lt_json_compact(item, &part->text);
  }
}

/* A whole item. */
static void responses_take_item(lt_assembly *a, int64_t index, lt_json item) {
  lt_json type = lt_json_get(item, "type");
  if (lt_json_str_eq(type, LT_STR("message"))) {
    responses_take_message(a, index, item);
  } else if (lt_json_str_eq(type, LT_STR("reasoning"))) {
    responses_take_reasoning(a, index, item);
  } else if (lt_json_str_eq(type, LT_STR("function_call"))) {
    responses_take_call(a, index, item);
    if (!lt_assembly_has_arguments(a, index)) {
      responses_take_arguments(a, index, lt_json_get(item, "arguments"));
    }
  } else if (lt_json_str_eq(type, LT_STR("custom_tool_call"))) {
    responses_take_call(a, index, item);
    bool came_in_pieces = lt_assembly_has_arguments(a, index);
    lt_str input = lt_assembly_str(a, lt_json_get(item, "input"));
    lt_assembly_take_code(a, index, came_in_pieces ? LT_STR_NULL : input, true);
  }
}

/* --- The answer: events ------------------------------------------------------------------------------------------- */
static void responses_take_usage(lt_assembly *a, lt_json usage) {
  lt_usage *u = &a->completion->usage;
  lt_json input = lt_json_get(usage, "input_tokens_details");
  bool in = lt_assembly_read_count(usage, "input_tokens", &u->input_tokens);
  bool out = lt_assembly_read_count(usage, "output_tokens", &u->output_tokens);
  (void)lt_assembly_read_count(input, "cached_tokens", &u->cached_input_tokens);
  (void)lt_assembly_read_count(input, "cache_write_tokens", &u->cache_write_tokens);
  (void)lt_assembly_read_count(lt_json_get(usage, "output_tokens_details"), "reasoning_tokens", &u->reasoning_tokens);
  lt_assembly_bound_cached(a);
  a->has_usage = a->has_usage || (in && out);
}

static void responses_take_end(lt_assembly *a, lt_json response) {
  lt_json reason = lt_json_get(lt_json_get(response, "incomplete_details"), "reason");
  lt_json status = lt_json_get(response, "status");
  lt_assembly_take_model(a, lt_json_get(response, "model"));
  responses_take_usage(a, lt_json_get(response, "usage"));
  a->completion->finish = lt_json_str_eq(reason, LT_STR("content_filter")) ? LT_FINISH_FILTERED
                          : lt_json_str_eq(status, LT_STR("incomplete"))   ? LT_FINISH_LENGTH
                                                                           : LT_FINISH_STOP;
  a->finished = a->done = true;
}

static void responses_take_delta(lt_assembly *a, lt_str kind, int64_t index, lt_json delta) {
  if (lt_str_eqc(kind, "output_text")) {
    responses_take_text(a, index, lt_assembly_str(a, delta));
  } else if (lt_str_eqc(kind, "refusal")) {
    responses_take_refusal(a, index, lt_assembly_str(a, delta));
  } else if (lt_str_eqc(kind, "function_call_arguments")) {
    responses_take_arguments(a, index, delta);
  } else if (lt_str_eqc(kind, "custom_tool_call_input")) {
    lt_assembly_take_code(a, index, lt_assembly_str(a, delta), false);
  } else if (lt_str_eqc(kind, "reasoning_summary_text") || lt_str_eqc(kind, "reasoning_text")) {
    lt_buf_add(&a->completion->reasoning, lt_assembly_str(a, delta));
  }
}

static void responses_take_event(lt_assembly *a, lt_str type, lt_json event) {
  static const char delta[] = ".delta";
  int64_t index = 0;
  (void)lt_json_int(lt_json_get(event, "output_index"), &index);
  lt_str kind = lt_str_starts(type, LT_STR("response.")) ? lt_str_sub(type, 9, type.n) : type;
  if (lt_str_ends(kind, LT_STR(".delta"))) {
    kind.n -= sizeof delta - 1;
    responses_take_delta(a, kind, index, lt_json_get(event, "delta"));
  } else if (lt_str_eqc(kind, "output_item.added")) {
    lt_json item = lt_json_get(event, "item");
    lt_json type_of_item = lt_json_get(item, "type");
    if (lt_json_str_eq(type_of_item, LT_STR("function_call")) ||
        lt_json_str_eq(type_of_item, LT_STR("custom_tool_call"))) {
      responses_take_call(a, index, item);
    }
  } else if (lt_str_eqc(kind, "output_item.done")) {
    responses_take_item(a, index, lt_json_get(event, "item"));
  } else if (lt_str_eqc(kind, "completed") || lt_str_eqc(kind, "incomplete")) {
    responses_take_end(a, lt_json_get(event, "response"));
  }
}

static void responses_take_whole(lt_assembly *a, lt_json response) {
  int64_t index = 0;
  for (lt_json_iter it = lt_json_each(lt_json_get(response, "output")); lt_json_next(&it); index++) {
    responses_take_item(a, index, it.value);
  }
  responses_take_end(a, response);
}

static bool responses_has_error(lt_json place) {
  lt_json error = lt_json_get(place, "error");
  return lt_json_exists(error) && lt_json_typeof(error) != LT_JSON_NULL;
}

static lt_status responses_read(lt_assembly *a, lt_str name, lt_json json, bool is_whole, lt_err *err) {
  lt_str type = lt_assembly_str(a, lt_json_get(json, "type"));
  lt_json response = lt_json_get(json, "response");
  type = type.n > 0 ? type : name;
  if (lt_str_eqc(type, "error") || lt_str_eqc(type, "response.failed") || responses_has_error(json)) {
    return lt_assembly_take_error(a, responses_has_error(response) ? response : json, err);
  }
  if (!is_whole) {
    responses_take_event(a, type, json);
  } else if (lt_json_typeof(lt_json_get(json, "output")) == LT_JSON_ARRAY) {
    responses_take_whole(a, json);
  } else {
    return lt_fail(err, LT_E_PROTOCOL, "JSON without \"output\"");
  }
  return lt_assembly_check(a, err);
}

const lt_completion_wire lt_openai_responses_wire = {
    .name = RESPONSES_API,
    .path = "/responses",
    .host = "api.openai.com",
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .write_request = responses_write_request,
    .read = responses_read,
};
