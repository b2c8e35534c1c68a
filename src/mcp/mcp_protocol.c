#include "mcp/mcp_protocol.h"

#include "base/limits.h"

static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

bool lt_mcp_version_known(lt_str version) {
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    if (lt_str_eqc(version, versions[i])) {
      return true;
    }
  }
  return false;
}

bool lt_mcp_version_in(lt_json list) {
  for (lt_json_iter it = lt_json_each(list); lt_json_next(&it);) {
    if (lt_json_str_eq(it.value, LT_STR(LT_MCP_VERSION_MODERN))) {
      return true;
    }
  }
  return false;
}

bool lt_mcp_id_read(lt_json id, int64_t *ret_id) {
  return lt_json_typeof(id) == LT_JSON_NUMBER && lt_json_int(id, ret_id);
}

/* "Requests MUST include a string or integer ID. Unlike base JSON-RPC, the ID MUST NOT be `null`." (Overview, Requests)
 */
static bool mcp_protocol_is_request_id(lt_json id) {
  int64_t n;
  return lt_json_typeof(id) == LT_JSON_STRING || lt_mcp_id_read(id, &n);
}

static void mcp_protocol_read_called(lt_json value, lt_mcp_message *m) {
  m->params = lt_json_get(value, "params");
  if (!lt_json_exists(m->id)) {
    m->kind = LT_MCP_NOTIFICATION;
  } else if (mcp_protocol_is_request_id(m->id)) {
    m->kind = LT_MCP_REQUEST;
  }
}

static void mcp_protocol_read_response(lt_json value, lt_mcp_message *m) {
  m->result = lt_json_get(value, "result");
  m->error = lt_json_get(value, "error");
  if (lt_json_typeof(m->error) == LT_JSON_NULL) {
    m->error = (lt_json){NULL, 0}; /* some old libraries send `"error": null` beside a result */
  }
  if (lt_json_exists(m->error)) {
    m->result = (lt_json){NULL, 0};
  }
  /* An error for a request that could not be read has no id. Without id and error it is no message. */
  if (lt_json_exists(m->id) || lt_json_exists(m->error)) {
    m->kind = LT_MCP_RESPONSE;
  }
}

lt_mcp_message lt_mcp_message_read(lt_json value) {
  lt_mcp_message m = {.kind = LT_MCP_NOISE};
  if (!lt_json_str_eq(lt_json_get(value, "jsonrpc"), LT_STR("2.0"))) {
    return m;
  }
  m.id = lt_json_get(value, "id");
  m.method = lt_json_get(value, "method");
  if (lt_json_typeof(m.method) == LT_JSON_STRING) {
    mcp_protocol_read_called(value, &m);
  } else if (!lt_json_exists(m.method)) {
    mcp_protocol_read_response(value, &m);
  }
  return m;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static lt_json_writer mcp_protocol_begin(lt_buf *out, int64_t id, const char *method) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "jsonrpc");
  lt_json_put_cstr(&w, "2.0");
  if (id > 0) {
    lt_json_key(&w, "id");
    lt_json_put_int(&w, id);
  }
  lt_json_key(&w, "method");
  lt_json_put_cstr(&w, method);
  return w;
}

/* "Messages are delimited by newlines, and MUST NOT contain embedded newlines." (Transports, stdio) */
static void mcp_protocol_end(lt_json_writer *w) {
  lt_json_end_object(w);
  lt_buf_byte(w->buf, '\n');
}

static void mcp_protocol_begin_params(lt_json_writer *w) {
  lt_json_key(w, "params");
  lt_json_begin_object(w);
}

static void mcp_protocol_put_capability(lt_json_writer *w, const char *name, bool is_there) {
  if (is_there) {
    lt_json_key(w, name);
    lt_json_begin_object(w);
    lt_json_end_object(w);
  }
}

static void mcp_protocol_put_capabilities(lt_json_writer *w, const lt_mcp_self *self) {
  lt_json_begin_object(w);
  if (self->has_forms || self->has_urls) {
    lt_json_key(w, "elicitation");
    lt_json_begin_object(w);
    mcp_protocol_put_capability(w, "form", self->has_forms);
    mcp_protocol_put_capability(w, "url", self->has_urls);
    lt_json_end_object(w);
  }
  mcp_protocol_put_capability(w, "roots", self->has_roots);
  mcp_protocol_put_capability(w, "sampling", self->has_sampling);
  lt_json_end_object(w);
}

static void mcp_protocol_put_client_info(lt_json_writer *w) {
  lt_json_begin_object(w);
  lt_json_key(w, "name");
  lt_json_put_cstr(w, "lathe");
  lt_json_key(w, "version");
  lt_json_put_cstr(w, LT_VERSION);
  lt_json_end_object(w);
}

/* "the context propagation keys SHOULD be written unprefixed" (Semantic conventions for MCP, Context propagation) */
static void mcp_protocol_put_trace(lt_json_writer *w, const lt_trace_context *trace) {
  char parent[LT_TRACE_PARENT_LENGTH + 1];
  if (!lt_trace_context_has_span(trace)) {
    return;
  }
  lt_trace_context_print(trace, parent);
  lt_json_key(w, "traceparent");
  lt_json_put_cstr(w, parent);
  if (trace->state.n > 0) {
    lt_json_key(w, "tracestate");
    lt_json_put_str(w, trace->state);
  }
}

/* "Every request declares the protocol version it is using in its `_meta` field" (2026-07-28, Versioning); "Progress
 * tokens [...] MUST be unique across all active requests." (Progress): the ids are unique. 0: no progress is wanted. */
static void mcp_protocol_put_meta(lt_json_writer *w, const lt_mcp_self *self, int64_t progress_token,
                                  const lt_trace_context *trace) {
  if (!self->is_modern && progress_token == 0 && !lt_trace_context_has_span(trace)) {
    return;
  }
  lt_json_key(w, "_meta");
  lt_json_begin_object(w);
  if (progress_token != 0) {
    lt_json_key(w, "progressToken");
    lt_json_put_int(w, progress_token);
  }
  mcp_protocol_put_trace(w, trace);
  if (self->is_modern) {
    lt_json_key(w, "io.modelcontextprotocol/protocolVersion");
    lt_json_put_cstr(w, LT_MCP_VERSION_MODERN);
    lt_json_key(w, "io.modelcontextprotocol/clientInfo");
    mcp_protocol_put_client_info(w);
    lt_json_key(w, "io.modelcontextprotocol/clientCapabilities");
    mcp_protocol_put_capabilities(w, self);
    lt_json_key(w, "io.modelcontextprotocol/logLevel");
    lt_json_put_cstr(w, self->log_level != NULL ? self->log_level : LT_MCP_LOG_LEVEL);
  }
  lt_json_end_object(w);
}

void lt_mcp_write_discover(lt_buf *out, int64_t id, const lt_mcp_self *self) {
  lt_json_writer w = mcp_protocol_begin(out, id, "server/discover");
  mcp_protocol_begin_params(&w);
  mcp_protocol_put_meta(&w, self, 0, NULL);
  lt_json_end_object(&w);
  mcp_protocol_end(&w);
}

/* "The client MUST initiate this phase by sending an `initialize` request containing: protocol version supported,
 * client capabilities, client implementation information" (Lifecycle, Initialization). */
void lt_mcp_write_initialize(lt_buf *out, int64_t id, const lt_mcp_self *self) {
  lt_json_writer w = mcp_protocol_begin(out, id, "initialize");
  mcp_protocol_begin_params(&w);
  lt_json_key(&w, "protocolVersion");
  lt_json_put_cstr(&w, LT_MCP_VERSION_OFFERED);
  lt_json_key(&w, "capabilities");
  mcp_protocol_put_capabilities(&w, self);
  lt_json_key(&w, "clientInfo");
  mcp_protocol_put_client_info(&w);
  lt_json_end_object(&w);
  mcp_protocol_end(&w);
}

void lt_mcp_write_initialized(lt_buf *out) {
  lt_json_writer w = mcp_protocol_begin(out, 0, "notifications/initialized");
  mcp_protocol_end(&w);
}

void lt_mcp_write_list(lt_buf *out, int64_t id, const lt_mcp_self *self, lt_str cursor) {
  lt_json_writer w = mcp_protocol_begin(out, id, "tools/list");
  mcp_protocol_begin_params(&w);
  if (cursor.n > 0) {
    lt_json_key(&w, "cursor");
    lt_json_put_raw(&w, cursor);
  }
  mcp_protocol_put_meta(&w, self, 0, NULL);
  lt_json_end_object(&w);
  mcp_protocol_end(&w);
}

void lt_mcp_write_listen(lt_buf *out, int64_t id, const lt_mcp_self *self) {
  lt_json_writer w = mcp_protocol_begin(out, id, "subscriptions/listen");
  mcp_protocol_begin_params(&w);
  lt_json_key(&w, "notifications");
  lt_json_begin_object(&w);
  lt_json_key(&w, "toolsListChanged");
  lt_json_put_bool(&w, true);
  lt_json_end_object(&w);
  mcp_protocol_put_meta(&w, self, 0, NULL);
  lt_json_end_object(&w);
  mcp_protocol_end(&w);
}

void lt_mcp_write_set_level(lt_buf *out, int64_t id, const char *level) {
  lt_json_writer w = mcp_protocol_begin(out, id, "logging/setLevel");
  mcp_protocol_begin_params(&w);
  lt_json_key(&w, "level");
  lt_json_put_cstr(&w, level);
  lt_json_end_object(&w);
  mcp_protocol_end(&w);
}

static bool mcp_protocol_is_lone_surrogate(lt_str s, size_t i) {
  return i + 2 < s.n && (unsigned char)s.p[i] == 0xED && (unsigned char)s.p[i + 1] >= 0xA0;
}

/* The offset of the first byte that must not be sent unchanged. */
static size_t mcp_protocol_find_unfit(lt_str json, size_t from) {
  for (size_t i = from; i < json.n; i++) {
    if (json.p[i] == '\n' || json.p[i] == '\r' || mcp_protocol_is_lone_surrogate(json, i)) {
      return i;
    }
  }
  return json.n;
}

static size_t mcp_protocol_put_fit(lt_buf *buf, lt_str json, size_t i) {
  if (!mcp_protocol_is_lone_surrogate(json, i)) {
    lt_buf_byte(buf, ' '); /* in checked JSON a line end is between tokens, where a space means the same */
    return i + 1;
  }
  unsigned unit = 0xD000U | (unsigned)(json.p[i + 1] & 0x3F) << 6 | (unsigned)(json.p[i + 2] & 0x3F);
  lt_buf_printf(buf, "\\u%04x", unit);
  return i + 3;
}

/* One line, and "JSON-RPC messages MUST be UTF-8 encoded" (Transports): checked JSON may have line ends between its
 * tokens, and Lathe's may have lone surrogates in its strings. */
static void mcp_protocol_put_wire_json(lt_json_writer *w, lt_str json) {
  size_t unfit = mcp_protocol_find_unfit(json, 0);
  if (unfit == json.n) {
    lt_json_put_raw(w, json);
    return;
  }
  LT_AUTO_BUF(fit, w->buf->max);
  size_t done = 0;
  while (unfit < json.n) {
    lt_buf_add(&fit, lt_str_sub(json, done, unfit));
    done = mcp_protocol_put_fit(&fit, json, unfit);
    unfit = mcp_protocol_find_unfit(json, done);
  }
  lt_buf_add(&fit, lt_str_sub(json, done, json.n));
  lt_json_put_raw(w, lt_buf_view(&fit));
  if (fit.status != LT_OK && w->buf->status == LT_OK) {
    w->buf->status = fit.status;
  }
}

static void mcp_protocol_put_extra(lt_json_writer *w, int64_t id, const lt_mcp_self *self,
                                   const lt_mcp_call_extra *extra) {
  if (extra->input_responses.n > 0) {
    lt_json_key(w, "inputResponses");
    mcp_protocol_put_wire_json(w, extra->input_responses);
  }
  if (extra->request_state.n > 0) {
    lt_json_key(w, "requestState");
    mcp_protocol_put_wire_json(w, extra->request_state);
  }
  mcp_protocol_put_meta(w, self, extra->wants_progress ? id : 0, extra->trace);
}

void lt_mcp_write_request(lt_buf *out, int64_t id, const lt_mcp_self *self, const char *method, lt_str params,
                          const lt_mcp_call_extra *extra) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  lt_json_writer w = mcp_protocol_begin(out, id, method);
  mcp_protocol_begin_params(&w);
  if (lt_json_parse(&arena, params, &doc, NULL) != LT_OK) {
    out->status = LT_E_NOMEM;
    return;
  }
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_str key;
    if (!lt_json_str_eq(it.key, LT_STR("_meta")) && lt_json_str(it.key, &arena, &key)) {
      lt_json_key_str(&w, key);
      mcp_protocol_put_wire_json(&w, lt_json_text(it.value));
    }
  }
  mcp_protocol_put_extra(&w, id, self, extra);
  lt_json_end_object(&w);
  mcp_protocol_end(&w);
}

void lt_mcp_write_call(lt_buf *out, int64_t id, const lt_mcp_self *self, lt_str tool, lt_str arguments,
                       const lt_mcp_call_extra *extra) {
  lt_json_writer w = mcp_protocol_begin(out, id, "tools/call");
  mcp_protocol_begin_params(&w);
  lt_json_key(&w, "name");
  lt_json_put_str(&w, tool);
  lt_json_key(&w, "arguments");
  mcp_protocol_put_wire_json(&w, arguments);
  mcp_protocol_put_extra(&w, id, self, extra);
  lt_json_end_object(&w);
  mcp_protocol_end(&w);
}

void lt_mcp_write_cancelled(lt_buf *out, int64_t id, const char *reason) {
  lt_json_writer w = mcp_protocol_begin(out, 0, "notifications/cancelled");
  mcp_protocol_begin_params(&w);
  lt_json_key(&w, "requestId");
  lt_json_put_int(&w, id);
  lt_json_key(&w, "reason");
  lt_json_put_cstr(&w, reason);
  lt_json_end_object(&w);
  mcp_protocol_end(&w);
}

static void mcp_protocol_begin_answer(lt_json_writer *w, lt_str id) {
  lt_json_begin_object(w);
  lt_json_key(w, "jsonrpc");
  lt_json_put_cstr(w, "2.0");
  lt_json_key(w, "id");
  mcp_protocol_put_wire_json(w, id);
}

void lt_mcp_put_empty_result(lt_json_writer *w, lt_str id) {
  mcp_protocol_begin_answer(w, id);
  lt_json_key(w, "result");
  lt_json_begin_object(w);
  lt_json_end_object(w);
  lt_json_end_object(w);
}

void lt_mcp_put_error(lt_json_writer *w, lt_str id, int code, const char *message) {
  mcp_protocol_begin_answer(w, id);
  lt_json_key(w, "error");
  lt_json_begin_object(w);
  lt_json_key(w, "code");
  lt_json_put_int(w, code);
  lt_json_key(w, "message");
  lt_json_put_cstr(w, message);
  lt_json_end_object(w);
  lt_json_end_object(w);
}

void lt_mcp_put_result(lt_json_writer *w, lt_str id, lt_str result) {
  mcp_protocol_begin_answer(w, id);
  lt_json_key(w, "result");
  mcp_protocol_put_wire_json(w, result);
  lt_json_end_object(w);
}
