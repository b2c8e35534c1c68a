/* From JSON to nodes. Every schema of the document is found first, without recursion and with its identifiers; then
 * each gets its rules, and references may find further ones in places where no keyword says that there is one. */
#include "base/limits.h"
#include "json/schema_compile.h"
#include "json/schema_faults.h"
#include "json/schema_keywords.h"
#include "json/schema_refs.h"
#include "json/schema_rules.h"

/* --- Failing and noting ------------------------------------------------------------------------------------------- */

/* RFC 6901's escapes. */
static void schema_compile_put_token(lt_buf *out, lt_json key) {
  lt_str text = lt_json_text(key);
  const char *end = text.p + text.n - 1;
  for (const char *p = text.p + 1; p < end;) {
    if (*p == '~' || *p == '/') {
      lt_buf_addc(out, *p++ == '~' ? "~0" : "~1");
    } else {
      p += lt_schema_put_char(out, p, end);
    }
  }
}

/* Nodes stand in the order of the text: what holds the value is what reaches beyond it. */
/* Appends the JSON pointer of a value in its document, "#/properties/a". */
static void schema_compile_put_pointer(lt_buf *out, lt_json json) {
  lt_json at = {json.doc, 0};
  lt_buf_byte(out, '#');
  while (at.at != json.at) {
    uint32_t i = 0;
    lt_json_iter it = lt_json_each(at);
    while (lt_json_next(&it) && json.doc->nodes[it.value.at].next <= json.at) {
      i++;
    }
    lt_buf_byte(out, '/');
    if (lt_json_exists(it.key)) {
      schema_compile_put_token(out, it.key);
    } else {
      lt_buf_printf(out, "%u", i);
    }
    at = it.value;
  }
}

void lt_schema_fail(lt_schema_compiler *c, lt_json where, const char *what) {
  if (c->status != LT_OK) {
    return;
  }
  LT_AUTO_BUF(path, LT_ERR_MSG_MAX / 2);
  schema_compile_put_pointer(&path, where);
  c->status = path.status == LT_E_NOMEM
                  ? lt_fail(c->err, LT_E_NOMEM, "out of memory")
                  : lt_fail(c->err, LT_E_INVALID, "%.*s: %s", LT_STR_ARG(lt_buf_view(&path)), what);
}

void lt_schema_fail_memory(lt_schema_compiler *c) {
  if (c->status == LT_OK) {
    c->status = c->arena->used > c->arena->max / 2 ? lt_fail(c->err, LT_E_LIMIT, "the schema takes too much memory")
                                                   : lt_fail(c->err, LT_E_NOMEM, "out of memory");
  }
}

void lt_schema_note(lt_schema_compiler *c, lt_json where, const char *what, lt_str detail) {
  if (c->note_count++ >= LT_SCHEMA_NOTES_MAX) {
    return;
  }
  lt_buf_addc(&c->notes, c->note_count > 1 ? "; " : "");
  schema_compile_put_pointer(&c->notes, where);
  lt_buf_addc(&c->notes, ": ");
  lt_buf_addc(&c->notes, what);
  if (detail.n > 0) {
    lt_buf_byte(&c->notes, ' ');
    lt_schema_put_quoted(&c->notes, detail);
  }
}

bool lt_schema_text(lt_schema_compiler *c, lt_json json, lt_str *ret) {
  if (lt_json_typeof(json) != LT_JSON_STRING) {
    return false;
  }
  if (!lt_json_str(json, c->arena, ret)) {
    lt_schema_fail_memory(c);
    return false;
  }
  return true;
}

/* --- Nodes -------------------------------------------------------------------------------------------------------- */

lt_schema_node *lt_schema_node_at(lt_schema_compiler *c, lt_json json, uint32_t resource) {
  if (c->status != LT_OK) {
    return NULL;
  }
  lt_schema_node *node = c->by_json[json.at];
  if (node != NULL) {
    return node;
  }
  lt_json_type type = lt_json_typeof(json);
  if (type != LT_JSON_OBJECT && type != LT_JSON_TRUE && type != LT_JSON_FALSE) {
    lt_schema_fail(c, json, "must be a schema: an object, true or false");
    return NULL;
  }
  if (c->node_count++ >= LT_SCHEMA_NODES_MAX) {
    c->status = lt_fail(c->err, LT_E_LIMIT, "over %d schemas in the schema", LT_SCHEMA_NODES_MAX);
    return NULL;
  }
  node = lt_arena_zalloc(c->arena, 1, sizeof(*node));
  if (node == NULL) {
    lt_schema_fail_memory(c);
    return NULL;
  }
  *node = (lt_schema_node){.json = json, .resource = resource, .types = LT_SCHEMA_ANY, .never = type == LT_JSON_FALSE};
  *(c->last != NULL ? &c->last->next : &c->first) = node;
  c->last = node;
  c->by_json[json.at] = node;
  return node;
}

bool lt_schema_ref_is_alone(const lt_schema_compiler *c, const lt_schema_node *node) {
  return c->resources[node->resource].draft <= 7;
}

/* --- Finding schemas ---------------------------------------------------------------------------------------------- */

/* The schemas of a list or map; what is no schema there is passed over where lists of names may stand too. */
static void schema_compile_find_several(lt_schema_compiler *c, lt_json several, uint32_t resource, bool or_names) {
  lt_json_iter it = lt_json_each(several);
  while (c->status == LT_OK && lt_json_next(&it)) {
    if (!or_names || lt_json_typeof(it.value) != LT_JSON_ARRAY) {
      lt_schema_node_at(c, it.value, resource);
    }
  }
}

static void schema_compile_find_in_keyword(lt_schema_compiler *c, lt_json value, lt_schema_shape shape,
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
        schema_compile_find_several(c, value, resource, false);
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
        schema_compile_find_several(c, value, resource, shape == LT_SHAPE_MAP_OR_NAMES);
      }
      break;
  }
}

static void schema_compile_find_in_node(lt_schema_compiler *c, lt_schema_node *node) {
  lt_schema_keys keys;
  lt_schema_keys_read(node->json, false, &keys);
  for (unsigned i = 0; i < LT_KW_COUNT; i++) {
    if (lt_json_exists(keys.at[i])) {
      schema_compile_find_in_keyword(c, keys.at[i], lt_schema_keyword_shape(i), node->resource);
    }
  }
}

void lt_schema_scan(lt_schema_compiler *c) {
  lt_schema_node *node = c->scanned != NULL ? c->scanned->next : c->first;
  for (; node != NULL && c->status == LT_OK; node = node->next) {
    lt_schema_identify(c, node);
    if (c->status == LT_OK && lt_json_typeof(node->json) == LT_JSON_OBJECT) {
      schema_compile_find_in_node(c, node);
    }
    c->scanned = node;
  }
}

/* --- The document ------------------------------------------------------------------------------------------------- */

static void schema_compile_keep_notes(lt_schema_compiler *c) {
  if (c->note_count > LT_SCHEMA_NOTES_MAX) {
    lt_buf_printf(&c->notes, "; and %u more", c->note_count - LT_SCHEMA_NOTES_MAX);
  }
  c->schema->notes = LT_STR("");
  if (c->notes.status == LT_E_NOMEM) {
    lt_schema_fail_memory(c);
  } else if (c->notes.n > 0) {
    c->schema->notes = lt_arena_dup(c->arena, lt_buf_view(&c->notes));
    if (c->schema->notes.p == NULL) {
      lt_schema_fail_memory(c);
    }
  }
}

lt_status lt_schema_compile(lt_schema_compiler *c) {
  lt_schema *schema = c->schema;
  c->by_json = lt_arena_zalloc(c->scratch, schema->doc.count, sizeof(lt_schema_node *));
  if (c->by_json == NULL) {
    lt_schema_fail_memory(c);
    return c->status;
  }
  lt_buf_init(&c->notes, LT_SCHEMA_FAULTS_MAX_BYTES);
  schema->root = lt_schema_node_at(c, lt_json_root(&schema->doc), 0);
  lt_schema_scan(c);
  for (lt_schema_node *node = c->first; node != NULL && c->status == LT_OK; node = node->next) {
    if (lt_json_typeof(node->json) == LT_JSON_OBJECT) {
      lt_schema_rules_make(c, node);
    }
  }
  if (c->status == LT_OK) {
    schema_compile_keep_notes(c);
  }
  lt_buf_release(&c->notes);
  schema->resources = c->resources;
  schema->resource_count = c->resource_count;
  schema->anchors = c->anchors;
  schema->anchor_count = c->anchor_count;
  return c->status;
}
