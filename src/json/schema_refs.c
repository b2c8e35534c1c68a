/* Finds the targets of references. Nothing is ever fetched. */
#include "json/schema_refs.h"

#include "base/limits.h"
#include "json/schema_scan.h"
#include "json/schema_uri.h"

/* RFC 6901: "~1" is "/" and "~0" is "~". Replaces the token by its decoded text in the scratch arena. */
static bool schema_refs_unescape_token(lt_schema_compiler *c, lt_str *token) {
  if (token->n == 0 || memchr(token->p, '~', token->n) == NULL) {
    return true;
  }
  char *out = lt_arena_alloc(c->scratch, token->n);
  if (out == NULL) {
    lt_schema_fail_memory(c);
    return false;
  }
  size_t n = 0;
  for (size_t i = 0; i < token->n; i++) {
    bool escape = token->p[i] == '~' && i + 1 < token->n && (token->p[i + 1] == '0' || token->p[i + 1] == '1');
    out[n++] = escape ? (token->p[++i] == '0' ? '~' : '/') : token->p[i];
  }
  *token = (lt_str){out, n};
  return true;
}

static lt_json schema_refs_step_into(lt_json json, lt_str token) {
  if (lt_json_typeof(json) != LT_JSON_ARRAY) {
    return lt_json_get_str(json, token);
  }
  uint32_t i = 0;
  for (size_t k = 0; k < token.n; k++) {
    if (token.p[k] < '0' || token.p[k] > '9' || i > 100000000) {
      return (lt_json){NULL, 0};
    }
    i = i * 10 + (uint32_t)(token.p[k] - '0');
  }
  return token.n > 0 ? lt_json_at(json, i) : (lt_json){NULL, 0};
}

/* Follows a JSON pointer from a resource's root. The target belongs to the resource of the last known schema on the
 * path. */
static lt_schema_node *schema_refs_follow(lt_schema_compiler *c, uint32_t resource, lt_str pointer) {
  lt_json json = c->resources[resource].root->json;
  while (pointer.n > 0 && lt_json_exists(json)) {
    size_t slash = lt_str_find(pointer, LT_STR("/"), 1);
    size_t end = slash < pointer.n ? slash : pointer.n;
    lt_str token = lt_str_sub(pointer, 1, end);
    pointer = lt_str_sub(pointer, end, pointer.n);
    c->steps += lt_json_count(json);
    if (!schema_refs_unescape_token(c, &token)) {
      return NULL;
    }
    json = schema_refs_step_into(json, token);
    const lt_schema_node *known = lt_json_exists(json) ? c->by_json[json.at] : NULL;
    resource = known != NULL ? known->resource : resource;
  }
  lt_json_type type = lt_json_typeof(json);
  bool is_schema = type == LT_JSON_OBJECT || type == LT_JSON_TRUE || type == LT_JSON_FALSE;
  return is_schema ? lt_schema_node_at(c, json, resource) : NULL;
}

static lt_schema_anchor *schema_refs_find_anchor(lt_schema_compiler *c, uint32_t resource, lt_str name) {
  for (uint32_t i = 0; i < c->anchor_count; i++) {
    if (c->anchors[i].resource == resource && lt_str_eq(c->anchors[i].name, name)) {
      return &c->anchors[i];
    }
  }
  return NULL;
}

static uint32_t schema_refs_find_resource(const lt_schema_compiler *c, lt_str uri) {
  uint32_t i = 0;
  while (i < c->resource_count && !lt_str_eq(c->resources[i].uri, uri)) {
    i++;
  }
  return i;
}

/* Finds the schema that `fragment` names in the resource. */
static lt_schema_node *schema_refs_find_in(lt_schema_compiler *c, uint32_t resource, lt_str fragment,
                                           lt_str *ret_anchor) {
  if (fragment.n == 0) {
    return c->resources[resource].root;
  }
  if (fragment.p[0] == '/') {
    return schema_refs_follow(c, resource, fragment);
  }
  c->steps += c->anchor_count;
  const lt_schema_anchor *anchor = schema_refs_find_anchor(c, resource, fragment);
  if (anchor != NULL && anchor->dynamic) {
    *ret_anchor = anchor->name;
  }
  return anchor != NULL ? anchor->node : NULL;
}

static bool schema_refs_has_worked_enough(lt_schema_compiler *c) {
  if (c->steps > LT_SCHEMA_STEPS && c->status == LT_OK) {
    c->status = lt_fail(c->err, LT_E_LIMIT, "the schema has too many references");
  }
  return c->status != LT_OK;
}

const lt_schema_node *lt_schema_resolve(lt_schema_compiler *c, const lt_schema_node *node, lt_json ref,
                                        lt_str *ret_anchor) {
  lt_str text;
  lt_str uri;
  lt_str fragment;
  *ret_anchor = LT_STR("");
  if (!lt_schema_text(c, ref, &text)) {
    lt_schema_fail(c, ref, "must be a string");
    return NULL;
  }
  if (!lt_schema_uri_resolve(c->scratch, c->resources[node->resource].uri, text, &uri, &fragment)) {
    lt_schema_fail_memory(c);
    return NULL;
  }
  fragment = lt_schema_uri_unescape(c->scratch, fragment);
  uint32_t resource = schema_refs_find_resource(c, uri);
  c->steps += c->resource_count;
  if (resource == c->resource_count) {
    lt_schema_note(c, ref, "what is outside of the schema is not fetched:", text);
    return NULL;
  }
  lt_schema_node *found = fragment.p != NULL ? schema_refs_find_in(c, resource, fragment, ret_anchor) : NULL;
  if (fragment.p == NULL) {
    lt_schema_fail_memory(c);
  } else if (found == NULL && c->status == LT_OK) {
    lt_schema_note(c, ref, "leads nowhere:", text);
  }
  lt_schema_scan(c);
  return schema_refs_has_worked_enough(c) ? NULL : found;
}
