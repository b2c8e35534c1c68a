#include "gateway/gateway_resources.h"

#include "base/limits.h"
#include "base/mem.h"
#include "gateway/gateway_input.h"
#include "gateway/gateway_prompts.h"

#define NOT_FOUND_LEGACY (-32002) /* 2025-11-25, Resources, Error Handling; since 2026-07-28 it is -32602 */

/* --- Addresses ---------------------------------------------------------------------------------------------------- */
/* "b+file:///x": a scheme may have letters, digits, "+", "-" and "." (RFC 3986, 3.1). */
static void gateway_resources_put_prefix(lt_str server, lt_buf *out) {
  for (size_t i = 0; i < server.n; i++) {
    char c = server.p[i];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool is_other = (c >= '0' && c <= '9') || c == '-' || c == '.';
    lt_buf_byte(out, is_letter || (i > 0 && is_other) ? c : i > 0 ? '-' : 'x');
  }
  lt_buf_addc(out, "+");
}

/* The lists of a kind: of resources, or of templates. */
typedef struct gateway_resource_kind {
  const char *list; /* the key of clients' lists */
  const char *key;  /* of an address */
} gateway_resource_kind;

static const gateway_resource_kind gateway_plain = {"resources", "uri"};
static const gateway_resource_kind gateway_template = {"resourceTemplates", "uriTemplate"};

static lt_json gateway_resources_of(const lt_gateway_upstream *server, const gateway_resource_kind *kind) {
  lt_json from = kind == &gateway_template ? lt_json_get(server->extras, "templates") : server->extras;
  return lt_json_get(from, kind->list);
}

static bool gateway_resources_lists(const lt_gateway_upstream *server, const gateway_resource_kind *kind,
                                    lt_str address) {
  bool is_found = false;
  for (lt_json_iter it = lt_json_each(gateway_resources_of(server, kind)); !is_found && lt_json_next(&it);) {
    is_found = lt_json_str_eq(lt_json_get(it.value, kind->key), address);
  }
  return is_found;
}

static bool gateway_resources_is_shared(const lt_gateway_upstreams *servers, const lt_gateway_upstream *own,
                                        const gateway_resource_kind *kind, lt_str address) {
  for (size_t i = 0; i < servers->count; i++) {
    if (&servers->all[i] != own && gateway_resources_lists(&servers->all[i], kind, address)) {
      return true;
    }
  }
  return false;
}

/* --- Listing ------------------------------------------------------------------------------------------------------ */
static void gateway_resources_put_one(lt_gateway_request *r, lt_json resource, const char *key, lt_str wire) {
  lt_json_begin_object(r->w);
  lt_json_key(r->w, key);
  lt_json_put_str(r->w, wire);
  for (lt_json_iter it = lt_json_each(resource); lt_json_next(&it);) {
    if (!lt_json_str_eq(it.key, lt_str_of(key))) {
      lt_buf_addc(r->w->buf, ",");
      lt_json_compact(it.key, r->w->buf);
      lt_buf_addc(r->w->buf, ":");
      lt_json_compact(it.value, r->w->buf);
    }
  }
  lt_json_end_object(r->w);
}

static void gateway_resources_put_server(lt_gateway_request *r, const lt_gateway_upstreams *servers,
                                         const lt_gateway_upstream *server, const gateway_resource_kind *kind) {
  for (lt_json_iter it = lt_json_each(gateway_resources_of(server, kind)); lt_json_next(&it);) {
    lt_str address;
    LT_AUTO_BUF(wire, LT_MCP_LINE_MAX_BYTES);
    if (!lt_json_str(lt_json_get(it.value, kind->key), r->arena, &address)) {
      continue;
    }
    if (gateway_resources_is_shared(servers, server, kind, address)) {
      gateway_resources_put_prefix(server->name, &wire);
    }
    lt_buf_add(&wire, address);
    gateway_resources_put_one(r, it.value, kind->key, lt_buf_view(&wire));
  }
}

static lt_status gateway_resources_put_all(lt_gateway_request *r, const gateway_resource_kind *kind) LT_YIELDS {
  lt_gateway_upstreams servers;
  LT_TRY(lt_gateway_upstreams_read(r, &servers, r->err));
  lt_json_key(r->w, kind->list);
  lt_json_begin_array(r->w);
  for (size_t i = 0; i < servers.count; i++) {
    gateway_resources_put_server(r, &servers, &servers.all[i], kind);
  }
  lt_json_end_array(r->w);
  lt_gateway_upstream_put_age(r, LT_GATEWAY_LIST_TTL_MS);
  return LT_OK;
}

lt_status lt_gateway_resources_list(lt_gateway_request *r) {
  return gateway_resources_put_all(r, &gateway_plain);
}

lt_status lt_gateway_resources_list_templates(lt_gateway_request *r) {
  return gateway_resources_put_all(r, &gateway_template);
}

/* --- Whose it is -------------------------------------------------------------------------------------------------- */
/* The server that is certain to be meant, and the address there; NULL: none is. */
static const lt_gateway_upstream *gateway_resources_owner(const lt_gateway_upstreams *servers, lt_str wire,
                                                          lt_str *ret_address) {
  *ret_address = wire;
  for (size_t i = 0; i < servers->count; i++) {
    const lt_gateway_upstream *server = &servers->all[i];
    if ((gateway_resources_lists(server, &gateway_plain, wire) ||
         gateway_resources_lists(server, &gateway_template, wire)) &&
        !gateway_resources_is_shared(servers, server, &gateway_plain, wire)) {
      return server;
    }
  }
  for (size_t i = 0; i < servers->count; i++) {
    LT_AUTO_BUF(prefix, LT_MCP_LINE_MAX_BYTES);
    gateway_resources_put_prefix(servers->all[i].name, &prefix);
    if (lt_str_starts(wire, lt_buf_view(&prefix))) {
      *ret_address = lt_str_sub(wire, prefix.n, wire.n);
      return &servers->all[i];
    }
  }
  return NULL;
}

/* Whether the address begins like one of the server's templates. */
static bool gateway_resources_fits_template(const lt_gateway_upstream *server, lt_arena *arena, lt_str address) {
  for (lt_json_iter it = lt_json_each(gateway_resources_of(server, &gateway_template)); lt_json_next(&it);) {
    lt_str pattern;
    if (lt_json_str(lt_json_get(it.value, "uriTemplate"), arena, &pattern)) {
      size_t n = 0;
      while (n < pattern.n && pattern.p[n] != '{') {
        n++;
      }
      if (n > 0 && lt_str_starts(address, lt_str_sub(pattern, 0, n))) {
        return true;
      }
    }
  }
  return false;
}

static bool gateway_resources_has_any(const lt_gateway_upstream *server) {
  return lt_json_exists(lt_json_get(server->extras, "resources"));
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static void gateway_resources_put_address(lt_str address, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "uri");
  lt_json_put_str(&w, address);
  lt_json_end_object(&w);
}

static lt_status gateway_resources_ask(lt_gateway_request *r, const lt_gateway_upstream *server, const char *method,
                                       lt_str address) LT_YIELDS {
  LT_AUTO_BUF(params, LT_MCP_LINE_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&params);
  lt_json_begin_object(&w);
  lt_json_key(&w, "uri");
  lt_json_put_str(&w, address);
  lt_gateway_input_put(r, &w);
  lt_json_end_object(&w);
  LT_TRY(lt_buf_check(&params, r->err, "the address is too long"));
  return lt_gateway_upstream_pass(r, server, method, address, lt_buf_view(&params));
}

static lt_status gateway_resources_not_found(lt_gateway_request *r, lt_str address) {
  LT_AUTO_BUF(data, LT_MCP_LINE_MAX_BYTES);
  gateway_resources_put_address(address, &data);
  r->code = r->is_modern ? LT_MCP_INVALID_PARAMS : NOT_FOUND_LEGACY;
  r->data = lt_arena_dup_buf(r->arena, &data);
  *r->err = LT_ERR_INIT;
  return lt_fail(r->err, LT_E_INVALID, "Resource not found");
}

/* Servers have resources that they do not list: the ones whose templates fit are asked, then all others. */
static lt_status gateway_resources_try(lt_gateway_request *r, const lt_gateway_upstreams *servers,
                                       lt_str address) LT_YIELDS {
  size_t before = r->w->buf->n;
  for (size_t pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < servers->count; i++) {
      const lt_gateway_upstream *server = &servers->all[i];
      bool is_likely = gateway_resources_fits_template(server, r->arena, address);
      if (!gateway_resources_has_any(server) || is_likely != (pass == 0)) {
        continue;
      }
      lt_status status = gateway_resources_ask(r, server, "resources/read", address);
      if (status == LT_OK || r->w->buf->n != before) {
        return status;
      }
    }
  }
  return gateway_resources_not_found(r, address);
}

static lt_status gateway_resources_address(lt_gateway_request *r, lt_str *ret) {
  return lt_json_str(lt_json_get(r->params, "uri"), r->arena, ret)
             ? LT_OK
             : lt_fail(r->err, LT_E_INVALID, "uri: expected the address of a resource");
}

lt_status lt_gateway_resources_read(lt_gateway_request *r) {
  lt_gateway_upstreams servers;
  lt_str wire, address;
  LT_TRY(gateway_resources_address(r, &wire));
  LT_TRY(lt_gateway_upstreams_read(r, &servers, r->err));
  const lt_gateway_upstream *server = gateway_resources_owner(&servers, wire, &address);
  lt_status status = server != NULL ? gateway_resources_ask(r, server, "resources/read", address)
                                    : gateway_resources_try(r, &servers, wire);
  if (status == LT_E_PROTOCOL && (r->code == NOT_FOUND_LEGACY || r->code == LT_MCP_INVALID_PARAMS)) {
    return gateway_resources_not_found(r, wire);
  }
  LT_TRY(status);
  lt_gateway_upstream_put_age(r, 0);
  return LT_OK;
}

/* --- Subscriptions ------------------------------------------------------------------------------------------------ */
struct lt_gateway_subscription {
  struct lt_gateway_subscription *next;
  const lt_gateway_peer *peer;
  const lt_mcp *mcp;
  char *address; /* at the server */
  char *wire;    /* as the client calls it */
};

static void gateway_resources_drop(struct lt_gateway_subscription **at) {
  struct lt_gateway_subscription *one = *at;
  *at = one->next;
  lt_mem_free(one->address);
  lt_mem_free(one->wire);
  lt_mem_free(one);
}

void lt_gateway_resources_forget(lt_gateway *gateway, const lt_gateway_peer *peer) {
  struct lt_gateway_subscription **at = &gateway->subscriptions;
  while (*at != NULL) {
    if (peer == NULL || (*at)->peer == peer) {
      gateway_resources_drop(at);
    } else {
      at = &(*at)->next;
    }
  }
}

/* True: the client had subscribed to it. */
static bool gateway_resources_drop_one(lt_gateway_request *r, lt_str wire) {
  struct lt_gateway_subscription **at = &r->gateway->subscriptions;
  while (*at != NULL && ((*at)->peer != r->peer || !lt_str_eqc(wire, (*at)->wire))) {
    at = &(*at)->next;
  }
  if (*at == NULL) {
    return false;
  }
  gateway_resources_drop(at);
  return true;
}

static lt_status gateway_resources_add(lt_gateway_request *r, const lt_mcp *mcp, lt_str address, lt_str wire) {
  size_t count = 0;
  for (const struct lt_gateway_subscription *s = r->gateway->subscriptions; s != NULL; s = s->next) {
    count++;
  }
  struct lt_gateway_subscription *one = lt_mem_zalloc(1, sizeof *one);
  if (one == NULL || count >= LT_GATEWAY_SUBSCRIPTIONS_MAX) {
    lt_mem_free(one);
    return lt_fail(r->err, LT_E_LIMIT, "there are %d subscriptions: end some first", LT_GATEWAY_SUBSCRIPTIONS_MAX);
  }
  *one = (struct lt_gateway_subscription){.next = r->gateway->subscriptions,
                                          .peer = r->peer,
                                          .mcp = mcp,
                                          .address = lt_mem_strdup(address),
                                          .wire = lt_mem_strdup(wire)};
  r->gateway->subscriptions = one;
  if (one->address == NULL || one->wire == NULL) {
    gateway_resources_drop(&r->gateway->subscriptions);
    return lt_fail(r->err, LT_E_NOMEM, "no memory for another subscription");
  }
  return LT_OK;
}

static lt_status gateway_resources_find(lt_gateway_request *r, lt_gateway_upstreams *servers, lt_str *ret_wire,
                                        lt_str *ret_address, const lt_gateway_upstream **ret_server) LT_YIELDS {
  LT_TRY(gateway_resources_address(r, ret_wire));
  LT_TRY(lt_gateway_upstreams_read(r, servers, r->err));
  *ret_server = gateway_resources_owner(servers, *ret_wire, ret_address);
  for (size_t i = 0; *ret_server == NULL && i < servers->count; i++) {
    if (gateway_resources_fits_template(&servers->all[i], r->arena, *ret_address)) {
      *ret_server = &servers->all[i];
    }
  }
  return *ret_server != NULL ? LT_OK : gateway_resources_not_found(r, *ret_wire);
}

lt_status lt_gateway_resources_subscribe(lt_gateway_request *r) {
  lt_gateway_upstreams servers;
  lt_str wire, address;
  const lt_gateway_upstream *server;
  LT_TRY(gateway_resources_find(r, &servers, &wire, &address, &server));
  if (!lt_json_bool(lt_json_get(server->extras, "subscribe"), false)) {
    return lt_fail(r->err, LT_E_INVALID, "the server of this resource does not tell when it changes");
  }
  (void)gateway_resources_drop_one(r, wire);
  LT_TRY(gateway_resources_add(r, server->mcp, address, wire));
  return gateway_resources_ask(r, server, "resources/subscribe", address);
}

static bool gateway_resources_is_watched(const lt_gateway *gateway, const lt_mcp *mcp, lt_str address) {
  for (const struct lt_gateway_subscription *s = gateway->subscriptions; s != NULL; s = s->next) {
    if (s->mcp == mcp && lt_str_eqc(address, s->address)) {
      return true;
    }
  }
  return false;
}

lt_status lt_gateway_resources_unsubscribe(lt_gateway_request *r) {
  lt_gateway_upstreams servers;
  lt_str wire, address;
  const lt_gateway_upstream *server;
  LT_TRY(gateway_resources_find(r, &servers, &wire, &address, &server));
  bool was_there = gateway_resources_drop_one(r, wire);
  if (!was_there || gateway_resources_is_watched(r->gateway, server->mcp, address)) {
    return LT_OK;
  }
  return gateway_resources_ask(r, server, "resources/unsubscribe", address);
}

void lt_gateway_resources_tell(lt_gateway *gateway, const lt_mcp *mcp, lt_json params) {
  LT_AUTO_ARENA(arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  lt_str address;
  if (!lt_json_str(lt_json_get(params, "uri"), &arena, &address)) {
    return;
  }
  for (const struct lt_gateway_subscription *s = gateway->subscriptions; s != NULL; s = s->next) {
    lt_gateway_peer *peer = gateway->peers;
    while (peer != NULL && peer != s->peer) {
      peer = peer->next;
    }
    if (peer != NULL && s->mcp == mcp && lt_str_eqc(address, s->address)) {
      LT_AUTO_BUF(out, LT_MCP_LINE_MAX_BYTES);
      gateway_resources_put_address(lt_str_of(s->wire), &out);
      lt_gateway_peer_notify(peer, "notifications/resources/updated", lt_buf_view(&out));
    }
  }
}

/* --- Completions -------------------------------------------------------------------------------------------------- */
/* The same params with the server's own name for what they refer to. */
static void gateway_resources_put_completion(lt_json params, const char *type, const char *key, lt_str own,
                                             lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "ref");
  lt_json_begin_object(&w);
  lt_json_key(&w, "type");
  lt_json_put_cstr(&w, type);
  lt_json_key(&w, key);
  lt_json_put_str(&w, own);
  lt_json_end_object(&w);
  for (lt_json_iter it = lt_json_each(params); lt_json_next(&it);) {
    if (!lt_json_str_eq(it.key, LT_STR("ref")) && !lt_json_str_eq(it.key, LT_STR("_meta"))) {
      lt_buf_addc(out, ",");
      lt_json_compact(it.key, out);
      lt_buf_addc(out, ":");
      lt_json_compact(it.value, out);
    }
  }
  lt_json_end_object(&w);
}

static lt_status gateway_resources_put_no_values(lt_gateway_request *r) {
  lt_json_key(r->w, "completion");
  lt_json_put_raw(r->w, LT_STR("{\"values\":[],\"total\":0,\"hasMore\":false}"));
  return LT_OK;
}

lt_status lt_gateway_resources_complete(lt_gateway_request *r) {
  lt_json ref = lt_json_get(r->params, "ref");
  bool is_prompt = lt_json_str_eq(lt_json_get(ref, "type"), LT_STR("ref/prompt"));
  const lt_gateway_upstream *server = NULL;
  lt_gateway_upstreams servers;
  lt_str own;
  LT_AUTO_BUF(params, LT_MCP_LINE_MAX_BYTES);
  if (is_prompt) {
    LT_TRY(lt_gateway_prompts_find(r, lt_json_get(ref, "name"), &server, &own));
  } else {
    lt_str wire;
    if (!lt_json_str(lt_json_get(ref, "uri"), r->arena, &wire)) {
      return lt_fail(r->err, LT_E_INVALID, "ref: expected a prompt's name or a resource's address");
    }
    LT_TRY(lt_gateway_upstreams_read(r, &servers, r->err));
    server = gateway_resources_owner(&servers, wire, &own);
  }
  if (server == NULL || !lt_json_bool(lt_json_get(server->extras, "completions"), false)) {
    return gateway_resources_put_no_values(r);
  }
  gateway_resources_put_completion(r->params, is_prompt ? "ref/prompt" : "ref/resource", is_prompt ? "name" : "uri",
                                   own, &params);
  LT_TRY(lt_buf_check(&params, r->err, "the request is too long"));
  return lt_gateway_upstream_pass(r, server, "completion/complete", own, lt_buf_view(&params));
}
