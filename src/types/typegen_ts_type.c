/* Converts a JSON Schema to a TypeScript type. */
#include "types/typegen_schema.h"
#include "types/typegen_text.h"
#include "types/typegen_ts.h"

/* --- Literals ----------------------------------------------------------------------------------------------------- */

static void ts_type_put_json_string(lt_typegen_ts_context *g, lt_json value) {
  lt_str s;
  if (lt_json_str(value, g->arena, &s)) {
    lt_typegen_put_string(g->out, s);
  } else {
    g->status = LT_E_NOMEM;
  }
}

static void ts_type_put_key(lt_typegen_ts_context *g, lt_str key) {
  if (lt_typegen_is_identifier(key)) {
    lt_buf_add(g->out, key);
  } else {
    lt_typegen_put_string(g->out, key);
  }
}

static void ts_type_put_literal(lt_typegen_ts_context *g, lt_json value);

static void ts_type_put_literal_list(lt_typegen_ts_context *g, lt_json value) {
  bool object = lt_json_typeof(value) == LT_JSON_OBJECT;
  lt_json_iter it = lt_json_each(value);
  lt_typegen_ts_put(g, object ? "{" : "[");
  for (bool first = true; lt_json_next(&it) && !lt_typegen_ts_is_over(g); first = false) {
    lt_typegen_ts_put(g, object ? (first ? " " : "; ") : (first ? "" : ", "));
    lt_str key;
    if (object && lt_json_str(it.key, g->arena, &key)) {
      ts_type_put_key(g, key);
      lt_typegen_ts_put(g, ": ");
    } else if (object) {
      g->status = LT_E_NOMEM;
    }
    ts_type_put_literal(g, it.value);
  }
  lt_typegen_ts_put(g, object ? " }" : "]");
}

static void ts_type_put_literal(lt_typegen_ts_context *g, lt_json value) {
  if (g->depth >= LT_TYPEGEN_DEPTH_MAX) {
    lt_typegen_ts_put_any(g, "nested too deeply", LT_STR_NULL);
    return;
  }
  lt_json_type type = lt_json_typeof(value);
  if (type == LT_JSON_STRING) {
    ts_type_put_json_string(g, value);
  } else if (type == LT_JSON_ARRAY || type == LT_JSON_OBJECT) {
    g->depth++;
    ts_type_put_literal_list(g, value);
    g->depth--;
  } else {
    lt_buf_add(g->out, lt_json_text(value));
  }
}

/* --- Unions ------------------------------------------------------------------------------------------------------- */

#define UNION_MEMBERS_COMPARED 64

/* Members of a union as they are written. A member with the same text as an earlier one is removed. */
typedef struct ts_union {
  size_t count;
  struct {
    size_t start;
    size_t end;
  } members[UNION_MEMBERS_COMPARED];
} ts_union;

static size_t ts_type_union_begin(lt_typegen_ts_context *g, const ts_union *u) {
  size_t before = g->out->n;
  if (u->count > 0) {
    lt_typegen_ts_put(g, " | ");
  }
  return before;
}

static void ts_type_union_end(lt_typegen_ts_context *g, ts_union *u, size_t before) {
  size_t start = before + (u->count > 0 ? 3 : 0);
  if (g->out->status != LT_OK) {
    return;
  }
  lt_str member = lt_str_sub(lt_buf_view(g->out), start, g->out->n);
  for (size_t i = 0; i < u->count && i < UNION_MEMBERS_COMPARED; i++) {
    if (lt_str_eq(lt_str_sub(lt_buf_view(g->out), u->members[i].start, u->members[i].end), member)) {
      lt_buf_cut(g->out, before);
      return;
    }
  }
  if (u->count < UNION_MEMBERS_COMPARED) {
    u->members[u->count].start = start;
    u->members[u->count].end = g->out->n;
  }
  u->count++;
}

static lt_typegen_ts_prec ts_type_union_prec(const ts_union *u, lt_typegen_ts_prec only) {
  return u->count > 1 ? LT_TSGEN_UNION : only;
}

static lt_typegen_ts_prec ts_type_put_enum(lt_typegen_ts_context *g, lt_json values) {
  if (lt_json_typeof(values) != LT_JSON_ARRAY) {
    lt_typegen_ts_put_any(g, "enum is not a list", LT_STR_NULL);
    return LT_TSGEN_ATOM;
  }
  if (lt_json_count(values) == 0) {
    lt_typegen_ts_put(g, "never");
    return LT_TSGEN_ATOM;
  }
  ts_union u = {0};
  lt_json_iter it = lt_json_each(values);
  while (lt_json_next(&it) && !lt_typegen_ts_is_over(g)) {
    size_t before = ts_type_union_begin(g, &u);
    ts_type_put_literal(g, it.value);
    ts_type_union_end(g, &u, before);
  }
  return ts_type_union_prec(&u, LT_TSGEN_ATOM);
}

/* anyOf and oneOf. */
static lt_typegen_ts_prec ts_type_put_alternatives(lt_typegen_ts_context *g, lt_json schemas) {
  ts_union u = {0};
  lt_typegen_ts_prec first = LT_TSGEN_ATOM;
  lt_json_iter it = lt_json_each(schemas);
  while (lt_json_next(&it) && !lt_typegen_ts_is_over(g)) {
    size_t before = ts_type_union_begin(g, &u);
    lt_typegen_ts_prec prec = lt_typegen_ts_put_type(g, it.value, LT_TSGEN_UNION);
    first = u.count == 0 ? prec : first;
    ts_type_union_end(g, &u, before);
  }
  return ts_type_union_prec(&u, first);
}

/* --- Arrays ------------------------------------------------------------------------------------------------------- */

static void ts_type_put_tuple(lt_typegen_ts_context *g, lt_json schema, lt_json parts, lt_json rest) {
  int64_t required = INT64_MAX;
  (void)lt_json_int(lt_typegen_key(schema, LT_KEY_MIN_ITEMS), &required);
  int64_t i = 0;
  lt_json_iter it = lt_json_each(parts);
  lt_typegen_ts_put(g, "[");
  for (; lt_json_next(&it) && !lt_typegen_ts_is_over(g); i++) {
    lt_typegen_ts_put(g, i > 0 ? ", " : "");
    lt_typegen_ts_put_type(g, it.value, i < required ? LT_TSGEN_UNION : LT_TSGEN_ATOM);
    lt_typegen_ts_put(g, i < required ? "" : "?");
  }
  if (lt_json_exists(rest) && lt_json_typeof(rest) != LT_JSON_FALSE) {
    lt_typegen_ts_put(g, i > 0 ? ", ..." : "...");
    lt_typegen_ts_put_type(g, rest, LT_TSGEN_ATOM);
    lt_typegen_ts_put(g, "[]");
  }
  lt_typegen_ts_put(g, "]");
}

/* Types that are short enough to be repeated. */
static bool ts_type_is_scalar(lt_json schema) {
  return (lt_typegen_types(schema) & (LT_TYPEGEN_ARRAY | LT_TYPEGEN_OBJECT | LT_TYPEGEN_BAD)) == 0 &&
         lt_typegen_types(schema) != 0 && !lt_typegen_is_composed(schema) && !lt_typegen_has(schema, LT_KEY_ENUM) &&
         !lt_typegen_has(schema, LT_KEY_CONST);
}

#define FIXED_TUPLE_MAX 8

/* When minItems and maxItems are the same small number: [number, number]. */
static bool ts_type_put_fixed(lt_typegen_ts_context *g, lt_json schema, lt_json items) {
  int64_t min;
  int64_t max;
  if (!ts_type_is_scalar(items) || !lt_json_int(lt_typegen_key(schema, LT_KEY_MIN_ITEMS), &min) ||
      !lt_json_int(lt_typegen_key(schema, LT_KEY_MAX_ITEMS), &max) || min != max || min < 1 || min > FIXED_TUPLE_MAX) {
    return false;
  }
  lt_typegen_ts_put(g, "[");
  for (int64_t i = 0; i < min; i++) {
    lt_typegen_ts_put(g, i > 0 ? ", " : "");
    lt_typegen_ts_put_type(g, items, LT_TSGEN_UNION);
  }
  lt_typegen_ts_put(g, "]");
  return true;
}

/* `prefixItems` and `items` (2020-12), or a list in `items` and `additionalItems` (before that). */
static void ts_type_put_array(lt_typegen_ts_context *g, lt_json schema) {
  lt_json items = lt_typegen_key(schema, LT_KEY_ITEMS);
  lt_json prefix = lt_typegen_key(schema, LT_KEY_PREFIX_ITEMS);
  if (lt_json_typeof(items) == LT_JSON_ARRAY) {
    ts_type_put_tuple(g, schema, items, lt_typegen_key(schema, LT_KEY_ADDITIONAL_ITEMS));
  } else if (lt_json_typeof(prefix) == LT_JSON_ARRAY && lt_json_count(prefix) > 0) {
    ts_type_put_tuple(g, schema, prefix, items);
  } else if (!ts_type_put_fixed(g, schema, items)) {
    if (lt_json_exists(items)) {
      lt_typegen_ts_put_type(g, items, LT_TSGEN_ATOM);
    } else {
      lt_typegen_ts_put(g, g->vague);
    }
    lt_typegen_ts_put(g, "[]");
  }
}

/* --- Objects ------------------------------------------------------------------------------------------------------ */

static void ts_type_put_property(lt_typegen_ts_context *g, const lt_typegen_prop *prop) {
  lt_typegen_ts_put_doc(g, prop->schema);
  lt_typegen_ts_put_indent(g);
  ts_type_put_key(g, prop->key);
  lt_typegen_ts_put(g, prop->required ? ": " : "?: ");
  if (lt_json_exists(prop->schema)) {
    lt_typegen_ts_put_type(g, prop->schema, LT_TSGEN_UNION);
  } else {
    lt_typegen_ts_put(g, g->vague);
  }
  lt_typegen_ts_put(g, ";\n");
}

/* The schema of further properties, when one schema applies to all of them; NONE: unknown, or several schemas. */
static lt_json ts_type_other_properties(lt_json schema, bool *ret_open) {
  lt_json more = lt_typegen_key(schema, LT_KEY_ADDITIONAL_PROPERTIES);
  lt_json patterns = lt_typegen_key(schema, LT_KEY_PATTERN_PROPERTIES);
  bool forbidden = lt_json_typeof(more) == LT_JSON_FALSE;
  *ret_open = (lt_json_exists(more) && !forbidden) || lt_json_count(patterns) > 0;
  if (lt_json_count(patterns) == 0) {
    return more;
  }
  lt_json_iter it = lt_json_each(patterns);
  bool one = lt_json_count(patterns) == 1 && (forbidden || !lt_json_exists(more)) && lt_json_next(&it);
  return one ? it.value : (lt_json){NULL, 0};
}

/* Beside named properties, an index signature must fit all of them. So only `any` works. */
static void ts_type_put_index_signature(lt_typegen_ts_context *g, lt_json more, bool beside_names) {
  lt_typegen_ts_put(g, "[k: string]: ");
  if (beside_names) {
    lt_typegen_ts_put(g, "any");
  } else if (lt_json_exists(more)) {
    lt_typegen_ts_put_type(g, more, LT_TSGEN_UNION);
  } else {
    lt_typegen_ts_put(g, g->vague);
  }
}

static void ts_type_put_members(lt_typegen_ts_context *g, lt_json schema, const lt_typegen_props *props, bool open) {
  lt_typegen_ts_put(g, "{\n");
  g->indent++;
  for (size_t i = 0; i < props->count && !lt_typegen_ts_is_over(g); i++) {
    ts_type_put_property(g, &props->at[i]);
  }
  if (open) {
    lt_typegen_ts_put_indent(g);
    ts_type_put_index_signature(g, schema, true);
    lt_typegen_ts_put(g, ";\n");
  }
  g->indent--;
  lt_typegen_ts_put_indent(g);
  lt_typegen_ts_put(g, "}");
}

/* An object without named properties. {type: object} alone may have any members. As a tool's input it means that there
 * are none, and the type says so: TypeScript's {} accepts everything but null, also 5 and {a: 1}. */
static void ts_type_put_nameless(lt_typegen_ts_context *g, lt_json schema, lt_json more, bool open) {
  bool is_unrestricted =
      !lt_typegen_has(schema, LT_KEY_PROPERTIES) && !lt_typegen_has(schema, LT_KEY_ADDITIONAL_PROPERTIES);
  bool whole_input = schema.at == g->root.at && g->input;
  if (!open && (!is_unrestricted || whole_input)) {
    lt_typegen_ts_put(g, whole_input && !g->where.eager ? "{ [k: string]: never }" : "{}");
    return;
  }
  lt_typegen_ts_put(g, "{ ");
  ts_type_put_index_signature(g, more, false);
  lt_typegen_ts_put(g, " }");
}

void lt_typegen_ts_put_object(lt_typegen_ts_context *g, lt_json schema) {
  lt_json described = lt_typegen_key(schema, LT_KEY_PROPERTIES);
  if (lt_json_exists(described) && lt_json_typeof(described) != LT_JSON_OBJECT) {
    lt_typegen_ts_put_any(g, "properties is not an object", LT_STR_NULL);
    return;
  }
  lt_typegen_props props;
  lt_status status = lt_typegen_props_read(schema, g->arena, &props);
  if (status != LT_OK) {
    g->status = status;
    return;
  }
  bool open = false;
  lt_json more = ts_type_other_properties(schema, &open);
  if (props.count > 0) {
    ts_type_put_members(g, schema, &props, open);
  } else {
    ts_type_put_nameless(g, schema, more, open);
  }
}

/* --- Schemas ------------------------------------------------------------------------------------------------------ */

static void ts_type_put_one_type(lt_typegen_ts_context *g, lt_json schema, unsigned bit) {
  bool direct = g->direct;
  bool in_array = g->where.in_array;
  g->direct = direct && bit == LT_TYPEGEN_ARRAY;
  g->where.in_array |= bit == LT_TYPEGEN_ARRAY;
  switch (bit) {
    case LT_TYPEGEN_NULL:
      lt_typegen_ts_put(g, "null");
      break;
    case LT_TYPEGEN_BOOLEAN:
      lt_typegen_ts_put(g, "boolean");
      break;
    case LT_TYPEGEN_NUMBER:
    case LT_TYPEGEN_INTEGER:
      lt_typegen_ts_put(g, "number");
      break;
    case LT_TYPEGEN_STRING:
      lt_typegen_ts_put(g, "string");
      break;
    case LT_TYPEGEN_ARRAY:
      ts_type_put_array(g, schema);
      break;
    case LT_TYPEGEN_OBJECT:
      lt_typegen_ts_put_object(g, schema);
      break;
    default:
      lt_typegen_ts_put_any(g, "unknown type:", lt_json_text(lt_typegen_key(schema, LT_KEY_TYPE)));
      break;
  }
  g->direct = direct;
  g->where.in_array = in_array;
}

/* Writes the types of the schema's `type` in the given order. */
static lt_typegen_ts_prec ts_type_put_types(lt_typegen_ts_context *g, lt_json schema, unsigned types) {
  lt_json list = lt_typegen_key(schema, LT_KEY_TYPE);
  if (lt_json_typeof(list) != LT_JSON_ARRAY || (types & LT_TYPEGEN_BAD) != 0) {
    ts_type_put_one_type(g, schema, types);
    return LT_TSGEN_ATOM;
  }
  ts_union u = {0};
  unsigned done = 0;
  lt_json_iter it = lt_json_each(list);
  while (lt_json_next(&it) && !lt_typegen_ts_is_over(g)) {
    unsigned bit = lt_typegen_type_bit(it.value);
    if ((done & bit) == 0) {
      size_t before = ts_type_union_begin(g, &u);
      ts_type_put_one_type(g, schema, bit);
      ts_type_union_end(g, &u, before);
      done |= bit;
    }
  }
  return ts_type_union_prec(&u, LT_TSGEN_ATOM);
}

/* An intersection during its construction; at first it has one part. */
typedef struct ts_parts {
  size_t count;
  size_t start;
  lt_typegen_ts_prec prec;
} ts_parts;

static size_t ts_type_part_begin(lt_typegen_ts_context *g, ts_parts *p) {
  if (p->count == 0) {
    p->start = g->out->n;
    return p->start;
  }
  if (p->count == 1 && p->prec == LT_TSGEN_UNION) {
    lt_typegen_ts_wrap(g, p->start);
  }
  lt_typegen_ts_put(g, " & ");
  return g->out->n;
}

static void ts_type_part_end(lt_typegen_ts_context *g, ts_parts *p, size_t start, lt_typegen_ts_prec got) {
  if (p->count > 0 && got == LT_TSGEN_UNION) {
    lt_typegen_ts_wrap(g, start);
  }
  p->prec = p->count > 0 ? LT_TSGEN_INTERSECTION : got;
  p->count++;
}

static bool ts_type_is_schema_list(lt_json list) {
  return lt_json_typeof(list) == LT_JSON_ARRAY && lt_json_count(list) > 0;
}

static void ts_type_part_alternatives(lt_typegen_ts_context *g, ts_parts *p, lt_json schema,
                                      lt_typegen_keyword keyword) {
  lt_json list = lt_typegen_key(schema, keyword);
  bool broken = lt_json_exists(list) && !ts_type_is_schema_list(list);
  if (broken || lt_typegen_all_are_informative(list)) {
    size_t start = ts_type_part_begin(g, p);
    lt_typegen_ts_prec got = LT_TSGEN_ATOM;
    if (broken) {
      lt_typegen_ts_put_any(g, "not a list of schemas:", lt_str_of(lt_typegen_key_text(keyword)));
    } else {
      got = ts_type_put_alternatives(g, list);
    }
    ts_type_part_end(g, p, start, got);
  }
}

static void ts_type_part_all(lt_typegen_ts_context *g, ts_parts *p, lt_json schema) {
  lt_json list = lt_typegen_key(schema, LT_KEY_ALL_OF);
  if (lt_json_exists(list) && !ts_type_is_schema_list(list)) {
    size_t start = ts_type_part_begin(g, p);
    lt_typegen_ts_put_any(g, "not a list of schemas:", LT_STR("allOf"));
    ts_type_part_end(g, p, start, LT_TSGEN_ATOM);
    return;
  }
  lt_json_iter it = lt_json_each(list);
  while (lt_json_next(&it) && !lt_typegen_ts_is_over(g)) {
    if (!lt_typegen_is_vague(it.value)) {
      size_t start = ts_type_part_begin(g, p);
      ts_type_part_end(g, p, start, lt_typegen_ts_put_type(g, it.value, LT_TSGEN_UNION));
    }
  }
}

/* An object that only its other parts describe. */
static bool ts_type_is_bare_object(lt_json schema) {
  static const lt_typegen_keyword keywords[] = {LT_KEY_PROPERTIES, LT_KEY_PATTERN_PROPERTIES,
                                                LT_KEY_ADDITIONAL_PROPERTIES, LT_KEY_REQUIRED};
  for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
    lt_json value = lt_typegen_key(schema, keywords[i]);
    if (lt_json_count(value) > 0 || lt_json_typeof(value) == LT_JSON_TRUE) {
      return false;
    }
  }
  return true;
}

static void ts_type_part_base(lt_typegen_ts_context *g, ts_parts *p, lt_json schema) {
  lt_json constant = lt_typegen_key(schema, LT_KEY_CONST);
  lt_json values = lt_typegen_key(schema, LT_KEY_ENUM);
  unsigned types = lt_typegen_types(schema);
  bool literal = lt_json_exists(constant) || lt_json_exists(values);
  if (!literal && (types == 0 ||
                   (types == LT_TYPEGEN_OBJECT && lt_typegen_is_composed(schema) && ts_type_is_bare_object(schema)))) {
    return;
  }
  size_t start = ts_type_part_begin(g, p);
  lt_typegen_ts_prec got = LT_TSGEN_ATOM;
  if (lt_json_exists(constant)) {
    ts_type_put_literal(g, constant);
  } else if (literal) {
    got = ts_type_put_enum(g, values);
  } else {
    got = ts_type_put_types(g, schema, types);
  }
  ts_type_part_end(g, p, start, got);
}

/* A tool's input is an object, also when its schema does not say so. */
static void ts_type_put_vague(lt_typegen_ts_context *g, lt_json schema) {
  bool whole_input = g->input && schema.at == g->root.at;
  lt_typegen_ts_put(g, whole_input ? "{ [k: string]: unknown }" : g->vague);
}

static lt_typegen_ts_prec ts_type_put_parts(lt_typegen_ts_context *g, lt_json schema) {
  ts_parts p = {0};
  lt_json ref = lt_typegen_key(schema, LT_KEY_REF);
  if (lt_json_exists(ref)) {
    size_t start = ts_type_part_begin(g, &p);
    lt_typegen_ts_put_reference(g, ref);
    ts_type_part_end(g, &p, start, LT_TSGEN_ATOM);
  }
  ts_type_part_base(g, &p, schema);
  ts_type_part_alternatives(g, &p, schema, LT_KEY_ANY_OF);
  ts_type_part_alternatives(g, &p, schema, LT_KEY_ONE_OF);
  ts_type_part_all(g, &p, schema);
  if (p.count == 0) {
    ts_type_put_vague(g, schema);
    return LT_TSGEN_ATOM;
  }
  return p.prec;
}

static lt_typegen_ts_prec ts_type_put_schema_object(lt_typegen_ts_context *g, lt_json schema) {
  lt_typegen_ts_where where = g->where;
  g->where = lt_typegen_ts_within(where, schema);
  lt_typegen_ts_prec prec = ts_type_put_parts(g, schema);
  g->where = where;
  if (lt_json_bool(lt_typegen_key(schema, LT_KEY_NULLABLE), false) && !lt_typegen_is_vague(schema)) { /* OpenAPI 3.0 */
    lt_typegen_ts_put(g, " | null");
    return LT_TSGEN_UNION;
  }
  return prec;
}

static lt_typegen_ts_prec ts_type_put_bare_type(lt_typegen_ts_context *g, lt_json schema) {
  switch (lt_json_typeof(schema)) {
    case LT_JSON_TRUE:
      ts_type_put_vague(g, schema);
      return LT_TSGEN_ATOM;
    case LT_JSON_FALSE:
      lt_typegen_ts_put(g, "never");
      return LT_TSGEN_ATOM;
    case LT_JSON_OBJECT:
      return ts_type_put_schema_object(g, schema);
    case LT_JSON_NONE:
    case LT_JSON_NULL:
    case LT_JSON_NUMBER:
    case LT_JSON_STRING:
    case LT_JSON_ARRAY:
      break;
  }
  lt_typegen_ts_put_any(g, "not a schema", LT_STR_NULL);
  return LT_TSGEN_ATOM;
}

/* Writes the type of `schema`, in parentheses where the context binds more tightly. */
lt_typegen_ts_prec lt_typegen_ts_put_type(lt_typegen_ts_context *g, lt_json schema, lt_typegen_ts_prec place) {
  if (lt_typegen_ts_is_over(g)) {
    return LT_TSGEN_ATOM;
  }
  if (g->depth >= LT_TYPEGEN_DEPTH_MAX) {
    lt_typegen_ts_put_any(g, "nested too deeply", LT_STR_NULL);
    return LT_TSGEN_ATOM;
  }
  g->depth++;
  size_t start = g->out->n;
  lt_typegen_ts_prec got = ts_type_put_bare_type(g, schema);
  if (got < place) {
    lt_typegen_ts_wrap(g, start);
    got = LT_TSGEN_ATOM;
  }
  g->depth--;
  return got;
}
