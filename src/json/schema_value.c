/* Rules of constants, numbers and strings. */
#include "base/utf8.h"
#include "json/schema_rules.h"
#include "json/schema_equal.h"
#include "json/schema_faults.h"

/* Writes "must be at least 3, got 2". Returns false, so that a rule can return it. */
static bool schema_value_fault_bound(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at,
                                     const char *text) {
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out != NULL) {
    lt_buf_addc(out, text);
    lt_schema_put_value(out, rule->keyword);
    lt_schema_put_got(out, at->value);
  }
  return false;
}

/* --- Constants ---------------------------------------------------------------------------------------------------- */

bool lt_schema_rule_enum(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  lt_json_iter it = lt_json_each(rule->keyword);
  while (lt_json_next(&it)) {
    if (lt_schema_equal(run, it.value, at->value)) {
      return true;
    }
  }
  if (lt_json_count(rule->keyword) == 0) {
    return lt_schema_fault_text(run, at, LT_FAULT_VALUE, "is not allowed");
  }
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_VALUE);
  if (out != NULL) {
    lt_buf_addc(out, lt_json_count(rule->keyword) > 1 ? "expected one of " : "expected ");
    lt_schema_put_values(out, rule->keyword);
    lt_schema_put_got(out, at->value);
  }
  return false;
}

bool lt_schema_rule_const(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  if (lt_schema_equal(run, rule->keyword, at->value)) {
    return true;
  }
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_VALUE);
  if (out != NULL) {
    lt_buf_addc(out, "expected ");
    lt_schema_put_value(out, rule->keyword);
    lt_schema_put_got(out, at->value);
  }
  return false;
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

/* Compares the value with the rule's number. Returns a sign like memcmp. */
static int schema_value_compare(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  lt_str text = lt_json_text(at->value);
  lt_decimal number = lt_decimal_of(text);
  lt_schema_spend(run, text.n / 8);
  return lt_decimal_cmp(&number, &rule->u.number);
}

bool lt_schema_rule_minimum(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  return schema_value_compare(run, rule, at) >= 0 || schema_value_fault_bound(run, rule, at, "must be at least ");
}

bool lt_schema_rule_maximum(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  return schema_value_compare(run, rule, at) <= 0 || schema_value_fault_bound(run, rule, at, "must be at most ");
}

bool lt_schema_rule_more_than(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  return schema_value_compare(run, rule, at) > 0 || schema_value_fault_bound(run, rule, at, "must be more than ");
}

bool lt_schema_rule_less_than(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  return schema_value_compare(run, rule, at) < 0 || schema_value_fault_bound(run, rule, at, "must be less than ");
}

bool lt_schema_rule_multiple_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  lt_str text = lt_json_text(at->value);
  lt_decimal number = lt_decimal_of(text);
  lt_schema_spend(run, text.n);
  return lt_decimal_is_multiple(&number, &rule->u.number) ||
         schema_value_fault_bound(run, rule, at, "must be a multiple of ");
}

/* --- Strings ------------------------------------------------------------------------------------------------------ */

/* "must have at least 3 characters, has 2" */
static bool schema_value_fault_length(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at,
                                      const char *bound, uint64_t count) {
  uint64_t limit = rule->u.limit;
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out != NULL) {
    lt_buf_printf(out, "must have at %s %llu character%s, has %llu", bound, (unsigned long long)limit,
                  limit == 1 ? "" : "s", (unsigned long long)count);
  }
  return false;
}

bool lt_schema_rule_min_length(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  lt_str s;
  if (!lt_schema_chars(run, at->value, &s)) {
    return false;
  }
  uint64_t count = lt_utf8_count(s); /* counts characters, not bytes or UTF-16 units (2020-12, Validation 6.3.1) */
  if (count >= rule->u.limit) {
    return true;
  }
  if (rule->u.limit == 1) {
    return lt_schema_fault_text(run, at, LT_FAULT_OTHER, "must not be empty");
  }
  return schema_value_fault_length(run, rule, at, "least", count);
}

bool lt_schema_rule_max_length(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  lt_str s;
  if (!lt_schema_chars(run, at->value, &s)) {
    return false;
  }
  uint64_t count = lt_utf8_count(s);
  return count <= rule->u.limit || schema_value_fault_length(run, rule, at, "most", count);
}

bool lt_schema_rule_pattern(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at) {
  lt_str s;
  if (!lt_schema_chars(run, at->value, &s)) {
    return false;
  }
  if (lt_schema_matches(run, rule->u.regex, s)) {
    return true;
  }
  lt_str pattern;
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_OTHER);
  if (out != NULL && lt_schema_chars(run, rule->keyword, &pattern)) {
    lt_buf_addc(out, "must match the pattern ");
    lt_schema_put_plain(out, pattern);
    lt_schema_put_got(out, at->value);
  }
  return false;
}
