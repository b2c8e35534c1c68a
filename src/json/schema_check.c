/* Applying nodes to values, and the rules that apply other nodes to the same value. */
#include "base/limits.h"
#include "json/schema_run.h"
#include "json/schema_faults.h"
#include "json/schema_rules.h"

/* The type bits of a value. */
static uint32_t schema_check_type_of(lt_json value) {
  switch (lt_json_typeof(value)) {
    case LT_JSON_NONE:
      break;
    case LT_JSON_NULL:
      return LT_SCHEMA_NULL;
    case LT_JSON_FALSE:
    case LT_JSON_TRUE:
      return LT_SCHEMA_BOOLEAN;
    case LT_JSON_NUMBER: {
      lt_decimal number = lt_decimal_of(lt_json_text(value));
      return LT_SCHEMA_NUMBER | (lt_decimal_is_whole(&number) ? LT_SCHEMA_INTEGER : 0);
    }
    case LT_JSON_STRING:
      return LT_SCHEMA_STRING;
    case LT_JSON_ARRAY:
      return LT_SCHEMA_ARRAY;
    case LT_JSON_OBJECT:
      return LT_SCHEMA_OBJECT;
  }
  return 0;
}

lt_schema_place lt_schema_inside(const lt_schema_place *at, lt_json key, lt_json value, uint32_t index) {
  return (lt_schema_place){
      .value = value, .key = key, .up = at, .scope = at->scope, .index = index, .depth = at->depth + 1};
}

/* --- Marks -------------------------------------------------------------------------------------------------------- */

static size_t schema_check_mark_words(const lt_schema_marks *marks) {
  return marks->count / 64 + 1;
}

static bool schema_check_new_marks(lt_schema_run *run, lt_json value, lt_schema_marks *ret) {
  ret->count = lt_json_count(value);
  size_t words = schema_check_mark_words(ret);
  if (!lt_schema_spend(run, words)) {
    return false;
  }
  ret->bits = lt_arena_zalloc(&run->arena, words, sizeof(*ret->bits));
  if (ret->bits == NULL) {
    lt_schema_fail_run(run);
  }
  return ret->bits != NULL;
}

static void schema_check_add_marks(const lt_schema_place *at, const lt_schema_marks *more) {
  for (size_t i = 0; at->marks != NULL && i < schema_check_mark_words(more); i++) {
    at->marks->bits[i] |= more->bits[i];
  }
}

static void schema_check_mark_all(const lt_schema_place *at) {
  if (at->marks != NULL) {
    memset(at->marks->bits, 0xFF, schema_check_mark_words(at->marks) * sizeof(*at->marks->bits));
  }
}

/* --- Applying ----------------------------------------------------------------------------------------------------- */

static bool schema_check_apply_rules(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at,
                                     uint32_t type) {
  bool good = true;
  for (uint32_t i = 0; i < node->rule_count; i++) {
    const lt_schema_rule *rule = &node->rules[i];
    if ((rule->applies & type) == 0) {
      continue;
    }
    good &= rule->fn(run, rule, at);
    if (run->status != LT_OK || (!good && run->sink == NULL)) {
      return false;
    }
  }
  return good;
}

/* A schema with unevaluated* starts with empty marks. Its marks are then added to those of the schemas around it. */
static bool schema_check_apply_marking(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at,
                                       uint32_t type) {
  lt_schema_marks marks;
  lt_schema_place here = *at;
  if (!schema_check_new_marks(run, at->value, &marks)) {
    return false;
  }
  here.marks = &marks;
  bool good = schema_check_apply_rules(run, node, &here, type);
  if (good) {
    schema_check_add_marks(at, &marks);
  }
  return good;
}

static bool schema_check_apply_node(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at) {
  uint32_t type = schema_check_type_of(at->value);
  if (node->never) {
    return lt_schema_fault_text(run, at, LT_FAULT_OTHER, "is not allowed");
  }
  if ((node->types & type) == 0) {
    lt_schema_fault_type(run, at, node->types);
    return false;
  }
  return node->marks && (type & (LT_SCHEMA_OBJECT | LT_SCHEMA_ARRAY)) != 0
             ? schema_check_apply_marking(run, node, at, type)
             : schema_check_apply_rules(run, node, at, type);
}

static bool schema_check_apply_in_scope(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at) {
  lt_schema_scope scope = {.up = at->scope, .resource = node->resource};
  lt_schema_place here = *at;
  here.scope = &scope;
  return schema_check_apply_node(run, node, &here);
}

#define NODE_STEPS 10

bool lt_schema_apply(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at) {
  if (!lt_schema_spend(run, NODE_STEPS)) {
    return false;
  }
  if (run->depth == LT_SCHEMA_DEPTH_MAX) {
    run->status = LT_E_LIMIT;
    return false;
  }
  run->depth++;
  bool enters = run->schema->has_dynamic && (at->scope == NULL || at->scope->resource != node->resource);
  bool good = enters ? schema_check_apply_in_scope(run, node, at) : schema_check_apply_node(run, node, at);
  run->depth--;
  return good && run->status == LT_OK;
}

static bool schema_check_apply_quietly(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at) {
  lt_schema_sink *sink = run->sink;
  run->sink = NULL;
  bool good = lt_schema_apply(run, node, at);
  run->sink = sink;
  return good;
}

bool lt_schema_fits(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at) {
  lt_schema_place here = *at;
  here.marks = NULL;
  return schema_check_apply_quietly(run, node, &here);
}

bool lt_schema_try(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at) {
  lt_schema_marks marks;
  if (at->marks == NULL) {
    return schema_check_apply_quietly(run, node, at);
  }
  lt_schema_place here = *at;
  if (!schema_check_new_marks(run, at->value, &marks)) {
    return false;
  }
  here.marks = &marks;
  bool good = schema_check_apply_quietly(run, node, &here);
  if (good) {
    schema_check_add_marks(at, &marks);
  }
  return good;
}

/* --- References --------------------------------------------------------------------------------------------------- */

bool lt_schema_rule_ref(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  return lt_schema_apply(run, rule->u.schema, at);
}

/* The target of the reference is unknown, so every part of the value counts as evaluated. */
bool lt_schema_rule_unknown(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  (void)run;
  (void)rule;
  schema_check_mark_all(at);
  return true;
}

/* The node of a dynamic anchor in one resource; NULL: it has none of that name. */
static const lt_schema_node *schema_check_find_dynamic(const lt_schema *schema, uint32_t resource, lt_str name) {
  if (name.n == 0) {
    return schema->resources[resource].is_recursive ? schema->resources[resource].root : NULL;
  }
  for (uint32_t i = 0; i < schema->anchor_count; i++) {
    const lt_schema_anchor *anchor = &schema->anchors[i];
    if (anchor->dynamic && anchor->resource == resource && lt_str_eq(anchor->name, name)) {
      return anchor->node;
    }
  }
  return NULL;
}

/* 2020-12, Core 8.2.3.2: the outermost schema resource in the dynamic scope that defines the anchor. */
bool lt_schema_rule_dynamic(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  const lt_schema_node *target = rule->u.dynamic->schema;
  for (const lt_schema_scope *scope = at->scope; scope != NULL; scope = scope->up) {
    const lt_schema_node *node = schema_check_find_dynamic(run->schema, scope->resource, rule->u.dynamic->anchor);
    target = node != NULL ? node : target;
    if (!lt_schema_spend(run, run->schema->anchor_count + 1)) {
      return false;
    }
  }
  return lt_schema_apply(run, target, at);
}

/* --- Logic -------------------------------------------------------------------------------------------------------- */

bool lt_schema_rule_all_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  bool good = true;
  for (uint32_t i = 0; i < rule->count; i++) {
    good &= lt_schema_apply(run, rule->u.schemas[i], at);
    if (run->status != LT_OK || (!good && run->sink == NULL)) {
      return false;
    }
  }
  return good;
}

bool lt_schema_rule_not(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  if (!lt_schema_fits(run, rule->u.schema, at)) {
    return run->status == LT_OK;
  }
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out != NULL) {
    lt_buf_addc(out, "must not fit ");
    lt_schema_put_value(out, rule->keyword);
  }
  return false;
}

bool lt_schema_rule_if(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  const lt_schema_branch *branch = rule->u.branch;
  bool good = lt_schema_try(run, branch->condition, at);
  const lt_schema_node *next = good ? branch->then : branch->otherwise;
  if (run->status != LT_OK) {
    return false;
  }
  return next == NULL || lt_schema_apply(run, next, at);
}
