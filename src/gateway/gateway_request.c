#include "gateway/gateway_request.h"

#include "base/limits.h"
#include "base/mem.h"
#include "gateway/gateway_asking.h"
#include "gateway/gateway_direct.h"
#include "gateway/gateway_changes.h"
#include "gateway/gateway_notices.h"
#include "gateway/gateway_pages.h"
#include "gateway/gateway_prompts.h"
#include "gateway/gateway_resources.h"
#include "gateway/gateway_runs.h"
#include "gateway/gateway_text.h"

#define MODERN       LT_MCP_VERSION_MODERN
#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_SERVER  "io.modelcontextprotocol/serverInfo"

/* --- Handshake, discovery ----------------------------------------------------------------------------------------- */
static void gateway_request_put_server(lt_gateway_request *r, const char *key) {
  lt_json_key(r->w, key);
  lt_json_begin_object(r->w);
  lt_json_key(r->w, "name");
  lt_json_put_cstr(r->w, "lathe");
  lt_json_key(r->w, "title");
  lt_json_put_cstr(r->w, "Lathe");
  lt_json_key(r->w, "version");
  lt_json_put_cstr(r->w, LT_VERSION);
  lt_json_end_object(r->w);
}

static void gateway_request_put_capabilities(lt_gateway_request *r) {
  lt_json_key(r->w, "capabilities");
  lt_json_begin_object(r->w);
  lt_json_key(r->w, "tools");
  lt_json_put_raw(r->w, LT_STR("{\"listChanged\":true}"));
  if (lt_gateway_upstreams_have_any(r->gateway)) {
    lt_json_key(r->w, "resources");
    lt_json_put_raw(r->w, LT_STR("{\"subscribe\":true,\"listChanged\":true}"));
    lt_json_key(r->w, "prompts");
    lt_json_put_raw(r->w, LT_STR("{\"listChanged\":true}"));
    lt_json_key(r->w, "completions");
    lt_json_put_raw(r->w, LT_STR("{}"));
    lt_json_key(r->w, "logging");
    lt_json_put_raw(r->w, LT_STR("{}"));
  }
  lt_json_end_object(r->w);
}

static lt_status gateway_request_put_instructions(lt_gateway_request *r) {
  LT_AUTO_BUF(text, LT_GATEWAY_TEXT_BYTES);
  LT_TRY(lt_gateway_text_instructions(r->gateway, &text, r->err));
  lt_json_key(r->w, "instructions");
  lt_json_put_str(r->w, lt_buf_view(&text));
  return LT_OK;
}

/* "If the server supports the requested protocol version, it MUST respond with the same version. Otherwise, the server
 * MUST respond with another protocol version it supports." (2025-11-25, Lifecycle, Version Negotiation) */
static lt_status gateway_request_initialize(lt_gateway_request *r) LT_YIELDS {
  lt_str version = LT_STR_NULL;
  (void)lt_json_str(lt_json_get(r->params, "protocolVersion"), r->arena, &version);
  version = lt_mcp_version_known(version) ? version : LT_STR(LT_MCP_VERSION_OFFERED);
  LT_TRY(lt_gateway_peer_greet(r->peer, r->params, version, r->err));
  lt_json_key(r->w, "protocolVersion");
  lt_json_put_str(r->w, version);
  gateway_request_put_capabilities(r);
  gateway_request_put_server(r, "serverInfo");
  return gateway_request_put_instructions(r);
}

static lt_status gateway_request_discover(lt_gateway_request *r) LT_YIELDS {
  lt_json_key(r->w, "supportedVersions");
  lt_json_begin_array(r->w);
  lt_json_put_cstr(r->w, MODERN);
  lt_json_end_array(r->w);
  gateway_request_put_capabilities(r);
  gateway_request_put_server(r, "serverInfo");
  lt_json_key(r->w, "_meta"); /* where a later wording of 2026-07-28 has it */
  lt_json_begin_object(r->w);
  gateway_request_put_server(r, META_SERVER);
  lt_json_end_object(r->w);
  LT_TRY(gateway_request_put_instructions(r));
  lt_json_key(r->w, "ttlMs");
  lt_json_put_int(r->w, LT_GATEWAY_LIST_TTL_MS);
  lt_json_key(r->w, "cacheScope");
  lt_json_put_cstr(r->w, "private");
  return LT_OK;
}

static lt_status gateway_request_ping(lt_gateway_request *r) LT_YIELDS {
  (void)r;
  return LT_OK;
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
#define GATEWAY_TOOL_ROW(name) &lt_gateway_##name,
static const lt_gateway_tool *const gateway_tools[] = {LT_GATEWAY_TOOLS(GATEWAY_TOOL_ROW)};
#define GATEWAY_TOOL_COUNT (sizeof gateway_tools / sizeof gateway_tools[0])

static lt_status gateway_request_put_tool(lt_gateway_request *r, const lt_gateway_tool *tool) {
  bool is_deciding = r->gateway->session->config.mcp_approves_by_call && tool->deciding_input_schema != NULL;
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
  lt_json_put_raw(r->w, lt_str_of(is_deciding ? tool->deciding_input_schema : tool->input_schema));
  lt_json_key(r->w, "annotations");
  lt_json_put_raw(r->w, lt_str_of(is_deciding ? tool->deciding_annotations : tool->annotations));
  lt_json_end_object(r->w);
  return LT_OK;
}

static lt_status gateway_request_list(lt_gateway_request *r) LT_YIELDS {
  lt_json_key(r->w, "tools");
  lt_json_begin_array(r->w);
  for (size_t i = 0; i < GATEWAY_TOOL_COUNT; i++) {
    LT_TRY(gateway_request_put_tool(r, gateway_tools[i]));
  }
  LT_TRY(lt_gateway_direct_put_all(r->gateway, r->w, r->err));
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

/* "resultType" is of each message, and ours. */
static bool gateway_request_put_whole(lt_gateway_request *r, lt_str whole) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  if (whole.n == 0 || lt_json_parse(&arena, whole, &doc, NULL) != LT_OK) {
    return false;
  }
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_str key;
    if (!lt_json_str_eq(it.key, LT_STR("resultType")) && lt_json_str(it.key, &arena, &key)) {
      r->span.is_tool_error |= lt_str_eqc(key, "isError") && lt_json_bool(it.value, false);
      lt_json_key_str(r->w, key);
      lt_json_put_raw(r->w, lt_json_text(it.value));
    }
  }
  return true;
}

static void gateway_request_put_answer(lt_gateway_request *r, const lt_gateway_answer *answer) {
  if (gateway_request_put_whole(r, lt_buf_view(&answer->whole))) {
    return;
  }
  lt_json_key(r->w, "content");
  lt_json_begin_array(r->w);
  lt_json_begin_object(r->w);
  lt_json_key(r->w, "type");
  lt_json_put_cstr(r->w, "text");
  lt_json_key(r->w, "text");
  lt_json_put_str(r->w, lt_buf_view(&answer->text));
  lt_json_end_object(r->w);
  if (answer->blocks.n > 0) {
    lt_json_put_raw(r->w, lt_buf_view(&answer->blocks));
  }
  lt_json_end_array(r->w);
  r->span.is_tool_error = answer->is_error;
  if (answer->is_error) {
    lt_json_key(r->w, "isError");
    lt_json_put_bool(r->w, true);
  }
}

/* The call was made before: this one brings what the client was asked for. */
static lt_status gateway_request_resume(lt_gateway_request *r, lt_str run, bool is_cut, lt_gateway_answer *answer,
                                        lt_err *err) LT_YIELDS {
  LT_TRY(lt_gateway_runs_answer(r, run, answer, err));
  return is_cut ? lt_gateway_pages_cut(run, answer, err) : LT_OK;
}

/* A failure that the model can repair is an answer, not an error of the protocol, which clients do not show it. */
static lt_status gateway_request_call(lt_gateway_request *r) LT_YIELDS {
  lt_gateway_notices_follow_level(r);
  lt_json name = lt_json_get(r->params, "name"), arguments = lt_json_get(r->params, "arguments");
  const lt_gateway_tool *tool = gateway_request_find_tool(name);
  LT_AUTO_BUF(direct, LT_MIB);
  lt_str wire;
  LT_AUTO_BUF(run, LT_KIB);
  lt_status resumed = lt_gateway_asking_take_input(r->gateway->asking, r, &run, r->err);
  if (resumed != LT_OK && resumed != LT_E_NOTFOUND) {
    return resumed;
  }
  *r->err = LT_ERR_INIT;
  if (tool == NULL && (!lt_json_str(name, r->arena, &wire) || !lt_gateway_direct_find(r->gateway, wire, &direct))) {
    return lt_fail(r->err, LT_E_INVALID,
                   "there is no such tool: tools of servers are called in a program, by execute_code");
  }
  r->span.tool = tool != NULL ? lt_str_of(tool->name) : wire;
  LT_ERR_VAR(why);
  lt_gateway_answer answer = {.is_error = false};
  lt_buf_init(&answer.text, LT_JSON_MAX_BYTES);
  lt_buf_init(&answer.whole, LT_JSON_MAX_BYTES);
  lt_buf_init(&answer.blocks, 2 * LT_GATEWAY_IMAGES_BYTES);
  lt_status status = resumed == LT_OK ? gateway_request_resume(r, lt_buf_view(&run), tool != NULL, &answer, &why)
                     : tool != NULL   ? tool->call(r, arguments, &answer, &why)
                                      : lt_gateway_direct_call(r, lt_buf_view(&direct), arguments, &answer, &why);
  if (status != LT_OK) {
    lt_buf_clear(&answer.text);
    lt_buf_addc(&answer.text, lt_err_msg(&why));
    answer.is_error = true;
  }
  lt_secrets_mask_buf(r->gateway->session->secrets, &answer.text);
  if (r->wants_input) {
    status = lt_gateway_asking_put_input(r->gateway->asking, r);
  } else if ((status = tool == NULL ? lt_gateway_direct_check(r, &answer) : LT_OK) == LT_OK) {
    gateway_request_put_answer(r, &answer);
  }
  lt_buf_release(&answer.text);
  lt_buf_release(&answer.whole);
  lt_buf_release(&answer.blocks);
  return status;
}

/* --- Methods ------------------------------------------------------------------------------------------------------ */
typedef enum gateway_era { ANY_ERA, LEGACY_ONLY, MODERN_ONLY } gateway_era;

static const struct gateway_method {
  const char *name;
  gateway_era era;
  lt_status (*answer)(lt_gateway_request *r) LT_YIELDS;
} gateway_methods[] = {
    {"initialize", LEGACY_ONLY, gateway_request_initialize},
    {"ping", LEGACY_ONLY, gateway_request_ping},
    {"server/discover", MODERN_ONLY, gateway_request_discover},
    {"tools/list", ANY_ERA, gateway_request_list},
    {"tools/call", ANY_ERA, gateway_request_call},
    {"subscriptions/listen", MODERN_ONLY, lt_gateway_changes_serve},
    {"logging/setLevel", LEGACY_ONLY, lt_gateway_notices_set_level},
    {"resources/list", ANY_ERA, lt_gateway_resources_list},
    {"resources/templates/list", ANY_ERA, lt_gateway_resources_list_templates},
    {"resources/read", ANY_ERA, lt_gateway_resources_read},
    {"resources/subscribe", LEGACY_ONLY, lt_gateway_resources_subscribe},
    {"resources/unsubscribe", LEGACY_ONLY, lt_gateway_resources_unsubscribe},
    {"prompts/list", ANY_ERA, lt_gateway_prompts_list},
    {"prompts/get", ANY_ERA, lt_gateway_prompts_get},
    {"completion/complete", ANY_ERA, lt_gateway_resources_complete},
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

static lt_status gateway_request_refuse_version(lt_gateway_request *r) {
  r->code = LT_MCP_UNSUPPORTED_VERSION;
  LT_AUTO_BUF(data, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_key(&w, "supported");
  lt_json_begin_array(&w);
  lt_json_put_cstr(&w, MODERN);
  lt_json_end_array(&w);
  lt_json_key(&w, "requested");
  lt_json_put_raw(&w, lt_json_text(lt_json_get(r->meta, META_VERSION)));
  lt_json_end_object(&w);
  r->data = lt_arena_dup_buf(r->arena, &data);
  return lt_fail(r->err, LT_E_UNSUPPORTED, "Unsupported protocol version");
}

lt_status lt_gateway_request_carry_out(lt_gateway_request *r) {
  lt_json version = lt_json_get(r->meta, META_VERSION);
  r->is_modern = lt_json_exists(version);
  if (r->is_modern && !lt_json_str_eq(version, LT_STR(MODERN))) {
    return gateway_request_refuse_version(r);
  }
  const struct gateway_method *method = gateway_request_find_method(r->message->parts.method, r->is_modern);
  if (method == NULL) {
    r->code = LT_MCP_METHOD_NOT_FOUND;
    return lt_fail(r->err, LT_E_NOTFOUND, "Method not found");
  }
  r->span.method = lt_str_of(method->name);
  LT_TRY(method->answer(r));
  if (r->is_modern && !r->wants_input) {
    lt_json_key(r->w, "resultType");
    lt_json_put_cstr(r->w, "complete");
  }
  return LT_OK;
}
