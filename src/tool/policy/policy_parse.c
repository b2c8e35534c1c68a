/* Compiles conditions (policy_operand.c parses the operands and paths):
 *
 *   or      = and { "||" and }
 *   and     = unary { "&&" unary }
 *   unary   = "!" unary | "(" or ")" | test
 *   test    = "has" "(" path ")" | ( "any" | "all" ) "(" path "," or ")"
 *           | operand [ compare operand | "in" "[" literal { "," literal } "]" | "matches" string | "within" string ]
 *   operand = literal | path | "length" "(" path ")"
 *   path    = ( "input" | "annotations" | "tool" | "it" ) { "." name | "[" string "]" | "[" index "]" }
 *
 * A fault in the text, such as a string compared with a number, is refused here: the condition would always be unknown.
 */
#include "base/limits.h"
#include "tool/policy/policy_lex.h"
#include "tool/policy/policy_operand.h"
#include "tool/policy/policy_text.h"

static const char *const parse_type_names[] = {"anything", "null", "a boolean", "a number", "a string"};

static lt_policy_condition *parse_or(lt_policy_parser *p);

static lt_policy_condition *parse_new_condition(lt_policy_parser *p, lt_policy_condition_kind kind,
                                                const lt_policy_operand *left) {
  lt_policy_condition *cond = lt_policy_lex_new_part(p, sizeof(*cond));
  if (cond != NULL) {
    cond->kind = kind;
    cond->left = left;
  }
  return cond;
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */

static bool parse_is_ordering(lt_policy_comparison op) {
  return op != LT_CMP_EQ && op != LT_CMP_NE;
}

static bool parse_can_order(lt_policy_type type) {
  return type == LT_POLICY_ANY || type == LT_POLICY_NUMBER || type == LT_POLICY_STRING;
}

static bool parse_check_types(lt_policy_parser *p, const lt_policy_token *sign, const lt_policy_operand *left,
                              const lt_policy_operand *right, bool ordering) {
  lt_policy_type a = lt_policy_operand_type(left);
  lt_policy_type b = lt_policy_operand_type(right);
  if (ordering && (!parse_can_order(a) || !parse_can_order(b))) {
    lt_policy_lex_refuse(p, sign, "only numbers and strings have an order, %s has none",
                         parse_type_names[parse_can_order(a) ? b : a]);
    return false;
  }
  bool differ = a != b && a != LT_POLICY_ANY && b != LT_POLICY_ANY && a != LT_POLICY_NULL && b != LT_POLICY_NULL;
  if (differ) {
    lt_policy_lex_refuse(p, sign, "%s cannot be compared with %s", parse_type_names[a], parse_type_names[b]);
  }
  return !differ;
}

static bool parse_find_comparison(const lt_policy_parser *p, lt_policy_comparison *ret) {
  static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
  for (int i = 0; i < 6; i++) {
    if (lt_policy_lex_is(p, signs[i])) {
      *ret = (lt_policy_comparison)i;
      return true;
    }
  }
  return false;
}

static lt_policy_condition *parse_comparison(lt_policy_parser *p, const lt_policy_operand *left,
                                             lt_policy_comparison op) {
  lt_policy_token sign = p->now;
  lt_policy_lex_next(p);
  lt_policy_condition *cond = parse_new_condition(p, LT_COND_COMPARE, left);
  const lt_policy_operand *right = cond != NULL ? lt_policy_operand_parse(p) : NULL;
  if (right == NULL || !parse_check_types(p, &sign, left, right, parse_is_ordering(op))) {
    return NULL;
  }
  cond->op = op;
  cond->right = right;
  return parse_find_comparison(p, &op)
             ? lt_policy_lex_refuse(p, &p->now, "comparisons do not chain: join two of them with &&")
             : cond;
}

static lt_policy_condition *parse_in(lt_policy_parser *p, const lt_policy_operand *left) {
  lt_policy_token sign = p->now;
  lt_policy_lex_next(p);
  lt_policy_condition *cond = parse_new_condition(p, LT_COND_IN, left);
  if (cond == NULL || !lt_policy_lex_take(p, "[", "\"[\" and a list")) {
    return NULL;
  }
  lt_policy_operand *last = NULL;
  const lt_policy_operand *typed = left; /* the last operand with a type of its own */
  do {
    lt_policy_operand *item = lt_policy_operand_is_literal(p)
                                  ? lt_policy_operand_parse_literal(p)
                                  : lt_policy_lex_expected(p, "a string, number, true, false or null");
    if (item == NULL || !parse_check_types(p, &sign, typed, item, false)) {
      return NULL;
    }
    typed = lt_policy_operand_type(item) != LT_POLICY_NULL ? item : typed;
    if (last != NULL) {
      last->next = item;
    } else {
      cond->right = item;
    }
    last = item;
  } while (lt_policy_lex_accept(p, ","));
  return lt_policy_lex_take(p, "]", "\",\" or \"]\"") ? cond : NULL;
}

/* `matches` or `within`, with the string after it. */
static lt_policy_condition *parse_text_test(lt_policy_parser *p, const lt_policy_operand *left,
                                            lt_policy_condition_kind kind) {
  lt_policy_token sign = p->now;
  lt_policy_lex_next(p);
  lt_policy_condition *cond = parse_new_condition(p, kind, left);
  if (cond == NULL) {
    return NULL;
  }
  if (lt_policy_operand_type(left) != LT_POLICY_ANY && lt_policy_operand_type(left) != LT_POLICY_STRING) {
    return lt_policy_lex_refuse(p, &sign, "%s is no text", parse_type_names[lt_policy_operand_type(left)]);
  }
  if (p->now.kind != LT_TOKEN_STRING) {
    return lt_policy_lex_expected(p, kind == LT_COND_MATCHES ? "a pattern in quotes" : "a folder in quotes");
  }
  if (!lt_policy_lex_string(p, &p->now, &cond->text)) {
    return NULL;
  }
  if (kind == LT_COND_WITHIN) {
    if (cond->text.n == 0 || cond->text.p[0] != '/' || memchr(cond->text.p, '\0', cond->text.n) != NULL) {
      return lt_policy_lex_refuse(p, &p->now, "a folder begins with \"/\"");
    }
    if (!lt_policy_path(p->arena, cond->text, &cond->text)) {
      return lt_policy_lex_no_memory(p);
    }
  }
  lt_policy_lex_next(p);
  return cond;
}

/* A value alone: its type must allow true or false. */
static lt_policy_condition *parse_truth(lt_policy_parser *p, const lt_policy_operand *left) {
  if (lt_policy_operand_type(left) != LT_POLICY_ANY && lt_policy_operand_type(left) != LT_POLICY_BOOLEAN) {
    return lt_policy_lex_expected(p, "a comparison");
  }
  return parse_new_condition(p, LT_COND_TRUTH, left);
}

static lt_policy_condition *parse_has(lt_policy_parser *p) {
  lt_policy_lex_next(p);
  lt_policy_lex_next(p);
  lt_policy_token word = p->now;
  lt_policy_operand *path = lt_policy_operand_parse_path(p);
  if (path == NULL || !lt_policy_lex_take(p, ")", "\")\"")) {
    return NULL;
  }
  if (path->kind != LT_OPERAND_INPUT && path->kind != LT_OPERAND_ANNOTATIONS && path->kind != LT_OPERAND_IT) {
    return lt_policy_lex_refuse(p, &word, "this is always there");
  }
  return parse_new_condition(p, LT_COND_HAS, path);
}

static lt_policy_condition *parse_items(lt_policy_parser *p, lt_policy_condition_kind kind) {
  lt_policy_lex_next(p);
  lt_policy_lex_next(p);
  lt_policy_operand *path = lt_policy_operand_parse_path(p);
  lt_policy_condition *cond = path != NULL ? parse_new_condition(p, kind, path) : NULL;
  if (cond == NULL || !lt_policy_lex_take(p, ",", "\",\" and a condition on \"it\"")) {
    return NULL;
  }
  p->items++;
  cond->first = parse_or(p);
  p->items--;
  return cond->first != NULL && lt_policy_lex_take(p, ")", "\")\"") ? cond : NULL;
}

static bool parse_is_call(const lt_policy_parser *p) {
  lt_policy_parser ahead = *p;
  lt_policy_lex_next(&ahead);
  return lt_policy_lex_is(&ahead, "(");
}

static lt_policy_condition *parse_test(lt_policy_parser *p) {
  if (lt_policy_lex_is(p, "has") && parse_is_call(p)) {
    return parse_has(p);
  }
  if ((lt_policy_lex_is(p, "any") || lt_policy_lex_is(p, "all")) && parse_is_call(p)) {
    return parse_items(p, lt_policy_lex_is(p, "any") ? LT_COND_ANY : LT_COND_ALL);
  }
  const lt_policy_operand *left = lt_policy_operand_parse(p);
  if (left == NULL) {
    return NULL;
  }
  lt_policy_comparison op;
  if (parse_find_comparison(p, &op)) {
    return parse_comparison(p, left, op);
  }
  return lt_policy_lex_is(p, "in")        ? parse_in(p, left)
         : lt_policy_lex_is(p, "matches") ? parse_text_test(p, left, LT_COND_MATCHES)
         : lt_policy_lex_is(p, "within")  ? parse_text_test(p, left, LT_COND_WITHIN)
                                          : parse_truth(p, left);
}

/* --- Logic -------------------------------------------------------------------------------------------------------- */

static lt_policy_condition *parse_unary(lt_policy_parser *p);

/* `!input.a == 1` is refused, because most languages read it as `(!input.a) == 1`. */
static lt_policy_condition *parse_not(lt_policy_parser *p) {
  lt_policy_token sign = p->now;
  lt_policy_lex_next(p);
  lt_policy_condition *cond = parse_new_condition(p, LT_COND_NOT, NULL);
  bool opened = lt_policy_lex_is(p, "(") || lt_policy_lex_is(p, "!");
  cond = cond != NULL && (cond->first = parse_unary(p)) != NULL ? cond : NULL;
  if (cond == NULL || opened) {
    return cond;
  }
  lt_policy_condition_kind kind = cond->first->kind;
  bool plain = kind == LT_COND_TRUTH || kind == LT_COND_HAS || kind == LT_COND_ANY || kind == LT_COND_ALL;
  return plain ? cond : lt_policy_lex_refuse(p, &sign, "put what \"!\" turns around in parentheses: !( ... )");
}

static lt_policy_condition *parse_unary(lt_policy_parser *p) {
  if (p->depth >= LT_POLICY_DEPTH_MAX) {
    return lt_policy_lex_over(p, "nested too deeply", LT_POLICY_DEPTH_MAX);
  }
  p->depth++;
  lt_policy_condition *cond;
  if (lt_policy_lex_is(p, "!")) {
    cond = parse_not(p);
  } else if (lt_policy_lex_accept(p, "(")) {
    cond = parse_or(p);
    cond = cond != NULL && lt_policy_lex_take(p, ")", "&&, || or \")\"") ? cond : NULL;
  } else {
    cond = parse_test(p);
  }
  p->depth--;
  return cond;
}

/* Conditions of one kind form a list and are not nested: long lists need no depth. */
static lt_policy_condition *parse_chain(lt_policy_parser *p, lt_policy_condition_kind kind, const char *sign,
                                        lt_policy_condition *(*parse)(lt_policy_parser *)) {
  lt_policy_condition *last = parse(p);
  if (last == NULL || !lt_policy_lex_is(p, sign)) {
    return last;
  }
  lt_policy_condition *chain = parse_new_condition(p, kind, NULL);
  if (chain == NULL) {
    return NULL;
  }
  chain->first = last;
  while (lt_policy_lex_accept(p, sign)) {
    last->next = parse(p);
    last = last->next;
    if (last == NULL) {
      return NULL;
    }
  }
  return chain;
}

static lt_policy_condition *parse_ands(lt_policy_parser *p) {
  return parse_chain(p, LT_COND_AND, "&&", parse_unary);
}

static lt_policy_condition *parse_or(lt_policy_parser *p) {
  return parse_chain(p, LT_COND_OR, "||", parse_ands);
}

/* Checks that it is UTF-8. The message names no place, as a configuration has been checked before it comes here. */
static lt_status parse_check_utf8(lt_arena *arena, lt_str text, lt_err *err) {
  char *copy = lt_arena_alloc(arena, text.n + 2);
  if (copy == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  for (size_t i = 0; i < text.n; i++) {
    copy[i + 1] = (char)(text.p[i] & 0x80 ? text.p[i] : 'x');
  }
  copy[0] = copy[text.n + 1] = '"';
  bool ok = lt_json_check((lt_str){copy, text.n + 2}, NULL) == LT_OK;
  return ok ? LT_OK : lt_fail(err, LT_E_INVALID, "this is not UTF-8");
}

lt_status lt_policy_parse_condition(lt_arena *arena, lt_str text, const lt_policy_condition **ret_cond, lt_err *err) {
  if (text.n > LT_POLICY_WHEN_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "a condition has at most %lu bytes; make two rules of it",
                   LT_POLICY_WHEN_MAX_BYTES);
  }
  LT_TRY(parse_check_utf8(arena, text, err));
  lt_policy_parser p;
  lt_policy_lex_begin(&p, arena, text, err);
  lt_policy_condition *cond = parse_or(&p);
  if (cond != NULL && p.now.kind != LT_TOKEN_END) {
    lt_policy_lex_expected(&p, "&&, || or the end");
    cond = NULL;
  }
  if (cond != NULL) {
    *ret_cond = cond;
  }
  return p.status;
}
