#include "tool/policy/policy_operand.h"

#include "base/nearest.h"

/* --- Suggestions -------------------------------------------------------------------------------------------------- */

static const char *operand_nearest(lt_str word, const char *const *names, size_t count) {
  lt_nearest found = lt_nearest_to(word, 2);
  for (size_t i = 0; i < count; i++) {
    lt_nearest_offer(&found, lt_str_of(names[i]));
  }
  return found.name.p;
}

static const char *const operand_functions[] = {"all", "any", "has", "length"};
static const char *const operand_roots[] = {"input", "annotations", "tool"};

static void *operand_refuse_function(lt_policy_parser *p, const lt_policy_token *word) {
  const char *near =
      operand_nearest(word->text, operand_functions, sizeof operand_functions / sizeof *operand_functions);
  if (near != NULL && lt_str_eqc(word->text, near)) {
    return lt_policy_lex_refuse(p, word, "%s(...) cannot stand here", near);
  }
  return lt_policy_lex_refuse(p, word, "there is no such function%s%s%s; there are all, any, has and length",
                              near ? ": did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static void *operand_refuse_root(lt_policy_parser *p, const lt_policy_token *word) {
  const char *near = operand_nearest(word->text, operand_roots, sizeof operand_roots / sizeof *operand_roots);
  if (near != NULL) {
    return lt_policy_lex_refuse(p, word, "there is no such value: did you mean \"%s\"?", near);
  }
  return lt_policy_lex_refuse(p, word,
                              "there is no such value; values begin with input, annotations or tool, and a string "
                              "stands in quotes");
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

static bool operand_read_index(lt_policy_parser *p, lt_policy_path_step *step) {
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

/* Parses the text between "[" and "]". */
static bool operand_read_bracket(lt_policy_parser *p, lt_policy_path_step *step) {
  if (p->now.kind == LT_TOKEN_STRING) {
    if (!lt_policy_lex_string(p, &p->now, &step->key)) {
      return false;
    }
  } else if (p->now.kind != LT_TOKEN_NUMBER) {
    lt_policy_lex_expected(p, "an index or a name in quotes");
    return false;
  } else if (!operand_read_index(p, step)) {
    return false;
  }
  lt_policy_lex_next(p);
  return lt_policy_lex_take(p, "]", "\"]\"");
}

static bool operand_read_name(lt_policy_parser *p, lt_policy_path_step *step) {
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

static bool operand_parse_steps(lt_policy_parser *p, lt_policy_operand *operand) {
  const lt_policy_path_step **end = &operand->steps;
  while (lt_policy_lex_is(p, ".") || lt_policy_lex_is(p, "[")) {
    bool bracket = lt_policy_lex_is(p, "[");
    lt_policy_lex_next(p);
    lt_policy_path_step *step = lt_policy_lex_new_part(p, sizeof(*step));
    if (step == NULL || !(bracket ? operand_read_bracket(p, step) : operand_read_name(p, step))) {
      return false;
    }
    *end = step;
    end = &step->next;
  }
  return true;
}

static bool operand_is_one_name(const lt_policy_operand *operand, const char *name) {
  return operand->steps != NULL && operand->steps->next == NULL && !operand->steps->is_index &&
         lt_str_eqc(operand->steps->key, name);
}

static lt_policy_operand *operand_resolve_tool(lt_policy_parser *p, lt_policy_operand *operand,
                                               const lt_policy_token *word) {
  operand->kind = LT_OPERAND_TOOL_ID;
  return operand_is_one_name(operand, "id") ? operand
                                            : lt_policy_lex_refuse(p, word, "of a tool there is tool.id only");
}

/* A misspelt hint would always be missing, and the rule would have no effect. */
static lt_policy_operand *operand_resolve_annotation(lt_policy_parser *p, lt_policy_operand *operand,
                                                     const lt_policy_token *word) {
  for (int i = 0; i < LT_HINT_COUNT; i++) {
    if (operand_is_one_name(operand, lt_policy_hint_names[i])) {
      operand->kind = LT_OPERAND_HINT;
      operand->hint = (lt_policy_hint)i;
      return operand;
    }
  }
  if (operand->steps != NULL && !operand->steps->is_index) {
    lt_str name = operand->steps->key;
    const char *near = operand_nearest(name, lt_policy_hint_names, LT_HINT_COUNT);
    if (near != NULL && !lt_str_eqc(name, near)) {
      return lt_policy_lex_refuse(p, word, "there is no annotation \"%.*s\": did you mean \"%s\"?", LT_STR_ARG(name),
                                  near);
    }
  }
  return operand;
}

static lt_policy_operand *operand_resolve_root(lt_policy_parser *p, lt_policy_operand *operand,
                                               const lt_policy_token *word) {
  if (lt_str_eqc(word->text, "tool")) {
    return operand_resolve_tool(p, operand, word);
  }
  if (lt_str_eqc(word->text, "annotations")) {
    operand->kind = LT_OPERAND_ANNOTATIONS;
    return operand_resolve_annotation(p, operand, word);
  }
  if (lt_str_eqc(word->text, "it")) {
    operand->kind = LT_OPERAND_IT;
    return p->items > 0 ? operand : lt_policy_lex_refuse(p, word, "\"it\" is the item that any() or all() looks at");
  }
  operand->kind = LT_OPERAND_INPUT;
  return lt_str_eqc(word->text, "input") ? operand : operand_refuse_root(p, word);
}

lt_policy_operand *lt_policy_operand_parse_path(lt_policy_parser *p) {
  if (p->now.kind != LT_TOKEN_WORD) {
    return lt_policy_lex_expected(p, "a value of the call, such as input.path,");
  }
  lt_policy_token word = p->now;
  lt_policy_operand *operand = lt_policy_lex_new_part(p, sizeof(*operand));
  lt_policy_lex_next(p);
  if (operand == NULL) {
    return NULL;
  }
  if (lt_policy_lex_is(p, "(")) {
    return operand_refuse_function(p, &word);
  }
  return operand_parse_steps(p, operand) ? operand_resolve_root(p, operand, &word) : NULL;
}

/* --- Operands ----------------------------------------------------------------------------------------------------- */

static lt_json_type operand_literal_word(lt_str word) {
  return lt_str_eqc(word, "true")    ? LT_JSON_TRUE
         : lt_str_eqc(word, "false") ? LT_JSON_FALSE
         : lt_str_eqc(word, "null")  ? LT_JSON_NULL
                                     : LT_JSON_NONE;
}

bool lt_policy_operand_is_literal(const lt_policy_parser *p) {
  return p->now.kind == LT_TOKEN_STRING || p->now.kind == LT_TOKEN_NUMBER ||
         (p->now.kind == LT_TOKEN_WORD && operand_literal_word(p->now.text) != LT_JSON_NONE);
}

lt_policy_operand *lt_policy_operand_parse_literal(lt_policy_parser *p) {
  lt_policy_operand *operand = lt_policy_lex_new_part(p, sizeof(*operand));
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
    operand->type = operand_literal_word(p->now.text);
  }
  lt_policy_lex_next(p);
  return ok ? operand : NULL;
}

static lt_policy_operand *operand_parse_length(lt_policy_parser *p) {
  lt_policy_lex_next(p);
  if (!lt_policy_lex_take(p, "(", "\"(\"")) {
    return NULL;
  }
  lt_policy_operand *operand = lt_policy_operand_parse_path(p);
  if (operand == NULL || !lt_policy_lex_take(p, ")", "\")\"")) {
    return NULL;
  }
  operand->is_length = true;
  return operand;
}

lt_policy_operand *lt_policy_operand_parse(lt_policy_parser *p) {
  if (lt_policy_operand_is_literal(p)) {
    return lt_policy_operand_parse_literal(p);
  }
  if (p->now.kind != LT_TOKEN_WORD) {
    return lt_policy_lex_expected(p, "a value");
  }
  return lt_policy_lex_is(p, "length") ? operand_parse_length(p) : lt_policy_operand_parse_path(p);
}

static lt_policy_type operand_literal_type(lt_json_type type) {
  return type == LT_JSON_NULL     ? LT_POLICY_NULL
         : type == LT_JSON_NUMBER ? LT_POLICY_NUMBER
         : type == LT_JSON_STRING ? LT_POLICY_STRING
                                  : LT_POLICY_BOOLEAN;
}

lt_policy_type lt_policy_operand_type(const lt_policy_operand *operand) {
  if (operand->is_length) {
    return LT_POLICY_NUMBER;
  }
  switch (operand->kind) {
    case LT_OPERAND_LITERAL:
      return operand_literal_type(operand->type);
    case LT_OPERAND_HINT:
      return LT_POLICY_BOOLEAN;
    case LT_OPERAND_TOOL_ID:
      return LT_POLICY_STRING;
    case LT_OPERAND_INPUT:
    case LT_OPERAND_ANNOTATIONS:
    case LT_OPERAND_IT:
      break;
  }
  return LT_POLICY_ANY;
}
