/* Scans a document for schemas, their identifiers and their anchors. */
#include "json/schema_scan.h"

#include "base/limits.h"
#include "json/schema_keywords.h"
#include "json/schema_uri.h"

/* --- Identifiers -------------------------------------------------------------------------------------------------- */

/* Makes room for one more element in an array of the schema's arena. */
static bool schema_scan_grow(lt_schema_compiler *c, void **list, uint32_t count, uint32_t *cap, size_t size) {
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

static bool schema_scan_too_many(lt_schema_compiler *c, uint32_t count) {
  if (count < LT_SCHEMA_IDS_MAX) {
    return false;
  }
  if (c->status == LT_OK) {
    c->status = lt_fail(c->err, LT_E_LIMIT, "the schema has over %d identifiers", LT_SCHEMA_IDS_MAX);
  }
  return true;
}

static void schema_scan_add_resource(lt_schema_compiler *c, lt_schema_resource resource) {
  void *list = c->resources;
  if (!schema_scan_too_many(c, c->resource_count) &&
      schema_scan_grow(c, &list, c->resource_count, &c->resource_cap, sizeof(*c->resources))) {
    c->resources = list;
    c->resources[c->resource_count++] = resource;
  }
}

static void schema_scan_add_anchor(lt_schema_compiler *c, lt_schema_node *node, lt_str name, bool dynamic) {
  void *list = c->anchors;
  if (!schema_scan_too_many(c, c->anchor_count) &&
      schema_scan_grow(c, &list, c->anchor_count, &c->anchor_cap, sizeof(*c->anchors))) {
    c->anchors = list;
    c->anchors[c->anchor_count++] =
        (lt_schema_anchor){.name = name, .node = node, .resource = node->resource, .dynamic = dynamic};
  }
}

/* The draft that "$schema" names; `fallback` when it is missing or unknown. */
static uint32_t schema_scan_draft_of(lt_schema_compiler *c, lt_json schema, uint32_t fallback) {
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

/* An $id begins a new resource. An $id that is only a fragment is an anchor, as in draft-07. */
static void schema_scan_identify_id(lt_schema_compiler *c, lt_schema_node *node, lt_str id, lt_json schema) {
  lt_schema_resource *around = &c->resources[node->resource];
  lt_str uri;
  lt_str fragment;
  if (!lt_schema_uri_resolve(c->arena, around->uri, id, &uri, &fragment)) {
    lt_schema_fail_memory(c);
    return;
  }
  if (id.n == 0 || id.p[0] != '#') {
    uint32_t draft = schema_scan_draft_of(c, schema, around->draft);
    if (around->root == node) {
      around->uri = uri;
    } else {
      node->resource = c->resource_count;
      schema_scan_add_resource(c, (lt_schema_resource){.uri = uri, .root = node, .draft = draft});
    }
  }
  if (fragment.n > 0 && c->status == LT_OK) {
    schema_scan_add_anchor(c, node, fragment, false);
  }
}

static void schema_scan_identify_anchor(lt_schema_compiler *c, lt_schema_node *node, lt_json name, bool dynamic) {
  lt_str text;
  if (lt_json_exists(name) && c->status == LT_OK && lt_schema_text(c, name, &text)) {
    schema_scan_add_anchor(c, node, text, dynamic);
  }
}

/* Registers the node's $id and anchors. A new $id makes the node the root of a new resource. */
static void schema_scan_identify(lt_schema_compiler *c, lt_schema_node *node) {
  lt_schema_keys keys;
  if (node == c->first) {
    lt_json schema = lt_json_get(node->json, "$schema");
    schema_scan_add_resource(
        c, (lt_schema_resource){.uri = LT_STR(""), .root = node, .draft = schema_scan_draft_of(c, schema, 2020)});
  }
  if (c->status != LT_OK || lt_json_typeof(node->json) != LT_JSON_OBJECT) {
    return;
  }
  lt_schema_keys_read(node->json, lt_schema_ref_is_alone(c, node), &keys);
  lt_str text;
  lt_json id = keys.at[c->resources[node->resource].draft == 4 ? LT_KW_OLD_ID : LT_KW_ID];
  if (lt_json_typeof(id) == LT_JSON_STRING && lt_schema_text(c, id, &text)) {
    schema_scan_identify_id(c, node, text, keys.at[LT_KW_SCHEMA]);
  }
  schema_scan_identify_anchor(c, node, keys.at[LT_KW_ANCHOR], false);
  schema_scan_identify_anchor(c, node, keys.at[LT_KW_DYNAMIC_ANCHOR], true);
  if (c->status == LT_OK && lt_json_bool(keys.at[LT_KW_RECURSIVE_ANCHOR], false)) {
    lt_schema_resource *resource = &c->resources[node->resource];
    resource->is_recursive |= resource->root == node;
  }
}

/* --- Finding schemas ---------------------------------------------------------------------------------------------- */

/* Finds the schemas in a list or map. `or_names`: lists of names may stand there, too, and are passed over. */
static void schema_scan_find_several(lt_schema_compiler *c, lt_json several, uint32_t resource, bool or_names) {
  lt_json_iter it = lt_json_each(several);
  while (c->status == LT_OK && lt_json_next(&it)) {
    if (!or_names || lt_json_typeof(it.value) != LT_JSON_ARRAY) {
      lt_schema_node_at(c, it.value, resource);
    }
  }
}

static void schema_scan_find_in_keyword(lt_schema_compiler *c, lt_json value, lt_schema_shape shape,
                                        uint32_t resource) {
  lt_json_type type = lt_json_typeof(value);
  switch (shape) {
    case LT_SHAPE_NONE:
      break;
    case LT_SHAPE_ONE:
      lt_schema_node_at(c, value, resource);
      break;
    case LT_SHAPE_ONE_OR_LIST:
    case LT_SHAPE_LIST:
      if (type == LT_JSON_ARRAY) {
        schema_scan_find_several(c, value, resource, false);
      } else if (shape == LT_SHAPE_LIST) {
        lt_schema_fail(c, value, "must be a list of schemas");
      } else {
        lt_schema_node_at(c, value, resource);
      }
      break;
    case LT_SHAPE_MAP:
    case LT_SHAPE_MAP_OR_NAMES:
      if (type != LT_JSON_OBJECT) {
        lt_schema_fail(c, value, "must be an object with schemas in it");
      } else {
        schema_scan_find_several(c, value, resource, shape == LT_SHAPE_MAP_OR_NAMES);
      }
      break;
  }
}

static void schema_scan_find_in_node(lt_schema_compiler *c, lt_schema_node *node) {
  lt_schema_keys keys;
  lt_schema_keys_read(node->json, false, &keys);
  for (unsigned i = 0; i < LT_KW_COUNT; i++) {
    if (lt_json_exists(keys.at[i])) {
      schema_scan_find_in_keyword(c, keys.at[i], lt_schema_keyword_shape(i), node->resource);
    }
  }
}

void lt_schema_scan(lt_schema_compiler *c) {
  lt_schema_node *node = c->scanned != NULL ? c->scanned->next : c->first;
  for (; node != NULL && c->status == LT_OK; node = node->next) {
    schema_scan_identify(c, node);
    if (c->status == LT_OK && lt_json_typeof(node->json) == LT_JSON_OBJECT) {
      schema_scan_find_in_node(c, node);
    }
    c->scanned = node;
  }
}
