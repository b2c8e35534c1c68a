/* Identifiers, anchors, and what references lead to. Nothing is ever fetched. */
#include "base/limits.h"
#include "json/schema_refs.h"
#include "json/schema_keywords.h"
#include "json/schema_uri.h"

/* --- Identifiers -------------------------------------------------------------------------------------------------- */

/* Room for one more in an array of the scratch arena. */
static bool schema_refs_grow(lt_schema_compiler *c, void **list, uint32_t count, uint32_t *cap, size_t size) {
  if (count < *cap) {
    return true;
  }
  uint32_t more = *cap == 0 ? 8 : *cap * 2;
  void *bigger = lt_arena_alloc(c->arena, more * size);
  if (bigger == NULL) {
    lt_schema_fail_memory(c);
    return false;
  }
  if (count > 0) {
    memcpy(bigger, *list, count * size);
  }
  *list = bigger;
  *cap = more;
  return true;
}

static bool schema_refs_too_many(lt_schema_compiler *c, uint32_t count) {
  if (count < LT_SCHEMA_IDS_MAX) {
    return false;
  }
  if (c->status == LT_OK) {
    c->status = lt_fail(c->err, LT_E_LIMIT, "the schema has over %d identifiers", LT_SCHEMA_IDS_MAX);
  }
  return true;
}

static void schema_refs_add_resource(lt_schema_compiler *c, lt_schema_resource resource) {
  void *list = c->resources;
  if (!schema_refs_too_many(c, c->resource_count) &&
      schema_refs_grow(c, &list, c->resource_count, &c->resource_cap, sizeof(*c->resources))) {
    c->resources = list;
    c->resources[c->resource_count++] = resource;
  }
}

static void schema_refs_add_anchor(lt_schema_compiler *c, lt_schema_node *node, lt_str name, bool dynamic) {
  void *list = c->anchors;
  if (!schema_refs_too_many(c, c->anchor_count) &&
      schema_refs_grow(c, &list, c->anchor_count, &c->anchor_cap, sizeof(*c->anchors))) {
    c->anchors = list;
    c->anchors[c->anchor_count++] =
        (lt_schema_anchor){.name = name, .node = node, .resource = node->resource, .dynamic = dynamic};
  }
}

/* From "$schema"; `fallback` where it says nothing that we know. */
static uint32_t schema_refs_draft_of(lt_schema_compiler *c, lt_json schema, uint32_t fallback) {
  static const struct {
    const char *mark;
    uint32_t draft;
  } drafts[] = {{"draft-03", 4}, {"draft-04", 4},   {"draft-06", 6},
                {"draft-07", 7}, {"2019-09", 2019}, {"2020-12", 2020}};
  lt_str text;
  if (lt_json_typeof(schema) != LT_JSON_STRING || !lt_schema_text(c, schema, &text)) {
    return fallback;
  }
  for (size_t i = 0; i < sizeof(drafts) / sizeof(drafts[0]); i++) {
    if (lt_str_find(text, lt_str_of(drafts[i].mark), 0) != SIZE_MAX) {
      return drafts[i].draft;
    }
  }
  return fallback;
}

/* An $id: a new resource, unless it is but a fragment, which is how draft-07 writes anchors. */
static void schema_refs_identify_id(lt_schema_compiler *c, lt_schema_node *node, lt_str id, lt_json schema) {
  lt_schema_resource *around = &c->resources[node->resource];
  lt_str uri;
  lt_str fragment;
  if (!lt_schema_uri_resolve(c->arena, around->uri, id, &uri, &fragment)) {
    lt_schema_fail_memory(c);
    return;
  }
  if (id.n == 0 || id.p[0] != '#') {
    uint32_t draft = schema_refs_draft_of(c, schema, around->draft);
    if (around->root == node) {
      around->uri = uri;
    } else {
      node->resource = c->resource_count;
      schema_refs_add_resource(c, (lt_schema_resource){.uri = uri, .root = node, .draft = draft});
    }
  }
  if (fragment.n > 0 && c->status == LT_OK) {
    schema_refs_add_anchor(c, node, fragment, false);
  }
}

static void schema_refs_identify_anchor(lt_schema_compiler *c, lt_schema_node *node, lt_json name, bool dynamic) {
  lt_str text;
  if (lt_json_exists(name) && c->status == LT_OK && lt_schema_text(c, name, &text)) {
    schema_refs_add_anchor(c, node, text, dynamic);
  }
}

void lt_schema_identify(lt_schema_compiler *c, lt_schema_node *node) {
  lt_schema_keys keys;
  if (node == c->first) {
    lt_json schema = lt_json_get(node->json, "$schema");
    schema_refs_add_resource(
        c, (lt_schema_resource){.uri = LT_STR(""), .root = node, .draft = schema_refs_draft_of(c, schema, 2020)});
  }
  if (c->status != LT_OK || lt_json_typeof(node->json) != LT_JSON_OBJECT) {
    return;
  }
  lt_schema_keys_read(node->json, lt_schema_ref_is_alone(c, node), &keys);
  lt_str text;
  lt_json id = keys.at[c->resources[node->resource].draft == 4 ? LT_KW_OLD_ID : LT_KW_ID];
  if (lt_json_typeof(id) == LT_JSON_STRING && lt_schema_text(c, id, &text)) {
    schema_refs_identify_id(c, node, text, keys.at[LT_KW_SCHEMA]);
  }
  schema_refs_identify_anchor(c, node, keys.at[LT_KW_ANCHOR], false);
  schema_refs_identify_anchor(c, node, keys.at[LT_KW_DYNAMIC_ANCHOR], true);
  if (c->status == LT_OK && lt_json_bool(keys.at[LT_KW_RECURSIVE_ANCHOR], false)) {
    lt_schema_resource *resource = &c->resources[node->resource];
    resource->is_recursive |= resource->root == node;
  }
}

/* --- References --------------------------------------------------------------------------------------------------- */

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

/* What `fragment` names in the resource. */
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
