/* prompts/list, prompts/get: prompts of servers under the names that gateway_names.h makes. */
#include "gateway/gateway_prompts.h"

#include "base/limits.h"
#include "gateway/gateway_input.h"
#include "gateway/gateway_names.h"
#include "gateway/gateway_upstream.h"

typedef struct gateway_prompts {
  lt_gateway_upstreams servers;
  lt_gateway_named *names;
  const lt_gateway_upstream **of; /* each prompt's server */
  lt_json *prompts;
  size_t count;
} gateway_prompts;

static lt_status gateway_prompts_add(gateway_prompts *p, lt_gateway_request *r, const lt_gateway_upstream *server) {
  for (lt_json_iter it = lt_json_each(lt_json_get(server->extras, "prompts")); lt_json_next(&it);) {
    lt_str name;
    if (lt_json_str(lt_json_get(it.value, "name"), r->arena, &name)) {
      p->names[p->count] = (lt_gateway_named){.server = server->name, .name = name};
      p->of[p->count] = server;
      p->prompts[p->count++] = it.value;
    }
  }
  return LT_OK;
}

static lt_status gateway_prompts_read(lt_gateway_request *r, gateway_prompts *p) LT_YIELDS {
  size_t most = 1;
  *p = (gateway_prompts){.count = 0};
  LT_TRY(lt_gateway_upstreams_read(r, &p->servers, r->err));
  for (size_t i = 0; i < p->servers.count; i++) {
    most += lt_json_count(lt_json_get(p->servers.all[i].extras, "prompts"));
  }
  p->names = lt_arena_zalloc(r->arena, most, sizeof *p->names);
  p->of = lt_arena_zalloc(r->arena, most, sizeof(const lt_gateway_upstream *));
  p->prompts = lt_arena_zalloc(r->arena, most, sizeof *p->prompts);
  if (p->names == NULL || p->of == NULL || p->prompts == NULL) {
    return lt_fail(r->err, LT_E_NOMEM, "no memory for the prompts of the servers");
  }
  for (size_t i = 0; i < p->servers.count; i++) {
    LT_TRY(gateway_prompts_add(p, r, &p->servers.all[i]));
  }
  return lt_gateway_names_make(p->names, p->count, r->arena, r->err);
}

/* Puts an object with another text for one of its members. */
static void gateway_prompts_put_renamed(lt_json_writer *w, lt_json object, const char *key, lt_str text) {
  lt_json_begin_object(w);
  lt_json_key(w, key);
  lt_json_put_str(w, text);
  for (lt_json_iter it = lt_json_each(object); lt_json_next(&it);) {
    if (!lt_json_str_eq(it.key, lt_str_of(key))) {
      lt_buf_addc(w->buf, ",");
      lt_json_compact(it.key, w->buf);
      lt_buf_addc(w->buf, ":");
      lt_json_compact(it.value, w->buf);
    }
  }
  lt_json_end_object(w);
}

lt_status lt_gateway_prompts_list(lt_gateway_request *r) {
  gateway_prompts p;
  LT_TRY(gateway_prompts_read(r, &p));
  lt_json_key(r->w, "prompts");
  lt_json_begin_array(r->w);
  for (size_t i = 0; i < p.count; i++) {
    gateway_prompts_put_renamed(r->w, p.prompts[i], "name", p.names[i].wire);
  }
  lt_json_end_array(r->w);
  lt_gateway_upstream_put_age(r, LT_GATEWAY_LIST_TTL_MS);
  return LT_OK;
}

lt_status lt_gateway_prompts_find(lt_gateway_request *r, lt_json wire, const lt_gateway_upstream **ret_server,
                                  lt_str *ret_name) {
  gateway_prompts p;
  lt_str name;
  LT_TRY(gateway_prompts_read(r, &p));
  if (!lt_json_str(wire, r->arena, &name)) {
    return lt_fail(r->err, LT_E_INVALID, "name: expected the name of a prompt");
  }
  size_t at = lt_gateway_names_find(p.names, p.count, name);
  if (at == SIZE_MAX) {
    return lt_fail(r->err, LT_E_INVALID, "there is no such prompt: prompts/list has them all");
  }
  *ret_server = p.of[at];
  *ret_name = p.names[at].name;
  r->span.prompt = p.names[at].wire;
  return LT_OK;
}

lt_status lt_gateway_prompts_get(lt_gateway_request *r) {
  const lt_gateway_upstream *server;
  lt_str name;
  LT_AUTO_BUF(params, LT_MCP_LINE_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&params);
  lt_json arguments = lt_json_get(r->params, "arguments");
  LT_TRY(lt_gateway_prompts_find(r, lt_json_get(r->params, "name"), &server, &name));
  lt_json_begin_object(&w);
  lt_json_key(&w, "name");
  lt_json_put_str(&w, name);
  if (lt_json_typeof(arguments) == LT_JSON_OBJECT) {
    lt_json_key(&w, "arguments");
    lt_json_put_raw(&w, lt_json_text(arguments));
  }
  lt_gateway_input_put(r, &w);
  lt_json_end_object(&w);
  LT_TRY(lt_buf_check(&params, r->err, "the arguments are too long"));
  return lt_gateway_upstream_pass(r, server, "prompts/get", name, lt_buf_view(&params));
}
