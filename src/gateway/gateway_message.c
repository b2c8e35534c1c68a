#include "gateway/gateway_message.h"

#include "base/limits.h"
#include "base/mem.h"

lt_status lt_gateway_message_read(lt_str text, lt_gateway_message **ret_message, lt_err *err) {
  lt_gateway_message *m = lt_mem_zalloc(1, sizeof *m);
  if (m == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a message");
  }
  lt_arena_init(&m->arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  lt_str copy = lt_arena_dup(&m->arena, text);
  lt_status status = copy.p == NULL ? lt_fail(err, LT_E_NOMEM, "no memory for a message")
                                    : lt_json_parse(&m->arena, copy, &m->doc, err);
  if (status != LT_OK) {
    lt_gateway_message_free(m);
    return status;
  }
  m->parts = lt_mcp_message_read(lt_json_root(&m->doc));
  *ret_message = m;
  return LT_OK;
}

void lt_gateway_message_came_over_http(lt_gateway_message *m, const lt_trace_context *around, lt_str session) {
  m->is_http = true;
  if (lt_trace_context_is_set(around)) {
    m->around = *around;
    m->around.state = lt_arena_dup(&m->arena, around->state);
    m->session = lt_arena_dup(&m->arena, session);
  }
}

void lt_gateway_message_free(lt_gateway_message *m) {
  if (m != NULL) {
    lt_arena_release(&m->arena);
    lt_mem_free(m);
  }
}

static lt_json_writer gateway_message_begin(lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "jsonrpc");
  lt_json_put_cstr(&w, "2.0");
  return w;
}

void lt_gateway_message_put_error(lt_buf *out, lt_str id, int code, const char *message, lt_str data) {
  lt_json_writer w = gateway_message_begin(out);
  if (id.n > 0) {
    lt_json_key(&w, "id");
    lt_json_put_raw(&w, id);
  }
  lt_json_key(&w, "error");
  lt_json_begin_object(&w);
  lt_json_key(&w, "code");
  lt_json_put_int(&w, code);
  lt_json_key(&w, "message");
  lt_json_put_cstr(&w, message);
  if (data.n > 0) {
    lt_json_key(&w, "data");
    lt_json_put_raw(&w, data);
  }
  lt_json_end_object(&w);
  lt_json_end_object(&w);
}

void lt_gateway_message_put_notification(lt_buf *out, const char *method, lt_str params) {
  lt_json_writer w = gateway_message_begin(out);
  lt_json_key(&w, "method");
  lt_json_put_cstr(&w, method);
  if (params.n > 0) {
    lt_json_key(&w, "params");
    lt_json_put_raw(&w, params);
  }
  lt_json_end_object(&w);
}
