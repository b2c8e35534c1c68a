/* The nodes of a schema while it is compiled, failures and notes. */
#include "json/schema_compiler.h"

#include "base/limits.h"
#include "json/schema_faults.h"

/* --- Failing and noting ------------------------------------------------------------------------------------------- */

/* Escapes as RFC 6901 requires. */
static void schema_compiler_put_token(lt_buf *out, lt_json key) {
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

/* Appends the JSON pointer of a value in its document, such as "#/properties/a". Nodes are in the order of the text, so
 * the container of a value is the one that ends after it. */
static void schema_compiler_put_pointer(lt_buf *out, lt_json json) {
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
      schema_compiler_put_token(out, it.key);
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
  schema_compiler_put_pointer(&path, where);
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
  schema_compiler_put_pointer(&c->notes, where);
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
