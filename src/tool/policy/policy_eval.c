/* Conditions judged: what is missing, of another type, said twice or too much to look at is unknown. */
#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "json/decimal.h"
#include "tool/policy/policy_impl.h"

/* A value to compare. NONE: it is not there, or cannot be told. */
typedef struct value {
  lt_json_type type;
  lt_json json;    /* in the call; else not there */
  lt_str text;     /* of our own: a string's characters, a number as written */
  char digits[24]; /* a number of our own that `text` does not have */
} value;

typedef enum finding { FOUND, ABSENT, UNSURE } finding;

static bool spend(lt_policy_judge *j, uint64_t steps) {
  j->steps = j->steps > steps ? j->steps - steps : 0;
  return j->steps > 0;
}

static lt_policy_truth truth_of(bool yes) {
  return yes ? LT_TRUTH_YES : LT_TRUTH_NO;
}

static lt_policy_truth not_of(lt_policy_truth truth) {
  return (lt_policy_truth)(LT_TRUTH_YES - truth);
}

/* --- Finding ------------------------------------------------------------------------------------------------------ */

/* One character with its case taken off, as far as names of members go: besides ASCII, the two other characters that
 * Unicode folds into ASCII letters. */
static char fold(lt_str s, size_t *at) {
  char c = s.p[*at];
  if (c == '\xC5' && s.n - *at >= 2 && s.p[*at + 1] == '\xBF') {
    *at += 2; /* long s */
    return 's';
  }
  if (c == '\xE2' && s.n - *at >= 3 && s.p[*at + 1] == '\x84' && s.p[*at + 2] == '\xAA') {
    *at += 3; /* the Kelvin sign */
    return 'k';
  }
  ++*at;
  return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool eq_but_case(lt_str a, lt_str b) {
  size_t i = 0;
  size_t k = 0;
  while (i < a.n && k < b.n) {
    if (fold(a, &i) != fold(b, &k)) {
      return false;
    }
  }
  return i == a.n && k == b.n;
}

/* Whether a member's name begins with another letter than `key`, as most do: then nothing has to be unescaped. */
static bool begins_otherwise(lt_json name, lt_str key) {
  lt_str text = lt_json_text(name); /* with its quotes */
  char c = text.p[1];
  size_t at = 0;
  size_t key_at = 0;
  return key.n > 0 && c != '\\' && !(c & 0x80) && fold((lt_str){&c, 1}, &at) != fold(key, &key_at);
}

static bool chars_of(lt_policy_judge *j, lt_json string, lt_str *ret) {
  return spend(j, 1 + lt_json_text(string).n / LT_POLICY_STEP_BYTES) && lt_json_str(string, &j->arena, ret);
}

/* The one member of this name. Two of them are unsure: the tool may take the other one. So are names that differ only
 * by case, which some JSON readers (Go's is one) take for the same. */
static finding find_member(lt_policy_judge *j, lt_json object, lt_str key, lt_json *ret) {
  uint32_t exact = 0;
  uint32_t similar = 0;
  lt_json_iter it = lt_json_each(object);
  while (lt_json_next(&it)) {
    lt_str name;
    if (!spend(j, 1)) {
      return UNSURE;
    }
    if (begins_otherwise(it.key, key)) {
      continue;
    }
    if (!chars_of(j, it.key, &name)) {
      return UNSURE;
    }
    if (lt_str_eq(name, key)) {
      exact++;
      *ret = it.value;
    } else {
      similar += eq_but_case(name, key);
    }
  }
  return exact + similar == 0 ? ABSENT : exact == 1 && similar == 0 ? FOUND : UNSURE;
}

static finding find_item(lt_policy_judge *j, lt_json array, uint32_t index, lt_json *ret) {
  if (index >= lt_json_count(array)) {
    return ABSENT;
  }
  if (!spend(j, index)) {
    return UNSURE;
  }
  *ret = lt_json_at(array, index);
  return FOUND;
}

static finding find(lt_policy_judge *j, lt_json from, const lt_policy_path_step *steps, lt_json *ret) {
  finding found = lt_json_exists(from) ? FOUND : ABSENT;
  for (const lt_policy_path_step *step = steps; step != NULL && found == FOUND; step = step->next) {
    lt_json_type type = lt_json_typeof(from);
    if (type != (step->is_index ? LT_JSON_ARRAY : LT_JSON_OBJECT)) {
      return ABSENT;
    }
    found = step->is_index ? find_item(j, from, step->index, &from) : find_member(j, from, step->key, &from);
  }
  *ret = from;
  return found;
}

/* --- Annotations ---------------------------------------------------------------------------------------------------
 * "readOnlyHint: If true, the tool does not modify its environment. Default: false";
 * "destructiveHint: ... (This property is meaningful only when `readOnlyHint == false`) Default: true";
 * "idempotentHint: ... (likewise) Default: false"; "openWorldHint: ... Default: true" (MCP 2025-11-25,
 * ToolAnnotations).
 */

const char *const lt_policy_hint_names[LT_HINT_COUNT] = {"readOnlyHint", "destructiveHint", "idempotentHint",
                                                         "openWorldHint"};

/* A hint that is no boolean, or is given twice, is none. */
static bool read_hint(lt_policy_judge *j, lt_policy_hint hint, bool fallback) {
  lt_json found;
  if (lt_json_typeof(j->call->annotations) != LT_JSON_OBJECT ||
      find_member(j, j->call->annotations, lt_str_of(lt_policy_hint_names[hint]), &found) != FOUND) {
    return fallback;
  }
  return lt_json_bool(found, fallback);
}

/* Not where the work is used up in the middle: then they are unknown, and no fallback for what may be there. */
static void read_hints(lt_policy_judge *j) {
  bool read_only = read_hint(j, LT_HINT_READ_ONLY, false);
  j->hints[LT_HINT_READ_ONLY] = read_only;
  j->hints[LT_HINT_DESTRUCTIVE] = !read_only && read_hint(j, LT_HINT_DESTRUCTIVE, true);
  j->hints[LT_HINT_IDEMPOTENT] = read_only || read_hint(j, LT_HINT_IDEMPOTENT, false);
  j->hints[LT_HINT_OPEN_WORLD] = read_hint(j, LT_HINT_OPEN_WORLD, true);
  j->hints_read = j->steps > 0;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

static value no_value(void) {
  return (value){.type = LT_JSON_NONE};
}

static value of_bool(bool b) {
  return (value){.type = b ? LT_JSON_TRUE : LT_JSON_FALSE};
}

static value hint_of(lt_policy_judge *j, lt_policy_hint hint) {
  if (!j->hints_read) {
    read_hints(j);
  }
  return j->hints_read ? of_bool(j->hints[hint]) : no_value();
}

/* Where the steps of an operand that is in the call begin. */
static lt_json root_of(const lt_policy_judge *j, const lt_policy_operand *operand) {
  return operand->kind == LT_OPERAND_INPUT         ? j->call->input
         : operand->kind == LT_OPERAND_ANNOTATIONS ? j->call->annotations
         : operand->kind == LT_OPERAND_IT          ? j->it
                                                   : (lt_json){NULL, 0};
}

static value plain_value(lt_policy_judge *j, const lt_policy_operand *operand) {
  switch (operand->kind) {
    case LT_OPERAND_LITERAL:
      return (value){.type = operand->type, .text = operand->text};
    case LT_OPERAND_HINT:
      return hint_of(j, operand->hint);
    case LT_OPERAND_TOOL_ID:
      return (value){.type = LT_JSON_STRING, .text = j->call->tool};
    case LT_OPERAND_INPUT:
    case LT_OPERAND_ANNOTATIONS:
    case LT_OPERAND_IT:
      break;
  }
  lt_json found;
  if (find(j, root_of(j, operand), operand->steps, &found) != FOUND) {
    return no_value();
  }
  return (value){.type = lt_json_typeof(found), .json = found};
}

static bool value_chars(lt_policy_judge *j, const value *v, lt_str *ret) {
  if (v->type != LT_JSON_STRING) {
    return false;
  }
  if (v->json.doc != NULL) {
    return chars_of(j, v->json, ret);
  }
  *ret = v->text;
  return true;
}

/* What there is to compare of a string. Tools that are written in C see the end of one at its first NUL, others do not:
 * such a string is unknown. */
static bool text_of(lt_policy_judge *j, const value *v, lt_str *ret) {
  return value_chars(j, v, ret) && (ret->n == 0 || memchr(ret->p, '\0', ret->n) == NULL);
}

static value length_of(lt_policy_judge *j, const value *v) {
  size_t length = lt_json_count(v->json);
  if (v->type == LT_JSON_STRING) {
    lt_str chars;
    if (!value_chars(j, v, &chars)) {
      return no_value();
    }
    length = lt_utf8_count(chars);
  } else if (v->type != LT_JSON_ARRAY && v->type != LT_JSON_OBJECT) {
    return no_value();
  }
  value number = {.type = LT_JSON_NUMBER};
  snprintf(number.digits, sizeof number.digits, "%zu", length);
  return number;
}

static value value_of(lt_policy_judge *j, const lt_policy_operand *operand) {
  value v = plain_value(j, operand);
  return operand->length ? length_of(j, &v) : v;
}

/* --- Comparing ---------------------------------------------------------------------------------------------------- */

static bool holds(lt_policy_comparison op, int order) {
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

static lt_str number_text(const value *v) {
  return v->json.doc != NULL ? lt_json_text(v->json) : v->text.p != NULL ? v->text : lt_str_of(v->digits);
}

static double double_of(lt_str text) {
  lt_json_node node = {.end = (uint32_t)text.n, .next = 1, .info = LT_JSON_NUMBER};
  lt_json_doc doc = {.text = text, .nodes = &node, .count = 1};
  double d = 0;
  lt_json_double(lt_json_root(&doc), &d);
  return d;
}

/* Up to 15 digits survive being read as a double, in their order. */
static bool is_short(const lt_decimal *d) {
  return d->count <= 15 && d->exponent > -280 && d->exponent < 280;
}

/* Most programs read numbers as doubles, so 0.99999999999999999 may be 1 to a tool, and 2^53 + 1 be 2^53: what does not
 * hold for the number as it is written and as a double alike is unknown. */
static lt_policy_truth compare_numbers(lt_policy_judge *j, lt_policy_comparison op, lt_str a, lt_str b) {
  if (!spend(j, 2 + (a.n + b.n) / LT_POLICY_STEP_BYTES)) {
    return LT_TRUTH_UNKNOWN;
  }
  lt_decimal x = lt_decimal_of(a);
  lt_decimal y = lt_decimal_of(b);
  bool exact = holds(op, lt_decimal_cmp(&x, &y));
  if (!is_short(&x) || !is_short(&y)) {
    double p = double_of(a);
    double q = double_of(b);
    if (holds(op, p < q ? -1 : p > q) != exact) {
      return LT_TRUTH_UNKNOWN;
    }
  }
  return truth_of(exact);
}

static bool may_have_nul(const value *v) {
  return lt_str_find(lt_json_text(v->json), LT_STR("\\u0000"), 0) != SIZE_MAX;
}

/* With one of our own: the other's escapes are not undone, however long it is. */
static lt_policy_truth equal_text(lt_policy_judge *j, const value *v, lt_str own) {
  if (!spend(j, 1 + lt_json_text(v->json).n / LT_POLICY_STEP_BYTES) || may_have_nul(v)) {
    return LT_TRUTH_UNKNOWN;
  }
  return truth_of(lt_json_str_eq(v->json, own));
}

static lt_policy_truth compare_strings(lt_policy_judge *j, lt_policy_comparison op, const value *a, const value *b) {
  bool equality = op == LT_CMP_EQ || op == LT_CMP_NE;
  if (equality && (a->json.doc == NULL) != (b->json.doc == NULL)) {
    lt_policy_truth equal = a->json.doc != NULL ? equal_text(j, a, b->text) : equal_text(j, b, a->text);
    return op == LT_CMP_EQ ? equal : not_of(equal);
  }
  lt_str x;
  lt_str y;
  if (!text_of(j, a, &x) || !text_of(j, b, &y)) {
    return LT_TRUTH_UNKNOWN;
  }
  return truth_of(holds(op, lt_str_cmp(x, y)));
}

static bool is_bool(const value *v) {
  return v->type == LT_JSON_TRUE || v->type == LT_JSON_FALSE;
}

static lt_policy_truth compare_values(lt_policy_judge *j, lt_policy_comparison op, const value *a, const value *b) {
  if (a->type == LT_JSON_NUMBER && b->type == LT_JSON_NUMBER) {
    return compare_numbers(j, op, number_text(a), number_text(b));
  }
  if (a->type == LT_JSON_STRING && b->type == LT_JSON_STRING) {
    return compare_strings(j, op, a, b);
  }
  bool equality = op == LT_CMP_EQ || op == LT_CMP_NE;
  bool both_null = a->type == LT_JSON_NULL && b->type == LT_JSON_NULL;
  if (equality && (both_null || (is_bool(a) && is_bool(b)))) {
    return truth_of((a->type == b->type) == (op == LT_CMP_EQ));
  }
  return LT_TRUTH_UNKNOWN;
}

static bool is_null_literal(const lt_policy_operand *operand) {
  return operand->kind == LT_OPERAND_LITERAL && operand->type == LT_JSON_NULL;
}

/* `== null` asks whether a value that is there is null, whatever it is; anything else compares values of one type. */
static lt_policy_truth compare(lt_policy_judge *j, lt_policy_comparison op, const value *a,
                               const lt_policy_operand *left, const lt_policy_operand *right) {
  value b = value_of(j, right);
  bool asks_null = is_null_literal(left) || is_null_literal(right);
  if (asks_null && a->type != LT_JSON_NONE && b.type != LT_JSON_NONE) {
    return truth_of((a->type == b.type) == (op == LT_CMP_EQ));
  }
  return compare_values(j, op, a, &b);
}

static lt_policy_truth judge_compare(lt_policy_judge *j, const lt_policy_condition *cond) {
  value a = value_of(j, cond->left);
  return compare(j, cond->op, &a, cond->left, cond->right);
}

static lt_policy_truth judge_in(lt_policy_judge *j, const lt_policy_condition *cond) {
  value a = value_of(j, cond->left);
  lt_policy_truth truth = LT_TRUTH_NO;
  for (const lt_policy_operand *item = cond->right; item != NULL && truth != LT_TRUTH_YES; item = item->next) {
    lt_policy_truth one = compare(j, LT_CMP_EQ, &a, cond->left, item);
    truth = one > truth ? one : truth;
  }
  return truth;
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

static lt_policy_truth judge_matches(lt_policy_judge *j, const lt_policy_condition *cond) {
  value v = value_of(j, cond->left);
  lt_str chars;
  if (!text_of(j, &v, &chars) || !spend(j, chars.n * cond->text.n / LT_POLICY_STEP_BYTES)) {
    return LT_TRUTH_UNKNOWN;
  }
  return truth_of(lt_policy_glob(cond->text, chars));
}

/* What a relative path or one with "~" means, only the tool knows. */
static lt_policy_truth judge_within(lt_policy_judge *j, const lt_policy_condition *cond) {
  value v = value_of(j, cond->left);
  lt_str path;
  if (!text_of(j, &v, &path) || !spend(j, path.n / LT_POLICY_STEP_BYTES) || !lt_policy_path(&j->arena, path, &path)) {
    return LT_TRUTH_UNKNOWN;
  }
  return truth_of(lt_str_starts(path, cond->text) && (path.n == cond->text.n || path.p[cond->text.n] == '/'));
}

/* --- Conditions --------------------------------------------------------------------------------------------------- */

static lt_policy_truth judge_truth(lt_policy_judge *j, const lt_policy_condition *cond) {
  value v = value_of(j, cond->left);
  return is_bool(&v) ? truth_of(v.type == LT_JSON_TRUE) : LT_TRUTH_UNKNOWN;
}

static lt_policy_truth judge_has(lt_policy_judge *j, const lt_policy_condition *cond) {
  lt_json found;
  switch (find(j, root_of(j, cond->left), cond->left->steps, &found)) {
    case FOUND:
      return LT_TRUTH_YES;
    case ABSENT:
      return LT_TRUTH_NO;
    case UNSURE:
      break;
  }
  return LT_TRUTH_UNKNOWN;
}

static lt_policy_truth judge_items(lt_policy_judge *j, const lt_policy_condition *cond) {
  value array = value_of(j, cond->left);
  if (array.type != LT_JSON_ARRAY) {
    return LT_TRUTH_UNKNOWN;
  }
  lt_policy_truth decisive = cond->kind == LT_COND_ANY ? LT_TRUTH_YES : LT_TRUTH_NO;
  lt_policy_truth truth = not_of(decisive);
  lt_json outer = j->it;
  lt_json_iter it = lt_json_each(array.json);
  while (truth != decisive && lt_json_next(&it)) {
    j->it = it.value;
    lt_policy_truth one = spend(j, 1) ? lt_policy_judge_condition(j, cond->first) : LT_TRUTH_UNKNOWN;
    truth = one == decisive || one == LT_TRUTH_UNKNOWN ? one : truth;
    if (j->steps == 0) {
      truth = LT_TRUTH_UNKNOWN;
      break;
    }
  }
  j->it = outer;
  return truth;
}

static lt_policy_truth judge_chain(lt_policy_judge *j, const lt_policy_condition *cond) {
  lt_policy_truth decisive = cond->kind == LT_COND_OR ? LT_TRUTH_YES : LT_TRUTH_NO;
  lt_policy_truth truth = not_of(decisive);
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
      return not_of(lt_policy_judge_condition(j, cond->first));
    case LT_COND_TRUTH:
      return judge_truth(j, cond);
    case LT_COND_COMPARE:
      return judge_compare(j, cond);
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
  *judge = (lt_policy_judge){.call = call, .steps = LT_POLICY_STEPS_MAX};
  lt_arena_init(&judge->arena, LT_POLICY_WORK_BYTES);
}

void lt_policy_judge_release(lt_policy_judge *judge) {
  lt_arena_release(&judge->arena);
}
