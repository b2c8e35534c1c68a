#include "types/typegen_py_type.h"

#include "types/typegen_schema.h"
#include "types/typegen_text.h"

/* Following a reference may take a look at every node of the document: a large one makes it dearer. */
enum { REF_HOPS_MAX = 16, MEMBERS_COMPARED = 16, NODES_PER_STEP = 1024 };

static void put(lt_pygen *g, const char *text) {
  lt_buf_addc(g->out, text);
}

lt_json lt_pygen_target(lt_pygen *g, lt_json schema) {
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
static bool is_literal(lt_json value) {
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

static void put_literal(lt_pygen *g, lt_json value) {
  lt_str s;
  int64_t n;
  switch (lt_json_typeof(value)) {
    case LT_JSON_NULL:
      put(g, "None");
      return;
    case LT_JSON_FALSE:
      put(g, "False");
      return;
    case LT_JSON_TRUE:
      put(g, "True");
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

static void put_enum(lt_pygen *g, lt_json values) {
  lt_json_iter it = lt_json_each(values);
  bool all = lt_json_typeof(values) == LT_JSON_ARRAY && lt_json_count(values) > 0;
  while (all && lt_json_next(&it)) {
    all = is_literal(it.value);
  }
  if (!all) {
    put(g, "Any");
    return;
  }
  it = lt_json_each(values);
  put(g, "Literal[");
  for (bool first = true; lt_json_next(&it); first = false) {
    put(g, first ? "" : ", ");
    put_literal(g, it.value);
  }
  put(g, "]");
}

static void put_const(lt_pygen *g, lt_json value) {
  if (!is_literal(value)) {
    put(g, "Any");
    return;
  }
  put(g, "Literal[");
  put_literal(g, value);
  put(g, "]");
}

/* --- Unions ------------------------------------------------------------------------------------------------------- */

typedef struct py_union {
  size_t count;
  size_t begin;
  bool any; /* a member is Any, and so is all of it */
  size_t starts[MEMBERS_COMPARED];
  size_t ends[MEMBERS_COMPARED];
} py_union;

/* Keeps the member written since `before`, or takes it back where an earlier one reads the same. */
static void union_end(lt_pygen *g, py_union *u, size_t before) {
  if (g->out->status != LT_OK) {
    return;
  }
  lt_str all = lt_buf_view(g->out);
  size_t start = before + (u->count > 0 ? 3 : 0);
  for (size_t i = 0; i < u->count && i < MEMBERS_COMPARED; i++) {
    if (lt_str_eq(lt_str_sub(all, u->starts[i], u->ends[i]), lt_str_sub(all, start, all.n))) {
      g->out->n = before;
      g->out->p[before] = '\0';
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

static void union_finish(lt_pygen *g, const py_union *u) {
  if (u->any && g->out->status == LT_OK) {
    g->out->n = u->begin;
    g->out->p[u->begin] = '\0';
  }
  put(g, u->any || u->count == 0 ? "Any" : "");
}

static size_t union_begin(lt_pygen *g, const py_union *u) {
  size_t before = g->out->n;
  put(g, u->count > 0 ? " | " : "");
  return before;
}

static void put_alternatives(lt_pygen *g, lt_json schemas) {
  py_union u = {.begin = g->out->n};
  lt_json_iter it = lt_json_each(schemas);
  while (lt_json_next(&it) && g->steps < LT_TYPEGEN_STEPS_MAX) {
    size_t before = union_begin(g, &u);
    lt_pygen_put_type(g, it.value);
    union_end(g, &u, before);
  }
  union_finish(g, &u);
}

/* --- Containers --------------------------------------------------------------------------------------------------- */

static void put_list(lt_pygen *g, lt_json schema) {
  lt_json items = lt_typegen_key(schema, LT_KEY_ITEMS);
  lt_json parts = lt_json_typeof(items) == LT_JSON_ARRAY ? items : lt_typegen_key(schema, LT_KEY_PREFIX_ITEMS);
  bool tuple = lt_json_typeof(parts) == LT_JSON_ARRAY && lt_json_count(parts) > 0;
  put(g, "list[");
  if (tuple) {
    put_alternatives(g, parts); /* arguments become JSON: a list, of what any place may hold */
  } else if (lt_json_exists(items)) {
    lt_pygen_put_type(g, items);
  } else {
    put(g, "Any");
  }
  put(g, "]");
}

static void put_shape(lt_pygen *g, const lt_typegen_props *props) {
  put(g, "{");
  for (size_t i = 0; i < props->count && g->steps < LT_TYPEGEN_STEPS_MAX; i++) {
    put(g, i > 0 ? ", " : "");
    lt_typegen_put_string(g->out, props->at[i].key);
    put(g, props->at[i].required ? ": " : "?: ");
    lt_pygen_put_type(g, props->at[i].schema);
  }
  put(g, "}");
}

static void put_dict(lt_pygen *g, lt_json schema) {
  lt_typegen_props props;
  if (lt_typegen_props_read(schema, g->arena, &props) != LT_OK) {
    g->status = LT_E_NOMEM;
    return;
  }
  lt_json more = lt_typegen_key(schema, LT_KEY_ADDITIONAL_PROPERTIES);
  if (g->shape && props.count > 0) {
    put_shape(g, &props);
  } else if (props.count == 0 && lt_json_typeof(more) == LT_JSON_OBJECT) {
    put(g, "dict[str, ");
    lt_pygen_put_type(g, more);
    put(g, "]");
  } else {
    put(g, "dict[str, Any]");
  }
}

/* --- Schemas ------------------------------------------------------------------------------------------------------ */

static void put_one_type(lt_pygen *g, lt_json schema, unsigned bit) {
  switch (bit) {
    case LT_TYPEGEN_NULL:
      put(g, "None");
      break;
    case LT_TYPEGEN_BOOLEAN:
      put(g, "bool");
      break;
    case LT_TYPEGEN_NUMBER:
      put(g, "float");
      break;
    case LT_TYPEGEN_INTEGER:
      put(g, "int");
      break;
    case LT_TYPEGEN_STRING:
      put(g, "str");
      break;
    case LT_TYPEGEN_ARRAY:
      put_list(g, schema);
      break;
    case LT_TYPEGEN_OBJECT:
      put_dict(g, schema);
      break;
    default:
      put(g, "Any");
      break;
  }
}

static void put_types(lt_pygen *g, lt_json schema) {
  lt_json list = lt_typegen_key(schema, LT_KEY_TYPE);
  if (lt_json_typeof(list) != LT_JSON_ARRAY) {
    put_one_type(g, schema, lt_typegen_types(schema));
    return;
  }
  py_union u = {.begin = g->out->n};
  lt_json_iter it = lt_json_each(list);
  while (lt_json_next(&it) && g->steps++ < LT_TYPEGEN_STEPS_MAX) {
    size_t before = union_begin(g, &u);
    put_one_type(g, schema, lt_typegen_type_bit(it.value));
    union_end(g, &u, before);
  }
  union_finish(g, &u);
}

/* Python has no intersections: the first part that says anything stands for all. */
static lt_json first_telling(lt_json schemas) {
  lt_json_iter it = lt_json_each(schemas);
  while (lt_json_next(&it)) {
    if (!lt_typegen_is_vague(it.value)) {
      return it.value;
    }
  }
  return (lt_json){NULL, 0};
}

static void put_schema_object(lt_pygen *g, lt_json schema) {
  lt_json constant = lt_typegen_key(schema, LT_KEY_CONST);
  lt_json values = lt_typegen_key(schema, LT_KEY_ENUM);
  lt_json any = lt_typegen_key(schema, LT_KEY_ANY_OF);
  lt_json one = lt_typegen_key(schema, LT_KEY_ONE_OF);
  if (lt_json_exists(constant)) {
    put_const(g, constant);
  } else if (lt_json_exists(values)) {
    put_enum(g, values);
  } else if (lt_typegen_types(schema) != 0) {
    put_types(g, schema);
  } else if (lt_typegen_all_tell(any) || lt_typegen_all_tell(one)) {
    put_alternatives(g, lt_typegen_all_tell(any) ? any : one);
  } else {
    lt_pygen_put_type(g, first_telling(lt_typegen_key(schema, LT_KEY_ALL_OF)));
  }
  if (lt_json_bool(lt_typegen_key(schema, LT_KEY_NULLABLE), false)) {
    put(g, " | None");
  }
}

static bool is_within(const lt_pygen *g, lt_json schema) {
  for (unsigned i = 0; i < g->depth; i++) {
    if (g->within[i] == schema.at) {
      return true;
    }
  }
  return false;
}

void lt_pygen_put_type(lt_pygen *g, lt_json schema) {
  if (g->depth >= LT_PYGEN_DEPTH_MAX || g->steps++ >= LT_TYPEGEN_STEPS_MAX || g->status != LT_OK) {
    put(g, "Any");
    return;
  }
  schema = lt_pygen_target(g, schema);
  bool again = lt_json_exists(schema) && is_within(g, schema);
  if (lt_json_typeof(schema) != LT_JSON_OBJECT || lt_typegen_is_vague(schema) || again) {
    put(g, again && lt_typegen_is_plain_object(schema) ? "dict[str, Any]" : "Any");
    return;
  }
  g->within[g->depth++] = schema.at;
  put_schema_object(g, schema);
  g->depth--;
}
