/* Evaluates conditions: a value that is missing, has another type, occurs twice or needs too much work is unknown. */
#include "tool/policy/policy_judge.h"

#include "base/limits.h"
#include "json/decimal.h"
#include "tool/policy/policy_text.h"
#include "tool/policy/policy_value.h"

static lt_policy_truth judge_truth_of(bool yes) {
  return yes ? LT_TRUTH_YES : LT_TRUTH_NO;
}

static lt_policy_truth judge_not(lt_policy_truth truth) {
  return (lt_policy_truth)(LT_TRUTH_YES - truth);
}

/* --- Comparing ---------------------------------------------------------------------------------------------------- */

static bool judge_order(lt_policy_comparison op, int order) {
  switch (op) {
    case LT_CMP_EQ:
      return order == 0;
    case LT_CMP_NE:
      return order != 0;
    case LT_CMP_LT:
      return order < 0;
    case LT_CMP_LE:
      return order <= 0;
    case LT_CMP_GT:
      return order > 0;
    case LT_CMP_GE:
      return order >= 0;
  }
  return false;
}

static lt_str judge_number_text(const lt_policy_value *v) {
  return v->json.doc != NULL ? lt_json_text(v->json) : v->text.p != NULL ? v->text : lt_str_of(v->digits);
}

static double judge_double(lt_str text) {
  lt_json_node node = {.end = (uint32_t)text.n, .next = 1, .info = LT_JSON_NUMBER};
  lt_json_doc doc = {.text = text, .nodes = &node, .count = 1};
  double d = 0;
  lt_json_double(lt_json_root(&doc), &d);
  return d;
}

/* As a double, numbers of up to 15 digits keep their order. */
static bool judge_is_short_number(const lt_decimal *d) {
  return d->count <= 15 && d->exponent > -280 && d->exponent < 280;
}

/* Most programs read numbers as doubles, so 0.99999999999999999 may be 1 to a tool, and 2^53 + 1 may be 2^53. A
 * comparison that differs between the numbers as written and as doubles is unknown. */
static lt_policy_truth judge_numbers(lt_policy_judge *j, lt_policy_comparison op, lt_str a, lt_str b) {
  if (!lt_policy_judge_spend(j, 2 + (a.n + b.n) / LT_POLICY_STEP_BYTES)) {
    return LT_TRUTH_UNKNOWN;
  }
  lt_decimal x = lt_decimal_of(a);
  lt_decimal y = lt_decimal_of(b);
  bool exact = judge_order(op, lt_decimal_cmp(&x, &y));
  if (!judge_is_short_number(&x) || !judge_is_short_number(&y)) {
    double p = judge_double(a);
    double q = judge_double(b);
    if (judge_order(op, p < q ? -1 : p > q) != exact) {
      return LT_TRUTH_UNKNOWN;
    }
  }
  return judge_truth_of(exact);
}

static bool judge_may_have_nul(const lt_policy_value *v) {
  return lt_str_find(lt_json_text(v->json), LT_STR("\\u0000"), 0) != SIZE_MAX;
}

/* Compares with a literal: the call's string is not unescaped, whatever its length. */
static lt_policy_truth judge_equal_text(lt_policy_judge *j, const lt_policy_value *v, lt_str own) {
  if (!lt_policy_judge_spend(j, 1 + lt_json_text(v->json).n / LT_POLICY_STEP_BYTES) || judge_may_have_nul(v)) {
    return LT_TRUTH_UNKNOWN;
  }
  return judge_truth_of(lt_json_str_eq(v->json, own));
}

static lt_policy_truth judge_strings(lt_policy_judge *j, lt_policy_comparison op, const lt_policy_value *a,
                                     const lt_policy_value *b) {
  bool equality = op == LT_CMP_EQ || op == LT_CMP_NE;
  if (equality && (a->json.doc == NULL) != (b->json.doc == NULL)) {
    lt_policy_truth equal = a->json.doc != NULL ? judge_equal_text(j, a, b->text) : judge_equal_text(j, b, a->text);
    return op == LT_CMP_EQ ? equal : judge_not(equal);
  }
  lt_str x;
  lt_str y;
  if (!lt_policy_value_text(j, a, &x) || !lt_policy_value_text(j, b, &y)) {
    return LT_TRUTH_UNKNOWN;
  }
  return judge_truth_of(judge_order(op, lt_str_cmp(x, y)));
}

static bool judge_is_bool(const lt_policy_value *v) {
  return v->type == LT_JSON_TRUE || v->type == LT_JSON_FALSE;
}

static lt_policy_truth judge_values(lt_policy_judge *j, lt_policy_comparison op, const lt_policy_value *a,
                                    const lt_policy_value *b) {
  if (a->type == LT_JSON_NUMBER && b->type == LT_JSON_NUMBER) {
    return judge_numbers(j, op, judge_number_text(a), judge_number_text(b));
  }
  if (a->type == LT_JSON_STRING && b->type == LT_JSON_STRING) {
    return judge_strings(j, op, a, b);
  }
  bool equality = op == LT_CMP_EQ || op == LT_CMP_NE;
  bool both_null = a->type == LT_JSON_NULL && b->type == LT_JSON_NULL;
  if (equality && (both_null || (judge_is_bool(a) && judge_is_bool(b)))) {
    return judge_truth_of((a->type == b->type) == (op == LT_CMP_EQ));
  }
  return LT_TRUTH_UNKNOWN;
}

static bool judge_is_null_literal(const lt_policy_operand *operand) {
  return operand->kind == LT_OPERAND_LITERAL && operand->type == LT_JSON_NULL;
}

/* `== null` tests an existing value of any type for null; other comparisons need values of one type. */
static lt_policy_truth judge_pair(lt_policy_judge *j, lt_policy_comparison op, const lt_policy_value *a,
                                  const lt_policy_operand *left, const lt_policy_operand *right) {
  lt_policy_value b = lt_policy_value_of(j, right);
  bool asks_null = judge_is_null_literal(left) || judge_is_null_literal(right);
  if (asks_null && a->type != LT_JSON_NONE && b.type != LT_JSON_NONE) {
    return judge_truth_of((a->type == b.type) == (op == LT_CMP_EQ));
  }
  return judge_values(j, op, a, &b);
}

static lt_policy_truth judge_comparison(lt_policy_judge *j, const lt_policy_condition *cond) {
  lt_policy_value a = lt_policy_value_of(j, cond->left);
  return judge_pair(j, cond->op, &a, cond->left, cond->right);
}

static lt_policy_truth judge_in(lt_policy_judge *j, const lt_policy_condition *cond) {
  lt_policy_value a = lt_policy_value_of(j, cond->left);
  lt_policy_truth truth = LT_TRUTH_NO;
  for (const lt_policy_operand *item = cond->right; item != NULL && truth != LT_TRUTH_YES; item = item->next) {
    lt_policy_truth one = judge_pair(j, LT_CMP_EQ, &a, cond->left, item);
    truth = one > truth ? one : truth;
  }
  return truth;
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

static lt_policy_truth judge_matches(lt_policy_judge *j, const lt_policy_condition *cond) {
  lt_policy_value v = lt_policy_value_of(j, cond->left);
  lt_str chars;
  if (!lt_policy_value_text(j, &v, &chars) ||
      !lt_policy_judge_spend(j, chars.n * cond->text.n / LT_POLICY_STEP_BYTES)) {
    return LT_TRUTH_UNKNOWN;
  }
  return judge_truth_of(lt_policy_glob(cond->text, chars));
}

/* Only the tool knows where a relative path, or one with "~", leads. */
static lt_policy_truth judge_within(lt_policy_judge *j, const lt_policy_condition *cond) {
  lt_policy_value v = lt_policy_value_of(j, cond->left);
  lt_str path;
  if (!lt_policy_value_text(j, &v, &path) || !lt_policy_judge_spend(j, path.n / LT_POLICY_STEP_BYTES) ||
      !lt_policy_path(&j->arena, path, &path)) {
    return LT_TRUTH_UNKNOWN;
  }
  return judge_truth_of(lt_str_starts(path, cond->text) && (path.n == cond->text.n || path.p[cond->text.n] == '/'));
}

/* --- Conditions --------------------------------------------------------------------------------------------------- */

static lt_policy_truth judge_truth(lt_policy_judge *j, const lt_policy_condition *cond) {
  lt_policy_value v = lt_policy_value_of(j, cond->left);
  return judge_is_bool(&v) ? judge_truth_of(v.type == LT_JSON_TRUE) : LT_TRUTH_UNKNOWN;
}

static lt_policy_truth judge_has(lt_policy_judge *j, const lt_policy_condition *cond) {
  switch (lt_policy_value_find(j, cond->left)) {
    case LT_POLICY_FOUND:
      return LT_TRUTH_YES;
    case LT_POLICY_ABSENT:
      return LT_TRUTH_NO;
    case LT_POLICY_UNSURE:
      break;
  }
  return LT_TRUTH_UNKNOWN;
}

static lt_policy_truth judge_items(lt_policy_judge *j, const lt_policy_condition *cond) {
  lt_policy_value array = lt_policy_value_of(j, cond->left);
  if (array.type != LT_JSON_ARRAY) {
    return LT_TRUTH_UNKNOWN;
  }
  lt_policy_truth decisive = cond->kind == LT_COND_ANY ? LT_TRUTH_YES : LT_TRUTH_NO;
  lt_policy_truth truth = judge_not(decisive);
  lt_json outer = j->item;
  lt_json_iter it = lt_json_each(array.json);
  while (truth != decisive && lt_json_next(&it)) {
    j->item = it.value;
    lt_policy_truth one = lt_policy_judge_spend(j, 1) ? lt_policy_judge_condition(j, cond->first) : LT_TRUTH_UNKNOWN;
    truth = one == decisive || one == LT_TRUTH_UNKNOWN ? one : truth;
    if (j->steps_left == 0) {
      truth = LT_TRUTH_UNKNOWN;
      break;
    }
  }
  j->item = outer;
  return truth;
}

static lt_policy_truth judge_chain(lt_policy_judge *j, const lt_policy_condition *cond) {
  lt_policy_truth decisive = cond->kind == LT_COND_OR ? LT_TRUTH_YES : LT_TRUTH_NO;
  lt_policy_truth truth = judge_not(decisive);
  for (const lt_policy_condition *one = cond->first; one != NULL && truth != decisive; one = one->next) {
    lt_policy_truth here = lt_policy_judge_condition(j, one);
    truth = here == decisive || here == LT_TRUTH_UNKNOWN ? here : truth;
  }
  return truth;
}

lt_policy_truth lt_policy_judge_condition(lt_policy_judge *j, const lt_policy_condition *cond) {
  switch (cond->kind) {
    case LT_COND_OR:
    case LT_COND_AND:
      return judge_chain(j, cond);
    case LT_COND_NOT:
      return judge_not(lt_policy_judge_condition(j, cond->first));
    case LT_COND_TRUTH:
      return judge_truth(j, cond);
    case LT_COND_COMPARE:
      return judge_comparison(j, cond);
    case LT_COND_IN:
      return judge_in(j, cond);
    case LT_COND_MATCHES:
      return judge_matches(j, cond);
    case LT_COND_WITHIN:
      return judge_within(j, cond);
    case LT_COND_HAS:
      return judge_has(j, cond);
    case LT_COND_ANY:
    case LT_COND_ALL:
      return judge_items(j, cond);
  }
  return LT_TRUTH_UNKNOWN;
}

void lt_policy_judge_init(lt_policy_judge *judge, const lt_policy_call *call) {
  *judge = (lt_policy_judge){.call = call, .steps_left = LT_POLICY_STEPS_MAX};
  lt_arena_init(&judge->arena, LT_POLICY_WORK_BYTES);
}

void lt_policy_judge_release(lt_policy_judge *judge) {
  lt_arena_release(&judge->arena);
}
