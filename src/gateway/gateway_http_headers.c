#include "gateway/gateway_http_headers.h"

#include "base/limits.h"
#include "text/base64.h"

#define META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

static lt_json gateway_http_headers_meta(const lt_gateway_message *m, const char *name) {
  return lt_json_get(lt_json_get(m->parts.params, "_meta"), name);
}

static lt_str gateway_http_headers_of(const lt_http_call *call, const char *name) {
  return lt_str_trim(lt_http_call_header(call, name));
}

/* Versions are dates: they are in order as text. */
bool lt_gateway_http_headers_are_modern(const lt_http_call *call, const lt_gateway_message *m) {
  lt_str version = gateway_http_headers_of(call, "MCP-Protocol-Version");
  bool is_date = version.n == sizeof LT_MCP_VERSION_MODERN - 1 && version.p[4] == '-' && version.p[7] == '-';
  return lt_json_exists(gateway_http_headers_meta(m, META_VERSION)) ||
         (is_date && lt_str_cmp(version, LT_STR(LT_MCP_VERSION_MODERN)) >= 0);
}

/* "values that cannot be represented safely as plain ASCII are Base64-encoded" (2026-07-28, Value Encoding). */
static bool gateway_http_headers_equal(lt_str header, lt_json value) {
  const lt_str begin = LT_STR("=?base64?"), end = LT_STR("?=");
  if (!lt_str_starts(header, begin) || !lt_str_ends(header, end) || header.n < begin.n + end.n) {
    return lt_json_str_eq(value, header);
  }
  LT_AUTO_BUF(plain, LT_HTTP_HEADERS_MAX_BYTES);
  lt_base64_decode(lt_str_sub(header, begin.n, header.n - end.n), &plain);
  return plain.status == LT_OK && lt_json_str_eq(value, lt_buf_view(&plain));
}

static lt_status gateway_http_headers_check_one(const lt_http_call *call, const char *name, lt_json value,
                                                lt_err *err) {
  lt_str header = gateway_http_headers_of(call, name);
  if (header.n == 0) {
    return lt_fail(err, LT_E_INVALID, "Header mismatch: the header %s is missing", name);
  }
  if (!gateway_http_headers_equal(header, value)) {
    return lt_fail(err, LT_E_INVALID, "Header mismatch: %s does not say what the body says", name);
  }
  return LT_OK;
}

/* The member of the params that Mcp-Name repeats, or NONE. */
static lt_json gateway_http_headers_name(const lt_gateway_message *m, bool *ret_is_named) {
  lt_json method = m->parts.method;
  bool is_read = lt_json_str_eq(method, LT_STR("resources/read"));
  *ret_is_named =
      is_read || lt_json_str_eq(method, LT_STR("tools/call")) || lt_json_str_eq(method, LT_STR("prompts/get"));
  return lt_json_get(m->parts.params, is_read ? "uri" : "name");
}

static lt_status gateway_http_headers_compare(const lt_http_call *call, const lt_gateway_message *m, lt_err *err) {
  bool is_named;
  lt_json name = gateway_http_headers_name(m, &is_named);
  LT_TRY(gateway_http_headers_check_one(call, "Mcp-Method", m->parts.method, err));
  return is_named ? gateway_http_headers_check_one(call, "Mcp-Name", name, err) : LT_OK;
}

static lt_status gateway_http_headers_refuse_version(lt_json version, lt_buf *data, lt_err *err) {
  lt_json_writer w = lt_json_writer_on(data);
  lt_json_begin_object(&w);
  lt_json_key(&w, "supported");
  lt_json_begin_array(&w);
  lt_json_put_cstr(&w, LT_MCP_VERSION_MODERN);
  lt_json_end_array(&w);
  lt_json_key(&w, "requested");
  lt_json_put_raw(&w, lt_json_text(version));
  lt_json_end_object(&w);
  return lt_fail(err, LT_E_UNSUPPORTED, "Unsupported protocol version");
}

lt_status lt_gateway_http_headers_check(const lt_http_call *call, const lt_gateway_message *m, int *ret_code,
                                        lt_buf *data, lt_err *err) {
  lt_json version = gateway_http_headers_meta(m, META_VERSION);
  bool is_request = m->parts.kind == LT_MCP_REQUEST;
  *ret_code = LT_MCP_INVALID_PARAMS;
  if (is_request && lt_json_typeof(version) != LT_JSON_STRING) {
    return lt_fail(err, LT_E_INVALID, "Invalid params: _meta needs " META_VERSION);
  }
  *ret_code = LT_MCP_HEADER_MISMATCH;
  if (lt_json_exists(version)) {
    LT_TRY(gateway_http_headers_check_one(call, "MCP-Protocol-Version", version, err));
  }
  *ret_code = LT_MCP_UNSUPPORTED_VERSION;
  if (lt_json_exists(version) && !lt_json_str_eq(version, LT_STR(LT_MCP_VERSION_MODERN))) {
    return gateway_http_headers_refuse_version(version, data, err);
  }
  *ret_code = LT_MCP_INVALID_PARAMS;
  if (is_request && lt_json_typeof(gateway_http_headers_meta(m, META_CAPABILITIES)) != LT_JSON_OBJECT) {
    return lt_fail(err, LT_E_INVALID, "Invalid params: _meta needs " META_CAPABILITIES);
  }
  *ret_code = LT_MCP_HEADER_MISMATCH;
  return gateway_http_headers_compare(call, m, err);
}
