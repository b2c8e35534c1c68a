#include "gateway/gateway_input.h"

#include "base/limits.h"
#include "gateway/gateway_asking.h"

bool lt_gateway_input_is_wanted(lt_json result) {
  return lt_json_str_eq(lt_json_get(result, "resultType"), LT_STR("input_required"));
}

static bool gateway_input_kind_of(lt_json method, lt_mcp_ask_kind *ret_kind) {
  bool is_form = lt_json_str_eq(method, LT_STR("elicitation/create"));
  bool is_sampling = lt_json_str_eq(method, LT_STR("sampling/createMessage"));
  *ret_kind = is_form ? LT_MCP_ASK_ELICITATION : is_sampling ? LT_MCP_ASK_SAMPLING : LT_MCP_ASK_ROOTS;
  return is_form || is_sampling || lt_json_str_eq(method, LT_STR("roots/list"));
}

static lt_status gateway_input_put_all(lt_gateway_request *r, lt_str server, lt_json questions, lt_arena *arena) {
  lt_json_key(r->w, "inputRequests");
  lt_json_begin_object(r->w);
  for (lt_json_iter it = lt_json_each(questions); lt_json_next(&it);) {
    lt_str key = LT_STR_NULL;
    lt_server_question question = {.server = server, .params = lt_json_get(it.value, "params")};
    if (!lt_json_str(it.key, arena, &key) || !gateway_input_kind_of(lt_json_get(it.value, "method"), &question.kind)) {
      return lt_fail(r->err, LT_E_UNSUPPORTED, "the server asks something that is not known");
    }
    lt_json_key_str(r->w, key);
    LT_TRY(lt_gateway_asking_put_question(r, &question));
  }
  lt_json_end_object(r->w);
  return LT_OK;
}

lt_status lt_gateway_input_pass(lt_gateway_request *r, lt_str server, lt_json result) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  LT_AUTO_BUF(text, LT_MCP_LINE_MAX_BYTES);
  lt_json questions = lt_json_get(result, "inputRequests"), state = lt_json_get(result, "requestState");
  if (lt_json_typeof(questions) == LT_JSON_OBJECT) {
    lt_json_compact(questions, &text);
    lt_secrets_mask_json_buf(r->gateway->session->secrets, &text);
    LT_TRY(lt_buf_check(&text, r->err, "no memory for the server's questions"));
    LT_TRY(lt_json_parse(&arena, lt_buf_view(&text), &doc, r->err));
    LT_TRY(gateway_input_put_all(r, server, lt_json_root(&doc), &arena));
  }
  if (lt_json_exists(state)) { /* "an opaque string meaningful only to the server" */
    lt_json_key(r->w, "requestState");
    lt_json_put_raw(r->w, lt_json_text(state));
  }
  lt_json_key(r->w, "resultType");
  lt_json_put_cstr(r->w, "input_required");
  r->wants_input = true;
  return LT_OK;
}

void lt_gateway_input_put(const lt_gateway_request *r, lt_json_writer *w) {
  static const char *const brought[] = {"inputResponses", "requestState"};
  for (size_t i = 0; r->is_modern && i < sizeof brought / sizeof brought[0]; i++) {
    lt_json value = lt_json_get(r->params, brought[i]);
    if (lt_json_exists(value)) {
      lt_json_key(w, brought[i]);
      lt_json_put_raw(w, lt_json_text(value));
    }
  }
}
