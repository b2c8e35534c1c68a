#include "types/typegen_py_type.h"

#include "types/typegen_schema.h"
#include "types/typegen_text.h"

/* Following a reference may read every node of the document. So it costs more in a large document. */
enum { REF_HOPS_MAX = 16, MEMBERS_COMPARED = 16, NODES_PER_STEP = 1024 };

static void py_type_put(lt_typegen_py_context *g, const char *text) {
  lt_buf_addc(g->out, text);
}

lt_json lt_typegen_py_target(lt_typegen_py_context *g, lt_json schema) {
  for (int hops = 0; hops < REF_HOPS_MAX && g->steps < LT_TYPEGEN_STEPS_MAX; hops++) {
    lt_json ref = lt_typegen_key(schema, LT_KEY_REF);
    lt_str text;
    lt_str name;
    if (lt_json_typeof(ref) != LT_JSON_STRING) {
      return schema;
    }
    g->steps += 1 + g->root.doc->count / NODES_PER_STEP;
    if (!lt_json_str(ref, g->arena, &text) || lt_typegen_resolve(g->root, text, g->arena, &schema, &name) != LT_OK) {
      g->status = LT_E_NOMEM;
      break;
    }
  }
  return (lt_json){NULL, 0};
}

/* --- Literals ----------------------------------------------------------------------------------------------------- */

/* "Literal[...] may contain strings, bytes, ints, bools, enum values and None" (PEP 586). */
static bool py_type_is_literal(lt_json value) {
  int64_t n;
  switch (lt_json_typeof(value)) {
    case LT_JSON_NULL:
    case LT_JSON_FALSE:
    case LT_JSON_TRUE:
    case LT_JSON_STRING:
      return true;
    case LT_JSON_NUMBER:
      return lt_json_int(value, &n);
    case LT_JSON_NONE:
    case LT_JSON_ARRAY:
    case LT_JSON_OBJECT:
      return false;
  }
  return false;
}

static void py_type_put_literal(lt_typegen_py_context *g, lt_json value) {
  lt_str s;
  int64_t n;
  switch (lt_json_typeof(value)) {
    case LT_JSON_NULL:
      py_type_put(g, "None");
      return;
    case LT_JSON_FALSE:
      py_type_put(g, "False");
      return;
    case LT_JSON_TRUE:
      py_type_put(g, "True");
      return;
    case LT_JSON_STRING:
      if (lt_json_str(value, g->arena, &s)) {
        lt_typegen_put_string(g->out, s);
      } else {
        g->status = LT_E_NOMEM;
      }
      return;
    case LT_JSON_NUMBER:
      if (lt_json_int(value, &n)) {
        lt_buf_printf(g->out, "%lld", (long long)n);
      }
      return;
    case LT_JSON_NONE:
    case LT_JSON_ARRAY:
    case LT_JSON_OBJECT:
      return;
  }
}

static void py_type_put_enum(lt_typegen_py_context *g, lt_json values) {
  lt_json_iter it = lt_json_each(values);
  bool all = lt_json_typeof(values) == LT_JSON_ARRAY && lt_json_count(values) > 0;
  while (all && lt_json_next(&it)) {
    all = py_type_is_literal(it.value);
  }
  if (!all) {
    py_type_put(g, "Any");
    return;
  }
  it = lt_json_each(values);
  py_type_put(g, "Literal[");
  for (bool first = true; lt_json_next(&it); first = false) {
    py_type_put(g, first ? "" : ", ");
    py_type_put_literal(g, it.value);
  }
  py_type_put(g, "]");
}

static void py_type_put_const(lt_typegen_py_context *g, lt_json value) {
  if (!py_type_is_literal(value)) {
    py_type_put(g, "Any");
    return;
  }
  py_type_put(g, "Literal[");
  py_type_put_literal(g, value);
  py_type_put(g, "]");
}

/* --- Unions ------------------------------------------------------------------------------------------------------- */

typedef struct py_union {
  size_t count;
  size_t begin;
  bool any; /* one member is Any, which makes the union Any */
  size_t starts[MEMBERS_COMPARED];
  size_t ends[MEMBERS_COMPARED];
} py_union;

/* Keeps the member after `before`, or removes it when an earlier one has the same text. */
static void py_type_union_end(lt_typegen_py_context *g, py_union *u, size_t before) {
  if (g->out->status != LT_OK) {
    return;
  }
  lt_str all = lt_buf_view(g->out);
  size_t start = before + (u->count > 0 ? 3 : 0);
  for (size_t i = 0; i < u->count && i < MEMBERS_COMPARED; i++) {
    if (lt_str_eq(lt_str_sub(all, u->starts[i], u->ends[i]), lt_str_sub(all, start, all.n))) {
      lt_buf_cut(g->out, before);
      return;
    }
  }
  if (u->count < MEMBERS_COMPARED) {
    u->starts[u->count] = start;
    u->ends[u->count] = all.n;
  }
  u->any |= lt_str_eqc(lt_str_sub(all, start, all.n), "Any");
  u->count++;
}

static void py_type_union_finish(lt_typegen_py_context *g, const py_union *u) {
  if (u->any) {
    lt_buf_cut(g->out, u->begin);
  }
  py_type_put(g, u->any || u->count == 0 ? "Any" : "");
}

static size_t py_type_union_begin(lt_typegen_py_context *g, const py_union *u) {
  size_t before = g->out->n;
  py_type_put(g, u->count > 0 ? " | " : "");
  return before;
}

static void py_type_put_alternatives(lt_typegen_py_context *g, lt_json schemas) {
  py_union u = {.begin = g->out->n};
  lt_json_iter it = lt_json_each(schemas);
  while (lt_json_next(&it) && g->steps < LT_TYPEGEN_STEPS_MAX) {
    size_t before = py_type_union_begin(g, &u);
    lt_typegen_py_put_type(g, it.value);
    py_type_union_end(g, &u, before);
  }
  py_type_union_finish(g, &u);
}

/* --- Containers --------------------------------------------------------------------------------------------------- */

static void py_type_put_list(lt_typegen_py_context *g, lt_json schema) {
  lt_json items = lt_typegen_key(schema, LT_KEY_ITEMS);
  lt_json parts = lt_json_typeof(items) == LT_JSON_ARRAY ? items : lt_typegen_key(schema, LT_KEY_PREFIX_ITEMS);
  bool tuple = lt_json_typeof(parts) == LT_JSON_ARRAY && lt_json_count(parts) > 0;
  py_type_put(g, "list[");
  if (tuple) {
    py_type_put_alternatives(g, parts); /* arguments become JSON, so a tuple is a list with items of any of its types */
  } else if (lt_json_exists(items)) {
    lt_typegen_py_put_type(g, items);
  } else {
    py_type_put(g, "Any");
  }
  py_type_put(g, "]");
}

static void py_type_put_shape(lt_typegen_py_context *g, const lt_typegen_props *props) {
  py_type_put(g, "{");
  for (size_t i = 0; i < props->count && g->steps < LT_TYPEGEN_STEPS_MAX; i++) {
    py_type_put(g, i > 0 ? ", " : "");
    lt_typegen_put_string(g->out, props->at[i].key);
    py_type_put(g, props->at[i].required ? ": " : "?: ");
    lt_typegen_py_put_type(g, props->at[i].schema);
  }
  py_type_put(g, "}");
}

static void py_type_put_dict(lt_typegen_py_context *g, lt_json schema) {
  lt_typegen_props props;
  if (lt_typegen_props_read(schema, g->arena, &props) != LT_OK) {
    g->status = LT_E_NOMEM;
    return;
  }
  lt_json more = lt_typegen_key(schema, LT_KEY_ADDITIONAL_PROPERTIES);
  if (g->shape && props.count > 0) {
    py_type_put_shape(g, &props);
  } else if (props.count == 0 && lt_json_typeof(more) == LT_JSON_OBJECT) {
    py_type_put(g, "dict[str, ");
    lt_typegen_py_put_type(g, more);
    py_type_put(g, "]");
  } else {
    py_type_put(g, "dict[str, Any]");
  }
}

/* --- Schemas ------------------------------------------------------------------------------------------------------ */

static void py_type_put_one_type(lt_typegen_py_context *g, lt_json schema, unsigned bit) {
  switch (bit) {
    case LT_TYPEGEN_NULL:
      py_type_put(g, "None");
      break;
    case LT_TYPEGEN_BOOLEAN:
      py_type_put(g, "bool");
      break;
    case LT_TYPEGEN_NUMBER:
      py_type_put(g, "float");
      break;
    case LT_TYPEGEN_INTEGER:
      py_type_put(g, "int");
      break;
    case LT_TYPEGEN_STRING:
      py_type_put(g, "str");
      break;
    case LT_TYPEGEN_ARRAY:
      py_type_put_list(g, schema);
      break;
    case LT_TYPEGEN_OBJECT:
      py_type_put_dict(g, schema);
      break;
    default:
      py_type_put(g, "Any");
      break;
  }
}

static void py_type_put_types(lt_typegen_py_context *g, lt_json schema) {
  lt_json list = lt_typegen_key(schema, LT_KEY_TYPE);
  if (lt_json_typeof(list) != LT_JSON_ARRAY) {
    py_type_put_one_type(g, schema, lt_typegen_types(schema));
    return;
  }
  py_union u = {.begin = g->out->n};
  lt_json_iter it = lt_json_each(list);
  while (lt_json_next(&it) && g->steps++ < LT_TYPEGEN_STEPS_MAX) {
    size_t before = py_type_union_begin(g, &u);
    py_type_put_one_type(g, schema, lt_typegen_type_bit(it.value));
    py_type_union_end(g, &u, before);
  }
  py_type_union_finish(g, &u);
}

/* Python has no intersection types: the first part with a known type represents all. */
static lt_json py_type_first_informative(lt_json schemas) {
  lt_json_iter it = lt_json_each(schemas);
  while (lt_json_next(&it)) {
    if (!lt_typegen_is_vague(it.value)) {
      return it.value;
    }
  }
  return (lt_json){NULL, 0};
}

static void py_type_put_schema_object(lt_typegen_py_context *g, lt_json schema) {
  lt_json constant = lt_typegen_key(schema, LT_KEY_CONST);
  lt_json values = lt_typegen_key(schema, LT_KEY_ENUM);
  lt_json any = lt_typegen_key(schema, LT_KEY_ANY_OF);
  lt_json one = lt_typegen_key(schema, LT_KEY_ONE_OF);
  if (lt_json_exists(constant)) {
    py_type_put_const(g, constant);
  } else if (lt_json_exists(values)) {
    py_type_put_enum(g, values);
  } else if (lt_typegen_types(schema) != 0) {
    py_type_put_types(g, schema);
  } else if (lt_typegen_all_are_informative(any) || lt_typegen_all_are_informative(one)) {
    py_type_put_alternatives(g, lt_typegen_all_are_informative(any) ? any : one);
  } else {
    lt_typegen_py_put_type(g, py_type_first_informative(lt_typegen_key(schema, LT_KEY_ALL_OF)));
  }
  if (lt_json_bool(lt_typegen_key(schema, LT_KEY_NULLABLE), false)) {
    py_type_put(g, " | None");
  }
}

static bool py_type_is_within(const lt_typegen_py_context *g, lt_json schema) {
  for (unsigned i = 0; i < g->depth; i++) {
    if (g->within[i] == schema.at) {
      return true;
    }
  }
  return false;
}

void lt_typegen_py_put_type(lt_typegen_py_context *g, lt_json schema) {
  if (g->depth >= LT_PYGEN_DEPTH_MAX || g->steps++ >= LT_TYPEGEN_STEPS_MAX || g->status != LT_OK) {
    py_type_put(g, "Any");
    return;
  }
  schema = lt_typegen_py_target(g, schema);
  bool again = lt_json_exists(schema) && py_type_is_within(g, schema);
  if (lt_json_typeof(schema) != LT_JSON_OBJECT || lt_typegen_is_vague(schema) || again) {
    py_type_put(g, again && lt_typegen_is_plain_object(schema) ? "dict[str, Any]" : "Any");
    return;
  }
  g->within[g->depth++] = schema.at;
  py_type_put_schema_object(g, schema);
  g->depth--;
}
