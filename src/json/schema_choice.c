/* The alternatives of anyOf and oneOf. When a value fits none of them, each is tried again and its faults are weighed.
 * The error text describes the one with the lightest faults, which was probably meant. */
#include "base/limits.h"
#include "json/schema_faults.h"
#include "json/schema_rules.h"
#include "json/schema_equal.h"

#define REFS_FOLLOWED  8
#define CLOSEST_FAULTS 3

/* --- Names for alternatives --------------------------------------------------------------------------------------- */

static const lt_schema_rule *schema_choice_find_rule(const lt_schema_node *node, lt_schema_rule_fn fn) {
  for (uint32_t i = 0; i < node->rule_count; i++) {
    if (node->rules[i].fn == fn) {
      return &node->rules[i];
    }
  }
  return NULL;
}

/* The node behind references that stand alone. `ret_ref`: the last one. */
static const lt_schema_node *schema_choice_follow(const lt_schema_node *node, lt_json *ret_ref) {
  for (int i = 0; i < REFS_FOLLOWED && node->rule_count == 1 && node->rules[0].fn == lt_schema_rule_ref; i++) {
    *ret_ref = node->rules[0].keyword;
    node = node->rules[0].u.schema;
  }
  return node;
}

/* The last part of a reference: "Circle" of "#/$defs/Circle". */
static bool schema_choice_put_ref_name(lt_buf *out, lt_json ref) {
  lt_str text = lt_str_sub(lt_json_text(ref), 1, lt_json_text(ref).n - 1);
  size_t from = text.n;
  while (from > 0 && text.p[from - 1] != '/' && text.p[from - 1] != '#') {
    from--;
  }
  lt_schema_put_plain(out, lt_str_sub(text, from, text.n));
  return from < text.n;
}

/* Writes `{kind: "circle"}` from properties that have only one possible value. */
static bool schema_choice_put_constants(lt_buf *out, lt_json properties) {
  uint32_t count = 0;
  lt_json_iter it = lt_json_each(properties);
  while (count < 2 && lt_json_next(&it)) {
    lt_json value = lt_json_get(it.value, "const");
    lt_json values = lt_json_get(it.value, "enum");
    value = lt_json_exists(value) || lt_json_count(values) != 1 ? value : lt_json_at(values, 0);
    if (lt_json_exists(value)) {
      lt_buf_addc(out, count++ > 0 ? ", " : "{");
      lt_schema_put_plain(out, lt_str_sub(lt_json_text(it.key), 1, lt_json_text(it.key).n - 1));
      lt_buf_addc(out, ": ");
      lt_schema_put_value(out, value);
    }
  }
  lt_buf_addc(out, count > 0 ? "}" : "");
  return count > 0;
}

/* Writes `{width, height, ...}` from the names in `required`, or from those of the properties. */
static bool schema_choice_put_names(lt_buf *out, lt_json names) {
  uint32_t count = 0;
  lt_json_iter it = lt_json_each(names);
  while (count < 3 && lt_json_next(&it)) {
    lt_json name = lt_json_exists(it.key) ? it.key : it.value;
    lt_buf_addc(out, count++ > 0 ? ", " : "{");
    lt_schema_put_plain(out, lt_str_sub(lt_json_text(name), 1, lt_json_text(name).n - 1));
  }
  if (count > 0) {
    lt_buf_addc(out, count < lt_json_count(names) ? ", ...}" : "}");
  }
  return count > 0;
}

static bool schema_choice_put_values_or_title(lt_buf *out, lt_json json) {
  lt_json title = lt_json_get(json, "title");
  lt_json constant = lt_json_get(json, "const");
  lt_json values = lt_json_get(json, "enum");
  if (lt_json_typeof(title) == LT_JSON_STRING && lt_json_text(title).n > 2) {
    lt_schema_put_plain(out, lt_str_sub(lt_json_text(title), 1, lt_json_text(title).n - 1));
    return true;
  }
  if (lt_json_exists(constant)) {
    lt_schema_put_value(out, constant);
    return true;
  }
  if (lt_json_count(values) > 0) {
    lt_schema_put_values(out, values);
    return true;
  }
  return false;
}

/* A short name for alternative `i`. */
static void schema_choice_put_label(lt_buf *out, const lt_schema_node *node, uint32_t i) {
  lt_json ref = {NULL, 0};
  node = schema_choice_follow(node, &ref);
  if (lt_json_exists(ref) && schema_choice_put_ref_name(out, ref)) {
    return;
  }
  if (schema_choice_put_values_or_title(out, node->json) ||
      schema_choice_put_constants(out, lt_json_get(node->json, "properties"))) {
    return;
  }
  if (node->types != LT_SCHEMA_ANY && node->types != LT_SCHEMA_OBJECT) {
    lt_schema_put_types(out, node->types);
    return;
  }
  if (!schema_choice_put_names(out, lt_json_get(node->json, "required")) &&
      !schema_choice_put_names(out, lt_json_get(node->json, "properties"))) {
    lt_buf_printf(out, "alternative %u", (unsigned)i + 1);
  }
}

/* --- Types and values alone --------------------------------------------------------------------------------------- */

/* The types and values that all alternatives together accept. */
typedef struct expected_values {
  uint32_t types;
  lt_json values[LT_TOOL_LISTED_MAX];
  uint32_t count; /* number of values, including those above the limit */
} expected_values;

static void schema_choice_expect_value(expected_values *e, lt_json value) {
  if (e->count < LT_TOOL_LISTED_MAX) {
    e->values[e->count] = value;
  }
  e->count++;
}

static void schema_choice_expect_node(expected_values *e, const lt_schema_node *node, int depth) {
  lt_json ref;
  node = schema_choice_follow(node, &ref);
  const lt_schema_rule *constant = schema_choice_find_rule(node, lt_schema_rule_const);
  const lt_schema_rule *values = schema_choice_find_rule(node, lt_schema_rule_enum);
  const lt_schema_rule *any = schema_choice_find_rule(node, lt_schema_rule_any_of);
  any = any != NULL ? any : schema_choice_find_rule(node, lt_schema_rule_one_of);
  if (constant != NULL) {
    schema_choice_expect_value(e, constant->keyword);
  } else if (values != NULL) {
    lt_json_iter it = lt_json_each(values->keyword);
    while (lt_json_next(&it)) {
      schema_choice_expect_value(e, it.value);
    }
  } else if (any != NULL && depth < REFS_FOLLOWED) {
    for (uint32_t i = 0; i < any->count; i++) {
      schema_choice_expect_node(e, any->u.schemas[i], depth + 1);
    }
  } else if (node->types != LT_SCHEMA_ANY) {
    e->types |= node->types;
  }
}

/* Writes `expected "a", "b" or number, got string`. False: the alternatives are not that simple. */
static bool schema_choice_fault_expected(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  expected_values e = {.types = 0};
  for (uint32_t i = 0; i < rule->count; i++) {
    schema_choice_expect_node(&e, rule->u.schemas[i], 0);
  }
  if (e.count == 0 && e.types == 0) {
    return false;
  }
  if (e.count == 0) {
    lt_schema_fault_type(run, at, e.types);
    return true;
  }
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_VALUE);
  if (out == NULL) {
    return true;
  }
  uint32_t shown = e.count < LT_TOOL_LISTED_MAX ? e.count : LT_TOOL_LISTED_MAX;
  lt_buf_addc(out, e.count > 1 ? "expected one of " : "expected ");
  for (uint32_t i = 0; i < shown; i++) {
    lt_schema_put_or(out, i, e.types == 0 && shown == e.count ? shown : UINT32_MAX);
    lt_schema_put_value(out, e.values[i]);
  }
  if (shown < e.count) {
    lt_buf_printf(out, " and %u more", (unsigned)(e.count - shown));
  }
  if (e.types != 0) {
    lt_buf_addc(out, " or ");
    lt_schema_put_types(out, e.types);
  }
  lt_schema_put_got(out, at->value);
  return true;
}

/* --- The closest alternative -------------------------------------------------------------------------------------- */

typedef struct choice_trials {
  lt_buf text; /* the faults of the closest alternative */
  lt_buf other;
  uint32_t closest;
  uint32_t weight;
  uint32_t typed_count; /* number of alternatives that accept the value's type */
  uint32_t typed;       /* the last of these alternatives */
  bool simple;          /* each alternative fails by the type or the value itself */
} choice_trials;

static void schema_choice_weigh(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at, uint32_t i,
                                choice_trials *t) {
  lt_buf_clear(&t->other);
  lt_schema_sink sink = {.out = &t->other, .separator = ", ", .max = CLOSEST_FAULTS, .depth = at->depth};
  lt_schema_place here = *at;
  here.marks = NULL;
  run->sink = &sink;
  lt_schema_apply(run, node, &here);
  if (t->other.status == LT_E_NOMEM) {
    run->status = LT_E_NOMEM;
  }
  t->simple &= (sink.kinds & ~(1u << LT_FAULT_TYPE | 1u << LT_FAULT_VALUE)) == 0;
  if ((sink.kinds & 1u << LT_FAULT_TYPE) == 0) {
    t->typed_count++;
    t->typed = i;
  }
  if (sink.weight < t->weight) {
    if (sink.count > sink.max) {
      lt_buf_printf(&t->other, " and %u more", (unsigned)(sink.count - sink.max));
    }
    lt_buf text = t->text;
    t->text = t->other;
    t->other = text;
    t->closest = i;
    t->weight = sink.weight;
  }
}

/* Writes `fits none of circle, square or string (closest is circle: input.radius: is required)`. */
static void schema_choice_fault_closest(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at,
                                        const choice_trials *t) {
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out == NULL) {
    return;
  }
  uint32_t shown = rule->count <= LT_SCHEMA_LABELS_MAX ? rule->count : LT_SCHEMA_LABELS_MAX;
  lt_buf_addc(out, rule->count > 1 ? "fits none of " : "does not fit ");
  for (uint32_t i = 0; i < shown; i++) {
    lt_schema_put_or(out, i, shown == rule->count ? shown : UINT32_MAX);
    schema_choice_put_label(out, rule->u.schemas[i], i);
  }
  if (shown < rule->count) {
    lt_buf_printf(out, " and %u more", (unsigned)(rule->count - shown));
  }
  if (t->text.n > 0) {
    lt_buf_addc(out, " (closest is ");
    schema_choice_put_label(out, rule->u.schemas[t->closest], t->closest);
    lt_buf_addc(out, ": ");
    lt_buf_add(out, lt_buf_view(&t->text));
    lt_buf_byte(out, ')');
  }
}

static void schema_choice_say(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at,
                              const choice_trials *t) {
  if (t->simple && schema_choice_fault_expected(run, rule, at)) {
    return;
  }
  if (t->typed_count == 1) {
    lt_schema_apply(run, rule->u.schemas[t->typed], at);
    return;
  }
  schema_choice_fault_closest(run, rule, at, t);
}

/* Lists the alternatives, and the faults of the one that was probably meant. */
static void schema_choice_fault(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  lt_schema_sink *sink = run->sink;
  if (sink == NULL) {
    return;
  }
  choice_trials t = {.weight = UINT32_MAX, .simple = true};
  lt_buf_init(&t.text, LT_SCHEMA_FAULTS_MAX_BYTES / 8);
  lt_buf_init(&t.other, LT_SCHEMA_FAULTS_MAX_BYTES / 8);
  for (uint32_t i = 0; i < rule->count && run->status == LT_OK; i++) {
    schema_choice_weigh(run, rule->u.schemas[i], at, i, &t);
  }
  run->sink = sink;
  if (run->status == LT_OK) {
    schema_choice_say(run, rule, at, &t);
  }
  lt_buf_release(&t.text);
  lt_buf_release(&t.other);
}

/* --- The rules ---------------------------------------------------------------------------------------------------- */

/* Tries the alternatives after one that fits only when their marks are needed. */
bool lt_schema_rule_any_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  bool good = false;
  for (uint32_t i = 0; i < rule->count && (!good || at->marks != NULL); i++) {
    good |= lt_schema_try(run, rule->u.schemas[i], at);
    if (run->status != LT_OK) {
      return false;
    }
  }
  if (!good) {
    schema_choice_fault(run, rule, at);
  }
  return good;
}

static void schema_choice_fault_several(lt_schema_run *run, const lt_schema_place *at, uint32_t first,
                                        uint32_t second) {
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out != NULL) {
    lt_buf_printf(out, "fits alternatives %u and %u, but must fit only one", first + 1, second + 1);
  }
}

bool lt_schema_rule_one_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  uint32_t found = UINT32_MAX;
  for (uint32_t i = 0; i < rule->count; i++) {
    bool good = lt_schema_try(run, rule->u.schemas[i], at);
    if (run->status != LT_OK) {
      return false;
    }
    if (good && found != UINT32_MAX) {
      schema_choice_fault_several(run, at, found, i);
      return false;
    }
    found = good ? i : found;
  }
  if (found == UINT32_MAX) {
    schema_choice_fault(run, rule, at);
  }
  return found != UINT32_MAX;
}
