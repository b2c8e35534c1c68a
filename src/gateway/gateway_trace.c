#include "gateway/gateway_trace.h"

/* A text as it is; of another value its JSON text. */
static lt_str gateway_trace_text(const lt_gateway_request *r, lt_json value) {
  lt_str text;
  return lt_json_str(value, r->arena, &text) ? text : lt_json_text(value);
}

void lt_gateway_trace_begin(lt_gateway_request *r) {
  const lt_telemetry *telemetry = r->gateway->session->telemetry;
  if (telemetry == NULL) {
    return;
  }
  r->span = (lt_telemetry_mcp){
      .id = gateway_trace_text(r, r->id), .session = r->message->session, .is_http = r->message->is_http};
  lt_str parent = LT_STR_NULL, state = LT_STR_NULL;
  (void)lt_json_str(lt_json_get(r->meta, "traceparent"), r->arena, &parent);
  (void)lt_json_str(lt_json_get(r->meta, "tracestate"), r->arena, &state);
  lt_telemetry_begin_mcp(telemetry, parent, state, &r->message->around, &r->span);
}

void lt_gateway_trace_end(lt_gateway_request *r, int code) {
  r->span.version = r->is_modern ? LT_STR(LT_MCP_VERSION_MODERN) : r->peer->version;
  r->span.error_code = code;
  r->span.is_cancelled = !lt_gateway_request_is_wanted(r);
  lt_telemetry_end_mcp(r->gateway->session->telemetry, &r->span);
}
