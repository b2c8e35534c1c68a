/* The life of a request: begun, carried out on its fiber, answered or withdrawn. */
#include "gateway/gateway_request.h"

#include "base/limits.h"
#include "base/mem.h"
#include "gateway/gateway_trace.h"

#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_LOG_LEVEL    "io.modelcontextprotocol/logLevel"

/* --- What the client has said ------------------------------------------------------------------------------------- */
bool lt_gateway_request_is_wanted(const lt_gateway_request *r) {
  return !r->is_cancelled && !r->peer->is_closed;
}

lt_json lt_gateway_request_capability(const lt_gateway_request *r, const char *name) {
  lt_json all = r->is_modern ? lt_json_get(r->meta, META_CAPABILITIES) : lt_json_get(r->peer->hello, "capabilities");
  return lt_json_get(all, name);
}

lt_str lt_gateway_request_log_level(const lt_gateway_request *r) {
  lt_str level = LT_STR_NULL;
  if (!r->is_modern) {
    return lt_str_of(r->peer->log_level);
  }
  (void)lt_json_str(lt_json_get(r->meta, META_LOG_LEVEL), r->arena, &level);
  return level;
}

lt_status lt_gateway_request_fail_lacking(lt_gateway_request *r) {
  LT_AUTO_BUF(data, LT_KIB);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_key(&w, "requiredCapabilities");
  lt_json_begin_object(&w);
  lt_json_key(&w, r->lacking);
  lt_json_begin_object(&w);
  if (r->lacking_mode != NULL) {
    lt_json_key(&w, r->lacking_mode);
    lt_json_put_raw(&w, LT_STR("{}"));
  }
  lt_json_end_object(&w);
  lt_json_end_object(&w);
  lt_json_end_object(&w);
  r->code = LT_MCP_MISSING_CAPABILITY;
  r->data = lt_arena_dup_buf(r->arena, &data);
  return lt_fail(r->err, LT_E_UNSUPPORTED, "the server asks the client for %s%s%s, which it has not declared",
                 r->lacking, r->lacking_mode != NULL ? " of mode " : "",
                 r->lacking_mode != NULL ? r->lacking_mode : "");
}

/* --- Messages that belong to the request -------------------------------------------------------------------------- */
void lt_gateway_request_send(lt_gateway_request *r, lt_str message) {
  if (lt_gateway_request_is_wanted(r)) {
    r->way.send(r->way.arg, message);
  }
}

void lt_gateway_request_notify(lt_gateway_request *r, const char *method, lt_str params) {
  LT_AUTO_BUF(out, LT_MCP_LINE_MAX_BYTES);
  lt_gateway_message_put_notification(&out, method, params);
  if (out.status == LT_OK) {
    lt_gateway_request_send(r, lt_buf_view(&out));
  }
}

/* --- Answering ---------------------------------------------------------------------------------------------------- */
static void gateway_answering_end(lt_gateway_request *r, lt_str answer, int code) {
  lt_gateway_trace_end(r, code);
  if (r->way.end != NULL) {
    r->way.end(r->way.arg, lt_gateway_request_is_wanted(r) ? answer : LT_STR_NULL, code);
  } else if (answer.n > 0) {
    lt_gateway_request_send(r, answer);
  }
}

static void gateway_answering_fail(lt_gateway_request *r, lt_buf *out, int code, const char *why) {
  lt_buf_clear(out);
  lt_gateway_message_put_error(out, lt_json_text(r->id), code, why, r->data);
  gateway_answering_end(r, out->status == LT_OK ? lt_buf_view(out) : LT_STR_NULL, code);
}

static void gateway_answering_answer(lt_gateway_request *r) LT_YIELDS {
  LT_AUTO_BUF(out, LT_MCP_LINE_MAX_BYTES);
  LT_ERR_VAR(err);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_gateway_trace_begin(r);
  r->w = &w;
  r->err = &err;
  lt_json_begin_object(&w);
  lt_json_key(&w, "jsonrpc");
  lt_json_put_cstr(&w, "2.0");
  lt_json_key(&w, "id");
  lt_json_put_raw(&w, lt_json_text(r->id));
  lt_json_key(&w, "result");
  lt_json_begin_object(&w);
  lt_status status = lt_gateway_request_carry_out(r);
  if (status != LT_OK) {
    gateway_answering_fail(r, &out, r->code != 0 ? r->code : lt_status_rpc(status), lt_err_msg(&err));
    return;
  }
  lt_json_end_object(&w);
  lt_json_end_object(&w);
  if (out.status == LT_OK) {
    gateway_answering_end(r, lt_buf_view(&out), 0);
  } else {
    lt_buf_release(&out);
    lt_buf_init(&out, LT_MCP_LINE_MAX_BYTES);
    gateway_answering_fail(r, &out, LT_MCP_INTERNAL_ERROR, "the answer is too long");
  }
}

static void gateway_answering_free(lt_gateway_request *r) {
  lt_gateway_message_free(r->message);
  lt_mem_free(r);
}

static void gateway_answering_on_fiber(void *arg) {
  lt_gateway_request *r = arg;
  lt_gateway *gateway = r->gateway;
  lt_gateway_peer *peer = r->peer;
  gateway_answering_answer(r);
  lt_cancel_remove(&gateway->closing, &r->closing);
  *(r->prev != NULL ? &r->prev->next : &peer->requests) = r->next;
  if (r->next != NULL) {
    r->next->prev = r->prev;
  }
  gateway_answering_free(r);
  lt_gateway_peer_drop(peer);
  if (--gateway->requests == 0) {
    lt_wait_wake(&gateway->answered, LT_OK);
  }
}

/* --- Beginning ---------------------------------------------------------------------------------------------------- */
/* "Progress tokens MUST be a string or integer value" (2025-11-25, Progress) */
static lt_json gateway_answering_token(lt_json meta) {
  int64_t n;
  lt_json token = lt_json_get(meta, "progressToken");
  bool is_token = lt_json_typeof(token) == LT_JSON_STRING || lt_mcp_id_read(token, &n);
  return is_token ? token : (lt_json){NULL, 0};
}

static void gateway_answering_link(lt_gateway_request *r) {
  lt_gateway_peer *peer = r->peer;
  r->next = peer->requests;
  if (r->next != NULL) {
    r->next->prev = r;
  }
  peer->requests = r;
  peer->users++;
  peer->gateway->requests++;
  lt_cancel_follow(&peer->gateway->closing, &r->closing, &r->cancel);
}

lt_status lt_gateway_request_begin(lt_gateway_peer *peer, const lt_gateway_way *way, lt_gateway_message *message,
                                   lt_err *err) {
  lt_gateway_request *r = lt_mem_zalloc(1, sizeof *r);
  if (r == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another request");
  }
  r->gateway = peer->gateway;
  r->peer = peer;
  r->way = *way;
  r->message = message;
  r->arena = &message->arena;
  r->id = message->parts.id;
  r->params = message->parts.params;
  r->meta = lt_json_get(r->params, "_meta");
  r->progress_token = gateway_answering_token(r->meta);
  lt_cancel_init(&r->cancel);
  lt_status status = lt_loop_spawn(peer->gateway->session->loop, gateway_answering_on_fiber, r, err);
  if (status != LT_OK) {
    lt_mem_free(r);
    return status;
  }
  gateway_answering_link(r);
  return LT_OK;
}

void lt_gateway_request_cancel(lt_gateway_request *r) {
  r->is_cancelled = true;
  lt_cancel_fire(&r->cancel, LT_E_CANCELLED);
}
