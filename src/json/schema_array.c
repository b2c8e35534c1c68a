/* Rules of arrays. */
#include "json/schema_rules.h"
#include "json/schema_equal.h"
#include "json/schema_faults.h"

/* Writes "must have at least 3 items, has 2". `more` comes after "items". */
static bool schema_array_fault_count(lt_schema_run *run, const lt_schema_place *at, const char *bound, uint64_t limit,
                                     uint64_t count) {
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out != NULL) {
    lt_buf_printf(out, "must have at %s %llu item%s, has %llu", bound, (unsigned long long)limit, limit == 1 ? "" : "s",
                  (unsigned long long)count);
  }
  return false;
}

bool lt_schema_rule_min_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  uint32_t count = lt_json_count(at->value);
  return count >= rule->u.limit || schema_array_fault_count(run, at, "least", rule->u.limit, count);
}

bool lt_schema_rule_max_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  uint32_t count = lt_json_count(at->value);
  return count <= rule->u.limit || schema_array_fault_count(run, at, "most", rule->u.limit, count);
}

bool lt_schema_rule_unique_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  uint32_t first = 0;
  uint32_t second = 0;
  (void)rule;
  if (!lt_schema_find_equal(run, at->value, &first, &second)) {
    return run->status == LT_OK;
  }
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out != NULL) {
    lt_buf_printf(out, "must not repeat an item: [%u] and [%u] are equal", first, second);
  }
  return false;
}

/* --- Items -------------------------------------------------------------------------------------------------------- */

bool lt_schema_rule_array(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  const lt_schema_array *array = rule->u.array;
  bool good = true;
  if (array->rest != NULL && array->rest->never && lt_json_count(at->value) > array->prefix_count) {
    good = schema_array_fault_count(run, at, "most", array->prefix_count, lt_json_count(at->value));
  }
  lt_json_iter it = lt_json_each(at->value);
  for (uint32_t i = 0; (good || run->sink != NULL) && run->status == LT_OK && lt_json_next(&it); i++) {
    const lt_schema_node *node = i < array->prefix_count ? array->prefix[i] : array->rest;
    if (node == NULL || (i >= array->prefix_count && node->never)) {
      break;
    }
    lt_schema_place item = lt_schema_inside(at, (lt_json){NULL, 0}, it.value, i);
    good &= lt_schema_apply(run, node, &item);
    lt_schema_mark(at, i);
  }
  return good;
}

static void schema_array_fault_contains(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at,
                                        uint64_t count) {
  const lt_schema_contains *contains = rule->u.contains;
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out != NULL) {
    bool few = count < contains->min;
    uint64_t limit = few ? contains->min : contains->max;
    lt_buf_printf(out, "must have at %s %llu item%s that fit%s ", few ? "least" : "most", (unsigned long long)limit,
                  limit == 1 ? "" : "s", limit == 1 ? "s" : "");
    lt_schema_put_value(out, rule->keyword);
    lt_buf_printf(out, ", has %llu", (unsigned long long)count);
  }
}

bool lt_schema_rule_contains(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  const lt_schema_contains *contains = rule->u.contains;
  uint64_t count = 0;
  lt_json_iter it = lt_json_each(at->value);
  for (uint32_t i = 0; run->status == LT_OK && lt_json_next(&it); i++) {
    lt_schema_place item = lt_schema_inside(at, (lt_json){NULL, 0}, it.value, i);
    if (lt_schema_fits(run, contains->schema, &item)) {
      count++;
      if (contains->evaluates) {
        lt_schema_mark(at, i);
      }
    }
  }
  if (run->status != LT_OK) {
    return false;
  }
  if (count < contains->min || count > contains->max) {
    schema_array_fault_contains(run, rule, at, count);
    return false;
  }
  return true;
}

bool lt_schema_rule_unevaluated_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  bool good = true;
  lt_json_iter it = lt_json_each(at->value);
  for (uint32_t i = 0; (good || run->sink != NULL) && run->status == LT_OK && lt_json_next(&it); i++) {
    if (!lt_schema_is_marked(at, i)) {
      lt_schema_place item = lt_schema_inside(at, (lt_json){NULL, 0}, it.value, i);
      good &= lt_schema_apply(run, rule->u.schema, &item);
      lt_schema_mark(at, i);
    }
  }
  return good;
}
