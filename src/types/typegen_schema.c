#include "types/typegen_schema.h"

#include <stdlib.h>

#include "types/typegen_text.h"

/* --- What a schema allows ----------------------------------------------------------------------------------------- */

unsigned lt_typegen_type_bit(lt_json name) {
  static const struct {
    lt_str name;
    unsigned bit;
  } table[] = {
      {{"null", 4}, LT_TYPEGEN_NULL},       {{"boolean", 7}, LT_TYPEGEN_BOOLEAN}, {{"number", 6}, LT_TYPEGEN_NUMBER},
      {{"integer", 7}, LT_TYPEGEN_INTEGER}, {{"string", 6}, LT_TYPEGEN_STRING},   {{"array", 5}, LT_TYPEGEN_ARRAY},
      {{"object", 6}, LT_TYPEGEN_OBJECT},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    if (lt_json_str_eq(name, table[i].name)) {
      return table[i].bit;
    }
  }
  return LT_TYPEGEN_BAD;
}

static unsigned schema_view_suggested_types(lt_json schema) {
  if (lt_typegen_has(schema, LT_KEY_PROPERTIES) || lt_typegen_has(schema, LT_KEY_PATTERN_PROPERTIES) ||
      lt_json_typeof(lt_typegen_key(schema, LT_KEY_ADDITIONAL_PROPERTIES)) == LT_JSON_OBJECT) {
    return LT_TYPEGEN_OBJECT;
  }
  return lt_typegen_has(schema, LT_KEY_ITEMS) || lt_typegen_has(schema, LT_KEY_PREFIX_ITEMS) ? LT_TYPEGEN_ARRAY : 0;
}

unsigned lt_typegen_types(lt_json schema) {
  lt_json type = lt_typegen_key(schema, LT_KEY_TYPE);
  if (!lt_json_exists(type)) {
    return schema_view_suggested_types(schema);
  }
  if (lt_json_typeof(type) != LT_JSON_ARRAY) {
    return lt_typegen_type_bit(type);
  }
  unsigned types = lt_json_count(type) == 0 ? LT_TYPEGEN_BAD : 0;
  lt_json_iter it = lt_json_each(type);
  while (lt_json_next(&it)) {
    types |= lt_typegen_type_bit(it.value);
  }
  return types;
}

bool lt_typegen_all_are_informative(lt_json schemas) {
  if (lt_json_typeof(schemas) != LT_JSON_ARRAY) {
    return false;
  }
  lt_json_iter it = lt_json_each(schemas);
  while (lt_json_next(&it)) {
    if (lt_typegen_is_vague(it.value)) {
      return false;
    }
  }
  return lt_json_count(schemas) > 0;
}

/* For allOf, one informative part is enough. */
static bool schema_view_is_any_informative(lt_json schemas) {
  lt_json_iter it = lt_json_each(schemas);
  while (lt_json_typeof(schemas) == LT_JSON_ARRAY && lt_json_next(&it)) {
    if (!lt_typegen_is_vague(it.value)) {
      return true;
    }
  }
  return false;
}

bool lt_typegen_is_composed(lt_json schema) {
  return lt_typegen_has(schema, LT_KEY_REF) || lt_typegen_all_are_informative(lt_typegen_key(schema, LT_KEY_ANY_OF)) ||
         lt_typegen_all_are_informative(lt_typegen_key(schema, LT_KEY_ONE_OF)) ||
         schema_view_is_any_informative(lt_typegen_key(schema, LT_KEY_ALL_OF));
}

bool lt_typegen_is_loose_tuple(lt_json schema) {
  lt_json items = lt_typegen_key(schema, LT_KEY_ITEMS);
  bool old = lt_json_typeof(items) == LT_JSON_ARRAY; /* before 2020-12 */
  lt_json parts = old ? items : lt_typegen_key(schema, LT_KEY_PREFIX_ITEMS);
  lt_json rest = old ? lt_typegen_key(schema, LT_KEY_ADDITIONAL_ITEMS) : items;
  int64_t least = INT64_MAX;
  (void)lt_json_int(lt_typegen_key(schema, LT_KEY_MIN_ITEMS), &least);
  return lt_json_typeof(parts) == LT_JSON_ARRAY && lt_json_count(parts) > 0 &&
         (least < lt_json_count(parts) || (lt_json_exists(rest) && lt_json_typeof(rest) != LT_JSON_FALSE));
}

bool lt_typegen_is_crossed(lt_json schema) {
  bool literal = lt_typegen_has(schema, LT_KEY_ENUM) || lt_typegen_has(schema, LT_KEY_CONST);
  size_t parts = (size_t)lt_typegen_has(schema, LT_KEY_REF) + lt_typegen_has(schema, LT_KEY_ANY_OF) +
                 lt_typegen_has(schema, LT_KEY_ONE_OF) + (literal || lt_typegen_types(schema) != 0) +
                 lt_json_count(lt_typegen_key(schema, LT_KEY_ALL_OF));
  return parts > 1;
}

/* Looks only at which keywords are present. Composed schemas always count as informative. `required` alone does not:
 * another schema describes the shape. */
bool lt_typegen_is_vague(lt_json schema) {
  static const lt_typegen_keyword informative[] = {LT_KEY_ENUM,   LT_KEY_CONST,  LT_KEY_REF,
                                                   LT_KEY_ANY_OF, LT_KEY_ONE_OF, LT_KEY_ALL_OF};
  lt_json_type type = lt_json_typeof(schema);
  if (type != LT_JSON_OBJECT) {
    return type == LT_JSON_TRUE;
  }
  if (lt_typegen_types(schema) != 0) {
    return false;
  }
  for (size_t i = 0; i < sizeof(informative) / sizeof(informative[0]); i++) {
    if (lt_typegen_has(schema, informative[i])) {
      return false;
    }
  }
  return true;
}

bool lt_typegen_is_plain_object(lt_json schema) {
  lt_json_type properties = lt_json_typeof(lt_typegen_key(schema, LT_KEY_PROPERTIES));
  return (properties == LT_JSON_NONE || properties == LT_JSON_OBJECT) && lt_json_typeof(schema) == LT_JSON_OBJECT &&
         lt_typegen_types(schema) == LT_TYPEGEN_OBJECT && !lt_typegen_is_composed(schema) &&
         !lt_typegen_has(schema, LT_KEY_ENUM) && !lt_typegen_has(schema, LT_KEY_CONST) &&
         !lt_json_bool(lt_typegen_key(schema, LT_KEY_NULLABLE), false);
}

bool lt_typegen_allows_nothing(lt_json schema) {
  if (lt_json_typeof(schema) != LT_JSON_OBJECT) {
    return lt_json_typeof(schema) == LT_JSON_TRUE;
  }
  unsigned types = lt_typegen_types(schema);
  return lt_json_count(lt_typegen_key(schema, LT_KEY_REQUIRED)) == 0 &&
         (types == 0 || (types & LT_TYPEGEN_OBJECT) != 0) && !lt_typegen_has(schema, LT_KEY_REF) &&
         !lt_typegen_has(schema, LT_KEY_ANY_OF) && !lt_typegen_has(schema, LT_KEY_ONE_OF) &&
         !lt_typegen_has(schema, LT_KEY_ALL_OF) && !lt_typegen_has(schema, LT_KEY_ENUM) &&
         !lt_typegen_has(schema, LT_KEY_CONST) && !lt_typegen_has(schema, LT_KEY_MIN_PROPERTIES);
}

/* --- References --------------------------------------------------------------------------------------------------- */

static int schema_view_hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "A URI fragment that is a JSON Pointer": percent-encoding first (RFC 3986), then ~1 and ~0 (RFC 6901, section 4). */
static lt_str schema_view_unescape_part(lt_str part, lt_arena *arena) {
  char *out = lt_arena_alloc(arena, part.n + 1);
  size_t n = 0;
  for (size_t i = 0; out != NULL && i < part.n; i++) {
    char c = part.p[i];
    if (c == '%' && part.n - i > 2 && schema_view_hex_digit(part.p[i + 1]) >= 0 &&
        schema_view_hex_digit(part.p[i + 2]) >= 0) {
      c = (char)(schema_view_hex_digit(part.p[i + 1]) * 16 + schema_view_hex_digit(part.p[i + 2]));
      i += 2;
    }
    if (n > 0 && out[n - 1] == '~' && (c == '0' || c == '1')) {
      /* A "~" that comes from "~0" is marked below, so that "~01" gives "~1" and not "/". */
      out[n - 1] = c == '1' ? '/' : '\x01';
    } else {
      out[n++] = c;
    }
  }
  for (size_t i = 0; i < n; i++) {
    out[i] = out[i] == '\x01' ? '~' : out[i];
  }
  return lt_str_from(out, n);
}

static lt_json schema_view_step_into(lt_json at, lt_str part) {
  if (lt_json_typeof(at) != LT_JSON_ARRAY) {
    return lt_json_get_str(at, part);
  }
  uint32_t index = 0;
  for (size_t i = 0; i < part.n; i++) {
    if (part.p[i] < '0' || part.p[i] > '9' || part.n > 9) {
      return (lt_json){NULL, 0};
    }
    index = index * 10 + (uint32_t)(part.p[i] - '0');
  }
  return part.n > 0 ? lt_json_at(at, index) : (lt_json){NULL, 0};
}

lt_status lt_typegen_resolve(lt_json root, lt_str ref, lt_arena *arena, lt_json *ret_target, lt_str *ret_name) {
  lt_json at = root;
  lt_str name = LT_STR("");
  if (ref.n == 0 || ref.p[0] != '#' || (ref.n > 1 && ref.p[1] != '/')) {
    at = (lt_json){NULL, 0};
  }
  for (size_t i = 2; i <= ref.n && ref.n > 1 && lt_json_exists(at);) {
    size_t end = lt_str_find(ref, LT_STR("/"), i);
    end = end == SIZE_MAX ? ref.n : end;
    name = schema_view_unescape_part(lt_str_sub(ref, i, end), arena);
    if (name.p == NULL) {
      return LT_E_NOMEM;
    }
    at = schema_view_step_into(at, name);
    i = end + 1;
  }
  *ret_target = at;
  *ret_name = name;
  return LT_OK;
}

/* --- Properties --------------------------------------------------------------------------------------------------- */

static int schema_view_by_key(const void *a, const void *b) {
  const lt_typegen_prop *x = a;
  const lt_typegen_prop *y = b;
  int order = lt_str_cmp(x->key, y->key);
  return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static int schema_view_by_order(const void *a, const void *b) {
  const lt_typegen_prop *x = a;
  const lt_typegen_prop *y = b;
  return (x->order > y->order) - (x->order < y->order);
}

static bool schema_view_collect(lt_json schema, lt_arena *arena, lt_typegen_props *props) {
  lt_json described = lt_typegen_key(schema, LT_KEY_PROPERTIES);
  lt_json required = lt_typegen_key(schema, LT_KEY_REQUIRED);
  lt_json_iter it = lt_json_each(described);
  while (lt_json_typeof(described) == LT_JSON_OBJECT && lt_json_next(&it)) {
    lt_typegen_prop *prop = &props->at[props->count];
    *prop = (lt_typegen_prop){.schema = it.value, .order = (uint32_t)props->count++};
    if (!lt_json_str(it.key, arena, &prop->key)) {
      return false;
    }
  }
  it = lt_json_each(required);
  while (lt_json_typeof(required) == LT_JSON_ARRAY && lt_json_next(&it)) {
    lt_typegen_prop *prop = &props->at[props->count];
    *prop = (lt_typegen_prop){.order = (uint32_t)props->count, .required = true};
    if (lt_json_typeof(it.value) == LT_JSON_STRING) {
      if (!lt_json_str(it.value, arena, &prop->key)) {
        return false;
      }
      props->count++;
    }
  }
  return true;
}

/* Sorts by key and joins entries with the same key. The last description gets the first entry's place. */
static void schema_view_merge(lt_typegen_props *props) {
  size_t kept = 0;
  for (size_t i = 0; i < props->count; i++) {
    lt_typegen_prop *prop = &props->at[i];
    lt_typegen_prop *last = kept > 0 ? &props->at[kept - 1] : NULL;
    if (last == NULL || !lt_str_eq(last->key, prop->key)) {
      props->at[kept++] = *prop;
      continue;
    }
    last->required |= prop->required;
    last->schema = lt_json_exists(prop->schema) ? prop->schema : last->schema;
  }
  props->count = kept;
}

lt_status lt_typegen_props_read(lt_json schema, lt_arena *arena, lt_typegen_props *ret_props) {
  size_t room = (size_t)lt_json_count(lt_typegen_key(schema, LT_KEY_PROPERTIES)) +
                lt_json_count(lt_typegen_key(schema, LT_KEY_REQUIRED));
  lt_typegen_props props = {lt_arena_zalloc(arena, room + 1, sizeof(lt_typegen_prop)), 0};
  if (props.at == NULL || !schema_view_collect(schema, arena, &props)) {
    return LT_E_NOMEM;
  }
  qsort(props.at, props.count, sizeof(*props.at), schema_view_by_key);
  schema_view_merge(&props);
  qsort(props.at, props.count, sizeof(*props.at), schema_view_by_order);
  *ret_props = props;
  return LT_OK;
}

/* --- Facts for people --------------------------------------------------------------------------------------------- */

#define FACT_MAX_BYTES 200 /* a longer default or pattern is not worth its tokens */

/* Limits that limit nothing: some generators of schemas write them for every integer or string. */
static bool schema_view_is_noise(lt_typegen_keyword keyword, lt_str value) {
  return lt_str_eqc(value, "false") || lt_str_eqc(value, "9007199254740991") ||
         lt_str_eqc(value, "-9007199254740991") ||
         (lt_str_eqc(value, "0") && (keyword == LT_KEY_MIN_LENGTH || keyword == LT_KEY_MIN_ITEMS));
}

/* Writes a default as JSON and any other value as text. */
static lt_status schema_view_put_value(lt_buf *out, lt_json value, bool as_json, lt_arena *arena) {
  lt_str string = lt_json_text(value);
  if (!as_json && lt_json_typeof(value) == LT_JSON_STRING && !lt_json_str(value, arena, &string)) {
    return LT_E_NOMEM;
  }
  LT_AUTO_BUF(compact, (size_t)2 * FACT_MAX_BYTES);
  if (as_json) {
    lt_json_compact(value, &compact);
    string = lt_buf_view(&compact);
  }
  lt_typegen_put_line(out, string, FACT_MAX_BYTES);
  return compact.status;
}

static lt_status schema_view_put_fact(lt_buf *out, lt_json schema, lt_typegen_keyword keyword, lt_arena *arena,
                                      bool jsdoc) {
  lt_json value = lt_typegen_key(schema, keyword);
  lt_str text = lt_json_text(value);
  bool is_default = keyword == LT_KEY_DEFAULT;
  if (text.n == 0 || text.n > FACT_MAX_BYTES || (!is_default && schema_view_is_noise(keyword, text))) {
    return LT_OK;
  }
  lt_buf_addc(out, jsdoc ? " @" : ", ");
  lt_buf_addc(out, lt_typegen_key_text(keyword));
  lt_buf_byte(out, ' ');
  return schema_view_put_value(out, value, is_default, arena);
}

static lt_status schema_view_put_own_facts(lt_buf *out, lt_json schema, lt_arena *arena, bool jsdoc) {
  static const lt_typegen_keyword keywords[] = {
      LT_KEY_DEFAULT,           LT_KEY_FORMAT,      LT_KEY_MINIMUM,     LT_KEY_EXCLUSIVE_MINIMUM, LT_KEY_MAXIMUM,
      LT_KEY_EXCLUSIVE_MAXIMUM, LT_KEY_MULTIPLE_OF, LT_KEY_MIN_LENGTH,  LT_KEY_MAX_LENGTH,        LT_KEY_PATTERN,
      LT_KEY_MIN_ITEMS,         LT_KEY_MAX_ITEMS,   LT_KEY_UNIQUE_ITEMS};
  for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
    LT_TRY(schema_view_put_fact(out, schema, keywords[i], arena, jsdoc));
  }
  if (lt_json_bool(lt_typegen_key(schema, LT_KEY_DEPRECATED), false)) {
    lt_buf_addc(out, jsdoc ? " @deprecated" : ", deprecated");
  }
  return LT_OK;
}

/* Neither language has a place for a description of an array's items, so they get a tag: " @items File path, minLength
 * 1". */
static lt_status schema_view_put_items(lt_buf *out, lt_json items, lt_arena *arena, bool jsdoc) {
  LT_AUTO_BUF(facts, LT_TYPEGEN_DOC_MAX_BYTES);
  lt_str description = LT_STR_NULL;
  lt_json text = lt_typegen_key(items, LT_KEY_DESCRIPTION);
  if (lt_json_typeof(text) == LT_JSON_STRING && !lt_json_str(text, arena, &description)) {
    return LT_E_NOMEM;
  }
  if (lt_str_ends(description, LT_STR(".")) &&
      !lt_str_ends(description, LT_STR(".."))) { /* the facts follow on the same line */
    description.n--;
  }
  lt_typegen_put_line(&facts, description, LT_TYPEGEN_PROMPT_MAX_CHARS);
  if (!lt_typegen_has(items, LT_KEY_REF)) { /* a named type has its own facts */
    LT_TRY(schema_view_put_own_facts(&facts, items, arena, false));
  }
  lt_str all = lt_buf_view(&facts);
  if (all.n > 0) {
    lt_buf_addc(out, jsdoc ? " @items " : ", items: ");
    lt_buf_add(out, lt_str_starts(all, LT_STR(", ")) ? lt_str_sub(all, 2, all.n) : all);
  }
  return facts.status;
}

lt_status lt_typegen_put_facts(lt_buf *out, lt_json schema, lt_arena *arena, bool jsdoc) {
  if (lt_json_typeof(schema) != LT_JSON_OBJECT) {
    return LT_OK;
  }
  if (jsdoc && lt_typegen_types(schema) == LT_TYPEGEN_INTEGER && !lt_typegen_has(schema, LT_KEY_ENUM) &&
      !lt_typegen_has(schema, LT_KEY_CONST)) {
    lt_buf_addc(out, " @integer");
  }
  LT_TRY(schema_view_put_own_facts(out, schema, arena, jsdoc));
  lt_json items = lt_typegen_key(schema, LT_KEY_ITEMS);
  return lt_json_typeof(items) == LT_JSON_OBJECT ? schema_view_put_items(out, items, arena, jsdoc) : LT_OK;
}
