/* Conditions compiled:
 *
 *   or      = and { "||" and }
 *   and     = unary { "&&" unary }
 *   unary   = "!" unary | "(" or ")" | test
 *   test    = "has" "(" path ")" | ( "any" | "all" ) "(" path "," or ")"
 *           | operand [ compare operand | "in" "[" literal { "," literal } "]" | "matches" string | "within" string ]
 *   operand = literal | path | "length" "(" path ")"
 *   path    = ( "input" | "annotations" | "tool" | "it" ) { "." name | "[" string "]" | "[" index "]" }
 *
 * What can be told wrong from the text alone, such as a string compared with a number, is refused here: at a call it
 * would be unknown for ever.
 */
#include "base/limits.h"
#include "base/nearest.h"
#include "tool/policy/policy_lex.h"

typedef enum static_type { TYPE_ANY, TYPE_NULL, TYPE_BOOLEAN, TYPE_NUMBER, TYPE_STRING } static_type;

static const char *const type_names[] = {"anything", "null", "a boolean", "a number", "a string"};

static lt_policy_condition *parse_or(lt_policy_parser *p);

static bool count_node(lt_policy_parser *p) {
  if (++p->nodes > LT_POLICY_NODES_MAX) {
    lt_policy_lex_over(p, "too many parts", LT_POLICY_NODES_MAX);
    return false;
  }
  return true;
}

static void *new_part(lt_policy_parser *p, size_t size) {
  void *part = count_node(p) ? lt_arena_zalloc(p->arena, 1, size) : NULL;
  return part != NULL ? part : lt_policy_lex_no_memory(p);
}

static lt_policy_condition *new_cond(lt_policy_parser *p, lt_policy_condition_kind kind,
                                     const lt_policy_operand *left) {
  lt_policy_condition *cond = new_part(p, sizeof(*cond));
  if (cond != NULL) {
    cond->kind = kind;
    cond->left = left;
  }
  return cond;
}

static bool take(lt_policy_parser *p, const char *sign, const char *what) {
  if (!lt_policy_lex_accept(p, sign)) {
    lt_policy_lex_expected(p, what);
    return false;
  }
  return true;
}

/* --- Suggestions -------------------------------------------------------------------------------------------------- */

static const char *nearest(lt_str word, const char *const *names, size_t count) {
  lt_nearest found = lt_nearest_to(word, 2);
  for (size_t i = 0; i < count; i++) {
    lt_nearest_offer(&found, lt_str_of(names[i]));
  }
  return found.name.p;
}

static const char *const functions[] = {"all", "any", "has", "length"};
static const char *const roots[] = {"input", "annotations", "tool"};

static void *refuse_function(lt_policy_parser *p, const lt_policy_token *word) {
  const char *near = nearest(word->text, functions, sizeof functions / sizeof *functions);
  if (near != NULL && lt_str_eqc(word->text, near)) {
    return lt_policy_lex_refuse(p, word, "%s(...) cannot stand here", near);
  }
  return lt_policy_lex_refuse(p, word, "there is no such function%s%s%s; there are all, any, has and length",
                              near ? ": did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static void *refuse_root(lt_policy_parser *p, const lt_policy_token *word) {
  const char *near = nearest(word->text, roots, sizeof roots / sizeof *roots);
  if (near != NULL) {
    return lt_policy_lex_refuse(p, word, "there is no such value: did you mean \"%s\"?", near);
  }
  return lt_policy_lex_refuse(p, word,
                              "there is no such value; values begin with input, annotations or tool, and a string "
                              "stands in quotes");
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

static bool read_index(lt_policy_parser *p, lt_policy_path_step *step) {
  lt_str digits = p->now.text;
  uint64_t index = 0;
  for (size_t i = 0; i < digits.n; i++) {
    if (digits.p[i] < '0' || digits.p[i] > '9' || digits.n > 9) {
      lt_policy_lex_refuse(p, &p->now, "an index is a whole number from 0");
      return false;
    }
    index = index * 10 + (uint64_t)(digits.p[i] - '0');
  }
  step->index = (uint32_t)index;
  step->is_index = true;
  return true;
}

/* What stands between "[" and "]". */
static bool read_bracket(lt_policy_parser *p, lt_policy_path_step *step) {
  if (p->now.kind == LT_TOKEN_STRING) {
    if (!lt_policy_lex_string(p, &p->now, &step->key)) {
      return false;
    }
  } else if (p->now.kind != LT_TOKEN_NUMBER) {
    lt_policy_lex_expected(p, "an index or a name in quotes");
    return false;
  } else if (!read_index(p, step)) {
    return false;
  }
  lt_policy_lex_next(p);
  return take(p, "]", "\"]\"");
}

static bool read_name(lt_policy_parser *p, lt_policy_path_step *step) {
  if (p->now.kind != LT_TOKEN_WORD) {
    lt_policy_lex_expected(p, "a name");
    return false;
  }
  step->key = lt_arena_dup(p->arena, p->now.text);
  if (step->key.p == NULL) {
    lt_policy_lex_no_memory(p);
    return false;
  }
  lt_policy_lex_next(p);
  return true;
}

static bool parse_steps(lt_policy_parser *p, lt_policy_operand *operand) {
  const lt_policy_path_step **end = &operand->steps;
  while (lt_policy_lex_is(p, ".") || lt_policy_lex_is(p, "[")) {
    bool bracket = lt_policy_lex_is(p, "[");
    lt_policy_lex_next(p);
    lt_policy_path_step *step = new_part(p, sizeof(*step));
    if (step == NULL || !(bracket ? read_bracket(p, step) : read_name(p, step))) {
      return false;
    }
    *end = step;
    end = &step->next;
  }
  return true;
}

static bool is_one_name(const lt_policy_operand *operand, const char *name) {
  return operand->steps != NULL && operand->steps->next == NULL && !operand->steps->is_index &&
         lt_str_eqc(operand->steps->key, name);
}

static lt_policy_operand *resolve_tool(lt_policy_parser *p, lt_policy_operand *operand, const lt_policy_token *word) {
  operand->kind = LT_OPERAND_TOOL_ID;
  return is_one_name(operand, "id") ? operand : lt_policy_lex_refuse(p, word, "of a tool there is tool.id only");
}

/* A hint whose name is nearly right is never there, and the rule never what it was meant to be. */
static lt_policy_operand *resolve_annotation(lt_policy_parser *p, lt_policy_operand *operand,
                                             const lt_policy_token *word) {
  for (int i = 0; i < LT_HINT_COUNT; i++) {
    if (is_one_name(operand, lt_policy_hint_names[i])) {
      operand->kind = LT_OPERAND_HINT;
      operand->hint = (lt_policy_hint)i;
      return operand;
    }
  }
  if (operand->steps != NULL && !operand->steps->is_index) {
    lt_str name = operand->steps->key;
    const char *near = nearest(name, lt_policy_hint_names, LT_HINT_COUNT);
    if (near != NULL && !lt_str_eqc(name, near)) {
      return lt_policy_lex_refuse(p, word, "there is no annotation \"%.*s\": did you mean \"%s\"?", LT_STR_ARG(name),
                                  near);
    }
  }
  return operand;
}

static lt_policy_operand *resolve_root(lt_policy_parser *p, lt_policy_operand *operand, const lt_policy_token *word) {
  if (lt_str_eqc(word->text, "tool")) {
    return resolve_tool(p, operand, word);
  }
  if (lt_str_eqc(word->text, "annotations")) {
    operand->kind = LT_OPERAND_ANNOTATIONS;
    return resolve_annotation(p, operand, word);
  }
  if (lt_str_eqc(word->text, "it")) {
    operand->kind = LT_OPERAND_IT;
    return p->items > 0 ? operand : lt_policy_lex_refuse(p, word, "\"it\" is the item that any() or all() looks at");
  }
  operand->kind = LT_OPERAND_INPUT;
  return lt_str_eqc(word->text, "input") ? operand : refuse_root(p, word);
}

static lt_policy_operand *parse_path(lt_policy_parser *p) {
  if (p->now.kind != LT_TOKEN_WORD) {
    return lt_policy_lex_expected(p, "a value of the call, such as input.path,");
  }
  lt_policy_token word = p->now;
  lt_policy_operand *operand = new_part(p, sizeof(*operand));
  lt_policy_lex_next(p);
  if (operand == NULL) {
    return NULL;
  }
  if (lt_policy_lex_is(p, "(")) {
    return refuse_function(p, &word);
  }
  return parse_steps(p, operand) ? resolve_root(p, operand, &word) : NULL;
}

/* --- Operands ----------------------------------------------------------------------------------------------------- */

static lt_json_type literal_word(lt_str word) {
  return lt_str_eqc(word, "true")    ? LT_JSON_TRUE
         : lt_str_eqc(word, "false") ? LT_JSON_FALSE
         : lt_str_eqc(word, "null")  ? LT_JSON_NULL
                                     : LT_JSON_NONE;
}

static bool is_literal(const lt_policy_parser *p) {
  return p->now.kind == LT_TOKEN_STRING || p->now.kind == LT_TOKEN_NUMBER ||
         (p->now.kind == LT_TOKEN_WORD && literal_word(p->now.text) != LT_JSON_NONE);
}

static lt_policy_operand *parse_literal(lt_policy_parser *p) {
  lt_policy_operand *operand = new_part(p, sizeof(*operand));
  if (operand == NULL) {
    return NULL;
  }
  operand->kind = LT_OPERAND_LITERAL;
  bool ok = true;
  if (p->now.kind == LT_TOKEN_STRING) {
    operand->type = LT_JSON_STRING;
    ok = lt_policy_lex_string(p, &p->now, &operand->text);
  } else if (p->now.kind == LT_TOKEN_NUMBER) {
    operand->type = LT_JSON_NUMBER;
    ok = lt_policy_lex_number(p, &p->now, &operand->text);
  } else {
    operand->type = literal_word(p->now.text);
  }
  lt_policy_lex_next(p);
  return ok ? operand : NULL;
}

static lt_policy_operand *parse_length(lt_policy_parser *p) {
  lt_policy_lex_next(p);
  if (!take(p, "(", "\"(\"")) {
    return NULL;
  }
  lt_policy_operand *operand = parse_path(p);
  if (operand == NULL || !take(p, ")", "\")\"")) {
    return NULL;
  }
  operand->length = true;
  return operand;
}

static lt_policy_operand *parse_operand(lt_policy_parser *p) {
  if (is_literal(p)) {
    return parse_literal(p);
  }
  if (p->now.kind != LT_TOKEN_WORD) {
    return lt_policy_lex_expected(p, "a value");
  }
  return lt_policy_lex_is(p, "length") ? parse_length(p) : parse_path(p);
}

static static_type literal_type(lt_json_type type) {
  return type == LT_JSON_NULL     ? TYPE_NULL
         : type == LT_JSON_NUMBER ? TYPE_NUMBER
         : type == LT_JSON_STRING ? TYPE_STRING
                                  : TYPE_BOOLEAN;
}

static static_type type_of(const lt_policy_operand *operand) {
  if (operand->length) {
    return TYPE_NUMBER;
  }
  switch (operand->kind) {
    case LT_OPERAND_LITERAL:
      return literal_type(operand->type);
    case LT_OPERAND_HINT:
      return TYPE_BOOLEAN;
    case LT_OPERAND_TOOL_ID:
      return TYPE_STRING;
    case LT_OPERAND_INPUT:
    case LT_OPERAND_ANNOTATIONS:
    case LT_OPERAND_IT:
      break;
  }
  return TYPE_ANY;
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */

static bool is_ordering(lt_policy_comparison op) {
  return op != LT_CMP_EQ && op != LT_CMP_NE;
}

static bool can_order(static_type type) {
  return type == TYPE_ANY || type == TYPE_NUMBER || type == TYPE_STRING;
}

static bool check_types(lt_policy_parser *p, const lt_policy_token *sign, const lt_policy_operand *left,
                        const lt_policy_operand *right, bool ordering) {
  static_type a = type_of(left);
  static_type b = type_of(right);
  if (ordering && (!can_order(a) || !can_order(b))) {
    lt_policy_lex_refuse(p, sign, "only numbers and strings have an order, %s has none",
                         type_names[can_order(a) ? b : a]);
    return false;
  }
  bool differ = a != b && a != TYPE_ANY && b != TYPE_ANY && a != TYPE_NULL && b != TYPE_NULL;
  if (differ) {
    lt_policy_lex_refuse(p, sign, "%s cannot be compared with %s", type_names[a], type_names[b]);
  }
  return !differ;
}

static bool find_compare(const lt_policy_parser *p, lt_policy_comparison *ret) {
  static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
  for (int i = 0; i < 6; i++) {
    if (lt_policy_lex_is(p, signs[i])) {
      *ret = (lt_policy_comparison)i;
      return true;
    }
  }
  return false;
}

static lt_policy_condition *parse_compare(lt_policy_parser *p, const lt_policy_operand *left, lt_policy_comparison op) {
  lt_policy_token sign = p->now;
  lt_policy_lex_next(p);
  lt_policy_condition *cond = new_cond(p, LT_COND_COMPARE, left);
  const lt_policy_operand *right = cond != NULL ? parse_operand(p) : NULL;
  if (right == NULL || !check_types(p, &sign, left, right, is_ordering(op))) {
    return NULL;
  }
  cond->op = op;
  cond->right = right;
  return find_compare(p, &op) ? lt_policy_lex_refuse(p, &p->now, "comparisons do not chain: join two of them with &&")
                              : cond;
}

static lt_policy_condition *parse_in(lt_policy_parser *p, const lt_policy_operand *left) {
  lt_policy_token sign = p->now;
  lt_policy_lex_next(p);
  lt_policy_condition *cond = new_cond(p, LT_COND_IN, left);
  if (cond == NULL || !take(p, "[", "\"[\" and a list")) {
    return NULL;
  }
  lt_policy_operand *last = NULL;
  const lt_policy_operand *typed = left; /* the last one that has a type of its own */
  do {
    lt_policy_operand *item =
        is_literal(p) ? parse_literal(p) : lt_policy_lex_expected(p, "a string, number, true, false or null");
    if (item == NULL || !check_types(p, &sign, typed, item, false)) {
      return NULL;
    }
    typed = type_of(item) != TYPE_NULL ? item : typed;
    if (last != NULL) {
      last->next = item;
    } else {
      cond->right = item;
    }
    last = item;
  } while (lt_policy_lex_accept(p, ","));
  return take(p, "]", "\",\" or \"]\"") ? cond : NULL;
}

/* `matches` or `within`, with the string after it. */
static lt_policy_condition *parse_text_test(lt_policy_parser *p, const lt_policy_operand *left,
                                            lt_policy_condition_kind kind) {
  lt_policy_token sign = p->now;
  lt_policy_lex_next(p);
  lt_policy_condition *cond = new_cond(p, kind, left);
  if (cond == NULL) {
    return NULL;
  }
  if (type_of(left) != TYPE_ANY && type_of(left) != TYPE_STRING) {
    return lt_policy_lex_refuse(p, &sign, "%s is no text", type_names[type_of(left)]);
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

/* A value alone, which must be able to be true or false. */
static lt_policy_condition *parse_truth(lt_policy_parser *p, const lt_policy_operand *left) {
  if (type_of(left) != TYPE_ANY && type_of(left) != TYPE_BOOLEAN) {
    return lt_policy_lex_expected(p, "a comparison");
  }
  return new_cond(p, LT_COND_TRUTH, left);
}

static lt_policy_condition *parse_has(lt_policy_parser *p) {
  lt_policy_lex_next(p);
  lt_policy_lex_next(p);
  lt_policy_token word = p->now;
  lt_policy_operand *path = parse_path(p);
  if (path == NULL || !take(p, ")", "\")\"")) {
    return NULL;
  }
  if (path->kind != LT_OPERAND_INPUT && path->kind != LT_OPERAND_ANNOTATIONS && path->kind != LT_OPERAND_IT) {
    return lt_policy_lex_refuse(p, &word, "this is always there");
  }
  return new_cond(p, LT_COND_HAS, path);
}

static lt_policy_condition *parse_items(lt_policy_parser *p, lt_policy_condition_kind kind) {
  lt_policy_lex_next(p);
  lt_policy_lex_next(p);
  lt_policy_operand *path = parse_path(p);
  lt_policy_condition *cond = path != NULL ? new_cond(p, kind, path) : NULL;
  if (cond == NULL || !take(p, ",", "\",\" and a condition on \"it\"")) {
    return NULL;
  }
  p->items++;
  cond->first = parse_or(p);
  p->items--;
  return cond->first != NULL && take(p, ")", "\")\"") ? cond : NULL;
}

static bool opens(const lt_policy_parser *p) {
  lt_policy_parser ahead = *p;
  lt_policy_lex_next(&ahead);
  return lt_policy_lex_is(&ahead, "(");
}

static lt_policy_condition *parse_test(lt_policy_parser *p) {
  if (lt_policy_lex_is(p, "has") && opens(p)) {
    return parse_has(p);
  }
  if ((lt_policy_lex_is(p, "any") || lt_policy_lex_is(p, "all")) && opens(p)) {
    return parse_items(p, lt_policy_lex_is(p, "any") ? LT_COND_ANY : LT_COND_ALL);
  }
  const lt_policy_operand *left = parse_operand(p);
  if (left == NULL) {
    return NULL;
  }
  lt_policy_comparison op;
  if (find_compare(p, &op)) {
    return parse_compare(p, left, op);
  }
  return lt_policy_lex_is(p, "in")        ? parse_in(p, left)
         : lt_policy_lex_is(p, "matches") ? parse_text_test(p, left, LT_COND_MATCHES)
         : lt_policy_lex_is(p, "within")  ? parse_text_test(p, left, LT_COND_WITHIN)
                                          : parse_truth(p, left);
}

/* --- Logic -------------------------------------------------------------------------------------------------------- */

static lt_policy_condition *parse_unary(lt_policy_parser *p);

/* `!input.a == 1` means one thing in most languages and was meant to be another. */
static lt_policy_condition *parse_not(lt_policy_parser *p) {
  lt_policy_token sign = p->now;
  lt_policy_lex_next(p);
  lt_policy_condition *cond = new_cond(p, LT_COND_NOT, NULL);
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
    cond = cond != NULL && take(p, ")", "&&, || or \")\"") ? cond : NULL;
  } else {
    cond = parse_test(p);
  }
  p->depth--;
  return cond;
}

/* Many of a kind side by side, not inside each other: long lists need no depth. */
static lt_policy_condition *parse_chain(lt_policy_parser *p, lt_policy_condition_kind kind, const char *sign,
                                        lt_policy_condition *(*parse)(lt_policy_parser *)) {
  lt_policy_condition *last = parse(p);
  if (last == NULL || !lt_policy_lex_is(p, sign)) {
    return last;
  }
  lt_policy_condition *chain = new_cond(p, kind, NULL);
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

/* That it is UTF-8, without a word about where: a configuration has been read as that before it comes here. */
static lt_status check_utf8(lt_arena *arena, lt_str text, lt_err *err) {
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
  LT_TRY(check_utf8(arena, text, err));
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
