#include "gateway/gateway_request.h"

#include "base/limits.h"
#include "base/mem.h"
#include "gateway/gateway_text.h"

#define MODERN              "2026-07-28"
#define META_VERSION        "io.modelcontextprotocol/protocolVersion"
#define PARSE_ERROR         (-32700)
#define INVALID             (-32600)
#define INTERNAL_ERROR      (-32603)
#define BUSY                (-32000)
#define UNSUPPORTED_VERSION (-32022)

typedef struct gateway_request {
  lt_gateway *gateway;
  lt_json params;
  lt_arena *arena;
  lt_json_writer *w; /* where the result goes */
  bool is_modern;    /* of 2026-07-28 */
  lt_err *err;
  int code; /* of the error, where another one than the status says; 0: that one */
} gateway_request;

/* --- Handshake, discovery ----------------------------------------------------------------------------------------- */
static void gateway_request_put_server(gateway_request *r) {
  lt_json_key(r->w, "serverInfo");
  lt_json_begin_object(r->w);
  lt_json_key(r->w, "name");
  lt_json_put_cstr(r->w, "lathe");
  lt_json_key(r->w, "title");
  lt_json_put_cstr(r->w, "Lathe");
  lt_json_key(r->w, "version");
  lt_json_put_cstr(r->w, LT_VERSION);
  lt_json_end_object(r->w);
}

static void gateway_request_put_capabilities(gateway_request *r) {
  lt_json_key(r->w, "capabilities");
  lt_json_begin_object(r->w);
  lt_json_key(r->w, "tools");
  lt_json_begin_object(r->w);
  lt_json_end_object(r->w);
  lt_json_end_object(r->w);
}

static lt_status gateway_request_put_instructions(gateway_request *r) {
  LT_AUTO_BUF(text, LT_GATEWAY_TEXT_BYTES);
  LT_TRY(lt_gateway_text_instructions(r->gateway, &text, r->err));
  lt_json_key(r->w, "instructions");
  lt_json_put_str(r->w, lt_buf_view(&text));
  return LT_OK;
}

/* "If the server supports the requested protocol version, it MUST respond with the same version. Otherwise, the server
 * MUST respond with another protocol version it supports." (2025-11-25, Lifecycle, Version Negotiation) */
static lt_status gateway_request_initialize(gateway_request *r) LT_YIELDS {
  lt_str version = LT_STR_NULL;
  (void)lt_json_str(lt_json_get(r->params, "protocolVersion"), r->arena, &version);
  lt_json_key(r->w, "protocolVersion");
  lt_json_put_str(r->w, lt_mcp_version_known(version) ? version : LT_STR(LT_MCP_VERSION_OFFERED));
  gateway_request_put_capabilities(r);
  gateway_request_put_server(r);
  return gateway_request_put_instructions(r);
}

static lt_status gateway_request_discover(gateway_request *r) LT_YIELDS {
  lt_json_key(r->w, "supportedVersions");
  lt_json_begin_array(r->w);
  lt_json_put_cstr(r->w, MODERN);
  lt_json_end_array(r->w);
  gateway_request_put_capabilities(r);
  gateway_request_put_server(r);
  LT_TRY(gateway_request_put_instructions(r));
  lt_json_key(r->w, "ttlMs");
  lt_json_put_int(r->w, LT_GATEWAY_LIST_TTL_MS);
  lt_json_key(r->w, "cacheScope");
  lt_json_put_cstr(r->w, "private");
  return LT_OK;
}

static lt_status gateway_request_ping(gateway_request *r) LT_YIELDS {
  (void)r;
  return LT_OK;
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
#define GATEWAY_TOOL_ROW(name) &lt_gateway_##name,
static const lt_gateway_tool *const gateway_tools[] = {LT_GATEWAY_TOOLS(GATEWAY_TOOL_ROW)};
#define GATEWAY_TOOL_COUNT (sizeof gateway_tools / sizeof gateway_tools[0])

static lt_status gateway_request_put_tool(gateway_request *r, const lt_gateway_tool *tool) {
  LT_AUTO_BUF(text, LT_GATEWAY_TEXT_BYTES);
  LT_TRY(tool->describe(r->gateway, &text, r->err));
  lt_json_begin_object(r->w);
  lt_json_key(r->w, "name");
  lt_json_put_cstr(r->w, tool->name);
  lt_json_key(r->w, "title");
  lt_json_put_cstr(r->w, tool->title);
  lt_json_key(r->w, "description");
  lt_json_put_str(r->w, lt_buf_view(&text));
  lt_json_key(r->w, "inputSchema");
  lt_json_put_raw(r->w, lt_str_of(tool->input_schema));
  lt_json_key(r->w, "annotations");
  lt_json_put_raw(r->w, lt_str_of(tool->annotations));
  lt_json_end_object(r->w);
  return LT_OK;
}

static lt_status gateway_request_list(gateway_request *r) LT_YIELDS {
  lt_json_key(r->w, "tools");
  lt_json_begin_array(r->w);
  for (size_t i = 0; i < GATEWAY_TOOL_COUNT; i++) {
    LT_TRY(gateway_request_put_tool(r, gateway_tools[i]));
  }
  lt_json_end_array(r->w);
  if (r->is_modern) {
    lt_json_key(r->w, "ttlMs");
    lt_json_put_int(r->w, LT_GATEWAY_LIST_TTL_MS);
    lt_json_key(r->w, "cacheScope");
    lt_json_put_cstr(r->w, "private");
  }
  return LT_OK;
}

static const lt_gateway_tool *gateway_request_find_tool(lt_json name) {
  for (size_t i = 0; i < GATEWAY_TOOL_COUNT; i++) {
    if (lt_json_str_eq(name, lt_str_of(gateway_tools[i]->name))) {
      return gateway_tools[i];
    }
  }
  return NULL;
}

static void gateway_request_put_answer(gateway_request *r, const lt_gateway_answer *answer) {
  lt_json_key(r->w, "content");
  lt_json_begin_array(r->w);
  lt_json_begin_object(r->w);
  lt_json_key(r->w, "type");
  lt_json_put_cstr(r->w, "text");
  lt_json_key(r->w, "text");
  lt_json_put_str(r->w, lt_buf_view(&answer->text));
  lt_json_end_object(r->w);
  lt_json_end_array(r->w);
  if (answer->is_error) {
    lt_json_key(r->w, "isError");
    lt_json_put_bool(r->w, true);
  }
}

/* A failure that the model can repair is an answer, not an error of the protocol, which clients do not show it. */
static lt_status gateway_request_call(gateway_request *r) LT_YIELDS {
  const lt_gateway_tool *tool = gateway_request_find_tool(lt_json_get(r->params, "name"));
  if (tool == NULL) {
    return lt_fail(r->err, LT_E_INVALID,
                   "there is no such tool: tools of servers are called in a program, by execute_code");
  }
  lt_err why = LT_ERR_INIT;
  lt_gateway_answer answer = {.is_error = false};
  lt_buf_init(&answer.text, LT_JSON_MAX_BYTES);
  if (tool->call(r->gateway, lt_json_get(r->params, "arguments"), &answer, &why) != LT_OK) {
    lt_buf_clear(&answer.text);
    lt_buf_addc(&answer.text, lt_err_msg(&why));
    answer.is_error = true;
  }
  lt_secrets_mask_buf(r->gateway->session->secrets, &answer.text);
  gateway_request_put_answer(r, &answer);
  lt_buf_release(&answer.text);
  return LT_OK;
}

/* --- Methods ------------------------------------------------------------------------------------------------------ */
typedef enum gateway_era { ANY_ERA, LEGACY_ONLY, MODERN_ONLY } gateway_era;

static const struct gateway_method {
  const char *name;
  gateway_era era;
  lt_status (*answer)(gateway_request *r) LT_YIELDS;
} gateway_methods[] = {
    {"initialize", LEGACY_ONLY, gateway_request_initialize},
    {"ping", LEGACY_ONLY, gateway_request_ping},
    {"server/discover", MODERN_ONLY, gateway_request_discover},
    {"tools/list", ANY_ERA, gateway_request_list},
    {"tools/call", ANY_ERA, gateway_request_call},
};

static const struct gateway_method *gateway_request_find_method(lt_json name, bool is_modern) {
  for (size_t i = 0; i < sizeof gateway_methods / sizeof gateway_methods[0]; i++) {
    const struct gateway_method *m = &gateway_methods[i];
    bool is_of_era = m->era == ANY_ERA || (m->era == MODERN_ONLY) == is_modern;
    if (is_of_era && lt_json_str_eq(name, lt_str_of(m->name))) {
      return m;
    }
  }
  return NULL;
}

static lt_json gateway_request_version(lt_json params) {
  return lt_json_get(lt_json_get(params, "_meta"), META_VERSION);
}

static lt_status gateway_request_carry_out(gateway_request *r, const lt_mcp_message *message) LT_YIELDS {
  lt_json version = gateway_request_version(r->params);
  r->is_modern = lt_json_exists(version);
  if (r->is_modern && !lt_json_str_eq(version, LT_STR(MODERN))) {
    r->code = UNSUPPORTED_VERSION;
    return lt_fail(r->err, LT_E_UNSUPPORTED, "Unsupported protocol version");
  }
  const struct gateway_method *method = gateway_request_find_method(message->method, r->is_modern);
  if (method == NULL) {
    r->code = LT_MCP_METHOD_NOT_FOUND;
    return lt_fail(r->err, LT_E_NOTFOUND, "Method not found");
  }
  return method->answer(r);
}

static void gateway_request_begin(lt_json_writer *w, lt_str id, const char *what) {
  lt_json_begin_object(w);
  lt_json_key(w, "jsonrpc");
  lt_json_put_cstr(w, "2.0");
  lt_json_key(w, "id");
  lt_json_put_raw(w, id);
  lt_json_key(w, what);
  lt_json_begin_object(w);
}

static void gateway_request_put_error(lt_json_writer *w, lt_str id, int code, const char *message) {
  gateway_request_begin(w, id, "error");
  lt_json_key(w, "code");
  lt_json_put_int(w, code);
  lt_json_key(w, "message");
  lt_json_put_cstr(w, message);
  if (code == UNSUPPORTED_VERSION) {
    lt_json_key(w, "data");
    lt_json_begin_object(w);
    lt_json_key(w, "supported");
    lt_json_begin_array(w);
    lt_json_put_cstr(w, MODERN);
    lt_json_end_array(w);
    lt_json_end_object(w);
  }
  lt_json_end_object(w);
  lt_json_end_object(w);
}

void lt_gateway_request_answer(lt_gateway *gateway, const lt_mcp_message *request, lt_arena *arena, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_err err = LT_ERR_INIT;
  gateway_request r = {.gateway = gateway, .params = request->params, .arena = arena, .w = &w, .err = &err};
  lt_str id = lt_json_text(request->id);
  gateway_request_begin(&w, id, "result");
  lt_status status = gateway_request_carry_out(&r, request);
  if (status == LT_OK && r.is_modern) {
    lt_json_key(&w, "resultType");
    lt_json_put_cstr(&w, "complete");
  }
  if (status == LT_OK) {
    lt_json_end_object(&w);
    lt_json_end_object(&w);
    return;
  }
  lt_buf_clear(out);
  w = lt_json_writer_on(out);
  gateway_request_put_error(&w, id, r.code != 0 ? r.code : lt_status_rpc(status), lt_err_msg(&err));
}

/* --- Messages ----------------------------------------------------------------------------------------------------- */
typedef struct gateway_message {
  lt_gateway *gateway;
  lt_gateway_peer peer;
  lt_arena arena;
  lt_json_doc doc;
  lt_mcp_message message;
} gateway_message;

static void gateway_message_free(gateway_message *m) {
  lt_arena_release(&m->arena);
  lt_mem_free(m);
}

static void gateway_message_refuse(const gateway_message *m, lt_str id, int code, const char *why) {
  LT_AUTO_BUF(out, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&out);
  gateway_request_put_error(&w, id.n > 0 ? id : LT_STR("null"), code, why);
  if (out.status == LT_OK) {
    m->peer.send(m->peer.arg, lt_buf_view(&out));
  }
}

static void gateway_message_on_fiber(void *arg) {
  gateway_message *m = arg;
  lt_gateway *gateway = m->gateway;
  LT_AUTO_BUF(out, LT_MCP_LINE_MAX_BYTES);
  lt_gateway_request_answer(gateway, &m->message, &m->arena, &out);
  if (out.status == LT_OK) {
    m->peer.send(m->peer.arg, lt_buf_view(&out));
  } else {
    gateway_message_refuse(m, lt_json_text(m->message.id), INTERNAL_ERROR, "the answer is too long");
  }
  gateway_message_free(m);
  if (--gateway->requests == 0) {
    lt_wait_wake(&gateway->answered, LT_OK);
  }
}

static lt_status gateway_message_read(gateway_message *m, lt_str text) {
  lt_str copy = lt_arena_dup(&m->arena, text);
  if (copy.p == NULL) {
    return LT_E_NOMEM;
  }
  LT_TRY(lt_json_parse(&m->arena, copy, &m->doc, NULL));
  m->message = lt_mcp_message_read(lt_json_root(&m->doc));
  return LT_OK;
}

/* True: a fiber answers, and owns the message. */
static bool gateway_message_begin(gateway_message *m) {
  lt_str id = lt_json_text(m->message.id);
  if (m->gateway->requests >= LT_GATEWAY_REQUESTS_MAX) {
    gateway_message_refuse(m, id, BUSY, "too many requests at once: wait for an answer first");
    return false;
  }
  if (lt_loop_spawn(m->gateway->session->loop, gateway_message_on_fiber, m, NULL) != LT_OK) {
    gateway_message_refuse(m, id, INTERNAL_ERROR, "no memory for another request");
    return false;
  }
  m->gateway->requests++;
  return true;
}

void lt_gateway_take(lt_gateway *gateway, const lt_gateway_peer *peer, lt_str text) {
  gateway_message *m = lt_mem_zalloc(1, sizeof *m);
  if (m == NULL) {
    return; /* without memory there is no answer either */
  }
  m->gateway = gateway;
  m->peer = *peer;
  lt_arena_init(&m->arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  bool is_taken = false;
  if (gateway_message_read(m, text) != LT_OK) {
    gateway_message_refuse(m, LT_STR_NULL, PARSE_ERROR, "Parse error: a message is one line of JSON");
  } else if (m->message.kind == LT_MCP_REQUEST) {
    is_taken = gateway_message_begin(m);
  } else if (m->message.kind == LT_MCP_NOISE) {
    gateway_message_refuse(m, LT_STR_NULL, INVALID, "Invalid Request: not a JSON-RPC 2.0 message");
  }
  if (!is_taken) {
    gateway_message_free(m);
  }
}
