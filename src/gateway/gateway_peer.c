#include "gateway/gateway_request.h"

#include "base/limits.h"
#include "base/mem.h"
#include "gateway/gateway_resources.h"

/* --- Opening, closing --------------------------------------------------------------------------------------------- */
lt_status lt_gateway_peer_open(lt_gateway *gateway, const lt_gateway_way *way, lt_str user, lt_gateway_peer **ret_peer,
                               lt_err *err) {
  lt_gateway_peer *peer = lt_mem_zalloc(1, sizeof *peer);
  if (peer == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another client");
  }
  lt_arena_init(&peer->arena, LT_GATEWAY_PEER_BYTES);
  peer->user = lt_arena_dup(&peer->arena, user);
  if (peer->user.p == NULL) {
    lt_arena_release(&peer->arena);
    lt_mem_free(peer);
    return lt_fail(err, LT_E_NOMEM, "no memory for another client");
  }
  peer->gateway = gateway;
  peer->way = *way;
  peer->users = 1;
  peer->next = gateway->peers;
  if (peer->next != NULL) {
    peer->next->prev = peer;
  }
  gateway->peers = peer;
  *ret_peer = peer;
  return LT_OK;
}

void lt_gateway_peer_drop(lt_gateway_peer *peer) {
  if (--peer->users == 0) {
    lt_arena_release(&peer->arena);
    lt_mem_free(peer);
  }
}

static lt_gateway_expected *gateway_peer_unlink(lt_gateway_peer *peer, lt_gateway_expected *expected) {
  *(expected->prev != NULL ? &expected->prev->next : &peer->expected) = expected->next;
  if (expected->next != NULL) {
    expected->next->prev = expected->prev;
  }
  expected->prev = expected->next = NULL;
  return expected;
}

void lt_gateway_peer_close(lt_gateway_peer *peer) {
  if (peer == NULL) {
    return;
  }
  peer->is_closed = true;
  lt_gateway_resources_forget(peer->gateway, peer);
  *(peer->prev != NULL ? &peer->prev->next : &peer->gateway->peers) = peer->next;
  if (peer->next != NULL) {
    peer->next->prev = peer->prev;
  }
  for (lt_gateway_request *r = peer->requests; r != NULL; r = r->next) {
    lt_cancel_fire(&r->cancel, LT_E_CLOSED);
  }
  while (peer->expected != NULL) {
    lt_gateway_expected *expected = gateway_peer_unlink(peer, peer->expected);
    expected->on_response(expected->arg, NULL);
  }
  lt_gateway_peer_drop(peer);
}

/* --- Who it is ---------------------------------------------------------------------------------------------------- */
lt_status lt_gateway_peer_greet(lt_gateway_peer *peer, lt_json params, lt_str version, lt_err *err) {
  lt_json_doc *doc = lt_arena_alloc(&peer->arena, sizeof *doc);
  lt_str text = lt_arena_dup(&peer->arena, lt_json_text(params));
  lt_str agreed = lt_arena_dup(&peer->arena, version);
  if (doc == NULL || text.p == NULL || agreed.p == NULL || lt_json_parse(&peer->arena, text, doc, NULL) != LT_OK) {
    return lt_fail(err, LT_E_LIMIT, "initialize came too often, or says too much: open another connection");
  }
  peer->hello = lt_json_root(doc);
  peer->version = agreed;
  return LT_OK;
}

/* --- Messages to it ----------------------------------------------------------------------------------------------- */
void lt_gateway_peer_notify(lt_gateway_peer *peer, const char *method, lt_str params) {
  LT_AUTO_BUF(out, LT_MCP_LINE_MAX_BYTES);
  lt_gateway_message_put_notification(&out, method, params);
  if (out.status == LT_OK && !peer->is_closed) {
    peer->way.send(peer->way.arg, lt_buf_view(&out));
  }
}

void lt_gateway_peer_expect(lt_gateway_peer *peer, lt_gateway_expected *expected) {
  expected->id = ++peer->last_id;
  expected->prev = NULL;
  expected->next = peer->expected;
  if (expected->next != NULL) {
    expected->next->prev = expected;
  }
  peer->expected = expected;
}

static lt_gateway_expected *gateway_peer_find_expected(const lt_gateway_peer *peer, int64_t id) {
  lt_gateway_expected *expected = peer->expected;
  while (expected != NULL && expected->id != id) {
    expected = expected->next;
  }
  return expected;
}

void lt_gateway_peer_forget(lt_gateway_peer *peer, lt_gateway_expected *expected) {
  if (gateway_peer_find_expected(peer, expected->id) == expected) {
    gateway_peer_unlink(peer, expected);
  }
}

/* --- Messages from it --------------------------------------------------------------------------------------------- */
/* A response that nobody waits for is ignored: the question may have been withdrawn. */
static void gateway_peer_take_response(lt_gateway_peer *peer, const lt_mcp_message *response) {
  int64_t id;
  lt_gateway_expected *expected = lt_mcp_id_read(response->id, &id) ? gateway_peer_find_expected(peer, id) : NULL;
  if (expected != NULL) {
    gateway_peer_unlink(peer, expected);
    expected->on_response(expected->arg, response);
  }
}

static lt_gateway_request *gateway_peer_find_request(const lt_gateway_peer *peer, lt_json id) {
  lt_gateway_request *r = peer->requests;
  while (r != NULL && !lt_str_eq(lt_json_text(r->id), lt_json_text(id))) {
    r = r->next;
  }
  return r;
}

/* "Receivers MAY ignore cancellation notifications that reference unknown requests" (2025-11-25, Cancellation): some
 * clients send one for each finished call. */
static void gateway_peer_take_notification(lt_gateway_peer *peer, const lt_mcp_message *m) {
  if (!lt_json_str_eq(m->method, LT_STR("notifications/cancelled"))) {
    return;
  }
  lt_gateway_request *r = gateway_peer_find_request(peer, lt_json_get(m->params, "requestId"));
  if (r != NULL) {
    lt_gateway_request_cancel(r);
  }
}

static void gateway_peer_refuse(const lt_gateway_way *way, lt_json id, int code, const char *why) {
  LT_AUTO_BUF(out, LT_JSON_MAX_BYTES);
  lt_gateway_message_put_error(&out, lt_json_exists(id) ? lt_json_text(id) : LT_STR("null"), code, why, LT_STR_NULL);
  lt_str answer = out.status == LT_OK ? lt_buf_view(&out) : LT_STR_NULL;
  if (way->end != NULL) {
    way->end(way->arg, answer, code);
  } else if (answer.n > 0) {
    way->send(way->arg, answer);
  }
}

/* True: a fiber answers, and owns the message. */
static bool gateway_peer_take_request(lt_gateway_peer *peer, const lt_gateway_way *way, lt_gateway_message *m) {
  LT_ERR_VAR(err);
  lt_json id = m->parts.id;
  if (peer->gateway->closing.why != LT_OK) {
    gateway_peer_refuse(way, id, LT_GATEWAY_BUSY, "the gateway is closing");
  } else if (peer->gateway->requests >= LT_GATEWAY_REQUESTS_MAX) {
    gateway_peer_refuse(way, id, LT_GATEWAY_BUSY, "too many requests at once: wait for an answer first");
  } else if (gateway_peer_find_request(peer, id) != NULL) {
    gateway_peer_refuse(way, id, LT_GATEWAY_INVALID_REQUEST, "a request with this id is not answered yet");
  } else if (lt_gateway_request_begin(peer, way, m, &err) != LT_OK) {
    gateway_peer_refuse(way, id, LT_MCP_INTERNAL_ERROR, lt_err_msg(&err));
  } else {
    return true;
  }
  return false;
}

static void gateway_peer_end(const lt_gateway_way *way) {
  if (way->end != NULL) {
    way->end(way->arg, LT_STR_NULL, 0);
  }
}

void lt_gateway_peer_take(lt_gateway_peer *peer, const lt_gateway_way *way, lt_gateway_message *m) {
  way = way != NULL ? way : &peer->way;
  switch (m->parts.kind) {
    case LT_MCP_REQUEST:
      if (gateway_peer_take_request(peer, way, m)) {
        return;
      }
      break;
    case LT_MCP_NOTIFICATION:
      gateway_peer_take_notification(peer, &m->parts);
      gateway_peer_end(way);
      break;
    case LT_MCP_RESPONSE:
      gateway_peer_take_response(peer, &m->parts);
      gateway_peer_end(way);
      break;
    case LT_MCP_NOISE:
      gateway_peer_refuse(way, (lt_json){NULL, 0}, LT_GATEWAY_INVALID_REQUEST,
                          "Invalid Request: not a JSON-RPC 2.0 message");
      break;
  }
  lt_gateway_message_free(m);
}

void lt_gateway_take(lt_gateway_peer *peer, const lt_gateway_way *way, lt_str text) {
  lt_gateway_message *m = NULL;
  if (lt_gateway_message_read(text, &m, NULL) == LT_OK) {
    lt_gateway_peer_take(peer, way, m);
  } else {
    gateway_peer_refuse(way != NULL ? way : &peer->way, (lt_json){NULL, 0}, LT_GATEWAY_PARSE_ERROR,
                        "Parse error: a message is one line of JSON");
  }
}
