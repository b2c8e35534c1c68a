#include "gateway/gateway_upstream.h"

#include "base/limits.h"
#include "gateway/gateway_asking.h"
#include "gateway/gateway_input.h"

bool lt_gateway_upstreams_have_any(const lt_gateway *gateway) {
  return gateway->session->config.server_count > 0;
}

static lt_status gateway_upstream_parse(lt_gateway_request *r, lt_gateway_upstream *one, lt_err *err) {
  LT_AUTO_BUF(masked, LT_MCP_LIST_MAX_BYTES);
  lt_secrets_mask_json(r->gateway->session->secrets, lt_mcp_extras(one->mcp), &masked);
  lt_json_doc *doc = lt_arena_zalloc(r->arena, 1, sizeof *doc);
  lt_str text = lt_arena_dup_buf(r->arena, &masked);
  if (doc == NULL || text.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for what the servers offer");
  }
  if (text.n > 0 && lt_json_parse(r->arena, text, doc, NULL) == LT_OK) {
    one->extras = lt_json_root(doc);
  }
  return LT_OK;
}

lt_status lt_gateway_upstreams_read(lt_gateway_request *r, lt_gateway_upstreams *ret, lt_err *err) {
  const lt_sources *sources = r->gateway->session->sources;
  size_t slots = lt_sources_count(sources);
  *ret = (lt_gateway_upstreams){.all = lt_arena_zalloc(r->arena, slots + 1, sizeof *ret->all)};
  if (ret->all == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for what the servers offer");
  }
  for (size_t i = 0; i < slots; i++) { /* the sources may change while this waits */
    lt_mcp *mcp = lt_sources_mcp(sources, i);
    if (mcp != NULL) {
      lt_mcp_want_extras(mcp, true); /* all of them start side by side */
      ret->all[ret->count++] = (lt_gateway_upstream){.mcp = mcp, .name = lt_arena_dup(r->arena, lt_mcp_name(mcp))};
    }
  }
  for (size_t i = 0; i < ret->count; i++) {
    lt_gateway_upstream *one = &ret->all[i];
    if (one->name.p == NULL) {
      return lt_fail(err, LT_E_NOMEM, "no memory for what the servers offer");
    }
    lt_mcp_wait_extras(one->mcp, &r->cancel);
    if (r->cancel.why != LT_OK) {
      return lt_fail(err, r->cancel.why, "nobody waits for the answer any more");
    }
    LT_TRY(gateway_upstream_parse(r, one, err));
  }
  return LT_OK;
}

void lt_gateway_upstream_put_age(lt_gateway_request *r, int64_t ttl_ms) {
  if (r->is_modern && !r->wants_input) {
    lt_json_key(r->w, "ttlMs");
    lt_json_put_int(r->w, ttl_ms);
    lt_json_key(r->w, "cacheScope");
    lt_json_put_cstr(r->w, "private");
  }
}

/* --- Passing on --------------------------------------------------------------------------------------------------- */
/* What each message says for itself is ours. */
static bool gateway_upstream_is_of_message(lt_json key) {
  return lt_json_str_eq(key, LT_STR("resultType")) || lt_json_str_eq(key, LT_STR("ttlMs")) ||
         lt_json_str_eq(key, LT_STR("cacheScope"));
}

static lt_status gateway_upstream_put_result(lt_gateway_request *r, lt_json result) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  LT_AUTO_BUF(text, LT_MCP_LINE_MAX_BYTES);
  lt_json_compact(result, &text);
  lt_secrets_mask_json_buf(r->gateway->session->secrets, &text);
  LT_TRY(lt_buf_check(&text, r->err, "no memory for the server's answer"));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&text), &doc, r->err));
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_str key;
    if (!gateway_upstream_is_of_message(it.key) && lt_json_str(it.key, &arena, &key)) {
      lt_json_key_str(r->w, key);
      lt_json_put_raw(r->w, lt_json_text(it.value));
    }
  }
  return LT_OK;
}

lt_status lt_gateway_upstream_pass(lt_gateway_request *r, const lt_gateway_upstream *to, const char *method,
                                   lt_str name, lt_str params) {
  lt_mcp_result result;
  int64_t code = 0;
  const lt_mcp_call_options options = {
      .cancel = &r->cancel, .ret_code = &code, .leaves_input = r->is_modern, .trace = &r->span.trace};
  lt_gateway_attending attending = {.request = r, .run = LT_STR("(none)"), .until = &r->cancel};
  lt_gateway_asking_attend(r->gateway->asking, &attending); /* the server is told what this client can */
  lt_status status = lt_mcp_pass(to->mcp, method, name, params, &options, &result, r->err);
  lt_gateway_asking_leave(r->gateway->asking, &attending);
  if (status != LT_OK) {
    r->code = (int)code;
    return status;
  }
  result.result.doc = &result.doc;
  bool is_question = r->is_modern && lt_gateway_input_is_wanted(result.result);
  status =
      is_question ? lt_gateway_input_pass(r, to->name, result.result) : gateway_upstream_put_result(r, result.result);
  lt_mcp_result_release(&result);
  return status;
}
