/* Makes the rules of a node from its keywords. */
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "json/schema_rules.h"
#include "json/schema_keywords.h"
#include "json/schema_refs.h"

/* A node's rules during their making. */
typedef struct rule_maker {
  lt_schema_compiler *c;
  lt_schema_node *node;
  const lt_schema_keys *keys;
  lt_schema_rule rules[LT_KW_COUNT + 4];
  uint32_t count;
} rule_maker;

static bool schema_rules_has(const rule_maker *m, lt_schema_keyword keyword) {
  return lt_json_exists(m->keys->at[keyword]);
}

static lt_json schema_rules_get(const rule_maker *m, lt_schema_keyword keyword) {
  return m->keys->at[keyword];
}

static lt_schema_rule *schema_rules_add_rule(rule_maker *m, lt_schema_rule_fn fn, uint32_t applies, lt_json keyword) {
  LT_CHECK(m->count < sizeof(m->rules) / sizeof(m->rules[0]));
  lt_schema_rule *rule = &m->rules[m->count++];
  *rule = (lt_schema_rule){.fn = fn, .applies = applies, .keyword = keyword};
  return rule;
}

static void *schema_rules_alloc(rule_maker *m, size_t count, size_t size) {
  void *p = lt_arena_zalloc(m->c->arena, count > 0 ? count : 1, size);
  if (p == NULL) {
    lt_schema_fail_memory(m->c);
  }
  return p;
}

static lt_schema_node *schema_rules_node_of(rule_maker *m, lt_json json) {
  return lt_json_exists(json) ? lt_schema_node_at(m->c, json, m->node->resource) : NULL;
}

/* --- Types -------------------------------------------------------------------------------------------------------- */

static uint32_t schema_rules_type_bit(lt_json name) {
  static const struct {
    lt_str name;
    uint32_t bit;
  } types[] = {
      {{"null", 4}, LT_SCHEMA_NULL},       {{"boolean", 7}, LT_SCHEMA_BOOLEAN}, {{"number", 6}, LT_SCHEMA_NUMBER},
      {{"integer", 7}, LT_SCHEMA_INTEGER}, {{"string", 6}, LT_SCHEMA_STRING},   {{"array", 5}, LT_SCHEMA_ARRAY},
      {{"object", 6}, LT_SCHEMA_OBJECT},
  };
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    if (lt_json_str_eq(name, types[i].name)) {
      return types[i].bit;
    }
  }
  return 0;
}

static void schema_rules_make_type(rule_maker *m) {
  lt_json type = schema_rules_get(m, LT_KW_TYPE);
  uint32_t bits = 0;
  if (lt_json_typeof(type) == LT_JSON_ARRAY && lt_json_count(type) > 0) {
    lt_json_iter it = lt_json_each(type);
    while (lt_json_next(&it)) {
      uint32_t bit = schema_rules_type_bit(it.value);
      if (bit == 0) {
        lt_schema_fail(m->c, it.value, "is no type of JSON Schema");
      }
      bits |= bit;
    }
  } else {
    bits = schema_rules_type_bit(type);
    if (bits == 0) {
      lt_schema_fail(m->c, type, "is no type of JSON Schema");
    }
  }
  m->node->types = bits | (lt_json_bool(schema_rules_get(m, LT_KW_NULLABLE), false) ? LT_SCHEMA_NULL : 0);
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

static void schema_rules_make_number(rule_maker *m, lt_schema_keyword keyword, lt_schema_rule_fn fn) {
  lt_json value = schema_rules_get(m, keyword);
  if (!lt_json_exists(value)) {
    return;
  }
  if (lt_json_typeof(value) != LT_JSON_NUMBER) {
    lt_schema_fail(m->c, value, "must be a number");
    return;
  }
  schema_rules_add_rule(m, fn, LT_SCHEMA_NUMBER, value)->u.number = lt_decimal_of(lt_json_text(value));
}

/* Draft-04 writes "exclusiveMinimum": true beside a minimum. Later drafts give exclusiveMinimum the number. */
static void schema_rules_make_bound(rule_maker *m, lt_schema_keyword bound, lt_schema_rule_fn fn,
                                    lt_schema_keyword exclusive, lt_schema_rule_fn exclusive_fn) {
  lt_json_type type = lt_json_typeof(schema_rules_get(m, exclusive));
  bool flag = type == LT_JSON_TRUE || type == LT_JSON_FALSE;
  schema_rules_make_number(m, bound, type == LT_JSON_TRUE ? exclusive_fn : fn);
  if (!flag) {
    schema_rules_make_number(m, exclusive, exclusive_fn);
  }
}

static void schema_rules_make_numbers(rule_maker *m) {
  schema_rules_make_bound(m, LT_KW_MINIMUM, lt_schema_rule_minimum, LT_KW_EXCLUSIVE_MINIMUM, lt_schema_rule_more_than);
  schema_rules_make_bound(m, LT_KW_MAXIMUM, lt_schema_rule_maximum, LT_KW_EXCLUSIVE_MAXIMUM, lt_schema_rule_less_than);
  schema_rules_make_number(m, LT_KW_MULTIPLE_OF, lt_schema_rule_multiple_of);
  lt_json multiple = schema_rules_get(m, LT_KW_MULTIPLE_OF);
  double divisor = 1;
  if (lt_json_double(multiple, &divisor) && divisor <= 0) {
    lt_schema_fail(m->c, multiple, "must be greater than 0");
  }
}

/* Reads a count of characters, items or properties; `fallback` when the keyword is missing. */
static uint64_t schema_rules_count_of(rule_maker *m, lt_schema_keyword keyword, uint64_t fallback) {
  lt_json value = schema_rules_get(m, keyword);
  if (!lt_json_exists(value)) {
    return fallback;
  }
  int64_t count = -1;
  double number = -1;
  if (!lt_json_int(value, &count) && lt_json_double(value, &number) && number >= 9e18) {
    count = INT64_MAX;
  }
  if (count < 0) {
    lt_schema_fail(m->c, value, "must be a whole number, 0 or more");
    return fallback;
  }
  return (uint64_t)count;
}

static void schema_rules_make_count(rule_maker *m, lt_schema_keyword keyword, lt_schema_rule_fn fn, uint32_t applies) {
  if (schema_rules_has(m, keyword)) {
    uint64_t limit = schema_rules_count_of(m, keyword, 0);
    schema_rules_add_rule(m, fn, applies, schema_rules_get(m, keyword))->u.limit = limit;
  }
}

/* --- Values and strings ------------------------------------------------------------------------------------------- */

static void schema_rules_make_values(rule_maker *m) {
  lt_json values = schema_rules_get(m, LT_KW_ENUM);
  if (lt_json_exists(values)) {
    if (lt_json_typeof(values) != LT_JSON_ARRAY) {
      lt_schema_fail(m->c, values, "must be a list of values");
    }
    schema_rules_add_rule(m, lt_schema_rule_enum, LT_SCHEMA_ANY, values);
  }
  if (schema_rules_has(m, LT_KW_CONST)) {
    schema_rules_add_rule(m, lt_schema_rule_const, LT_SCHEMA_ANY, schema_rules_get(m, LT_KW_CONST));
  }
}

/* NULL: the pattern is not supported (a note says so), or the compiler has failed. */
static const lt_regex *schema_rules_regex_of(rule_maker *m, lt_json where, lt_str text) {
  lt_schema_compiler *c = m->c;
  const lt_regex *regex = NULL;
  LT_ERR_VAR(err);
  if (++c->pattern_count > LT_SCHEMA_PATTERNS_MAX || c->program_size > LT_SCHEMA_PROGRAMS_MAX) {
    lt_schema_note(c, where, "the pattern is not checked: there are too many", LT_STR(""));
    return NULL;
  }
  lt_status status = lt_regex_new(c->arena, text, &regex, &err);
  if (status == LT_E_NOMEM) {
    lt_schema_fail_memory(c);
  } else if (status != LT_OK) {
    lt_schema_note(c, where, "the pattern is not checked:", lt_str_of(lt_err_msg(&err)));
  } else {
    c->program_size += lt_regex_size(regex);
  }
  return regex;
}

static void schema_rules_make_pattern(rule_maker *m) {
  lt_json pattern = schema_rules_get(m, LT_KW_PATTERN);
  lt_str text;
  if (!lt_json_exists(pattern)) {
    return;
  }
  if (!lt_schema_text(m->c, pattern, &text)) {
    lt_schema_fail(m->c, pattern, "must be a string");
    return;
  }
  const lt_regex *regex = schema_rules_regex_of(m, pattern, text);
  if (regex != NULL) {
    schema_rules_add_rule(m, lt_schema_rule_pattern, LT_SCHEMA_STRING, pattern)->u.regex = regex;
  }
}

static void schema_rules_make_strings(rule_maker *m) {
  schema_rules_make_count(m, LT_KW_MIN_LENGTH, lt_schema_rule_min_length, LT_SCHEMA_STRING);
  schema_rules_make_count(m, LT_KW_MAX_LENGTH, lt_schema_rule_max_length, LT_SCHEMA_STRING);
  schema_rules_make_pattern(m);
}

/* --- Objects ------------------------------------------------------------------------------------------------------ */

/* Reads a list of property names. */
static const lt_str *schema_rules_names_of(rule_maker *m, lt_json list, uint32_t *ret_count) {
  uint32_t count = lt_json_count(list);
  lt_str *names = schema_rules_alloc(m, count, sizeof(*names));
  uint32_t i = 0;
  if (lt_json_typeof(list) != LT_JSON_ARRAY) {
    lt_schema_fail(m->c, list, "must be a list of names");
  }
  lt_json_iter it = lt_json_each(list);
  while (m->c->status == LT_OK && lt_json_next(&it)) {
    if (!lt_schema_text(m->c, it.value, &names[i++])) {
      lt_schema_fail(m->c, it.value, "must be a name");
    }
  }
  *ret_count = count;
  return names;
}

/* Draft-03 wrote "required": true in the property itself, and some still do. */
static void schema_rules_make_required(rule_maker *m) {
  lt_json required = schema_rules_get(m, LT_KW_REQUIRED);
  lt_json_type type = lt_json_typeof(required);
  if (type == LT_JSON_TRUE || type == LT_JSON_FALSE) {
    lt_schema_note(m->c, required, "\"required\" is a list of names in the object's schema", LT_STR(""));
  } else if (type != LT_JSON_NONE) {
    uint32_t count = 0;
    const lt_str *names = schema_rules_names_of(m, required, &count);
    lt_schema_rule *rule = schema_rules_add_rule(m, lt_schema_rule_required, LT_SCHEMA_OBJECT, required);
    rule->u.names = names;
    rule->count = count;
  }
}

static int schema_rules_compare_props(const void *a, const void *b) {
  return lt_schema_name_cmp(((const lt_schema_prop *)a)->name, ((const lt_schema_prop *)b)->name);
}

static void schema_rules_read_props(rule_maker *m, lt_schema_object *object) {
  lt_json properties = schema_rules_get(m, LT_KW_PROPERTIES);
  lt_schema_prop *props = schema_rules_alloc(m, lt_json_count(properties), sizeof(*props));
  uint32_t i = 0;
  lt_json_iter it = lt_json_each(properties);
  while (m->c->status == LT_OK && lt_json_next(&it)) {
    props[i].schema = schema_rules_node_of(m, it.value);
    lt_schema_text(m->c, it.key, &props[i++].name);
  }
  object->properties = properties;
  object->props = props;
  object->prop_count = i;
  if (m->c->status == LT_OK && i > 0) {
    qsort(props, i, sizeof(*props), schema_rules_compare_props);
  }
}

static void schema_rules_read_patterns(rule_maker *m, lt_schema_object *object) {
  lt_json all = schema_rules_get(m, LT_KW_PATTERN_PROPERTIES);
  lt_schema_pattern *patterns = schema_rules_alloc(m, lt_json_count(all), sizeof(*patterns));
  uint32_t i = 0;
  lt_json_iter it = lt_json_each(all);
  while (m->c->status == LT_OK && lt_json_next(&it)) {
    lt_str text;
    if (lt_schema_text(m->c, it.key, &text)) {
      patterns[i].regex = schema_rules_regex_of(m, it.value, text);
      object->unsure |= patterns[i].regex == NULL;
      patterns[i++].schema = schema_rules_node_of(m, it.value);
    }
  }
  object->patterns = patterns;
  object->pattern_count = i;
}

static void schema_rules_make_object(rule_maker *m) {
  lt_json rest = schema_rules_get(m, LT_KW_ADDITIONAL_PROPERTIES);
  if (!schema_rules_has(m, LT_KW_PROPERTIES) && !schema_rules_has(m, LT_KW_PATTERN_PROPERTIES) &&
      !lt_json_exists(rest)) {
    return;
  }
  lt_schema_object *object = schema_rules_alloc(m, 1, sizeof(*object));
  if (object != NULL) {
    schema_rules_read_props(m, object);
    schema_rules_read_patterns(m, object);
    object->rest = schema_rules_node_of(m, rest);
    schema_rules_add_rule(m, lt_schema_rule_object, LT_SCHEMA_OBJECT, rest)->u.object = object;
  }
}

/* dependentRequired, dependentSchemas, and draft-07's dependencies, which has both. */
static void schema_rules_make_depends(rule_maker *m, lt_schema_keyword keyword) {
  lt_json all = schema_rules_get(m, keyword);
  if (!lt_json_exists(all)) {
    return;
  }
  if (lt_json_typeof(all) != LT_JSON_OBJECT) {
    lt_schema_fail(m->c, all, "must be an object");
    return;
  }
  lt_schema_depends *list = schema_rules_alloc(m, lt_json_count(all), sizeof(*list));
  uint32_t i = 0;
  lt_json_iter it = lt_json_each(all);
  while (m->c->status == LT_OK && lt_json_next(&it)) {
    lt_schema_text(m->c, it.key, &list[i].name);
    if (keyword == LT_KW_DEPENDENT_REQUIRED || lt_json_typeof(it.value) == LT_JSON_ARRAY) {
      list[i].names = schema_rules_names_of(m, it.value, &list[i].count);
    } else {
      list[i].schema = schema_rules_node_of(m, it.value);
    }
    i++;
  }
  lt_schema_rule *rule = schema_rules_add_rule(m, lt_schema_rule_depends, LT_SCHEMA_OBJECT, all);
  rule->u.depends = list;
  rule->count = i;
}

static void schema_rules_make_objects(rule_maker *m) {
  schema_rules_make_required(m);
  schema_rules_make_object(m);
  if (schema_rules_has(m, LT_KW_PROPERTY_NAMES)) {
    lt_json names = schema_rules_get(m, LT_KW_PROPERTY_NAMES);
    schema_rules_add_rule(m, lt_schema_rule_property_names, LT_SCHEMA_OBJECT, names)->u.schema =
        schema_rules_node_of(m, names);
  }
  schema_rules_make_count(m, LT_KW_MIN_PROPERTIES, lt_schema_rule_min_properties, LT_SCHEMA_OBJECT);
  schema_rules_make_count(m, LT_KW_MAX_PROPERTIES, lt_schema_rule_max_properties, LT_SCHEMA_OBJECT);
  schema_rules_make_depends(m, LT_KW_DEPENDENT_REQUIRED);
  schema_rules_make_depends(m, LT_KW_DEPENDENT_SCHEMAS);
  schema_rules_make_depends(m, LT_KW_DEPENDENCIES);
}

/* --- Arrays ------------------------------------------------------------------------------------------------------- */

static const lt_schema_node **schema_rules_nodes_of(rule_maker *m, lt_json list) {
  const lt_schema_node **nodes = schema_rules_alloc(m, lt_json_count(list), sizeof(lt_schema_node *));
  uint32_t i = 0;
  lt_json_iter it = lt_json_each(list);
  while (m->c->status == LT_OK && lt_json_next(&it)) {
    nodes[i++] = schema_rules_node_of(m, it.value);
  }
  return nodes;
}

/* prefixItems and items. Before 2020-12, and in some schemas still: a list in items, and additionalItems. */
static void schema_rules_make_array(rule_maker *m) {
  bool old = lt_json_typeof(schema_rules_get(m, LT_KW_ITEMS)) == LT_JSON_ARRAY;
  bool is_2020 = m->c->resources[m->node->resource].draft >= 2020;
  lt_json prefix = old       ? schema_rules_get(m, LT_KW_ITEMS)
                   : is_2020 ? schema_rules_get(m, LT_KW_PREFIX_ITEMS)
                             : (lt_json){NULL, 0};
  lt_json rest = schema_rules_get(m, old ? LT_KW_ADDITIONAL_ITEMS : LT_KW_ITEMS);
  if (!lt_json_exists(prefix) && !lt_json_exists(rest)) {
    return;
  }
  lt_schema_array *array = schema_rules_alloc(m, 1, sizeof(*array));
  if (array != NULL) {
    array->prefix = schema_rules_nodes_of(m, prefix);
    array->prefix_count = lt_json_count(prefix);
    array->rest = schema_rules_node_of(m, rest);
    schema_rules_add_rule(m, lt_schema_rule_array, LT_SCHEMA_ARRAY, rest)->u.array = array;
  }
}

static void schema_rules_make_contains(rule_maker *m) {
  if (!schema_rules_has(m, LT_KW_CONTAINS)) {
    return;
  }
  lt_schema_contains *contains = schema_rules_alloc(m, 1, sizeof(*contains));
  if (contains != NULL) {
    contains->schema = schema_rules_node_of(m, schema_rules_get(m, LT_KW_CONTAINS));
    contains->min = schema_rules_count_of(m, LT_KW_MIN_CONTAINS, 1);
    contains->max = schema_rules_count_of(m, LT_KW_MAX_CONTAINS, UINT64_MAX);
    contains->evaluates = m->c->resources[m->node->resource].draft >= 2020;
    schema_rules_add_rule(m, lt_schema_rule_contains, LT_SCHEMA_ARRAY, schema_rules_get(m, LT_KW_CONTAINS))
        ->u.contains = contains;
  }
}

static void schema_rules_make_arrays(rule_maker *m) {
  schema_rules_make_count(m, LT_KW_MIN_ITEMS, lt_schema_rule_min_items, LT_SCHEMA_ARRAY);
  schema_rules_make_count(m, LT_KW_MAX_ITEMS, lt_schema_rule_max_items, LT_SCHEMA_ARRAY);
  schema_rules_make_array(m);
  schema_rules_make_contains(m);
  if (lt_json_bool(schema_rules_get(m, LT_KW_UNIQUE_ITEMS), false)) {
    schema_rules_add_rule(m, lt_schema_rule_unique_items, LT_SCHEMA_ARRAY, schema_rules_get(m, LT_KW_UNIQUE_ITEMS));
  }
}

/* --- Rules for the same value ------------------------------------------------------------------------------------- */

static void schema_rules_make_ref(rule_maker *m, lt_schema_keyword keyword) {
  lt_json ref = schema_rules_get(m, keyword);
  if (!lt_json_exists(ref)) {
    return;
  }
  lt_str anchor;
  const lt_schema_node *target = lt_schema_resolve(m->c, m->node, ref, &anchor);
  if (target == NULL) {
    schema_rules_add_rule(m, lt_schema_rule_unknown, LT_SCHEMA_ANY, ref);
    return;
  }
  bool recursive = keyword == LT_KW_RECURSIVE_REF && m->c->resources[target->resource].is_recursive;
  if (!recursive && (keyword != LT_KW_DYNAMIC_REF || anchor.n == 0)) {
    schema_rules_add_rule(m, lt_schema_rule_ref, LT_SCHEMA_ANY, ref)->u.schema = target;
    return;
  }
  lt_schema_dynamic *dynamic = schema_rules_alloc(m, 1, sizeof(*dynamic));
  if (dynamic != NULL) {
    *dynamic = (lt_schema_dynamic){.schema = target, .anchor = recursive ? LT_STR("") : anchor};
    schema_rules_add_rule(m, lt_schema_rule_dynamic, LT_SCHEMA_ANY, ref)->u.dynamic = dynamic;
    m->c->schema->has_dynamic = true;
  }
}

static void schema_rules_make_list(rule_maker *m, lt_schema_keyword keyword, lt_schema_rule_fn fn) {
  if (schema_rules_has(m, keyword)) {
    const lt_schema_node **nodes = schema_rules_nodes_of(m, schema_rules_get(m, keyword));
    lt_schema_rule *rule = schema_rules_add_rule(m, fn, LT_SCHEMA_ANY, schema_rules_get(m, keyword));
    rule->u.schemas = nodes;
    rule->count = lt_json_count(schema_rules_get(m, keyword));
  }
}

static void schema_rules_make_if(rule_maker *m) {
  if (!schema_rules_has(m, LT_KW_IF)) {
    return;
  }
  lt_schema_branch *branch = schema_rules_alloc(m, 1, sizeof(*branch));
  if (branch != NULL) {
    *branch = (lt_schema_branch){.condition = schema_rules_node_of(m, schema_rules_get(m, LT_KW_IF)),
                                 .then = schema_rules_node_of(m, schema_rules_get(m, LT_KW_THEN)),
                                 .otherwise = schema_rules_node_of(m, schema_rules_get(m, LT_KW_ELSE))};
    schema_rules_add_rule(m, lt_schema_rule_if, LT_SCHEMA_ANY, schema_rules_get(m, LT_KW_IF))->u.branch = branch;
  }
}

static void schema_rules_make_in_place(rule_maker *m) {
  schema_rules_make_ref(m, LT_KW_REF);
  schema_rules_make_ref(m, LT_KW_DYNAMIC_REF);
  schema_rules_make_ref(m, LT_KW_RECURSIVE_REF);
  schema_rules_make_list(m, LT_KW_ALL_OF, lt_schema_rule_all_of);
  schema_rules_make_list(m, LT_KW_ANY_OF, lt_schema_rule_any_of);
  schema_rules_make_list(m, LT_KW_ONE_OF, lt_schema_rule_one_of);
  schema_rules_make_if(m);
  if (schema_rules_has(m, LT_KW_NOT)) {
    lt_json not = schema_rules_get(m, LT_KW_NOT);
    schema_rules_add_rule(m, lt_schema_rule_not, LT_SCHEMA_ANY, not )->u.schema = schema_rules_node_of(m, not );
  }
}

static void schema_rules_make_unevaluated(rule_maker *m) {
  if (schema_rules_has(m, LT_KW_UNEVALUATED_PROPERTIES)) {
    lt_json rest = schema_rules_get(m, LT_KW_UNEVALUATED_PROPERTIES);
    schema_rules_add_rule(m, lt_schema_rule_unevaluated_properties, LT_SCHEMA_OBJECT, rest)->u.schema =
        schema_rules_node_of(m, rest);
    m->node->marks = true;
  }
  if (schema_rules_has(m, LT_KW_UNEVALUATED_ITEMS)) {
    lt_json rest = schema_rules_get(m, LT_KW_UNEVALUATED_ITEMS);
    schema_rules_add_rule(m, lt_schema_rule_unevaluated_items, LT_SCHEMA_ARRAY, rest)->u.schema =
        schema_rules_node_of(m, rest);
    m->node->marks = true;
  }
}

void lt_schema_rules_make(lt_schema_compiler *c, lt_schema_node *node) {
  lt_schema_keys keys;
  lt_schema_keys_read(node->json, lt_schema_ref_is_alone(c, node), &keys);
  rule_maker m = {.c = c, .node = node, .keys = &keys};
  if (schema_rules_has(&m, LT_KW_TYPE)) {
    schema_rules_make_type(&m);
  }
  schema_rules_make_values(&m);
  schema_rules_make_numbers(&m);
  schema_rules_make_strings(&m);
  schema_rules_make_objects(&m);
  schema_rules_make_arrays(&m);
  schema_rules_make_in_place(&m);
  schema_rules_make_unevaluated(&m);
  if (c->status != LT_OK || m.count == 0) {
    return;
  }
  lt_schema_rule *rules = schema_rules_alloc(&m, m.count, sizeof(*rules));
  if (rules != NULL) {
    memcpy(rules, m.rules, m.count * sizeof(*rules));
    node->rules = rules;
    node->rule_count = m.count;
  }
}
