/* Rules of objects. */
#include "base/limits.h"
#include "base/nearest.h"
#include "json/schema_rules.h"
#include "json/schema_faults.h"

/* --- Counts and names --------------------------------------------------------------------------------------------- */

static bool schema_object_fault_count(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at,
                                      const char *bound) {
  uint64_t limit = rule->u.limit;
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out != NULL) {
    lt_buf_printf(out, "must have at %s %llu propert%s, has %u", bound, (unsigned long long)limit,
                  limit == 1 ? "y" : "ies", (unsigned)lt_json_count(at->value));
  }
  return false;
}

bool lt_schema_rule_min_properties(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  return lt_json_count(at->value) >= rule->u.limit || schema_object_fault_count(run, rule, at, "least");
}

bool lt_schema_rule_max_properties(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  return lt_json_count(at->value) <= rule->u.limit || schema_object_fault_count(run, rule, at, "most");
}

static bool schema_object_has_property(lt_schema_run *run, lt_json object, lt_str name) {
  lt_schema_spend(run, 3 * (uint64_t)lt_json_count(object) + 1);
  return lt_json_exists(lt_json_get_str(object, name));
}

/* A member of the value that is nearly `name`, and is not among the `count` names that are required; or NONE. */
static lt_json schema_object_find_misspelt(lt_schema_run *run, lt_json object, lt_str name, const lt_str *names,
                                           uint32_t count) {
  lt_json found = {0};
  lt_nearest nearest = lt_nearest_to(name, name.n > 4 ? 2 : name.n > 2 ? 1 : 0);
  lt_json_iter it = lt_json_each(object);
  while (lt_json_next(&it)) {
    lt_str key;
    bool is_required = !lt_schema_chars(run, it.key, &key);
    for (uint32_t i = 0; i < count && !is_required; i++) {
      is_required = lt_str_eq(key, names[i]);
    }
    unsigned limit = nearest.limit;
    if (!is_required) {
      lt_nearest_offer(&nearest, key);
      found = nearest.limit < limit ? it.key : found;
    }
  }
  return found;
}

/* A missing property has no key in the value. Its path is that of the object plus the name. `because` may be empty. */
static void schema_object_fault_missing(lt_schema_run *run, const lt_schema_place *at, lt_str name, lt_str because,
                                        const lt_str *names, uint32_t count) {
  lt_buf *out = lt_schema_fault_member(run, at, name, LT_FAULT_MISSING);
  if (out != NULL) {
    lt_buf_addc(out, "is required");
    if (because.n > 0) {
      lt_buf_addc(out, " beside ");
      lt_schema_put_quoted(out, because);
    }
    lt_json misspelt = schema_object_find_misspelt(run, at->value, name, names, count);
    if (lt_json_exists(misspelt)) {
      lt_buf_addc(out, " (there is ");
      lt_schema_put_value(out, misspelt);
      lt_buf_byte(out, ')');
    }
  }
}

static bool schema_object_check_required(lt_schema_run *run, const lt_schema_place *at, const lt_str *names,
                                         uint32_t count, lt_str because) {
  bool good = true;
  for (uint32_t i = 0; i < count && run->status == LT_OK; i++) {
    if (!schema_object_has_property(run, at->value, names[i])) {
      schema_object_fault_missing(run, at, names[i], because, names, count);
      good = false;
    }
    if (!good && run->sink == NULL) {
      break;
    }
  }
  return good;
}

bool lt_schema_rule_required(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  return schema_object_check_required(run, at, rule->u.names, rule->count, LT_STR(""));
}

bool lt_schema_rule_depends(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  bool good = true;
  for (uint32_t i = 0; i < rule->count && (good || run->sink != NULL); i++) {
    const lt_schema_depends *depends = &rule->u.depends[i];
    if (schema_object_has_property(run, at->value, depends->name)) {
      good &= schema_object_check_required(run, at, depends->names, depends->count, depends->name);
      good &= depends->schema == NULL || lt_schema_apply(run, depends->schema, at);
    }
    if (run->status != LT_OK) {
      return false;
    }
  }
  return good;
}

bool lt_schema_rule_property_names(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  bool good = true;
  lt_json_iter it = lt_json_each(at->value);
  while ((good || run->sink != NULL) && run->status == LT_OK && lt_json_next(&it)) {
    lt_schema_place name = lt_schema_inside(at, it.key, it.key, 0);
    name.is_name = true;
    good &= lt_schema_apply(run, rule->u.schema, &name);
  }
  return good;
}

/* --- Properties --------------------------------------------------------------------------------------------------- */

static const lt_schema_prop *schema_object_find_prop(const lt_schema_object *object, lt_str name) {
  uint32_t low = 0;
  uint32_t high = object->prop_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    int order = lt_schema_name_cmp(object->props[middle].name, name);
    if (order == 0) {
      return &object->props[middle];
    }
    low = order < 0 ? middle + 1 : low;
    high = order < 0 ? high : middle;
  }
  return NULL;
}

/* Reports a member that additionalProperties or unevaluatedProperties refuse. */
static bool schema_object_check_other(lt_schema_run *run, const lt_schema_node *rest, const lt_schema_place *member,
                                      const lt_schema_object *object) {
  if (!rest->never) {
    return lt_schema_apply(run, rest, member);
  }
  lt_schema_fault_unknown(run, member, object);
  return false;
}

/* Checks one member against all rules for its name. `ret_known`: at least one rule exists. */
static bool schema_object_check_named(lt_schema_run *run, const lt_schema_object *object, const lt_schema_place *member,
                                      lt_str name, bool *ret_known) {
  const lt_schema_prop *prop = schema_object_find_prop(object, name);
  bool good = prop == NULL || lt_schema_apply(run, prop->schema, member);
  *ret_known = prop != NULL || object->unsure;
  for (uint32_t i = 0; i < object->pattern_count && run->status == LT_OK; i++) {
    const lt_schema_pattern *pattern = &object->patterns[i];
    if (pattern->regex != NULL && lt_schema_matches(run, pattern->regex, name)) {
      good &= lt_schema_apply(run, pattern->schema, member);
      *ret_known = true;
    }
  }
  return good;
}

static bool schema_object_check_member(lt_schema_run *run, const lt_schema_object *object,
                                       const lt_schema_place *member, bool *ret_known) {
  lt_str name;
  if (!lt_schema_chars(run, member->key, &name)) {
    return false;
  }
  bool good = schema_object_check_named(run, object, member, name, ret_known);
  if (run->status == LT_OK && !*ret_known && object->rest != NULL) {
    *ret_known = true;
    good &= schema_object_check_other(run, object->rest, member, object);
  }
  return good && run->status == LT_OK;
}

bool lt_schema_rule_object(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  bool good = true;
  lt_json_iter it = lt_json_each(at->value);
  for (uint32_t i = 0; (good || run->sink != NULL) && run->status == LT_OK && lt_json_next(&it); i++) {
    bool known = false;
    lt_schema_place member = lt_schema_inside(at, it.key, it.value, i);
    good &= lt_schema_spend(run, 2) && schema_object_check_member(run, rule->u.object, &member, &known);
    if (known) {
      lt_schema_mark(at, i);
    }
  }
  return good;
}

bool lt_schema_rule_unevaluated_properties(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  bool good = true;
  lt_json_iter it = lt_json_each(at->value);
  for (uint32_t i = 0; (good || run->sink != NULL) && run->status == LT_OK && lt_json_next(&it); i++) {
    if (!lt_schema_is_marked(at, i)) {
      lt_schema_place member = lt_schema_inside(at, it.key, it.value, i);
      good &= schema_object_check_other(run, rule->u.schema, &member, NULL);
      lt_schema_mark(at, i);
    }
  }
  return good;
}
