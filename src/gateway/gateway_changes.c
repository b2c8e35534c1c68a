#include "gateway/gateway_changes.h"

#include <string.h>

#include "base/limits.h"

#define SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"

static const struct gateway_changes_kind {
  const char *key; /* in what a client asks for */
  const char *method;
} gateway_changes_kinds[] = {
    {"toolsListChanged", "notifications/tools/list_changed"},
    {"promptsListChanged", "notifications/prompts/list_changed"},
    {"resourcesListChanged", "notifications/resources/list_changed"},
};
#define KIND_COUNT (sizeof gateway_changes_kinds / sizeof gateway_changes_kinds[0])

/* An open request; in the frame of its fiber. */
struct lt_gateway_listening {
  struct lt_gateway_listening *next;
  lt_gateway_request *request;
  bool is_granted[KIND_COUNT];
};

/* "The subscription ID is the JSON-RPC ID of the listen request" (2026-07-28, Subscriptions) */
static void gateway_changes_put_meta(const struct lt_gateway_listening *l, lt_json_writer *w) {
  lt_json_key(w, "_meta");
  lt_json_begin_object(w);
  lt_json_key(w, SUBSCRIPTION_ID);
  lt_json_put_raw(w, lt_json_text(l->request->id));
  lt_json_end_object(w);
}

static void gateway_changes_acknowledge(struct lt_gateway_listening *l) {
  LT_AUTO_BUF(params, LT_MCP_LINE_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&params);
  lt_json wanted = lt_json_get(l->request->params, "notifications");
  lt_json_begin_object(&w);
  gateway_changes_put_meta(l, &w);
  lt_json_key(&w, "notifications");
  lt_json_begin_object(&w);
  for (size_t i = 0; i < KIND_COUNT; i++) {
    l->is_granted[i] = lt_json_bool(lt_json_get(wanted, gateway_changes_kinds[i].key), false);
    if (l->is_granted[i]) {
      lt_json_key(&w, gateway_changes_kinds[i].key);
      lt_json_put_bool(&w, true);
    }
  }
  lt_json_end_object(&w);
  lt_json_end_object(&w);
  if (params.status == LT_OK) {
    lt_gateway_request_notify(l->request, "notifications/subscriptions/acknowledged", lt_buf_view(&params));
  }
}

static void gateway_changes_wait(lt_gateway_request *r) LT_YIELDS {
  lt_wait end;
  lt_cancel_node node;
  lt_wait_init(&end, r->gateway->session->loop);
  lt_cancel_add(&r->cancel, &node, &end);
  while (r->cancel.why == LT_OK) {
    (void)lt_wait_on(&end, UINT64_MAX);
  }
  lt_cancel_remove(&r->cancel, &node);
}

lt_status lt_gateway_changes_serve(lt_gateway_request *r) {
  struct lt_gateway_listening l = {.next = r->gateway->listening, .request = r};
  gateway_changes_acknowledge(&l);
  r->gateway->listening = &l;
  gateway_changes_wait(r);
  struct lt_gateway_listening **at = &r->gateway->listening;
  while (*at != &l) {
    at = &(*at)->next;
  }
  *at = l.next;
  return LT_OK;
}

void lt_gateway_changes_tell(const lt_gateway *gateway, const char *method) {
  for (const struct lt_gateway_listening *l = gateway->listening; l != NULL; l = l->next) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
      if (!l->is_granted[i] || strcmp(method, gateway_changes_kinds[i].method) != 0) {
        continue;
      }
      LT_AUTO_BUF(params, LT_MCP_LINE_MAX_BYTES);
      lt_json_writer w = lt_json_writer_on(&params);
      lt_json_begin_object(&w);
      gateway_changes_put_meta(l, &w);
      lt_json_end_object(&w);
      if (params.status == LT_OK) {
        lt_gateway_request_notify(l->request, method, lt_buf_view(&params));
      }
    }
  }
}
