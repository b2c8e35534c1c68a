#include "source/mcp_provider.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "source/mcp_value.h"
#include "trace/server_address.h"

/* A call in flight; in the frame of its fiber. */
typedef struct provider_call {
  struct provider_call *next;
  lt_mcp_call_options how;
  const lt_invoke_options *options;
  uint64_t number;
  unsigned asked; /* questions of the server that are open for it */
} provider_call;

struct lt_mcp_provider {
  lt_provider base; /* first member: the door's pointer is cast to this struct */
  lt_loop *loop;
  lt_door *door;
  lt_mcp *mcp;
  lt_mcp_options user; /* callbacks of the owner; other members are not used */
  char *name;
  bool has_left;            /* it is not at the door any more */
  bool has_tools_of_before; /* its tools at the door are those of the provider whose place it took */
  provider_call *calls;
  uint64_t call_count; /* so far */
  lt_call_peer peer;   /* for reports of calls; its protocol is not set */
};

static lt_mcp_provider *mcp_provider_of(lt_provider *base) {
  return (lt_mcp_provider *)(void *)base;
}

/* --- Calling ------------------------------------------------------------------------------------------------------ */
/* The data for turning an answer into a value. It does not point into the provider, which may end first. */
typedef struct conversion {
  lt_arena arena;
  lt_str id;
  lt_str output_schema;
  lt_mcp_result answer;
  lt_mcp_media_list media;
  bool wants_media;
  bool wants_whole;
  lt_buf *out;
  lt_status status;
} conversion;

static void mcp_provider_convert_answer(void *arg) {
  conversion *c = arg;
  if (c->wants_whole) {
    lt_json_compact(c->answer.result, c->out);
    bool is_failed = lt_json_bool(lt_json_get(c->answer.result, "isError"), false);
    c->status = c->out->status != LT_OK ? c->out->status : is_failed ? LT_E_TOOL : LT_OK;
    return;
  }
  c->media.last = &c->media.first;
  c->status =
      lt_mcp_value(&c->arena, c->answer.result, c->id, c->output_schema, c->wants_media ? &c->media : NULL, c->out);
}

static lt_str mcp_provider_output_schema_of(const lt_mcp *mcp, lt_str tool) {
  size_t count;
  const lt_mcp_tool *tools = lt_mcp_tools(mcp, &count);
  for (size_t i = 0; i < count; i++) {
    if (lt_str_eq(tools[i].name, tool)) {
      return tools[i].output_schema;
    }
  }
  return LT_STR("");
}

static lt_status mcp_provider_prepare_conversion(conversion *c, const lt_mcp_provider *self, lt_str tool) {
  lt_str schema = mcp_provider_output_schema_of(self->mcp, tool);
  c->id = lt_arena_printf(&c->arena, "%.*s.%.*s", LT_STR_ARG(self->base.name), LT_STR_ARG(tool));
  c->output_schema = schema.n > 0 ? lt_arena_dup(&c->arena, schema) : LT_STR("");
  return c->id.p != NULL && c->output_schema.p != NULL ? LT_OK : LT_E_NOMEM;
}

static lt_status mcp_provider_make_answer_value(conversion *c, lt_loop *loop, lt_err *err) LT_YIELDS {
  if (lt_json_text(c->answer.result).n <= LT_CALL_INLINE_BYTES) {
    mcp_provider_convert_answer(c);
  } else {
    LT_TRY(lt_loop_offload(loop, mcp_provider_convert_answer, c, err));
  }
  if (c->status != LT_OK && c->status != LT_E_TOOL) {
    return lt_fail(err, c->status, "the answer of \"%.*s\" cannot be used: %s", LT_STR_ARG(c->id),
                   lt_status_text(c->status));
  }
  return c->status;
}

static lt_status mcp_provider_put_answer_media(const conversion *c, const lt_caller *caller, const lt_mcp_media *media,
                                               lt_buf *ret_id, lt_err *err) LT_YIELDS {
  lt_str type = media->mime_type.n > 0 ? media->mime_type : LT_STR("application/octet-stream");
  const lt_artifact artifact = {
      .user = caller->user,
      .run = caller->run,
      .type = media->type,
      .description = c->id,
      .mime_type = type,
      .data = media->data,
  };
  return caller->artifacts->put(caller->artifacts, &artifact, ret_id, err);
}

/* Stores the data and returns its id as JSON text; null when it cannot be stored. */
static void mcp_provider_keep_answer_media(const conversion *c, const lt_caller *caller, lt_door *door,
                                           const lt_mcp_media *media, lt_buf *json) LT_YIELDS {
  LT_ERR_VAR(err);
  lt_json_writer w = lt_json_writer_on(json);
  LT_AUTO_BUF(id, LT_ARTIFACT_ID_BYTES);
  if (mcp_provider_put_answer_media(c, caller, media, &id, &err) == LT_OK) {
    lt_json_put_str(&w, lt_buf_view(&id));
  } else {
    lt_json_put_null(&w);
    lt_door_warn(door, "something that \"%.*s\" answered could not be kept: %s", LT_STR_ARG(c->id), lt_err_msg(&err));
  }
}

/* Stores the binary content of an answer, and puts the ids into the value. */
static void mcp_provider_keep_all_answer_media(conversion *c, const lt_caller *caller, lt_door *door) LT_YIELDS {
  lt_buf with_ids;
  size_t done = 0;
  lt_buf_init(&with_ids, c->out->max);
  for (const lt_mcp_media *media = c->media.first; media != NULL; media = media->next) {
    lt_buf_add(&with_ids, lt_str_sub(lt_buf_view(c->out), done, media->at));
    mcp_provider_keep_answer_media(c, caller, door, media, &with_ids);
    done = media->at + strlen("null");
  }
  lt_buf_add(&with_ids, lt_str_sub(lt_buf_view(c->out), done, c->out->n));
  lt_buf_release(c->out);
  *c->out = with_ids;
}

/* --- Calls in flight, and what is asked for them ------------------------------------------------------------------ */
static void mcp_provider_set_asked(provider_call *call, unsigned asked) {
  const lt_invoke_options *options = call->options;
  if ((call->asked > 0) != (asked > 0) && options->on_approval != NULL) {
    options->on_approval(options->arg, asked > 0);
  }
  call->asked = asked;
}

static void mcp_provider_begin_call(lt_mcp_provider *self, provider_call *call) {
  call->number = ++self->call_count;
  call->next = self->calls;
  self->calls = call;
}

/* The provider lives: its client is freed after the last call. */
static void mcp_provider_end_call(lt_mcp_provider *self, provider_call *call) {
  mcp_provider_set_asked(call, 0);
  provider_call **place = &self->calls;
  while (*place != call) {
    place = &(*place)->next;
  }
  *place = call->next;
}

/* An older protocol does not tell which call a question is for: the only one, or none. */
static provider_call *mcp_provider_find_asking(const lt_mcp_provider *self, const lt_mcp_ask *ask) {
  provider_call *call = self->calls;
  while (call != NULL && ask->call != NULL && &call->how != ask->call) {
    call = call->next;
  }
  bool is_certain = call != NULL && (ask->call != NULL || call->next == NULL);
  return is_certain ? call : NULL;
}

static lt_str mcp_provider_run_of_call(const provider_call *call) {
  const lt_caller *caller = call->options->caller;
  return caller != NULL ? caller->run : LT_STR("");
}

lt_str lt_mcp_provider_run_of(const lt_mcp_provider *self, const lt_mcp_ask *ask) {
  const provider_call *asking = mcp_provider_find_asking(self, ask);
  if (asking != NULL || ask->call != NULL || self->calls == NULL) {
    return asking != NULL ? mcp_provider_run_of_call(asking) : LT_STR("");
  }
  lt_str run = mcp_provider_run_of_call(self->calls); /* several calls may be of one run */
  for (const provider_call *call = self->calls->next; call != NULL; call = call->next) {
    if (!lt_str_eq(run, mcp_provider_run_of_call(call))) {
      return LT_STR("");
    }
  }
  return run;
}

static lt_status mcp_provider_on_client_ask(void *arg, const lt_mcp_ask *ask, lt_buf *ret_result,
                                            lt_err *err) LT_YIELDS {
  lt_mcp_provider *self = arg;
  provider_call *asking = mcp_provider_find_asking(self, ask);
  uint64_t number = asking != NULL ? asking->number : 0;
  if (asking != NULL) {
    mcp_provider_set_asked(asking, asking->asked + 1);
  }
  lt_status status = self->user.on_ask(self->user.arg, ask, ret_result, err);
  for (provider_call *call = self->calls; call != NULL; call = call->next) { /* it may have ended */
    if (call->number == number) {
      mcp_provider_set_asked(call, call->asked - 1);
    }
  }
  return status;
}

static lt_mcp_offers mcp_provider_offers(void *arg) {
  const lt_mcp_provider *self = arg;
  return self->user.offers(self->user.arg);
}

static void mcp_provider_put_peer(const lt_mcp_provider *self, lt_call_peer *ret_peer) {
  if (ret_peer != NULL) {
    int64_t error_code = ret_peer->error_code;
    *ret_peer = self->peer;
    ret_peer->error_code = error_code;
    snprintf(ret_peer->protocol, sizeof ret_peer->protocol, "%.*s", LT_STR_ARG(lt_mcp_protocol_version(self->mcp)));
  }
}

static lt_status mcp_provider_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                                     lt_buf *out, lt_err *err) LT_YIELDS {
  lt_mcp_provider *self = mcp_provider_of(base);
  lt_loop *loop = self->loop;
  lt_door *door = self->door;
  const lt_caller *caller = options->caller;
  provider_call call = {.options = options,
                        .how = {.timeout_ms = options->timeout_ms,
                                .cancel = options->cancel,
                                .on_progress = options->on_progress,
                                .arg = options->progress_arg,
                                .trace = options->trace,
                                .ret_code = options->ret_peer != NULL ? &options->ret_peer->error_code : NULL}};
  conversion c = {
      .out = out, .wants_whole = options->wants_whole, .wants_media = caller != NULL && caller->artifacts != NULL};
  lt_arena_init(&c.arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = mcp_provider_prepare_conversion(&c, self, name);
  if (status == LT_OK) {
    mcp_provider_begin_call(self, &call);
    status = lt_mcp_call(self->mcp, name, input, &call.how, &c.answer, err);
    mcp_provider_end_call(self, &call);
    mcp_provider_put_peer(self, options->ret_peer);
  } else {
    lt_fail(err, status, "no memory to call \"%.*s\"", LT_STR_ARG(name));
  }
  if (status == LT_OK) {
    status = mcp_provider_make_answer_value(&c, loop, err);
    if (status == LT_OK && c.media.count > 0) {
      mcp_provider_keep_all_answer_media(&c, caller, door);
    }
    lt_mcp_result_release(&c.answer);
  }
  lt_arena_release(&c.arena);
  return status;
}

/* The time that a server takes to start is no part of the call that is recorded. */
static void mcp_provider_wake(lt_provider *base, const lt_invoke_options *options) LT_YIELDS {
  lt_mcp_wake(mcp_provider_of(base)->mcp, options->timeout_ms, options->cancel);
}

static lt_str mcp_provider_down(lt_provider *base) {
  const lt_mcp_provider *self = mcp_provider_of(base);
  switch (self->mcp != NULL ? lt_mcp_state_of(self->mcp) : LT_MCP_STARTING) {
    case LT_MCP_IDLE:
    case LT_MCP_STARTING:
    case LT_MCP_READY:
      return LT_STR("");
    case LT_MCP_DOWN:
    case LT_MCP_CLOSED:
      break;
  }
  lt_str reason = lt_mcp_reason(self->mcp);
  return reason.n > 0 ? reason : LT_STR("the server has been shut down");
}

static bool mcp_provider_may_retry(const lt_provider *base) {
  const lt_mcp_provider *self = (const lt_mcp_provider *)(const void *)base;
  return self->mcp != NULL && lt_mcp_may_retry(self->mcp);
}

/* A server whose tools are known is tried again when it is called. */
static void mcp_provider_look(lt_provider *base) {
  const lt_mcp_provider *self = mcp_provider_of(base);
  size_t count = 0;
  if (self->mcp != NULL) {
    (void)lt_mcp_tools(self->mcp, &count);
  }
  if (self->mcp != NULL && count == 0) {
    lt_mcp_retry(self->mcp);
  }
}

/* --- The list of tools -------------------------------------------------------------------------------------------- */
static void mcp_provider_on_client_warning(void *arg, lt_mcp *mcp, lt_str message) {
  const lt_mcp_provider *self = arg;
  if (self->user.on_warning != NULL) {
    self->user.on_warning(self->user.arg, mcp, message);
  }
}

static lt_status mcp_provider_hand_over_tools(lt_mcp_provider *self, const lt_mcp_tool *tools, size_t count,
                                              lt_err *err) {
  lt_tool_spec *specs = lt_mem_zalloc(count, sizeof *specs);
  if (specs == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tools of \"%.*s\"", LT_STR_ARG(self->base.name));
  }
  for (size_t i = 0; i < count; i++) {
    specs[i] = (lt_tool_spec){.name = tools[i].name,
                              .title = tools[i].title,
                              .description = tools[i].description,
                              .input_schema = tools[i].input_schema,
                              .output_schema = tools[i].output_schema,
                              .annotations = tools[i].annotations};
  }
  lt_status status = lt_door_set_tools(self->door, &self->base, specs, count, err);
  lt_mem_free(specs);
  return status;
}

static void mcp_provider_on_client_tools(void *arg, lt_mcp *mcp) {
  lt_mcp_provider *self = arg;
  LT_ERR_VAR(err);
  size_t count;
  const lt_mcp_tool *tools = lt_mcp_tools(mcp, &count);
  if (self->has_left) {
    return;
  }
  self->has_tools_of_before = false;
  if (mcp_provider_hand_over_tools(self, tools, count, &err) != LT_OK) {
    mcp_provider_on_client_warning(self, mcp, lt_str_of(lt_err_msg(&err)));
  }
  if (self->user.on_tools != NULL) {
    self->user.on_tools(self->user.arg, mcp);
  }
}

lt_status lt_mcp_provider_await(lt_mcp_provider *self, lt_err *err) {
  lt_status status = lt_mcp_wait_ready(self->mcp, err);
  if (self->has_tools_of_before && !self->has_left) {
    self->has_tools_of_before = false;
    (void)lt_door_set_tools(self->door, &self->base, NULL, 0, NULL); /* else calls fail with the server's reason */
  }
  return status;
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
/* The url's path and its query may be secret. */
static void mcp_provider_note_peer(lt_mcp_provider *self, const char *url) {
  lt_str host = LT_STR_NULL;
  lt_call_peer *peer = &self->peer;
  *peer = (lt_call_peer){.is_mcp = true, .is_process = url == NULL};
  if (url != NULL && lt_server_address_read(lt_str_of(url), &host, &peer->port) && host.n < sizeof peer->address) {
    memcpy(peer->address, host.p, host.n);
  }
}

static lt_status mcp_provider_enter(lt_mcp_provider *self, const lt_mcp_provider *before, lt_err *err) {
  self->has_tools_of_before = before != NULL && lt_door_replace(self->door, &before->base, &self->base);
  return self->has_tools_of_before ? LT_OK : lt_door_set_tools(self->door, &self->base, NULL, 0, err);
}

static lt_status mcp_provider_open_mcp_client(lt_mcp_provider *self, const lt_mcp_options *options,
                                              const lt_mcp_provider *before, lt_err *err) {
  lt_mcp_options ours = *options;
  ours.on_tools = mcp_provider_on_client_tools;
  ours.on_warning = mcp_provider_on_client_warning;
  ours.on_ask = options->on_ask != NULL ? mcp_provider_on_client_ask : NULL;
  ours.offers = options->offers != NULL ? mcp_provider_offers : NULL;
  ours.arg = self;
  LT_TRY(mcp_provider_enter(self, before, err));
  lt_status status = lt_mcp_open(self->loop, &ours, &self->mcp, err);
  if (status != LT_OK) {
    lt_door_remove(self->door, &self->base);
  }
  return status;
}

lt_status lt_mcp_provider_open(lt_loop *loop, lt_door *door, const lt_mcp_options *options,
                               const lt_mcp_provider *before, lt_mcp_provider **ret_provider, lt_err *err) {
  lt_mcp_provider *self = lt_mem_zalloc(1, sizeof *self);
  char *name = lt_mem_strdup(options->name);
  if (self == NULL || name == NULL) {
    lt_mem_free(self);
    lt_mem_free(name);
    return lt_fail(err, LT_E_NOMEM, "no memory for the server \"%.*s\"", LT_STR_ARG(options->name));
  }
  *self = (lt_mcp_provider){.loop = loop, .door = door, .user = *options, .name = name};
  self->base = (lt_provider){.name = lt_str_from(name, options->name.n),
                             .invoke = mcp_provider_invoke,
                             .down = mcp_provider_down,
                             .wake = mcp_provider_wake,
                             .may_retry = mcp_provider_may_retry,
                             .look = mcp_provider_look,
                             .has_whole = true};
  mcp_provider_note_peer(self, options->url);
  lt_status status = mcp_provider_open_mcp_client(self, options, before, err);
  if (status != LT_OK) {
    lt_mcp_provider_free(self);
    return status;
  }
  *ret_provider = self;
  return LT_OK;
}

lt_mcp *lt_mcp_provider_client(lt_mcp_provider *provider) {
  return provider->mcp;
}

void lt_mcp_provider_leave(lt_mcp_provider *provider) {
  provider->has_left = true;
  lt_door_remove(provider->door, &provider->base);
}

void lt_mcp_provider_end(lt_mcp_provider *provider, lt_cancel *hurry) {
  lt_mcp_provider_leave(provider);
  if (hurry != NULL) {
    lt_mcp_drain(provider->mcp, hurry);
  }
  lt_mcp_shut_down(provider->mcp);
}

void lt_mcp_provider_free(lt_mcp_provider *provider) {
  if (provider != NULL) {
    lt_mcp_free(provider->mcp);
    lt_mem_free(provider->name);
    lt_mem_free(provider);
  }
}
