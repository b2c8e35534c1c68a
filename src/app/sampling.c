#include "app/sampling.h"

#include <inttypes.h>
#include <stdio.h>

#include "agent/model_request.h"
#include "base/limits.h"
#include "base/mem.h"

/* How often a server has asked in a run. */
typedef struct sampling_count {
  uint64_t key; /* of server and run; 0: free */
  int64_t requests;
} sampling_count;

struct lt_sampling {
  lt_loop *loop;
  lt_config *config;
  const lt_secrets *secrets;
  lt_monitor *monitor; /* NULL: nobody is told */
  lt_models models;
  lt_http *http;
  sampling_count counts[LT_SAMPLING_RUNS_MAX];
  size_t next_count; /* its place is taken when all are */
};

lt_sampling *lt_sampling_new(lt_loop *loop, lt_config *config, const lt_secrets *secrets) {
  lt_sampling *s = lt_mem_zalloc(1, sizeof *s);
  if (s != NULL) {
    s->loop = loop;
    s->config = config;
    s->secrets = secrets;
  }
  return s;
}

void lt_sampling_monitor(lt_sampling *s, lt_monitor *monitor) {
  s->monitor = monitor;
}

void lt_sampling_forget_models(lt_sampling *s) {
  s->models = (lt_models){.list = NULL};
}

void lt_sampling_free(lt_sampling *s) {
  if (s != NULL) {
    lt_http_free(s->http);
  }
  lt_mem_free(s);
}

static const lt_config_server *sampling_find_server(const lt_sampling *s, lt_str name) {
  for (size_t i = 0; i < s->config->server_count; i++) {
    if (lt_str_eqc(name, s->config->servers[i].name)) {
      return &s->config->servers[i];
    }
  }
  return NULL;
}

bool lt_sampling_allows(const lt_sampling *s, lt_str server) {
  const lt_config_server *found = sampling_find_server(s, server);
  return found != NULL && found->has_sampling && found->allows_sampling;
}

/* --- Limits ------------------------------------------------------------------------------------------------------- */
/* Programs that programs run have names below that of the first one, with a slash (lt_caller.run). */
static sampling_count *sampling_count_of(lt_sampling *s, const lt_server_question *q) {
  size_t slash = lt_str_find(q->run, LT_STR("/"), 0);
  lt_str run = lt_str_sub(q->run, 0, slash < q->run.n ? slash : q->run.n);
  uint64_t key = (31 * lt_str_hash(q->server) + lt_str_hash(run)) | 1;
  for (size_t i = 0; i < LT_SAMPLING_RUNS_MAX; i++) {
    if (s->counts[i].key == key) {
      return &s->counts[i];
    }
  }
  sampling_count *count = &s->counts[s->next_count];
  s->next_count = (s->next_count + 1) % LT_SAMPLING_RUNS_MAX;
  *count = (sampling_count){.key = key};
  return count;
}

static lt_status sampling_count_request(lt_sampling *s, const lt_server_question *q, const lt_config_server *server,
                                        lt_err *err) {
  sampling_count *count = sampling_count_of(s, q);
  if (count->requests >= server->sampling_requests) {
    return lt_fail(err, LT_E_DENIED,
                   "the server has asked the model %" PRId64
                   " times in this run, which is its limit "
                   "(mcpServers.%s.sampling.requests)",
                   count->requests, server->name);
  }
  count->requests++;
  return LT_OK;
}

/* --- The request -------------------------------------------------------------------------------------------------- */
/* A picture becomes an address with its data in it, as chat completions want it. */
static lt_status sampling_put_image(lt_json_writer *w, lt_json content, lt_arena *arena, lt_err *err) {
  lt_str data, type;
  if (!lt_json_str(lt_json_get(content, "data"), arena, &data) ||
      !lt_json_str(lt_json_get(content, "mimeType"), arena, &type)) {
    return lt_fail(err, LT_E_INVALID, "an image needs data and mimeType");
  }
  LT_AUTO_BUF(url, LT_JSON_MAX_BYTES);
  lt_buf_printf(&url, "data:%.*s;base64,", LT_STR_ARG(type));
  lt_buf_add(&url, data);
  LT_TRY(lt_buf_check(&url, err, "no memory for an image"));
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("image_url"));
  lt_json_key(w, "image_url");
  lt_json_begin_object(w);
  lt_json_put_pair(w, "url", lt_buf_view(&url));
  lt_json_end_object(w);
  lt_json_end_object(w);
  return LT_OK;
}

static lt_status sampling_put_block(lt_json_writer *w, lt_json content, lt_arena *arena, lt_err *err) {
  lt_str text;
  lt_json type = lt_json_get(content, "type");
  if (lt_json_str_eq(type, LT_STR("image"))) {
    return sampling_put_image(w, content, arena, err);
  }
  if (!lt_json_str_eq(type, LT_STR("text")) || !lt_json_str(lt_json_get(content, "text"), arena, &text)) {
    return lt_fail(err, LT_E_INVALID, "the content of a message must be text or image");
  }
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("text"));
  lt_json_put_pair(w, "text", text);
  lt_json_end_object(w);
  return LT_OK;
}

/* One block, or since 2025-11-25 a list of them. Most models' servers want a single text as a string. */
static lt_status sampling_put_content(lt_json_writer *w, lt_json content, lt_arena *arena, lt_err *err) {
  lt_str text;
  if (lt_json_str_eq(lt_json_get(content, "type"), LT_STR("text")) &&
      lt_json_str(lt_json_get(content, "text"), arena, &text)) {
    lt_json_put_str(w, text);
    return LT_OK;
  }
  lt_json_begin_array(w);
  if (lt_json_typeof(content) != LT_JSON_ARRAY) {
    LT_TRY(sampling_put_block(w, content, arena, err));
  }
  for (lt_json_iter it = lt_json_each(content); lt_json_typeof(content) == LT_JSON_ARRAY && lt_json_next(&it);) {
    LT_TRY(sampling_put_block(w, it.value, arena, err));
  }
  lt_json_end_array(w);
  return LT_OK;
}

static lt_status sampling_put_message(lt_json_writer *w, lt_json message, lt_arena *arena, lt_err *err) {
  lt_json role = lt_json_get(message, "role");
  bool is_user = lt_json_str_eq(role, LT_STR("user"));
  if (!is_user && !lt_json_str_eq(role, LT_STR("assistant"))) {
    return lt_fail(err, LT_E_INVALID, "the role of a message must be user or assistant");
  }
  lt_json_begin_object(w);
  lt_json_put_pair(w, "role", is_user ? LT_STR("user") : LT_STR("assistant"));
  lt_json_key(w, "content");
  LT_TRY(sampling_put_content(w, lt_json_get(message, "content"), arena, err));
  lt_json_end_object(w);
  return LT_OK;
}

/* Errors: LT_E_INVALID. */
static lt_status sampling_put_messages(lt_buf *out, lt_json params, lt_arena *arena, lt_err *err) {
  lt_json messages = lt_json_get(params, "messages");
  lt_str system;
  if (lt_json_typeof(messages) != LT_JSON_ARRAY || lt_json_count(messages) == 0 ||
      lt_json_count(messages) > LT_SAMPLING_MESSAGES_MAX) {
    return lt_fail(err, LT_E_INVALID, "messages: expected a list of 1 to %d messages", LT_SAMPLING_MESSAGES_MAX);
  }
  if (lt_json_count(lt_json_get(params, "tools")) > 0) { /* "MUST return an error if this field is provided but
                                                            ClientCapabilities.sampling.tools is not declared" */
    return lt_fail(err, LT_E_INVALID, "tools: this client has not offered sampling with tools");
  }
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  if (lt_json_str(lt_json_get(params, "systemPrompt"), arena, &system)) {
    lt_json_begin_object(&w);
    lt_json_put_pair(&w, "role", LT_STR("system"));
    lt_json_put_pair(&w, "content", system);
    lt_json_end_object(&w);
  }
  for (lt_json_iter it = lt_json_each(messages); lt_json_next(&it);) {
    LT_TRY(sampling_put_message(&w, it.value, arena, err));
  }
  lt_json_end_array(&w);
  return lt_buf_check(out, err, "the server's messages are too long for a model");
}

static void sampling_put_result(lt_buf *out, const lt_model *model, const lt_completion *completion) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "role", LT_STR("assistant"));
  lt_json_key(&w, "content");
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "type", LT_STR("text"));
  lt_json_put_pair(&w, "text", lt_buf_view(&completion->text));
  lt_json_end_object(&w);
  lt_json_put_pair(&w, "model", completion->model.n > 0 ? completion->model : model->name);
  lt_json_put_pair(&w, "stopReason", completion->finish == LT_FINISH_LENGTH ? LT_STR("maxTokens") : LT_STR("endTurn"));
  lt_json_end_object(&w);
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */
static lt_status sampling_find_model(lt_sampling *s, const lt_config_server *server, const lt_model **ret_model,
                                     lt_err *err) {
  if (s->models.list == NULL) {
    LT_TRY(lt_models_fill(s->config, &s->models, err));
  }
  LT_TRY(lt_models_find(&s->models, lt_str_of(server->sampling_model), ret_model, err));
  return s->http != NULL ? LT_OK : lt_http_new(s->loop, &s->http, err);
}

static int64_t sampling_tokens_of(const lt_config_server *server, lt_json params) {
  int64_t wanted = 0;
  bool has_wish = lt_json_int(lt_json_get(params, "maxTokens"), &wanted) && wanted > 0;
  return has_wish && wanted < server->sampling_tokens ? wanted : server->sampling_tokens;
}

static lt_status sampling_ask_model(lt_sampling *s, const lt_server_question *q, const lt_config_server *server,
                                    lt_completion *completion, const lt_model **ret_model, lt_err *err) LT_YIELDS {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(messages, LT_PROMPT_MESSAGES_BYTES);
  LT_TRY(sampling_put_messages(&messages, q->params, &arena, err));
  LT_TRY(sampling_find_model(s, server, ret_model, err));
  LT_TRY(sampling_count_request(s, q, server, err));
  const lt_agent_options options = {.http = s->http, .secrets = s->secrets, .monitor = s->monitor};
  const lt_completion_request request = {.model = *ret_model,
                                         .messages = lt_buf_view(&messages),
                                         .max_tokens = sampling_tokens_of(server, q->params),
                                         .cancel = q->cancel,
                                         .purpose = "sampling",
                                         .run = q->run};
  return lt_model_request_complete(&options, &request, completion, err);
}

lt_status lt_sampling_answer(lt_sampling *s, const lt_server_question *q, lt_buf *ret_result, lt_usage *ret_usage,
                             lt_err *err) {
  *ret_usage = (lt_usage){.input_tokens = 0};
  const lt_config_server *server = sampling_find_server(s, q->server);
  if (server == NULL || !lt_sampling_allows(s, q->server)) {
    return lt_fail(err, LT_E_UNSUPPORTED, "Method not found");
  }
  const lt_model *model = NULL;
  lt_completion completion;
  lt_completion_init(&completion);
  lt_status status = sampling_ask_model(s, q, server, &completion, &model, err);
  if (status == LT_OK) {
    sampling_put_result(ret_result, model, &completion);
  }
  *ret_usage = completion.usage;
  ret_usage->cost = model != NULL ? lt_model_cost(ret_usage, &model->price) : 0;
  lt_completion_release(&completion);
  return status;
}
