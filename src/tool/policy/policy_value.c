#include "tool/policy/policy_value.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"

/* --- Finding ------------------------------------------------------------------------------------------------------ */

/* The character at `at` in lower case: ASCII, and the two other characters that Unicode folds into ASCII letters. */
static char policy_value_fold(lt_str s, size_t *at) {
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

/* The name as a reader in C sees it: up to the first NUL. */
static lt_str policy_value_until_nul(lt_str name) {
  const char *nul = name.n > 0 ? memchr(name.p, '\0', name.n) : NULL;
  return nul != NULL ? lt_str_sub(name, 0, (size_t)(nul - name.p)) : name;
}

static bool policy_value_eq_but_case(lt_str a, lt_str b) {
  size_t i = 0;
  size_t k = 0;
  while (i < a.n && k < b.n) {
    if (policy_value_fold(a, &i) != policy_value_fold(b, &k)) {
      return false;
    }
  }
  return i == a.n && k == b.n;
}

/* Whether a member's name begins with another letter than `key`, as most names do: then it need not be unescaped. */
static bool policy_value_begins_otherwise(lt_json name, lt_str key) {
  lt_str text = lt_json_text(name); /* with its quotes */
  char c = text.p[1];
  size_t at = 0;
  size_t key_at = 0;
  return key.n > 0 && c != '\\' && !(c & 0x80) &&
         policy_value_fold((lt_str){&c, 1}, &at) != policy_value_fold(key, &key_at);
}

static bool policy_value_read_string(lt_policy_judge *j, lt_json string, lt_str *ret) {
  return lt_policy_judge_spend(j, 1 + lt_json_text(string).n / LT_POLICY_STEP_BYTES) &&
         lt_json_str(string, &j->arena, ret);
}

/* Whether some reader of JSON takes a member for the one that is sought: readers in C end a name at a NUL, and some
 * (Go's is one) ignore case. */
static bool policy_value_is_similar(lt_str name, lt_str key) {
  return policy_value_eq_but_case(policy_value_until_nul(name), policy_value_until_nul(key));
}

/* Finds the one member with this name. Two of them are unsure: the tool may take the other one. So is a similar name.
 * JavaScript that copies the members of "__proto__" finds there what the object itself does not have. */
static lt_policy_finding policy_value_find_member(lt_policy_judge *j, lt_json object, lt_str key, lt_json *ret) {
  uint32_t exact = 0;
  uint32_t similar = 0;
  bool inherits = false;
  lt_json_iter it = lt_json_each(object);
  while (lt_json_next(&it)) {
    lt_str name;
    if (!lt_policy_judge_spend(j, 1)) {
      return LT_POLICY_UNSURE;
    }
    inherits = inherits || lt_json_str_eq(it.key, LT_STR("__proto__"));
    if (policy_value_begins_otherwise(it.key, key)) {
      continue;
    }
    if (!policy_value_read_string(j, it.key, &name)) {
      return LT_POLICY_UNSURE;
    }
    if (lt_str_eq(name, key)) {
      exact++;
      *ret = it.value;
    } else {
      similar += policy_value_is_similar(name, key);
    }
  }
  if (exact + similar == 0) {
    return inherits ? LT_POLICY_UNSURE : LT_POLICY_ABSENT;
  }
  return exact == 1 && similar == 0 ? LT_POLICY_FOUND : LT_POLICY_UNSURE;
}

static lt_policy_finding policy_value_find_item(lt_policy_judge *j, lt_json array, uint32_t index, lt_json *ret) {
  if (index >= lt_json_count(array)) {
    return LT_POLICY_ABSENT;
  }
  if (!lt_policy_judge_spend(j, index)) {
    return LT_POLICY_UNSURE;
  }
  *ret = lt_json_at(array, index);
  return LT_POLICY_FOUND;
}

static lt_policy_finding policy_value_find(lt_policy_judge *j, lt_json from, const lt_policy_path_step *steps,
                                           lt_json *ret) {
  lt_policy_finding found = lt_json_exists(from) ? LT_POLICY_FOUND : LT_POLICY_ABSENT;
  for (const lt_policy_path_step *step = steps; step != NULL && found == LT_POLICY_FOUND; step = step->next) {
    lt_json_type type = lt_json_typeof(from);
    if (type != (step->is_index ? LT_JSON_ARRAY : LT_JSON_OBJECT)) {
      return LT_POLICY_ABSENT;
    }
    found = step->is_index ? policy_value_find_item(j, from, step->index, &from)
                           : policy_value_find_member(j, from, step->key, &from);
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

/* A hint that is no boolean, or is given twice, counts as missing. */
static bool policy_value_read_hint(lt_policy_judge *j, lt_policy_hint hint, bool fallback) {
  lt_json found;
  if (lt_json_typeof(j->call->annotations) != LT_JSON_OBJECT ||
      policy_value_find_member(j, j->call->annotations, lt_str_of(lt_policy_hint_names[hint]), &found) !=
          LT_POLICY_FOUND) {
    return fallback;
  }
  return lt_json_bool(found, fallback);
}

/* When the steps run out in the middle, the hints are unknown: a default must not stand in for a hint that may be
 * there. */
static void policy_value_read_hints(lt_policy_judge *j) {
  bool read_only = policy_value_read_hint(j, LT_HINT_READ_ONLY, false);
  j->hints[LT_HINT_READ_ONLY] = read_only;
  j->hints[LT_HINT_DESTRUCTIVE] = !read_only && policy_value_read_hint(j, LT_HINT_DESTRUCTIVE, true);
  j->hints[LT_HINT_IDEMPOTENT] = read_only || policy_value_read_hint(j, LT_HINT_IDEMPOTENT, false);
  j->hints[LT_HINT_OPEN_WORLD] = policy_value_read_hint(j, LT_HINT_OPEN_WORLD, true);
  j->has_read_hints = j->steps_left > 0;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

static lt_policy_value policy_value_none(void) {
  return (lt_policy_value){.type = LT_JSON_NONE};
}

static lt_policy_value policy_value_of_bool(bool b) {
  return (lt_policy_value){.type = b ? LT_JSON_TRUE : LT_JSON_FALSE};
}

static lt_policy_value policy_value_of_hint(lt_policy_judge *j, lt_policy_hint hint) {
  if (!j->has_read_hints) {
    policy_value_read_hints(j);
  }
  return j->has_read_hints ? policy_value_of_bool(j->hints[hint]) : policy_value_none();
}

/* The value where an operand's path begins. */
static lt_json policy_value_root(const lt_policy_judge *j, const lt_policy_operand *operand) {
  return operand->kind == LT_OPERAND_INPUT         ? j->call->input
         : operand->kind == LT_OPERAND_ANNOTATIONS ? j->call->annotations
         : operand->kind == LT_OPERAND_IT          ? j->item
                                                   : (lt_json){NULL, 0};
}

static lt_policy_value policy_value_of_path(lt_policy_judge *j, const lt_policy_operand *operand) {
  switch (operand->kind) {
    case LT_OPERAND_LITERAL:
      return (lt_policy_value){.type = operand->type, .text = operand->text};
    case LT_OPERAND_HINT:
      return policy_value_of_hint(j, operand->hint);
    case LT_OPERAND_TOOL_ID:
      return (lt_policy_value){.type = LT_JSON_STRING, .text = j->call->tool};
    case LT_OPERAND_INPUT:
    case LT_OPERAND_ANNOTATIONS:
    case LT_OPERAND_IT:
      break;
  }
  lt_json found;
  if (policy_value_find(j, policy_value_root(j, operand), operand->steps, &found) != LT_POLICY_FOUND) {
    return policy_value_none();
  }
  return (lt_policy_value){.type = lt_json_typeof(found), .json = found};
}

static bool policy_value_chars(lt_policy_judge *j, const lt_policy_value *v, lt_str *ret) {
  if (v->type != LT_JSON_STRING) {
    return false;
  }
  if (v->json.doc != NULL) {
    return policy_value_read_string(j, v->json, ret);
  }
  *ret = v->text;
  return true;
}

/* A tool that is written in C sees the end of a string at its first NUL, others do not: such a string is unsure. */
bool lt_policy_value_text(lt_policy_judge *j, const lt_policy_value *v, lt_str *ret) {
  return policy_value_chars(j, v, ret) && (ret->n == 0 || memchr(ret->p, '\0', ret->n) == NULL);
}

static lt_policy_value policy_value_length(lt_policy_judge *j, const lt_policy_value *v) {
  size_t length = lt_json_count(v->json);
  if (v->type == LT_JSON_STRING) {
    lt_str chars;
    if (!policy_value_chars(j, v, &chars)) {
      return policy_value_none();
    }
    length = lt_utf8_count(chars);
  } else if (v->type != LT_JSON_ARRAY && v->type != LT_JSON_OBJECT) {
    return policy_value_none();
  }
  lt_policy_value number = {.type = LT_JSON_NUMBER};
  snprintf(number.digits, sizeof number.digits, "%zu", length);
  return number;
}

lt_policy_value lt_policy_value_of(lt_policy_judge *j, const lt_policy_operand *operand) {
  lt_policy_value v = policy_value_of_path(j, operand);
  return operand->is_length ? policy_value_length(j, &v) : v;
}

lt_policy_finding lt_policy_value_find(lt_policy_judge *j, const lt_policy_operand *operand) {
  lt_json found;
  return policy_value_find(j, policy_value_root(j, operand), operand->steps, &found);
}
